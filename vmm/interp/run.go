package interp

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Run executes guest code from host TSC now until something needs the host or
// the clock reaches until.
func (c *CPU) Run(now, until clock.TSC) vmm.Exit {
	c.now, c.until = now, until
	c.sync()
	c.probe.reset(c.cfg.NoSkip)
	c.pending = completion{}
	c.lineWritten()
	for {
		if c.w.attn != 0 {
			if v := c.attend(); v == verdictExit {
				return c.leaveGuest()
			} else if v == verdictAgain {
				continue
			}
		}
		if c.now >= c.until {
			c.exit = vmm.Exit{Reason: vmm.StopLimit}
			return c.leaveGuest()
		}
		b := c.lookup()
		switch {
		case b == nil:
		case c.now+clock.TSC(b.last) < c.until:
			c.run(b)
			c.probe.count--
			if (c.probe.count <= 0 || c.probe.rip == c.r[regIP]) && c.stop == stopNone {
				c.search()
			}
		default:
			c.step(b)
		}
		if c.stop != stopNone && c.settle() {
			return c.leaveGuest()
		}
	}
}

// sync catches up with what others did to the memory.
func (c *CPU) sync() {
	if c.tlb.mapGen != c.mem.mapGen {
		c.flushTLB()
	}
	if c.blocks.codeGen != c.mem.codeGen {
		c.blocks.codeGen = c.mem.codeGen
		c.blocks.recheck()
	}
}

// leaveGuest completes the exit.
func (c *CPU) leaveGuest() vmm.Exit {
	c.exit.At = c.now
	c.exit.RIP = c.r[regIP]
	return c.exit
}

// run executes all ops of b, and again as long as b is a loop that nobody else
// has to look at in between.
func (c *CPU) run(b *block) {
	if b.fill != nil && c.fill(b) {
		return
	}
	ip, mask := c.r[regIP], c.w.ipMask
	for {
		for i := range b.ops {
			o := &b.ops[i]
			c.r[regIP] = (ip + uint64(o.end)) & mask
			o.fn(c, o)
			if c.stop != stopNone {
				c.halfway(b, i, ip, i)
				return
			}
		}
		c.now += clock.TSC(b.cycles)
		c.stats.Executed += uint64(len(b.ops))
		if c.r[regIP] != ip || b.fill != nil || c.w.attn != 0 || c.now+clock.TSC(b.last) >= c.until || !c.probe.pass(c) {
			return
		}
	}
}

// halfway accounts for a block that was left at op i, with done ops before it
// not yet counted.
func (c *CPU) halfway(b *block, i int, ip uint64, done int) {
	o := &b.ops[i]
	c.stats.Executed += uint64(done)
	c.now += clock.TSC(o.cyc)
	switch c.stop {
	case stopNext, stopAfter:
		c.now += clock.TSC(o.cost)
		c.stats.Executed++
	default:
		c.r[regIP] = (ip + uint64(o.end) - uint64(o.len)) & c.w.ipMask
		if c.stop == stopAgain {
			c.now += clock.TSC(o.cost)
		}
		if c.stop == stopExit {
			c.exit.Len = o.len
			c.pending.next = (ip + uint64(o.end)) & c.w.ipMask
			if c.pending.kind == waitAccess {
				c.exit.Len = 0
			}
		}
	}
}

// step executes the ops of b that begin before the limit.
func (c *CPU) step(b *block) {
	start, ip := c.now, c.r[regIP]
	for i := range b.ops {
		if start+clock.TSC(b.ops[i].cyc) >= c.until {
			return
		}
		c.stepOp(b, i, start, ip)
		if c.stop != stopNone {
			return
		}
	}
}

// stepOp executes op i of b, which starts at ip and at time start, and brings
// RIP and the clock up to date.
func (c *CPU) stepOp(b *block, i int, start clock.TSC, ip uint64) {
	o := &b.ops[i]
	c.now = start
	c.r[regIP] = (ip + uint64(o.end)) & c.w.ipMask
	o.fn(c, o)
	if c.stop != stopNone {
		c.halfway(b, i, ip, 0)
		return
	}
	c.now += clock.TSC(o.cyc) + clock.TSC(o.cost)
	c.stats.Executed++
}

// settle deals with c.stop. It reports whether the guest is left.
func (c *CPU) settle() bool {
	s := c.stop
	c.stop = stopNone
	switch s {
	case stopFault:
		c.log.n = 0
		if !c.deliverFault() {
			c.stop = stopNone
			c.refresh()
			return true
		}
		c.stop = stopNone
	case stopExit, stopAfter:
		c.look()
		return true
	}
	c.look()
	return false
}

// verdict is what attend found.
type verdict uint8

// The verdicts.
const (
	verdictRun   verdict = iota // run a block
	verdictAgain                // something was done: look again
	verdictExit                 // the guest is left
)

// left is the verdict after something was done.
func left(exit bool) verdict {
	if exit {
		return verdictExit
	}
	return verdictAgain
}

// attend deals with whatever asks for attention, and executes one instruction if
// that must be done alone.
func (c *CPU) attend() verdict {
	a := c.w.attn
	switch {
	case a&attnDead != 0:
		c.exit = vmm.Exit{Reason: vmm.ExitTriple}
		return verdictExit
	case a&attnReplay != 0:
		return left(c.single())
	case a&attnEvent != 0:
		ok := c.deliverEvent()
		c.stop = stopNone
		c.refresh()
		return left(!ok)
	case c.wantIRQ && c.rflags&flagIF != 0 && !c.shadow:
		c.exit = vmm.Exit{Reason: vmm.StopWindow}
		return verdictExit
	case c.wantNMI && !c.nmiBlocked && !c.shadow:
		c.exit = vmm.Exit{Reason: vmm.StopNMIWindow}
		return verdictExit
	case a&attnHalt != 0:
		c.now = max(c.now, c.until)
		c.exit = vmm.Exit{Reason: vmm.StopLimit}
		return verdictExit
	case a&(attnShadow|attnStep) == 0, c.now >= c.until:
		return verdictRun
	}
	return left(c.single())
}

// single executes one instruction by itself: with an interrupt shadow, with
// traps on, or to complete a device access. It reports whether the guest is
// left.
func (c *CPU) single() bool {
	shadow, shadowSS, trap, rf := c.shadow, c.shadowSS, c.rflags&flagTF != 0, c.rflags&flagRF
	held := c.hits // by a MOV SS before: its trap waits for this instruction
	if !shadowSS {
		held = 0
	}
	if c.log.n == 0 && !shadow && c.execBreak() {
		return c.settle()
	}
	b := c.lookup()
	if b == nil {
		return c.settle()
	}
	c.shadow, c.shadowSS, c.noTrap, c.hits, c.log.pos = false, false, false, held, 0
	c.rflags &^= flagRF
	c.stepOp(b, 0, c.now, c.r[regIP])
	s := c.stop
	done := s != stopFault && s != stopExit
	if done {
		c.log.n = 0
	} else {
		c.shadow, c.shadowSS, c.hits = shadow, shadowSS, held
		c.rflags |= rf
	}
	exit := c.settle()
	if done && (trap && !c.noTrap || c.hits != 0) && !c.shadowSS {
		c.dr[6] = c.dr[6]&^0xf | c.hits | bit(trap, dr6BS)
		c.raise(excDB, 0)
		exit = c.settle() || exit
	}
	return exit
}
