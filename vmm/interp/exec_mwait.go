package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// monitor is the address range armed by MONITOR: one 64-byte line and what it
// held then. Intel SDM vol. 3A, 9.10.5 "Monitor/Mwait Address Range
// Determination".
type monitor struct {
	armed bool
	phys  uint64
	line  [8]uint64
}

// readLine returns the 64-byte line at physical address phys; zeroes outside
// RAM.
func (c *CPU) readLine(phys uint64) (line [8]uint64) {
	if !c.mem.ram(phys >> pageShift) {
		return line
	}
	p := c.mem.page(phys >> pageShift)
	for i := range line {
		line[i] = peekN(p, phys&pageMask&^63+uint64(i)*8, 8)
	}
	return line
}

func execMONITOR(c *CPU, o *op) {
	switch {
	case c.w.cpl != 0:
		c.raise(excUD, 0)
		return
	case c.intercepts.MWAIT:
		c.intercept(vmm.ExitMONITOR, waitSkip)
		return
	case uint32(c.r[vmm.RCX]) != 0:
		c.raise(excGP, 0)
		return
	}
	a, ok := c.segAddress(o.seg, c.r[vmm.RAX]&o.amask, 1, false)
	if !ok {
		return
	}
	if phys, ok := c.walk(a, accRead); ok {
		c.monitor = monitor{armed: true, phys: phys, line: c.readLine(phys)}
	}
}

// execMWAIT without interception idles as HLT does, until the monitored line
// changes. That is noticed when Run begins: another processor cannot write while
// this one runs. A write of the value that is there already goes unnoticed.
func execMWAIT(c *CPU, _ *op) {
	switch {
	case c.w.cpl != 0:
		c.raise(excUD, 0)
	case c.intercepts.MWAIT:
		c.intercept(vmm.ExitMWAIT, waitSkip)
	case c.monitor.armed && c.readLine(c.monitor.phys) == c.monitor.line:
		c.halted = true
		c.leave()
	}
}

// lineWritten ends the idling of MWAIT if the monitored line has changed. HLT
// idles with no monitor armed.
func (c *CPU) lineWritten() {
	if c.halted && c.monitor.armed && c.readLine(c.monitor.phys) != c.monitor.line {
		c.halted = false
		c.monitor.armed = false
		c.look()
	}
}
