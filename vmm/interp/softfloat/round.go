package softfloat

import "math/bits"

// Rounding is a rounding mode, as control registers encode it. Intel SDM vol. 1,
// 4.8.4 "Rounding".
type Rounding uint8

// The rounding modes.
const (
	Nearest Rounding = iota // to even in case of a tie
	Down
	Up
	Truncate
)

// Flags are the floating-point exceptions in the order of the status registers.
type Flags uint8

// The exceptions.
const (
	Invalid Flags = 1 << iota
	DenormalOperand
	DivideByZero
	Overflow
	Underflow
	Inexact

	// PreComputation are those found before anything is computed; unmasked,
	// they keep the operation from happening.
	PreComputation = Invalid | DenormalOperand | DivideByZero
)

// Env is the environment of operations.
type Env struct {
	Round  Rounding
	Masked Flags
	// X87 selects the x87's NaN rule and its results for unmasked overflow and
	// underflow.
	X87 bool
	// FlushToZero makes masked underflow give zero (MXCSR.FTZ);
	// DenormalsAreZero makes operands zero (MXCSR.DAZ).
	FlushToZero, DenormalsAreZero bool
	// Flags collects exceptions.
	Flags Flags
	// RoundedUp is true if the last rounding increased the magnitude (C1).
	RoundedUp bool
}

// wide is a finite result before rounding: 128 bits of significand with the top
// bit set; the lowest bit stands for everything beyond.
type wide struct {
	hi, lo uint64
	exp    int32
	neg    bool
}

// normal shifts w until its top bit is set. It must not be zero.
func (w wide) normal() wide {
	if w.hi == 0 {
		w.hi, w.lo = w.lo, 0
		w.exp -= 64
	}
	z := uint(bits.LeadingZeros64(w.hi))
	w.hi, w.lo = w.hi<<z|w.lo>>(64-z), w.lo<<z
	w.exp -= int32(z)
	return w
}

// shiftRight shifts by n bits and keeps the lowest bit sticky.
func shiftRight(hi, lo uint64, n uint) (uint64, uint64) {
	switch {
	case n == 0:
		return hi, lo
	case n < 64:
		return hi >> n, hi<<(64-n) | lo>>n | sticky(lo<<(64-n))
	case n < 128:
		return 0, hi>>(n-64) | sticky(lo|hi<<(128-n))
	}
	return 0, sticky(hi | lo)
}

func sticky(v uint64) uint64 {
	if v != 0 {
		return 1
	}
	return 0
}

// cut rounds the significand to its highest prec bits (0–64). up tells whether
// the magnitude grew; carry that it became a power of two one exponent higher.
func (e *Env) cut(w wide, prec int32) (sig uint64, inexact, up, carry bool) {
	if prec < 0 { // nothing of it is kept, not even the rounding bit
		w.hi, w.lo, prec = 0, 1, 0
	}
	drop := uint(64 - prec)
	sig, rest := w.hi>>drop, w.lo
	if drop > 0 {
		rest = w.hi<<(64-drop) | sticky(w.lo)
	}
	if rest == 0 {
		return sig << drop, false, false, false
	}
	switch e.Round {
	case Nearest:
		up = rest > top || rest == top && sig&1 != 0
	case Down:
		up = w.neg
	case Up:
		up = !w.neg
	}
	if up {
		sig++
		if sig<<drop == 0 { // all ones before, or nothing kept
			return top, true, true, true
		}
	}
	return sig << drop, true, up, false
}

// round makes w a number of format f.
func (e *Env) round(f Format, w wide) Num {
	sig, inexact, up, carry := e.cut(w, int32(f.Prec))
	exp := w.exp
	if carry {
		exp++
	}
	switch {
	case exp > f.Emax:
		return e.overflow(f, w.neg, Num{Sig: sig, Exp: exp, Class: Finite, Neg: w.neg}, inexact, up)
	case exp < f.Emin:
		return e.underflow(f, w, Num{Sig: sig, Exp: exp, Class: Finite, Neg: w.neg}, inexact, up)
	}
	e.note(inexact, up)
	return Num{Sig: sig, Exp: exp, Class: Finite, Neg: w.neg}
}

func (e *Env) note(inexact, up bool) {
	e.RoundedUp = up
	if inexact {
		e.Flags |= Inexact
	}
}

// wrapBias is what the exponent of an unmasked overflow or underflow is moved
// by. Intel SDM vol. 1, 8.5.4 "Numeric Overflow Exception (#O)".
const wrapBias = 24576

