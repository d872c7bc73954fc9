package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// jump moves RIP to target, which must be canonical or within the code segment.
func (c *CPU) jump(target uint64) bool {
	if c.w.mode == mode64 {
		if !canonical(target) {
			c.raise(excGP, 0)
			return false
		}
	} else if target > uint64(c.seg[segCS].Limit) {
		c.raise(excGP, 0)
		return false
	}
	c.r[regIP] = target
	return true
}

// relative returns the target of a relative branch.
func (c *CPU) relative(o *op) uint64 {
	t := c.r[regIP] + o.imm
	if o.size == 2 {
		t &= 0xffff
	}
	return t & c.w.ipMask
}

func execJMP64(c *CPU, o *op) { c.jump(c.r[regIP] + o.imm) }
func execJMP(c *CPU, o *op)   { c.jump(c.relative(o)) }

func execJcc(c *CPU, o *op) {
	if c.cond(o.code) {
		c.jump(c.relative(o))
	}
}

func execLOOP(c *CPU, o *op) {
	n := (c.r[vmm.RCX] - 1) & o.amask
	take := n != 0
	switch o.code {
	case 0xe0:
		take = take && !c.zf()
	case 0xe1:
		take = take && c.zf()
	}
	if take && !c.jump(c.relative(o)) {
		return
	}
	c.putN(vmm.RCX, o.asize, n)
}

func execJCXZ(c *CPU, o *op) {
	if c.r[vmm.RCX]&o.amask == 0 {
		c.jump(c.relative(o))
	}
}

// target reads the operand of an indirect branch.
func (c *CPU) target(o *op) (uint64, bool) {
	if o.flags&opMem == 0 {
		return c.getN(o.dst, o.size), true
	}
	return c.loadOp(o, o.size, accRead)
}

func execJMPE(c *CPU, o *op) {
	if t, ok := c.target(o); ok {
		c.jump(t)
	}
}

func (c *CPU) call(o *op, t uint64) {
	next, sp := c.r[regIP], c.r[vmm.RSP]
	if c.w.mode == mode64 && o.size == 8 {
		if push64(c, next) && !c.jump(t) {
			c.r[vmm.RSP] = sp
		}
		return
	}
	if c.push(o.size, next) && !c.jump(t) {
		c.r[vmm.RSP] = sp
	}
}

func execCALL(c *CPU, o *op) { c.call(o, c.relative(o)) }

func execCALLE(c *CPU, o *op) {
	if t, ok := c.target(o); ok {
		c.call(o, t)
	}
}

func execRET64(c *CPU, o *op) {
	sp := c.r[vmm.RSP]
	t, ok := pop64(c)
	if !ok {
		return
	}
	if !c.jump(t) {
		c.r[vmm.RSP] = sp
		return
	}
	c.r[vmm.RSP] += o.imm & 0xffff
}

func execRET(c *CPU, o *op) {
	s := c.newStack()
	t, ok := s.pop(o.size)
	if !ok || !c.jump(t) {
		return
	}
	s.sp += o.imm & 0xffff
	s.done()
}
