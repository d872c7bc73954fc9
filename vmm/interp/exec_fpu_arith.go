package interp

import "codeberg.org/ticktrap/ticktrap/vmm/interp/softfloat"

// fpuBinary is an operation on ST(0) and another operand.
type fpuBinary func(e *softfloat.Env, f softfloat.Format, st0, x softfloat.Num) softfloat.Num

func fpuAdd(e *softfloat.Env, f softfloat.Format, a, b softfloat.Num) softfloat.Num {
	return e.Add(f, a, b)
}
func fpuMul(e *softfloat.Env, f softfloat.Format, a, b softfloat.Num) softfloat.Num {
	return e.Mul(f, a, b)
}
func fpuSub(e *softfloat.Env, f softfloat.Format, a, b softfloat.Num) softfloat.Num {
	return e.Sub(f, a, b)
}
func fpuDiv(e *softfloat.Env, f softfloat.Format, a, b softfloat.Num) softfloat.Num {
	return e.Div(f, a, b)
}
func fpuSubR(e *softfloat.Env, f softfloat.Format, a, b softfloat.Num) softfloat.Num {
	return e.Sub(f, b, a)
}
func fpuDivR(e *softfloat.Env, f softfloat.Format, a, b softfloat.Num) softfloat.Num {
	return e.Div(f, b, a)
}

// fpuMem is the source of a memory operand.
type fpuMem func(c *CPU, o *op) (softfloat.Num, bool)

func memSingle(c *CPU, o *op) (softfloat.Num, bool) {
	v, ok := load[int32](c, o)
	return softfloat.FromSingle(uint32(v)), ok
}

func memDouble(c *CPU, o *op) (softfloat.Num, bool) {
	v, ok := load[int64](c, o)
	return softfloat.FromDouble(uint64(v)), ok
}

func memInt16(c *CPU, o *op) (softfloat.Num, bool) {
	v, ok := load[int16](c, o)
	return softfloat.FromInt(int64(v)), ok
}

func memInt32(c *CPU, o *op) (softfloat.Num, bool) {
	v, ok := load[int32](c, o)
	return softfloat.FromInt(int64(v)), ok
}

func memInt64(c *CPU, o *op) (softfloat.Num, bool) {
	v, ok := load[int64](c, o)
	return softfloat.FromInt(v), ok
}

// arith is ST(dst) = f(ST(0), x). It reports whether a pop may follow.
func (c *CPU) arith(f fpuBinary, dst uint8, x softfloat.Num) bool {
	e := c.fpuEnv()
	r := f(&e, c.fpuFormat(), c.st(0), x)
	if !c.fpuNote(&e) {
		return false
	}
	c.setST(dst, r)
	return true
}

// arithMem is ST(0) = f(ST(0), memory).
func arithMem(f fpuBinary, from fpuMem) handler {
	return fpu(func(c *CPU, o *op) {
		x, ok := from(c, o)
		switch {
		case !ok:
		case c.empty(0):
			if c.stackFault(false) {
				c.setST(0, softfloat.Indefinite())
			}
		default:
			c.arith(f, 0, x)
		}
	})
}

// arithReg is f(ST(0), ST(i)) into ST(0), or into ST(i) if back, and pops if pop.
func arithReg(f fpuBinary, back, pop bool) handler {
	return fpu(func(c *CPU, o *op) {
		i, dst := o.rm&7, uint8(0)
		if back {
			dst = i
		}
		done := false
		if c.empty(0) || c.empty(i) {
			if done = c.stackFault(false); done {
				c.setST(dst, softfloat.Indefinite())
			}
		} else {
			done = c.arith(f, dst, c.st(i))
		}
		if done && pop {
			c.popST()
		}
	})
}

// fpuOrder is the condition code of a comparison's result.
var fpuOrder = [...]uint16{softfloat.Unordered: fswC3 | fswC2 | fswC0, softfloat.Less: fswC0, softfloat.Equal: fswC3, softfloat.Greater: 0}

// compareST compares ST(0) with x and reports whether a pop may follow: not
// after an unmasked exception. The hardware vectors show that the condition code
// is set even then.
func (c *CPU) compareST(x softfloat.Num, quiet bool) bool {
	e := c.fpuEnv()
	r := e.Compare(c.st(0), x, quiet)
	done := c.fpuNote(&e)
	c.setCC(fpuOrder[r])
	return done
}

// compareEmpty is a comparison with an empty register.
func (c *CPU) compareEmpty() bool {
	done := c.stackFault(false)
	c.setCC(fpuOrder[softfloat.Unordered])
	return done
}

// compareMem is FCOM and FICOM, with the pops that follow.
func compareMem(from fpuMem, pops int) handler {
	return fpu(func(c *CPU, o *op) {
		x, ok := from(c, o)
		if !ok {
			return
		}
		done := false
		if c.empty(0) {
			done = c.compareEmpty()
		} else {
			done = c.compareST(x, false)
		}
		if done && pops > 0 {
			c.popST()
		}
	})
}

