package interp

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// The limits of the search for busy-wait loops.
const (
	// firstMark is the number of blocks after which a loop head is guessed for
	// the first time in a Run; every further guess takes twice as long.
	firstMark = 4
	lastMark  = 1 << 16
	// maxLoop is the greatest number of blocks in a loop that is skipped.
	maxLoop = 32
)

// probe looks for busy-wait loops: stretches of code that come back to where
// they were with nothing changed, and so will go on like that until the limit.
//
// It guesses a head now and then: a RIP and the general registers there. If the
// CPU comes to the same place with the same registers, one iteration is executed
// under observation: with every write compared with what is there already. If
// then the whole state is the same and no memory changed, every further
// iteration is the same, and as many as end before the limit are left out.
type probe struct {
	// on is true during an observed iteration; changed is set if it changed
	// memory, pauses counts its PAUSEs.
	on, changed bool
	pauses      int

	rip  uint64
	regs [16]uint64
	// moves is a register that differed when the CPU last came back to the head:
	// most often it will differ again.
	moves int
	count int  // blocks until the next guess
	mark  int  // blocks between the last guess and the next
	time  bool // RDTSC was executed since the guess
	head  state
}

// reset starts the search anew: nothing is known when a Run begins.
func (p *probe) reset(off bool) {
	p.rip, p.count, p.mark = noHead, 1, firstMark
	if off {
		p.count = 1 << 62
	}
}

// noHead is no loop head: not a canonical address.
const noHead = 1 << 62

// pass reports whether a loop of one block may go on without a search: it counts
// the block if so.
func (p *probe) pass(c *CPU) bool {
	if p.on || p.count <= 1 || p.rip == c.r[regIP] && (p.time || c.r[p.moves&15] == p.regs[p.moves&15]) {
		return false
	}
	p.count--
	return true
}

// search is called after each block, while the count lasts or at the head.
func (c *CPU) search() {
	p := &c.probe
	if p.rip != c.r[regIP] {
		p.rip, p.time = c.r[regIP], false
		copy(p.regs[:], c.r[:16])
		p.count = p.mark
		p.mark = min(2*p.mark, lastMark)
		return
	}
	if c.w.attn&^attnWindow != 0 {
		return
	}
	if p.time {
		if !c.skipTSC() {
			p.rip = noHead
		}
		return
	}
	if !p.sameRegs(c) {
		return
	}
	if !c.skipIdentical() {
		p.rip = noHead
	}
}

// sameRegs compares the general registers with those at the head.
func (p *probe) sameRegs(c *CPU) bool {
	if i := p.moves & 15; c.r[i] != p.regs[i] {
		return false
	}
	for i := range p.regs {
		if c.r[i] != p.regs[i] {
			p.moves = i
			return false
		}
	}
	return true
}

// observe begins an observed iteration.
func (c *CPU) observe() {
	p := &c.probe
	p.on, p.changed, p.pauses, p.time = true, false, 0, false
	c.setTLBKey()
	c.flags()
	p.head = c.state
}

// unobserve ends it.
func (c *CPU) unobserve() {
	c.probe.on = false
	c.setTLBKey()
}

// skipIdentical executes one iteration and, if it turns out to change nothing,
// skips further ones. It reports false if the loop is not of that kind.
func (c *CPU) skipIdentical() bool {
	p := &c.probe
	start, before := c.now, c.stats.Executed
	c.observe()
	back := false
	for i := 0; i < maxLoop && !back; i++ {
		b := c.lookup()
		if b == nil || c.now+clock.TSC(b.last) >= c.until {
			break
		}
		if c.run(b); c.stop != stopNone {
			break
		}
		back = c.r[regIP] == p.rip
	}
	c.unobserve()
	if !back || c.stop != stopNone || p.changed || p.time || !c.sameAsHead() {
		return false
	}
	c.skip(uint64((c.until-c.now)/(c.now-start)), c.now-start, c.stats.Executed-before)
	return true
}

// sameAsHead compares the state with that at the loop's head, but for the
// pause-loop timing, which skip carries on.
func (c *CPU) sameAsHead() bool {
	c.flags()
	c.probe.head.ple = c.ple
	return c.state == c.probe.head
}

// skip leaves out n iterations of the given length, or as many as pass before
// pause-loop exiting takes notice.
func (c *CPU) skip(n uint64, period clock.TSC, insns uint64) uint64 {
	if p := &c.ple; c.probe.pauses > 0 && c.intercepts.PLEWindow != 0 && c.w.cpl == 0 {
		switch {
		case c.probe.pauses > 1:
			return 0
		case period > clock.TSC(c.intercepts.PLEGap):
			p.first += clock.TSC(n) * period
		case p.last-p.first > clock.TSC(c.intercepts.PLEWindow):
			return 0
		default:
			n = min(n, uint64((clock.TSC(c.intercepts.PLEWindow)-(p.last-p.first))/period))
		}
		p.last += clock.TSC(n) * period
	}
	if n == 0 {
		return 0
	}
	c.now += clock.TSC(n) * period
	c.stats.Skipped += n * insns
	c.stats.Skips++
	return n
}
