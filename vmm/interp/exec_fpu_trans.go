package interp

import (
	"math"

	"codeberg.org/ticktrap/ticktrap/vmm/interp/softfloat"
)

// The transcendental functions go through the host's double precision: results
// are good to about 2^-52 where the manual promises one unit in the last place of
// 64 bits, and their last bits may depend on the architecture of the host. Intel
// SDM vol. 1, 8.3.10 "Transcendental Instruction Accuracy".

// fpuValue is n as a double.
func fpuValue(n softfloat.Num) float64 {
	e := softfloat.Env{Masked: 0x3f}
	return math.Float64frombits(e.Convert(softfloat.Double, n).Double())
}

// inexactly is the result f of an operation on a: rounded, and inexact unless it
// is zero or special.
func (c *CPU) inexactly(e *softfloat.Env, f float64) softfloat.Num {
	r := softfloat.FromDouble(math.Float64bits(f))
	r.Denormal = false
	if r.IsNaN() {
		e.Flags |= softfloat.Invalid
		return softfloat.Indefinite()
	}
	if r.Class == softfloat.Finite {
		e.Flags |= softfloat.Inexact
	}
	return r
}

// fpuSpecial deals with operands that have no double: NaNs and what is not a number
// at all. done means that r is the result.
func fpuSpecial(e *softfloat.Env, a softfloat.Num) (r softfloat.Num, done bool) {
	if a.IsNaN() || a.Class == softfloat.Unsupported {
		return e.Convert(softfloat.Extended, a), true
	}
	if a.Denormal {
		e.Flags |= softfloat.DenormalOperand
	}
	return a, false
}

// trigRange is the exponent from which on FSIN and its kin leave their operand
// alone and set C2.
const trigRange = 63

// curve is a function with its derivative.
type curve struct{ f, slope func(float64) float64 }

var (
	sine    = &curve{math.Sin, math.Cos}
	cosine  = &curve{math.Cos, func(x float64) float64 { return -math.Sin(x) }}
	tangent = &curve{math.Tan, func(x float64) float64 { t := math.Tan(x); return 1 + float64(t*t) }}
	unit    = &curve{func(float64) float64 { return 1 }, func(float64) float64 { return 0 }}
)

// at returns the value at a, with the bits of a that a double has no room for
// taken along the tangent.
func (k *curve) at(a softfloat.Num) float64 {
	h := fpuValue(a)
	e := softfloat.Env{Masked: 0x3f}
	low := fpuValue(e.Sub(softfloat.Extended, a, softfloat.FromDouble(math.Float64bits(h))))
	return k.f(h) + float64(low*k.slope(h)) // not fused
}

// trig is FSIN, FCOS, FSINCOS and FPTAN. The first function replaces ST(0), the
// second, if any, is pushed.
func trig(first, second *curve) handler {
	return fpu(func(c *CPU, _ *op) {
		c.fpu.Status &^= fswC1 | fswC2
		over := second != nil && !c.empty(7)
		if c.empty(0) || over {
			if c.stackFault(over && !c.empty(0)) {
				c.setST(0, softfloat.Indefinite())
				if second != nil {
					c.setTop(c.fpu.Top - 1)
					c.setST(0, softfloat.Indefinite())
				}
			}
			return
		}
		e := c.fpuEnv()
		a := c.st(0)
		r, done := fpuSpecial(&e, a)
		p := r
		switch {
		case done:
		case a.Class == softfloat.Finite && a.Exp >= trigRange:
			c.fpu.Status |= fswC2
			return
		case a.Class == softfloat.Inf:
			e.Flags |= softfloat.Invalid
			r, p = softfloat.Indefinite(), softfloat.Indefinite()
		case a.Class == softfloat.Finite && a.Exp < -200 && first.f(0) == 0: // sin x = tan x = x
			e.Flags |= softfloat.Inexact
			p = softfloat.FromInt(1)
		default:
			r = c.inexactly(&e, first.at(a))
			if a.Class == softfloat.Zero {
				e.Flags &^= softfloat.Inexact
				r.Neg = r.Neg || a.Neg && r.Class == softfloat.Zero
			}
			if second != nil {
				p = softfloat.FromDouble(math.Float64bits(second.at(a)))
			}
		}
		if !c.fpuNote(&e) {
			return
		}
		c.setST(0, r)
		if second != nil {
			c.pushST(p)
		}
	})
}

// twoToOne is FPATAN, FYL2X and FYL2XP1: f(ST(1), ST(0)) into ST(1), then a pop.
func twoToOne(f func(y, x float64) float64, zeroDivide func(y, x softfloat.Num) bool) handler {
	return fpu(func(c *CPU, _ *op) {
		c.clearC1()
		if c.empty(0) || c.empty(1) {
			if c.stackFault(false) {
				c.setST(1, softfloat.Indefinite())
				c.popST()
			}
			return
		}
		e := c.fpuEnv()
		x, y := c.st(0), c.st(1)
		var r softfloat.Num
		if x.Class > softfloat.Inf || y.Class > softfloat.Inf {
			r = e.Add(softfloat.Extended, x, y) // for its NaN rule
		} else {
			if x.Denormal || y.Denormal {
				e.Flags |= softfloat.DenormalOperand
			}
			if zeroDivide != nil && zeroDivide(y, x) {
				e.Flags |= softfloat.DivideByZero
				r = softfloat.FromDouble(math.Float64bits(f(fpuValue(y), fpuValue(x))))
			} else {
				r = c.inexactly(&e, f(fpuValue(y), fpuValue(x)))
			}
		}
		if c.fpuNote(&e) {
			c.setST(1, r)
			c.popST()
		}
	})
}

func log2(y, x float64) float64 {
	switch {
	case x < 0, x == 0 && y == 0, math.IsInf(x, 1) && y == 0, x == 1 && math.IsInf(y, 0):
		return math.NaN()
	}
	if d := x - 1; math.Abs(d) < 0.25 { // exact there, and better conditioned
		return y * (math.Log1p(d) * math.Log2E)
	}
	return y * math.Log2(x)
}

func log2p1(y, x float64) float64 { return y * (math.Log1p(x) * math.Log2E) }

// logOfZero is y log2 0 with a finite y.
func logOfZero(y, x softfloat.Num) bool {
	return x.Class == softfloat.Zero && y.Class == softfloat.Finite
}

func exp2m1(c *CPU, e *softfloat.Env, a softfloat.Num) softfloat.Num {
	r, done := fpuSpecial(e, a)
	switch {
	case done || a.Class == softfloat.Zero:
		return r
	case a.Class == softfloat.Inf && a.Neg:
		return softfloat.Num{Class: softfloat.Finite, Sig: 1 << 63, Neg: true}
	case a.Class == softfloat.Inf:
		return a
	}
	return c.inexactly(e, math.Expm1(fpuValue(a)*math.Ln2))
}
