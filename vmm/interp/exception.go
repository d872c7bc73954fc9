package interp

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// The exception vectors. Intel SDM vol. 3A, 6.3.1 "External Interrupts" and
// table 6-1.
const (
	excDE = 0
	excDB = 1
	excBP = 3
	excOF = 4
	excBR = 5
	excUD = 6
	excNM = 7
	excDF = 8
	excTS = 10
	excNP = 11
	excSS = 12
	excGP = 13
	excPF = 14
	excMF = 16
	excAC = 17
	excXM = 19
)

// withCode has a bit for each vector that pushes an error code outside real
// mode.
const withCode = 1<<excDF | 1<<excTS | 1<<excNP | 1<<excSS | 1<<excGP | 1<<excPF | 1<<excAC

// contributory has a bit for each vector of that class. Intel SDM vol. 3A, 6.15,
// "Interrupt 8—Double Fault Exception (#DF)".
const contributory = 1<<excDE | 1<<excTS | 1<<excNP | 1<<excSS | 1<<excGP

// exception is a fault raised by the current instruction.
type exception struct {
	vector uint8
	code   uint32
	addr   uint64 // linear address of a page fault
}

// raise gives up the current op with a fault.
func (c *CPU) raise(vector uint8, code uint32) {
	c.exc = exception{vector: vector, code: code}
	c.stop = stopFault
}

// Origins of a delivery: they decide about privilege checks and the EXT bit.
type origin uint8

// The origins.
const (
	fromHardware origin = iota // fault, external interrupt, NMI
	fromSoftware               // INT n, INT3, INTO
)

// deliverFault delivers c.exc, and what comes of its delivery. It reports false if
// the guest is left: by a triple fault, or because the delivery cannot go on.
func (c *CPU) deliverFault() bool {
	for {
		e := c.exc
		c.stop = stopNone
		c.now += clock.TSC(c.costs[costVectoring])
		if e.vector == excPF {
			c.cr2 = e.addr
		}
		if e.vector != excDB && e.vector != excDF {
			c.rflags |= flagRF
		}
		if e.vector == excDB {
			c.dr[7] &^= dr7GD
		}
		if c.vector(e.vector, fromHardware, withCode>>e.vector&1 != 0, e.code) {
			return true
		}
		if c.stop == stopExit {
			return false
		}
		if !c.escalate(e.vector) {
			c.dead = true
			c.exit = vmm.Exit{Reason: vmm.ExitTriple}
			return false
		}
	}
}

// escalate turns c.exc, raised while first was delivered, into a double fault
// where the table says so. It reports false for a triple fault.
func (c *CPU) escalate(first uint8) bool {
	second := c.exc.vector
	harmful := contributory>>second&1 != 0
	switch {
	case first == excDF:
		return false
	case contributory>>first&1 != 0 && harmful,
		first == excPF && (harmful || second == excPF):
		if second == excPF {
			c.cr2 = c.exc.addr
		}
		c.exc = exception{vector: excDF}
	}
	return true
}

// deliverEvent delivers the event that waits. It reports false as deliverFault does.
func (c *CPU) deliverEvent() bool {
	e := c.event
	c.event = vmm.Event{}
	c.halted, c.monitor.armed = false, false
	c.shadow, c.shadowSS = false, false
	c.ple.valid = false
	if e.Kind == vmm.EventException {
		c.exc = exception{vector: e.Vector, code: e.Code, addr: c.cr2}
		return c.deliverFault()
	}
	if e.Kind == vmm.EventNMI {
		e.Vector = 2
	}
	c.now += clock.TSC(c.costs[costVectoring])
	if c.vector(e.Vector, fromHardware, false, 0) {
		c.nmiBlocked = c.nmiBlocked || e.Kind == vmm.EventNMI
		return true
	}
	return c.stop != stopExit && c.deliverFault()
}