// compareReg is FCOM, FUCOM and their popping forms.
func compareReg(quiet bool, pops int) handler {
	return fpu(func(c *CPU, o *op) {
		i := o.rm & 7
		done := false
		if c.empty(0) || c.empty(i) {
			done = c.compareEmpty()
		} else {
			done = c.compareST(c.st(i), quiet)
		}
		for n := pops; done && n > 0; n-- {
			c.popST()
		}
	})
}

// compareFlags is FCOMI and FUCOMI: the result goes to ZF, PF and CF. C1 stays as
// it was.
func compareFlags(quiet, pop bool) handler {
	return fpu(func(c *CPU, o *op) {
		i := o.rm & 7
		r := softfloat.Unordered
		done := false
		if c.empty(0) || c.empty(i) {
			done = c.stackFault(false)
		} else {
			e := c.fpuEnv()
			c1 := c.fpu.Status & fswC1
			r = e.Compare(c.st(0), c.st(i), quiet)
			done = c.fpuNote(&e)
			c.fpu.Status |= c1
		}
		c.orderFlags(r)
		if done && pop {
			c.popST()
		}
	})
}

// orderFlags sets ZF, PF and CF to the result of a comparison and clears the
// other arithmetic flags.
func (c *CPU) orderFlags(r softfloat.Order) {
	f := [...]uint64{softfloat.Unordered: flagZF | flagPF | flagCF, softfloat.Less: flagCF, softfloat.Equal: flagZF, softfloat.Greater: 0}[r]
	c.rflags = c.flags()&^flagsArith | f
}

func execFTST(c *CPU, _ *op) {
	if c.empty(0) {
		c.compareEmpty()
		return
	}
	c.compareST(softfloat.Num{}, false)
}

// execFXAM classifies ST(0). Intel SDM vol. 2A, "FXAM—Examine Floating-Point".
func execFXAM(c *CPU, _ *op) {
	n := c.st(0)
	cc := uint16(0)
	switch {
	case c.empty(0):
		cc = fswC3 | fswC0
	case n.Class == softfloat.Zero:
		cc = fswC3
	case n.Class == softfloat.Inf:
		cc = fswC2 | fswC0
	case n.IsNaN():
		cc = fswC0
	case n.Denormal:
		cc = fswC3 | fswC2
	case n.Class == softfloat.Finite:
		cc = fswC2
	}
	if n.Neg {
		cc |= fswC1
	}
	c.setCC(cc)
}

// fpuUnary is ST(0) = f(ST(0)).
func fpuUnary(f func(c *CPU, e *softfloat.Env, a softfloat.Num) softfloat.Num) handler {
	return fpu(func(c *CPU, o *op) {
		if c.empty(0) {
			if c.stackFault(false) {
				c.setST(0, softfloat.Indefinite())
			}
			return
		}
		e := c.fpuEnv()
		r := f(c, &e, c.st(0))
		if c.fpuNote(&e) {
			c.setST(0, r)
		}
	})
}

func fpuSqrt(c *CPU, e *softfloat.Env, a softfloat.Num) softfloat.Num {
	return e.Sqrt(c.fpuFormat(), a)
}

func fpuRound(_ *CPU, e *softfloat.Env, a softfloat.Num) softfloat.Num {
	if a.Denormal {
		e.Flags |= softfloat.DenormalOperand
	}
	return e.RoundToInt(a, e.Round, true)
}

// fpuPair checks that ST(0) and ST(1) are there, for operations on both.
func (c *CPU) fpuPair() bool {
	if !c.empty(0) && !c.empty(1) {
		return true
	}
	if c.stackFault(false) {
		c.setST(0, softfloat.Indefinite())
	}
	return false
}

func execFSCALE(c *CPU, _ *op) {
	if !c.fpuPair() {
		return
	}
	e := c.fpuEnv()
	r := e.Scale(softfloat.Extended, c.st(0), c.st(1))
	if c.fpuNote(&e) {
		c.setST(0, r)
	}
}

// remainder is FPREM, or FPREM1.
func remainder(nearest bool) handler {
	return fpu(func(c *CPU, _ *op) {
		if !c.fpuPair() {
			c.fpu.Status &^= fswC2
			return
		}
		e := c.fpuEnv()
		r, q, partial := e.Rem(c.st(0), c.st(1), nearest)
		if !c.fpuNote(&e) {
			return
		}
		c.setST(0, r)
		if r.IsNaN() {
			c.fpu.Status &^= fswC1 | fswC2
			return
		}
		cc := uint16(q&4<<6 | q&2<<13 | q&1<<9)
		if partial {
			cc = fswC2
		}
		c.setCC(cc)
	})
}

func execFXTRACT(c *CPU, _ *op) {
	if c.empty(0) {
		if c.stackFault(false) {
			c.setST(0, softfloat.Indefinite())
			c.setTop(c.fpu.Top - 1)
			c.setST(0, softfloat.Indefinite())
		}
		return
	}
	if !c.empty(7) {
		if c.stackFault(true) {
			c.setST(0, softfloat.Indefinite())
			c.setTop(c.fpu.Top - 1)
			c.setST(0, softfloat.Indefinite())
		}
		return
	}
	e := c.fpuEnv()
	exp, sig := e.Extract(c.st(0))
	if c.fpuNote(&e) {
		c.setST(0, exp)
		c.pushST(sig)
	}
}
