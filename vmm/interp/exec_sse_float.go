package interp

import (
	"math"

	"codeberg.org/ticktrap/ticktrap/vmm/interp/softfloat"
)

// lane is a floating-point operation on one element, rounded to f.
type lane func(e *softfloat.Env, f softfloat.Format, a, b softfloat.Num) softfloat.Num

func laneAdd(e *softfloat.Env, f softfloat.Format, a, b softfloat.Num) softfloat.Num {
	return e.Add(f, a, b)
}
func laneSub(e *softfloat.Env, f softfloat.Format, a, b softfloat.Num) softfloat.Num {
	return e.Sub(f, a, b)
}
func laneMul(e *softfloat.Env, f softfloat.Format, a, b softfloat.Num) softfloat.Num {
	return e.Mul(f, a, b)
}
func laneDiv(e *softfloat.Env, f softfloat.Format, a, b softfloat.Num) softfloat.Num {
	return e.Div(f, a, b)
}
func laneSqrt(e *softfloat.Env, f softfloat.Format, _, b softfloat.Num) softfloat.Num {
	return e.Sqrt(f, b)
}

// laneMin and laneMax return the second operand if they are equal or one is a
// NaN. Intel SDM vol. 2, "MINPS—Minimum of Packed Single Precision
// Floating-Point Values".
func laneMin(e *softfloat.Env, _ softfloat.Format, a, b softfloat.Num) softfloat.Num {
	return pick(e, a, b, softfloat.Less)
}

func laneMax(e *softfloat.Env, _ softfloat.Format, a, b softfloat.Num) softfloat.Num {
	return pick(e, a, b, softfloat.Greater)
}

func pick(e *softfloat.Env, a, b softfloat.Num, first softfloat.Order) softfloat.Num {
	if e.DenormalsAreZero {
		a, b = zeroed(a), zeroed(b)
	}
	if e.Compare(a, b, false) == first {
		return a
	}
	return b
}

// zeroed is n with DAZ applied.
func zeroed(n softfloat.Num) softfloat.Num {
	if n.Denormal {
		return softfloat.Num{Neg: n.Neg}
	}
	return n
}

// fast is the same operation on the host, for the common case.
type fast struct {
	single func(a, b float32) float32
	double func(a, b float64) float64
}

var (
	fastAdd  = fast{func(a, b float32) float32 { return a + b }, func(a, b float64) float64 { return a + b }}
	fastSub  = fast{func(a, b float32) float32 { return a - b }, func(a, b float64) float64 { return a - b }}
	fastMul  = fast{func(a, b float32) float32 { return a * b }, func(a, b float64) float64 { return a * b }}
	fastDiv  = fast{func(a, b float32) float32 { return a / b }, func(a, b float64) float64 { return a / b }}
	fastNone = fast{}
)

// fastState is what MXCSR must be for the host's result to stand: round to
// nearest, and Inexact masked and noted already, so that nobody asks for it.
const (
	fastMask  = 3<<13 | fastState
	fastState = 1<<12 | uint32(softfloat.Inexact)
)

// normal32 reports whether a number is normal, not zero and not near the ends of
// its range.
func normal32(b uint32) bool { e := b >> 23 & 0xff; return e > 1 && e < 0xfe }
func normal64(b uint64) bool { e := b >> 52 & 0x7ff; return e > 1 && e < 0x7fe }

// lane32 and lane64 do one element, fast if nothing can go wrong.
func lane32(e *softfloat.Env, quick bool, l lane, f func(a, b float32) float32, a, b uint32) uint32 {
	if quick && normal32(a) && normal32(b) {
		if r := math.Float32bits(f(math.Float32frombits(a), math.Float32frombits(b))); normal32(r) {
			return r
		}
	}
	return l(e, softfloat.Single, softfloat.FromSingle(a), softfloat.FromSingle(b)).Single()
}

func lane64(e *softfloat.Env, quick bool, l lane, f func(a, b float64) float64, a, b uint64) uint64 {
	if quick && normal64(a) && normal64(b) {
		if r := math.Float64bits(f(math.Float64frombits(a), math.Float64frombits(b))); normal64(r) {
			return r
		}
	}
	return l(e, softfloat.Double, softfloat.FromDouble(a), softfloat.FromDouble(b)).Double()
}

// quick reports whether the host's arithmetic may be used.
func (c *CPU) quick() bool { return c.fpu.MXCSR&fastMask == fastState }

func scalar32(l lane, f fast) family {
	return sse(func(c *CPU, o *op) {
		b, ok := c.source32(o)
		if !ok {
			return
		}
		x := &c.fpu.XMM[o.reg&15]
		e := c.sseEnv()
		r := lane32(&e, c.quick() && f.single != nil, l, f.single, uint32(x[0]), b)
		if c.sseNote(&e) {
			x[0] = x[0]>>32<<32 | uint64(r)
		}
	})
}

