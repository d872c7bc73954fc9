package interp

// mmxReady checks that MMX instructions may be used and puts the x87 into MMX
// state: TOP is zero and no register is empty. Intel SDM vol. 1, 9.5
// "Compatibility with x87 FPU Architecture".
func (c *CPU) mmxReady() bool {
	switch {
	case c.cr0&cr0EM != 0:
		c.raise(excUD, 0)
	case c.cr0&cr0TS != 0:
		c.raise(excNM, 0)
	case c.fpu.Status&fswES != 0 && c.cr0&cr0NE != 0:
		c.raise(excMF, 0)
	default:
		return true
	}
	return false
}

// enterMMX is what every MMX instruction but EMMS does to the x87 state once it
// cannot fault any more.
func (c *CPU) enterMMX() {
	c.setTop(0)
	c.fpu.Tag = 0xff
}

// mm and setMM access MMX registers; the state must have been entered.
func (c *CPU) mm(i uint8) uint64 { return c.fpu.ST[(i-c.fpu.Top)&7].Mant }

func (c *CPU) setMM(i uint8, v uint64) {
	c.enterMMX()
	c.fpu.ST[i&7].Mant, c.fpu.ST[i&7].Exp = v, 0xffff
}

// mmx makes a handler of a family that checks that MMX may be used.
func mmx(h handler) family {
	return both(func(c *CPU, o *op) {
		if c.mmxReady() {
			h(c, o)
		}
	})
}

// sourceMM is the Q operand: register or 8 bytes of memory.
func (c *CPU) sourceMM(o *op) (uint64, bool) {
	if o.flags&opMem != 0 {
		v, ok := load[int64](c, o)
		return uint64(v), ok
	}
	return c.mm(o.rm), true
}

// mmxOp is the family of P = f(P, Q).
func mmxOp(f intOp) family {
	return mmx(func(c *CPU, o *op) {
		if b, ok := c.sourceMM(o); ok {
			c.setMM(o.reg, f(vec{c.mm(o.reg)}, vec{b}, 8)[0])
		}
	})
}

// mmxShift is the family of shifts by an immediate.
func mmxShift(f intOp) family {
	return family{reg: mmx(func(c *CPU, o *op) {
		c.setMM(o.rm, f(vec{c.mm(o.rm)}, vec{o.imm & 0xff}, 8)[0])
	}).reg}
}

func execEMMS(c *CPU, _ *op) {
	c.setTop(0)
	c.fpu.Tag = 0
}

func execMMXload(c *CPU, o *op) {
	if v, ok := c.sourceMM(o); ok {
		c.setMM(o.reg, v)
	}
}

func execMMXstore(c *CPU, o *op) {
	v := c.mm(o.reg)
	if o.flags&opMem == 0 {
		c.setMM(o.rm, v)
	} else if store(c, o, int64(v)) {
		c.enterMMX()
	}
}

func execMMXMOVDload(c *CPU, o *op) {
	if v, ok := c.sourceGPR(o); ok {
		c.setMM(o.reg, v)
	}
}

func execMMXMOVDstore(c *CPU, o *op) {
	v := c.mm(o.reg)
	c.enterMMX()
	c.storeGPR(o, v)
}

func execMMXPMOVMSKB(c *CPU, o *op) {
	c.r[o.reg&15] = byteSigns(vec{c.mm(o.rm)}, 8)
	c.enterMMX()
}

func execPSHUFW(c *CPU, o *op) {
	if v, ok := c.sourceMM(o); ok {
		c.setMM(o.reg, shuffleWords(v, uint8(o.imm)))
	}
}

func execMMXPEXTRW(c *CPU, o *op) {
	c.r[o.reg&15] = c.mm(o.rm) >> (o.imm & 3 * 16) & 0xffff
	c.enterMMX()
}

func execMMXPINSRW(c *CPU, o *op) {
	v := c.r[o.rm&15]
	if o.flags&opMem != 0 {
		var ok bool
		if v, ok = c.loadOp(o, 2, accRead); !ok {
			return
		}
	}
	s := o.imm & 3 * 16
	c.setMM(o.reg, c.mm(o.reg)&^(0xffff<<s)|v&0xffff<<s)
}

func execMMXPALIGNR(c *CPU, o *op) {
	if b, ok := c.sourceMM(o); ok {
		c.setMM(o.reg, align(vec{c.mm(o.reg)}, vec{b}, 8, uint8(o.imm))[0])
	}
}

func execMASKMOVQ(c *CPU, o *op) {
	v, m := c.mm(o.reg), c.mm(o.rm)
	c.enterMMX()
	c.maskedStore(o, vec{v}, vec{m}, 8)
}

func execMOVQ2DQ(c *CPU, o *op) {
	v := c.mm(o.rm)
	c.enterMMX()
	c.fpu.XMM[o.reg&15] = vec{v}
}

func execMOVDQ2Q(c *CPU, o *op) { c.setMM(o.reg, c.fpu.XMM[o.rm&15][0]) }

// cvtToMM converts two numbers of W to doublewords: CVTPS2PI and CVTPD2PI.
func cvtToMM(double, truncate bool) family {
	return sse(func(c *CPU, o *op) {
		if !c.mmxReady() {
			return
		}
		var s vec
		var ok bool
		if double {
			s, ok = c.sourceVec(o)
		} else {
			s, ok = c.sourceVecOr64(o, true)
		}
		if !ok {
			return
		}
		e := c.sseEnv()
		f := cvtps2dq(truncate)
		if double {
			f = cvtpd2dq(truncate)
		} else {
			s[1] = 0
		}
		if r := f(&e, vec{}, s); c.sseNote(&e) {
			c.setMM(o.reg, r[0])
		}
	})
}

// cvtFromMM converts two doublewords of Q: CVTPI2PS and CVTPI2PD. Both leave
// the x87 state alone if Q is memory, as the hardware vectors show.
func cvtFromMM(double bool) family {
	return sse(func(c *CPU, o *op) {
		if !c.mmxReady() {
			return
		}
		q, ok := c.sourceMM(o)
		if !ok {
			return
		}
		x := &c.fpu.XMM[o.reg&15]
		r := *x
		e := c.sseEnv()
		if double {
			r = cvtdq2pd(&e, r, vec{q})
		} else {
			r[0] = cvtdq2ps(&e, r, vec{q})[0]
		}
		if !c.sseNote(&e) {
			return
		}
		if o.flags&opMem == 0 {
			c.enterMMX()
		}
		*x = r
	})
}
