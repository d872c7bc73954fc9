package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// stack pushes and pops without changing registers until done: an instruction
// that faults half way leaves them as they were.
type stack struct {
	c    *CPU
	ss   vmm.Segment
	sp   uint64
	mask uint64
	acc  access // of pushes
}

// stackMask is the mask of the stack pointer.
func (c *CPU) stackMask(ss *vmm.Segment) uint64 {
	switch {
	case c.w.mode == mode64:
		return ^uint64(0)
	case ss.Attr&attrDB != 0:
		return 0xffffffff
	}
	return 0xffff
}

// newStack returns the present stack.
func (c *CPU) newStack() stack {
	return stack{c: c, ss: c.seg[segSS], sp: c.r[vmm.RSP], mask: c.stackMask(&c.seg[segSS]), acc: accWrite}
}

// innerStack returns the stack for level cpl from the TSS, in protected mode.
func (c *CPU) innerStack(cpl uint8, ext uint32) (s stack, ok bool) {
	var sp, sel uint64
	if c.tr.Attr&8 != 0 {
		if sp, ok = c.readTSS(4+uint64(cpl)*8, 4, ext); ok {
			sel, ok = c.readTSS(8+uint64(cpl)*8, 2, ext)
		}
	} else if sp, ok = c.readTSS(2+uint64(cpl)*4, 2, ext); ok {
		sel, ok = c.readTSS(4+uint64(cpl)*4, 2, ext)
	}
	if !ok {
		return s, false
	}
	ss, ok := c.checkSeg(segSS, uint16(sel), cpl, excTS)
	if !ok {
		return s, false
	}
	return stack{c: c, ss: ss, sp: sp, mask: c.stackMask(&ss), acc: stackAccess(cpl)}, true
}

// at returns the linear address of size bytes at offset sp.
func (s *stack) at(sp uint64, size uint8, write bool) (uint64, bool) {
	c := s.c
	if c.w.mode == mode64 {
		if !canonical(sp) {
			c.raise(excSS, 0)
			return 0, false
		}
		return sp, true
	}
	keep := c.seg[segSS]
	c.seg[segSS] = s.ss
	a, ok := c.segLinear(segSS, sp&s.mask, size, write)
	c.seg[segSS] = keep
	return a, ok
}

func (s *stack) push(size uint8, v uint64) bool {
	sp := (s.sp - uint64(size)) & s.mask
	a, ok := s.at(sp, size, true)
	if !ok || !s.c.writeAs(a, size, zext(v, size), s.acc) {
		return false
	}
	s.sp = sp
	return true
}

func (s *stack) pop(size uint8) (uint64, bool) {
	a, ok := s.at(s.sp, size, false)
	if !ok {
		return 0, false
	}
	v, ok := s.c.read(a, size, accRead)
	if ok {
		s.sp = (s.sp + uint64(size)) & s.mask
	}
	return v, ok
}

// done makes the stack the present one.
func (s *stack) done() {
	s.c.seg[segSS] = s.ss
	s.c.setSP(s.sp, s.mask)
}

// setSP sets the stack pointer's bits in mask.
func (c *CPU) setSP(sp, mask uint64) {
	if mask == 0xffff {
		c.r[vmm.RSP] = c.r[vmm.RSP]&^0xffff | sp&0xffff
	} else {
		c.r[vmm.RSP] = sp & mask
	}
}

// push and pop work on the present stack.
func (c *CPU) push(size uint8, v uint64) bool {
	s := c.newStack()
	if !s.push(size, v) {
		return false
	}
	c.setSP(s.sp, s.mask)
	return true
}

func (c *CPU) pop(size uint8) (uint64, bool) {
	s := c.newStack()
	v, ok := s.pop(size)
	if ok {
		c.setSP(s.sp, s.mask)
	}
	return v, ok
}