func scalar64(l lane, f fast) family {
	return sse(func(c *CPU, o *op) {
		b, ok := c.source64(o)
		if !ok {
			return
		}
		x := &c.fpu.XMM[o.reg&15]
		e := c.sseEnv()
		r := lane64(&e, c.quick() && f.double != nil, l, f.double, x[0], b)
		if c.sseNote(&e) {
			x[0] = r
		}
	})
}

func packed32(l lane, f fast) family {
	return lanes32(func(c *CPU, e *softfloat.Env, a, b vec) (r vec) {
		quick := c.quick() && f.single != nil
		for i := range 4 {
			set32(&r, i, lane32(e, quick, l, f.single, get32(a, i), get32(b, i)))
		}
		return r
	})
}

func packed64(l lane, f fast) family {
	return lanes32(func(c *CPU, e *softfloat.Env, a, b vec) (r vec) {
		quick := c.quick() && f.double != nil
		for i := range 2 {
			r[i] = lane64(e, quick, l, f.double, a[i], b[i])
		}
		return r
	})
}

// lanes32 is the family of a packed operation with exceptions.
func lanes32(f func(c *CPU, e *softfloat.Env, a, b vec) vec) family {
	return sse(func(c *CPU, o *op) {
		b, ok := c.sourceVec(o)
		if !ok {
			return
		}
		e := c.sseEnv()
		x := &c.fpu.XMM[o.reg&15]
		if r := f(c, &e, *x, b); c.sseNote(&e) {
			*x = r
		}
	})
}

func get32(v vec, i int) uint32 { return uint32(v[i>>1] >> (i & 1 * 32)) }

func set32(v *vec, i int, x uint32) {
	s := i & 1 * 32
	v[i>>1] = v[i>>1]&^(0xffffffff<<s) | uint64(x)<<s
}

// Horizontal and alternating operations: which elements go where.

func horizontal32(l lane) family {
	return lanes32(func(_ *CPU, e *softfloat.Env, a, b vec) (r vec) {
		for i, v := range []vec{a, a, b, b} {
			j := i & 1 * 2
			set32(&r, i, lane32(e, false, l, nil, get32(v, j), get32(v, j+1)))
		}
		return r
	})
}

func horizontal64(l lane) family {
	return lanes32(func(_ *CPU, e *softfloat.Env, a, b vec) vec {
		return vec{lane64(e, false, l, nil, a[0], a[1]), lane64(e, false, l, nil, b[0], b[1])}
	})
}

func addsub32(_ *CPU, e *softfloat.Env, a, b vec) (r vec) {
	for i := range 4 {
		l := laneSub
		if i&1 != 0 {
			l = laneAdd
		}
		set32(&r, i, lane32(e, false, l, nil, get32(a, i), get32(b, i)))
	}
	return r
}

func addsub64(_ *CPU, e *softfloat.Env, a, b vec) vec {
	return vec{lane64(e, false, laneSub, nil, a[0], b[0]), lane64(e, false, laneAdd, nil, a[1], b[1])}
}

// predicate evaluates comparison predicate p, 0–7. Intel SDM vol. 2, "CMPPS",
// table 3-1.
func predicate(e *softfloat.Env, p uint8, a, b softfloat.Num) bool {
	quiet := p&3 == 0 || p&3 == 3 // EQ, UNORD, NEQ, ORD
	r := e.Compare(a, b, quiet)
	var v bool
	switch p & 3 {
	case 0:
		v = r == softfloat.Equal
	case 1:
		v = r == softfloat.Less
	case 2:
		v = r == softfloat.Less || r == softfloat.Equal
	case 3:
		v = r == softfloat.Unordered
	}
	return v != (p&4 != 0)
}

// cmp32 and cmp64 are CMPPS and CMPPD; scalar is CMPSS and CMPSD.
func cmp32(scalar bool) family {
	return sse(func(c *CPU, o *op) {
		b, ok := c.sourceVecOr32(o, scalar)
		if !ok {
			return
		}
		x := &c.fpu.XMM[o.reg&15]
		r := *x
		e := c.sseEnv()
		for i := range 4 {
			m := uint32(0)
			if predicate(&e, uint8(o.imm), softfloat.FromSingle(get32(*x, i)), softfloat.FromSingle(get32(b, i))) {
				m = ^uint32(0)
			}
			set32(&r, i, m)
			if scalar {
				break
			}
		}
		if c.sseNote(&e) {
			*x = r
		}
	})
}

func cmp64(scalar bool) family {
	return sse(func(c *CPU, o *op) {
		b, ok := c.sourceVecOr64(o, scalar)
		if !ok {
			return
		}
		x := &c.fpu.XMM[o.reg&15]
		r := *x
		e := c.sseEnv()
		for i := range 2 {
			r[i] = 0
			if predicate(&e, uint8(o.imm), softfloat.FromDouble(x[i]), softfloat.FromDouble(b[i])) {
				r[i] = ^uint64(0)
			}
			if scalar {
				break
			}
		}
		if c.sseNote(&e) {
			*x = r
		}
	})
}

