package interp

func execMOVfromSeg(c *CPU, o *op) {
	if o.reg > 5 {
		c.raise(excUD, 0)
		return
	}
	v := uint64(c.seg[o.reg].Selector)
	if o.flags&opMem != 0 {
		c.storeOp(o, 2, v)
		return
	}
	c.putN(o.rm, o.size, v)
}

func execMOVtoSeg(c *CPU, o *op) {
	if o.reg > 5 || o.reg == segCS {
		c.raise(excUD, 0)
		return
	}
	v, ok := c.operand(o, o.rm, 2)
	if ok && c.loadSeg(int(o.reg), uint16(v)) {
		c.segLoaded(int(o.reg))
	}
}

// segLoaded ends an op that loaded segment register i: a load of SS blocks
// interrupts for one instruction.
func (c *CPU) segLoaded(i int) {
	if i == segSS {
		c.shadow, c.shadowSS = true, true
	}
	c.leave()
}

func execPOPseg(c *CPU, o *op) {
	s := c.newStack()
	v, ok := s.pop(o.size)
	if !ok || !c.loadSeg(int(o.imm), uint16(v)) {
		return
	}
	c.setSP(s.sp, s.mask)
	c.segLoaded(int(o.imm))
}

// loadFar returns the handler of LES, LDS, LSS, LFS, LGS.
func loadFar(i int) handler {
	return func(c *CPU, o *op) {
		sel, off, ok := c.farPointer(o)
		if ok && c.loadSeg(i, sel) {
			c.putN(o.dst, o.size, off)
			c.leave()
		}
	}
}

func execSWAPGS(c *CPU, _ *op) {
	if c.privileged() {
		c.seg[segGS].Base, c.msr.kernelGSBase = c.msr.kernelGSBase, c.seg[segGS].Base
		c.w.segBase[segGS] = c.seg[segGS].Base
	}
}

// execFSGSBase is RDFSBASE, RDGSBASE, WRFSBASE, WRGSBASE: ModRM.reg 0–3.
func execFSGSBase(c *CPU, o *op) {
	if c.cr4&cr4FSGSBASE == 0 {
		c.raise(excUD, 0)
		return
	}
	i := segFS + int(o.reg&1)
	if o.reg&2 == 0 {
		c.putN(o.rm, o.size, c.seg[i].Base)
		return
	}
	v := c.getN(o.rm, o.size)
	if !canonical(v) {
		c.raise(excGP, 0)
		return
	}
	c.seg[i].Base = v
	c.w.segBase[i] = v
}
