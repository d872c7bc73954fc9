package softfloat

import "math/bits"

// FromInt returns v exactly.
func FromInt(v int64) Num {
	if v == 0 {
		return Num{}
	}
	n := Num{Class: Finite, Neg: v < 0, Sig: uint64(v)}
	if v < 0 {
		n.Sig = -n.Sig
	}
	z := bits.LeadingZeros64(n.Sig)
	n.Sig <<= z
	n.Exp = int32(63 - z)
	return n
}

// ToInt converts n to a signed integer of size bits. ok is false, and Invalid
// set, if there is no such integer.
func (e *Env) ToInt(n Num, size uint, mode Rounding) (v int64, ok bool) {
	e.RoundedUp = false
	if n.Class > Inf || n.Class == Inf {
		e.Flags |= Invalid
		return 0, false
	}
	n = e.flush(n)
	if n.Class == Zero {
		return 0, true
	}
	if n.Exp >= 64 {
		e.Flags |= Invalid
		return 0, false
	}
	old := e.Round
	e.Round = mode
	sig, inexact, up, carry := e.cut(wide{hi: n.Sig, exp: n.Exp, neg: n.Neg}, n.Exp+1)
	e.Round = old
	u := uint64(0)
	switch {
	case carry && n.Exp >= 63:
		e.Flags |= Invalid
		return 0, false
	case carry && n.Exp < 0:
		u = 1
	case carry:
		u = 1 << uint(n.Exp+1)
	case n.Exp >= 0:
		u = sig >> uint(63-n.Exp)
	}
	limit := uint64(1) << (size - 1)
	if u > limit || u == limit && !n.Neg {
		e.Flags |= Invalid
		return 0, false
	}
	e.note(inexact, up)
	if n.Neg {
		return -int64(u), true
	}
	return int64(u), true
}

// RoundToInt rounds n to an integer that is still a floating-point number. If
// exact is false no Inexact is noted (the ROUNDPS family can ask for that).
func (e *Env) RoundToInt(n Num, mode Rounding, note bool) Num {
	e.RoundedUp = false
	if n.Class > Inf {
		n, _ = e.unary(n)
		return n
	}
	n = e.flush(n)
	if n.Class != Finite || n.Exp >= 63 {
		return n
	}
	old := e.Round
	e.Round = mode
	sig, inexact, up, carry := e.cut(wide{hi: n.Sig, exp: n.Exp, neg: n.Neg}, n.Exp+1)
	e.Round = old
	if note {
		e.note(inexact, up)
	}
	switch {
	case carry && n.Exp < 0:
		return Num{Class: Finite, Sig: top, Neg: n.Neg}
	case carry:
		return Num{Class: Finite, Sig: top, Exp: n.Exp + 1, Neg: n.Neg}
	case sig == 0:
		return Num{Neg: n.Neg}
	}
	return Num{Class: Finite, Sig: sig, Exp: n.Exp, Neg: n.Neg}
}

// Scale returns a × 2^trunc(b), as FSCALE.
func (e *Env) Scale(f Format, a, b Num) Num {
	if r, done := e.binary(&a, &b); done {
		return r
	}
	if b.Class == Inf && (a.Class == Inf && b.Neg || a.Class == Zero && !b.Neg) {
		return e.invalid()
	}
	e.denormals(a, b)
	switch {
	case b.Class == Inf && b.Neg:
		return Num{Neg: a.Neg}
	case b.Class == Inf:
		return Num{Class: Inf, Sig: top, Neg: a.Neg}
	case a.Class != Finite:
		return a
	}
	k := int32(0)
	switch {
	case b.Class == Zero || b.Exp < 0:
	case b.Exp > 16:
		k = 1 << 17
	default:
		k = int32(b.Sig >> uint(63-b.Exp))
	}
	if b.Neg {
		k = -k
	}
	return e.round(f, wide{hi: a.Sig, exp: a.Exp + k, neg: a.Neg})
}

// Extract splits a finite number into exponent and significand, as FXTRACT.
func (e *Env) Extract(a Num) (exp, sig Num) {
	e.RoundedUp = false
	if a.Class > Inf {
		a, _ = e.unary(a)
		return a, a
	}
	switch a.Class {
	case Inf:
		return Num{Class: Inf, Sig: top}, a
	case Zero:
		e.Flags |= DivideByZero
		return Num{Class: Inf, Sig: top, Neg: true}, a
	}
	e.denormals(a, a)
	return FromInt(int64(a.Exp)), Num{Class: Finite, Sig: a.Sig, Neg: a.Neg}
}

// Rem is FPREM, or FPREM1 if nearest: the remainder of a ÷ b. quot has the low
// bits of the quotient. partial means that the reduction is not complete; it then
// took 32–63 bits off the difference of the exponents. Intel SDM vol. 2A, "FPREM"
// and "FPREM1".
func (e *Env) Rem(a, b Num, nearest bool) (r Num, quot uint64, partial bool) {
	if r, done := e.binary(&a, &b); done {
		return r, 0, false
	}
	if a.Class == Inf || b.Class == Zero {
		return e.invalid(), 0, false
	}
	e.denormals(a, b)
	d := a.Exp - b.Exp
	switch {
	case a.Class == Zero:
		return a, 0, false
	case d == -1 && b.Class == Finite && nearest && a.Sig > b.Sig: // above half of b
		return e.exactly(!a.Neg, 2*b.Sig-a.Sig, a.Exp), 1, false
	case b.Class == Inf || d < 0:
		return e.exactly(a.Neg, a.Sig, a.Exp), 0, false
	}
	exp, steps := b.Exp, d
	if d >= 64 {
		partial = true
		steps = d&31 | 32
		exp += d - steps
	}
	rem, quot := divide(a.Sig, b.Sig, steps)
	if partial {
		return e.exactly(a.Neg, rem, exp), 0, true
	}
	if twice := rem << 1; nearest && (rem >= top || twice > b.Sig || twice == b.Sig && quot&1 != 0) {
		return e.exactly(!a.Neg, b.Sig-rem, exp), quot + 1, false
	}
	return e.exactly(a.Neg, rem, exp), quot, false
}

// divide is a long division of a × 2^steps by b, bit by bit; both have the top
// bit set.
func divide(a, b uint64, steps int32) (rem, quot uint64) {
	if a >= b {
		a, quot = a-b, 1
	}
	for range steps {
		out := a >= top
		a, quot = a<<1, quot<<1
		if out || a >= b {
			a, quot = a-b, quot|1
		}
	}
	return a, quot
}

// exactly returns sig × 2^(exp−63).
func (e *Env) exactly(neg bool, sig uint64, exp int32) Num {
	if sig == 0 {
		return Num{Neg: neg}
	}
	return e.round(Extended, wide{hi: sig, exp: exp, neg: neg}.normal())
}