// sourceVecOr32 is the W operand, of which a scalar operation needs 4 bytes.
func (c *CPU) sourceVecOr32(o *op, scalar bool) (vec, bool) {
	if scalar {
		v, ok := c.source32(o)
		return vec{uint64(v)}, ok
	}
	return c.sourceVec(o)
}

func (c *CPU) sourceVecOr64(o *op, scalar bool) (vec, bool) {
	if scalar {
		v, ok := c.source64(o)
		return vec{v}, ok
	}
	return c.sourceVec(o)
}

// comi32 and comi64 compare into RFLAGS; quiet ones accept quiet NaNs.
func comi32(quiet bool) family {
	return sse(func(c *CPU, o *op) {
		if b, ok := c.source32(o); ok {
			c.comi(softfloat.FromSingle(uint32(c.fpu.XMM[o.reg&15][0])), softfloat.FromSingle(b), quiet)
		}
	})
}

func comi64(quiet bool) family {
	return sse(func(c *CPU, o *op) {
		if b, ok := c.source64(o); ok {
			c.comi(softfloat.FromDouble(c.fpu.XMM[o.reg&15][0]), softfloat.FromDouble(b), quiet)
		}
	})
}

func (c *CPU) comi(a, b softfloat.Num, quiet bool) {
	e := c.sseEnv()
	r := e.Compare(a, b, quiet)
	if c.sseNote(&e) {
		c.orderFlags(r)
	}
}

// approx32 is RCPPS and RSQRTPS, which have no exceptions and whose results the
// manual gives to 1.5 × 2^-12: here they are rounded to 12 bits.
func approx32(scalar bool, f func(float64) float64) family {
	return sse(func(c *CPU, o *op) {
		b, ok := c.sourceVecOr32(o, scalar)
		if !ok {
			return
		}
		x := &c.fpu.XMM[o.reg&15]
		for i := range 4 {
			set32(x, i, approximation(get32(b, i), f))
			if scalar {
				break
			}
		}
	})
}

func approximation(b uint32, f func(float64) float64) uint32 {
	n := softfloat.FromSingle(b)
	switch {
	case n.IsNaN():
		return b | 1<<22
	case n.Denormal:
		n = softfloat.Num{Neg: n.Neg}
	}
	r := math.Float32bits(float32(f(float64(math.Float32frombits(n.Single())))))
	switch e := r >> 23 & 0xff; {
	case r&^(1<<31) > 0xff<<23:
		return 0xffc00000
	case e == 0:
		return r & (1 << 31)
	case e == 0xff:
		return r
	}
	return (r + 1<<10) &^ (1<<11 - 1)
}

func recip(x float64) float64     { return 1 / x }
func recipSqrt(x float64) float64 { return 1 / math.Sqrt(x) }

// dot32 is DPPS: products chosen by the high half of imm, summed pairwise, put
// where the low half says.
func dot32(c *CPU, o *op) {
	b, ok := c.sourceVec(o)
	if !ok {
		return
	}
	x := &c.fpu.XMM[o.reg&15]
	e := c.sseEnv()
	var p [4]softfloat.Num
	for i := range p {
		if o.imm>>(4+i)&1 != 0 {
			p[i] = e.Mul(softfloat.Single, softfloat.FromSingle(get32(*x, i)), softfloat.FromSingle(get32(b, i)))
		}
	}
	if !c.sseNote(&e) {
		return
	}
	// Every element adds up for itself, in its own order: it shows in which of
	// several NaNs comes out.
	var t [4]softfloat.Num
	for i := range t {
		t[i] = e.Add(softfloat.Single, redo32(p[i]), redo32(p[i^1]))
	}
	if !c.sseNote(&e) {
		return
	}
	var r vec
	for i := range t {
		s := e.Add(softfloat.Single, redo32(t[i]), redo32(t[i^2]))
		if o.imm>>i&1 != 0 {
			set32(&r, i, s.Single())
		}
	}
	if c.sseNote(&e) {
		*x = r
	}
}

// redo32 gives an intermediate result the looks of an operand.
func redo32(n softfloat.Num) softfloat.Num { return softfloat.FromSingle(n.Single()) }

// dot64 is DPPD.
func dot64(c *CPU, o *op) {
	b, ok := c.sourceVec(o)
	if !ok {
		return
	}
	x := &c.fpu.XMM[o.reg&15]
	e := c.sseEnv()
	var p [2]softfloat.Num
	for i := range p {
		if o.imm>>(4+i)&1 != 0 {
			p[i] = e.Mul(softfloat.Double, softfloat.FromDouble(x[i]), softfloat.FromDouble(b[i]))
		}
	}
	if !c.sseNote(&e) {
		return
	}
	s := e.Add(softfloat.Double, softfloat.FromDouble(p[0].Double()), softfloat.FromDouble(p[1].Double()))
	if !c.sseNote(&e) {
		return
	}
	var r vec
	for i := range r {
		if o.imm>>i&1 != 0 {
			r[i] = s.Double()
		}
	}
	*x = r
}
