package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// execRETF is a far return, IRET without flags.
func execRETF(c *CPU, o *op) {
	s := c.newStack()
	ip, ok := s.pop(o.size)
	if !ok {
		return
	}
	sel, ok := s.pop(o.size)
	if !ok {
		return
	}
	extra := o.imm & 0xffff
	if !c.w.prot {
		s.sp += extra
		s.done()
		c.setRealSeg(segCS, uint16(sel))
		c.r[regIP] = ip & c.w.ipMask
		c.moved()
		return
	}
	s.sp += extra
	c.farReturn(o.size, &s, uint16(sel), ip, c.flags(), extra, uint8(sel&3) > c.w.cpl)
}

// farReturn finishes RETF and IRET in protected and IA-32e mode. popSS says that
// the stack pointer and SS come from the stack, too.
func (c *CPU) farReturn(size uint8, s *stack, sel uint16, ip, f, extra uint64, popSS bool) {
	cpl := uint8(sel & 3)
	if cpl < c.w.cpl {
		c.raise(excGP, uint32(sel)&^3)
		return
	}
	cs, ok := c.codeTarget(sel, cpl, true)
	if !ok {
		return
	}
	if popSS {
		sp, ok := s.pop(size)
		if !ok {
			return
		}
		ss, ok := s.pop(size)
		if !ok {
			return
		}
		newSS, ok := c.returnSS(uint16(ss), cpl, cs)
		if !ok {
			return
		}
		s.ss = newSS
		s.sp = sp + extra
	}
	outer := cpl > c.w.cpl
	if !c.enter(cs, ip) {
		return
	}
	c.setFlags(f)
	c.seg[segSS] = s.ss
	c.refresh() // the stack's width may be another one now
	c.setSP(s.sp, c.stackMask(&s.ss))
	if outer {
		for _, i := range [4]int{segES, segDS, segFS, segGS} {
			d := descriptor{c.seg[i]}
			if d.Attr&attrUnusable == 0 && !d.conforming() && d.dpl() < cpl {
				c.seg[i].Selector, c.seg[i].Attr = 0, attrUnusable
			}
		}
	}
	c.moved()
}

// returnSS checks the SS of a return: a null selector is allowed in 64-bit code
// below level 3.
func (c *CPU) returnSS(sel uint16, cpl uint8, cs vmm.Segment) (vmm.Segment, bool) {
	if sel&^3 == 0 && c.w.long && cs.Attr&attrL != 0 && cpl != 3 {
		return nullSS(cpl), true
	}
	if sel&^3 == 0 {
		c.raise(excGP, 0)
		return vmm.Segment{}, false
	}
	return c.checkSeg(segSS, sel, cpl, excGP)
}

// execIRET returns from an interrupt. Intel SDM vol. 2A, "IRET/IRETD/IRETQ".
func execIRET(c *CPU, o *op) {
	s := c.newStack()
	if c.w.prot && c.rflags&flagNT != 0 {
		if c.w.long {
			c.raise(excGP, 0)
			return
		}
		c.returnTask()
		return
	}
	var v [3]uint64
	for i := range v {
		var ok bool
		if v[i], ok = s.pop(o.size); !ok {
			return
		}
	}
	ip, sel := v[0], uint16(v[1])
	m := c.flagsWritable(o.size)
	f := c.flags()&^m | v[2]&m
	if !c.w.prot {
		s.done()
		c.setFlags(f)
		c.setRealSeg(segCS, sel)
		c.r[regIP] = ip & c.w.ipMask
		c.nmiBlocked = false
		c.moved()
		return
	}
	if v[2]&flagVM != 0 && !c.w.long && c.w.cpl == 0 && o.size == 4 {
		c.exitUnknown(o) // virtual-8086 mode does not exist here
		return
	}
	c.farReturn(o.size, &s, sel, ip, f, 0, c.w.mode == mode64 || uint8(sel&3) > c.w.cpl)
	if c.stop == stopNext {
		c.nmiBlocked = false
	}
}
