package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// push64 and pop64 are the forms of 64-bit code.
func push64(c *CPU, v uint64) bool {
	sp := c.r[vmm.RSP] - 8
	if !canonical(sp) {
		c.raise(excSS, 0)
		return false
	}
	if !storeLin(c, sp, int64(v)) {
		return false
	}
	c.r[vmm.RSP] = sp
	return true
}

func pop64(c *CPU) (uint64, bool) {
	sp := c.r[vmm.RSP]
	if !canonical(sp) {
		c.raise(excSS, 0)
		return 0, false
	}
	v, ok := loadLin[int64](c, sp)
	if ok {
		c.r[vmm.RSP] = sp + 8
	}
	return uint64(v), ok
}

func execPUSH64(c *CPU, o *op) {
	if o.flags&opImm != 0 {
		push64(c, o.imm)
		return
	}
	push64(c, c.r[o.dst&15])
}

func execPOP64(c *CPU, o *op) {
	if v, ok := pop64(c); ok {
		c.r[o.dst&15] = v
	}
}

func execPUSH(c *CPU, o *op) {
	v := o.imm
	if o.flags&opImm == 0 {
		v = c.getN(o.dst, o.size)
	}
	c.push(o.size, v)
}

func execPUSHM(c *CPU, o *op) {
	if v, ok := c.loadOp(o, o.size, accRead); ok {
		c.push(o.size, v)
	}
}

func execPOP(c *CPU, o *op) {
	if v, ok := c.pop(o.size); ok {
		c.putN(o.dst, o.size, v)
	}
}

// execPOPM computes its address with the incremented stack pointer.
func execPOPM(c *CPU, o *op) {
	old := c.r[vmm.RSP]
	v, ok := c.pop(o.size)
	if ok && !c.storeOp(o, o.size, v) {
		c.r[vmm.RSP] = old
	}
}

// execPUSHseg pushes a selector. With an operand size of 4 only its two bytes are
// written, as the hardware vectors show.
func execPUSHseg(c *CPU, o *op) {
	if o.size != 4 {
		c.push(o.size, uint64(c.seg[o.imm].Selector))
		return
	}
	s := c.newStack()
	sp := (s.sp - uint64(o.size)) & s.mask
	if a, ok := s.at(sp, o.size, true); ok && c.writeAs(a, 2, uint64(c.seg[o.imm].Selector), s.acc) {
		c.setSP(sp, s.mask)
	}
}

func execPUSHA(c *CPU, o *op) {
	s := c.newStack()
	for i := range 8 {
		if !s.push(o.size, c.r[i]) {
			return
		}
	}
	s.done()
}

// execPOPA writes each register as it is popped; after a fault half way only the
// stack pointer is as before, as the hardware vectors show.
func execPOPA(c *CPU, o *op) {
	s := c.newStack()
	for i := 7; i >= 0; i-- {
		v, ok := s.pop(o.size)
		if !ok {
			return
		}
		if i != vmm.RSP {
			c.putN(uint8(i), o.size, v)
		}
	}
	s.done()
}

// flagsWritable returns the flags that POPF and IRET can change at this
// privilege.
func (c *CPU) flagsWritable(size uint8) uint64 {
	m := uint64(flagsArith | flagTF | flagDF | flagNT | flagAC | flagID | flagRF)
	if !c.w.prot || c.w.cpl == 0 {
		m |= flagIOPL
	}
	if !c.w.prot || c.w.cpl <= uint8(c.rflags>>12&3) {
		m |= flagIF
	}
	if size == 2 {
		m &= 0xffff
	}
	return m
}

func execPUSHF(c *CPU, o *op) { c.push(o.size, c.flags()&^(flagRF|flagVM)) }

func execPOPF(c *CPU, o *op) {
	v, ok := c.pop(o.size)
	if !ok {
		return
	}
	m := c.flagsWritable(o.size) &^ flagRF
	c.setFlags(c.flags()&^m&^uint64(flagRF) | v&m)
	c.setTLBKey()
	c.leave()
}

func execENTER(c *CPU, o *op) {
	level := o.disp & 31
	s := c.newStack()
	bp := c.r[vmm.RBP]
	if !s.push(o.size, bp) {
		return
	}
	frame := s.sp
	for i := uint64(1); i < level; i++ {
		a, ok := s.at(bp-i*uint64(o.size)&s.mask, o.size, false)
		if !ok {
			return
		}
		v, ok := c.read(a, o.size, accRead)
		if !ok || !s.push(o.size, v) {
			return
		}
	}
	if level > 0 && !s.push(o.size, frame) {
		return
	}
	s.sp = (s.sp - o.imm&0xffff) & s.mask
	// The new top of the stack must be writable.
	a, ok := s.at(s.sp, o.size, true)
	if !ok {
		return
	}
	if _, ok := c.read(a, o.size, accModify); !ok {
		return
	}
	c.putN(vmm.RBP, o.size, frame)
	s.done()
}

func execLEAVE(c *CPU, o *op) {
	s := c.newStack()
	s.sp = c.r[vmm.RBP] & s.mask
	if v, ok := s.pop(o.size); ok {
		s.done()
		c.putN(vmm.RBP, o.size, v)
	}
}

func execLEAVE64(c *CPU, _ *op) {
	bp := c.r[vmm.RBP]
	if !canonical(bp) {
		c.raise(excSS, 0)
		return
	}
	if v, ok := loadLin[int64](c, bp); ok {
		c.r[vmm.RSP], c.r[vmm.RBP] = bp+8, uint64(v)
	}
}
