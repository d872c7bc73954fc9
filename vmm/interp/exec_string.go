package interp

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// stringStep is one iteration of a string instruction: it moves its pointers and
// reports false if it was not completed.
type stringStep func(c *CPU, o *op) bool

// repeat returns the handler of a string instruction. With REP it iterates until
// the count is zero, the limit is reached, or, if cmp is set, ZF says so. Every
// iteration costs as much as the instruction without REP.
func repeat(step stringStep, bulk func(c *CPU, o *op, n uint64) uint64, cmp bool) handler {
	return func(c *CPU, o *op) {
		if o.flags&(opRep|opRepne) == 0 {
			step(c, o)
			return
		}
		if c.r[vmm.RCX]&o.amask == 0 {
			c.noIterations(o)
			return
		}
		flags := lazyFlags{c.rflags, c.cc}
		one := c.w.attn&(attnStep|attnReplay|attnShadow) != 0
		for {
			n := uint64(1)
			if bulk != nil && !one && !c.probe.on {
				n = max(1, bulk(c, o, c.iterations(o)))
			}
			if n == 1 && !step(c, o) {
				if cmp { // a fault shows the flags from before the instruction
					c.rflags, c.cc = flags.rflags, flags.cc
				}
				return
			}
			left := (c.r[vmm.RCX] - n) & o.amask
			c.putN(vmm.RCX, o.asize, left)
			if left == 0 || cmp && c.zf() != (o.flags&opRep != 0) {
				c.now += clock.TSC(o.cost) * clock.TSC(n-1)
				return
			}
			if one || c.stop != stopNone || c.now+clock.TSC(o.cyc)+clock.TSC(o.cost)*clock.TSC(n) >= c.until {
				c.now += clock.TSC(o.cost) * clock.TSC(n-1)
				c.stop = stopAgain
				return
			}
			c.now += clock.TSC(o.cost) * clock.TSC(n)
		}
	}
}

// lazyFlags are the arithmetic flags as they are kept.
type lazyFlags struct {
	rflags uint64
	cc     lazy
}

// noIterations is REP with a count of zero. With 32-bit addresses in 64-bit mode
// the processor clears the upper half of the count, and of the pointers of MOVS
// and STOS, as the hardware vectors show.
func (c *CPU) noIterations(o *op) {
	if o.asize != 4 || c.w.mode != mode64 {
		return
	}
	c.putN(vmm.RCX, 4, 0)
	switch o.code &^ 1 {
	case 0xa4:
		c.putN(vmm.RSI, 4, c.r[vmm.RSI])
		c.putN(vmm.RDI, 4, c.r[vmm.RDI])
	case 0xaa:
		c.putN(vmm.RDI, 4, c.r[vmm.RDI])
	}
}

// iterations is the number of iterations that may begin before the limit, as far
// as the count goes.
func (c *CPU) iterations(o *op) uint64 {
	time := uint64(c.until-c.now) - uint64(o.cyc)
	n := (time + uint64(o.cost) - 1) / uint64(o.cost)
	return min(n, c.r[vmm.RCX]&o.amask)
}

// advance moves pointer register r by n elements.
func (c *CPU) advance(o *op, r uint8, n uint64) {
	d := n * uint64(o.size)
	if c.rflags&flagDF != 0 {
		d = -d
	}
	c.putN(r, o.asize, (c.r[r]+d)&o.amask)
}

// sourceSeg is the segment of rSI.
func (o *op) source() uint8 {
	return o.seg
}

func movsStep(c *CPU, o *op) bool {
	v, ok := c.readSeg(o.source(), c.r[vmm.RSI]&o.amask, o.size)
	if !ok || !c.writeSeg(segES, c.r[vmm.RDI]&o.amask, o.size, v) {
		return false
	}
	c.advance(o, vmm.RSI, 1)
	c.advance(o, vmm.RDI, 1)
	return true
}

func stosStep(c *CPU, o *op) bool {
	if !c.writeSeg(segES, c.r[vmm.RDI]&o.amask, o.size, c.r[vmm.RAX]) {
		return false
	}
	c.advance(o, vmm.RDI, 1)
	return true
}

func lodsStep(c *CPU, o *op) bool {
	v, ok := c.readSeg(o.source(), c.r[vmm.RSI]&o.amask, o.size)
	if !ok {
		return false
	}
	c.putN(vmm.RAX, o.size, v)
	c.advance(o, vmm.RSI, 1)
	return true
}

func scasStep(c *CPU, o *op) bool {
	v, ok := c.readSeg(segES, c.r[vmm.RDI]&o.amask, o.size)
	if !ok {
		return false
	}
	c.compare(c.r[vmm.RAX], v, o.size)
	c.advance(o, vmm.RDI, 1)
	return true
}

func cmpsStep(c *CPU, o *op) bool {
	a, ok := c.readSeg(o.source(), c.r[vmm.RSI]&o.amask, o.size)
	if !ok {
		return false
	}
	b, ok := c.readSeg(segES, c.r[vmm.RDI]&o.amask, o.size)
	if !ok {
		return false
	}
	c.compare(a, b, o.size)
	c.advance(o, vmm.RSI, 1)
	c.advance(o, vmm.RDI, 1)
	return true
}

// compare sets the flags of a − b.
func (c *CPU) compare(a, b uint64, size uint8) {
	x, y := sext(a, size), sext(b, size)
	c.cc = lazy{kind: ccSub, a: x, b: y, r: sext(uint64(x-y), size)}
}

// bulkMOVS and bulkSTOS do up to n forward iterations at once within the pages
// that the pointers are in, and return how many. They do it only where both
// pages are in the TLB and 64-bit addressing applies.
func bulkMOVS(c *CPU, o *op, n uint64) uint64 {
	if o.flags&opLegacy != 0 || c.rflags&flagDF != 0 || o.asize != 8 {
		return 0
	}
	size := uint64(o.size)
	from, to := c.r[vmm.RSI]+c.w.segBase[o.source()&7], c.r[vmm.RDI]
	n = min(n, (pageSize-from&pageMask)/size, (pageSize-to&pageMask)/size)
	r, w := &c.tlb.r[slot(from)], &c.tlb.w[slot(to)]
	if n < 2 || r.tag != from&^pageMask|c.tlb.keyR || w.tag != to&^pageMask|c.tlb.keyW {
		return 0
	}
	src, dst := r.page[from&pageMask:][:n*size], w.page[to&pageMask:][:n*size]
	if d := to&pageMask - from&pageMask; r.page == w.page && d > 0 && d < n*size {
		return 0 // the source is overwritten while it is read
	}
	copy(dst, src)
	c.r[vmm.RSI] += n * size
	c.r[vmm.RDI] += n * size
	return n
}

func bulkSTOS(c *CPU, o *op, n uint64) uint64 {
	if o.flags&opLegacy != 0 || c.rflags&flagDF != 0 || o.asize != 8 {
		return 0
	}
	size := uint64(o.size)
	to := c.r[vmm.RDI]
	n = min(n, (pageSize-to&pageMask)/size)
	w := &c.tlb.w[slot(to)]
	if n < 2 || w.tag != to&^pageMask|c.tlb.keyW {
		return 0
	}
	for i := range n {
		pokeN(w.page, to&pageMask+i*size, o.size, c.r[vmm.RAX])
	}
	c.r[vmm.RDI] += n * size
	return n
}