func (e *Env) overflow(f Format, neg bool, n Num, inexact, up bool) Num {
	e.Flags |= Overflow
	if e.Masked&Overflow == 0 {
		if e.X87 && f.Emax == Extended.Emax {
			n.Exp -= wrapBias
			if n.Exp > f.Emax { // only FSCALE comes this far
				n = Num{Class: Inf, Sig: top, Neg: neg}
			}
		}
		e.note(inexact, up)
		return n
	}
	e.Flags |= Inexact
	if e.Round == Truncate || e.Round == Down && !neg || e.Round == Up && neg {
		e.RoundedUp = false
		return Num{Sig: ^uint64(0) << (64 - f.Prec), Exp: f.Emax, Class: Finite, Neg: neg}
	}
	e.RoundedUp = true
	return Num{Class: Inf, Sig: top, Neg: neg}
}

// underflow deals with a tiny result: w before, n after rounding as if the
// exponent were unbounded.
func (e *Env) underflow(f Format, w wide, n Num, inexact, up bool) Num {
	if e.Masked&Underflow == 0 {
		e.Flags |= Underflow
		if e.X87 && f.Emax == Extended.Emax {
			n.Exp += wrapBias
			if n.Exp < f.Emin {
				n = Num{Neg: w.neg}
			}
		}
		e.note(inexact, up)
		return n
	}
	if e.FlushToZero {
		e.Flags |= Underflow | Inexact
		return Num{Neg: w.neg}
	}
	prec := int32(f.Prec) - (f.Emin - w.exp)
	sig, inexact, up, carry := e.cut(w, prec)
	e.note(inexact, up)
	if inexact {
		e.Flags |= Underflow
	}
	if sig == 0 {
		return Num{Neg: w.neg}
	}
	if prec <= 0 { // rounded up to the smallest denormal
		return Num{Sig: top, Exp: f.Emin - int32(f.Prec) + 1, Class: Finite, Neg: w.neg}
	}
	exp := w.exp
	if carry {
		exp++
	}
	return Num{Sig: sig, Exp: exp, Class: Finite, Neg: w.neg}
}

// Convert rounds n to format f. NaNs are quieted.
func (e *Env) Convert(f Format, n Num) Num {
	e.RoundedUp = false
	n, done := e.unary(n)
	if done || n.Class != Finite {
		return n
	}
	n = e.round(f, wide{hi: n.Sig, exp: n.Exp, neg: n.Neg})
	return n
}

// unary checks a single operand. done means that n is the result.
func (e *Env) unary(n Num) (Num, bool) {
	switch {
	case n.Class == Unsupported:
		e.Flags |= Invalid
		return indefinite, true
	case n.Class == SNaN:
		e.Flags |= Invalid
		return n.quiet(), true
	case n.Class == QNaN:
		return n, true
	}
	n = e.flush(n)
	if n.Denormal {
		e.Flags |= DenormalOperand
	}
	return n, false
}

// flush applies DAZ.
func (e *Env) flush(n Num) Num {
	if n.Denormal && e.DenormalsAreZero {
		return Num{Neg: n.Neg}
	}
	return n
}

// binary checks two operands. done means that r is the result.
func (e *Env) binary(a, b *Num) (r Num, done bool) {
	e.RoundedUp = false
	if a.Class <= Inf && b.Class <= Inf {
		*a, *b = e.flush(*a), e.flush(*b)
		return r, false
	}
	return e.nan(*a, *b), true
}

// nan is the result for operands of which one is a NaN. Intel SDM vol. 1, 4.8.3.5
// "Operating on SNaNs and QNaNs", table 4-7.
func (e *Env) nan(a, b Num) Num {
	if a.Class == Unsupported || b.Class == Unsupported {
		e.Flags |= Invalid
		return indefinite
	}
	if a.Class == SNaN || b.Class == SNaN {
		e.Flags |= Invalid
	}
	switch {
	case !b.IsNaN():
		return a.quiet()
	case !a.IsNaN():
		return b.quiet()
	case !e.X87:
		return a.quiet()
	case a.Class != b.Class: // the quiet one
		if a.Class == QNaN {
			return a
		}
		return b
	case a.Sig > b.Sig, a.Sig == b.Sig && !a.Neg:
		return a.quiet()
	}
	return b.quiet()
}

// denormals notes denormal operands of an operation that takes place.
func (e *Env) denormals(a, b Num) {
	if a.Denormal || b.Denormal {
		e.Flags |= DenormalOperand
	}
}

// invalid is the result of an operation that has none.
func (e *Env) invalid() Num {
	e.Flags |= Invalid
	return indefinite
}
