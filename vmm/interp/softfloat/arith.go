package softfloat

import "math/bits"

// Add returns a + b rounded to f.
func (e *Env) Add(f Format, a, b Num) Num {
	if r, done := e.binary(&a, &b); done {
		return r
	}
	return e.sum(f, a, b)
}

// Sub returns a − b.
func (e *Env) Sub(f Format, a, b Num) Num {
	if r, done := e.binary(&a, &b); done {
		return r
	}
	b.Neg = !b.Neg
	return e.sum(f, a, b)
}

func (e *Env) sum(f Format, a, b Num) Num {
	if a.Class == Inf && b.Class == Inf && a.Neg != b.Neg {
		return e.invalid()
	}
	e.denormals(a, b)
	switch {
	case a.Class == Inf:
		return a
	case b.Class == Inf:
		return b
	case a.Class == Zero && b.Class == Zero:
		if a.Neg != b.Neg {
			a.Neg = e.Round == Down
		}
		return a
	case a.Class == Zero:
		return e.round(f, wide{hi: b.Sig, exp: b.Exp, neg: b.Neg})
	case b.Class == Zero:
		return e.round(f, wide{hi: a.Sig, exp: a.Exp, neg: a.Neg})
	}
	if a.Exp < b.Exp || a.Exp == b.Exp && a.Sig < b.Sig {
		a, b = b, a
	}
	bh, bl := shiftRight(b.Sig, 0, uint(a.Exp-b.Exp))
	w := wide{exp: a.Exp, neg: a.Neg}
	if a.Neg == b.Neg {
		var carry uint64
		w.lo = bl
		w.hi, carry = bits.Add64(a.Sig, bh, 0)
		if carry != 0 {
			w.hi, w.lo = shiftRight(w.hi, w.lo, 1)
			w.hi |= top
			w.exp++
		}
		return e.round(f, w)
	}
	var borrow uint64
	w.lo, borrow = bits.Sub64(0, bl, 0)
	w.hi, _ = bits.Sub64(a.Sig, bh, borrow)
	if w.hi|w.lo == 0 {
		return Num{Neg: e.Round == Down}
	}
	return e.round(f, w.normal())
}

// Mul returns a × b.
func (e *Env) Mul(f Format, a, b Num) Num {
	if r, done := e.binary(&a, &b); done {
		return r
	}
	neg := a.Neg != b.Neg
	if a.Class == Inf && b.Class == Zero || a.Class == Zero && b.Class == Inf {
		return e.invalid()
	}
	e.denormals(a, b)
	switch {
	case a.Class == Inf || b.Class == Inf:
		return Num{Class: Inf, Sig: top, Neg: neg}
	case a.Class == Zero || b.Class == Zero:
		return Num{Neg: neg}
	}
	hi, lo := bits.Mul64(a.Sig, b.Sig)
	return e.round(f, wide{hi, lo, a.Exp + b.Exp + 1, neg}.normal())
}

// Div returns a ÷ b.
func (e *Env) Div(f Format, a, b Num) Num {
	if r, done := e.binary(&a, &b); done {
		return r
	}
	neg := a.Neg != b.Neg
	switch {
	case a.Class == b.Class && a.Class != Finite:
		return e.invalid()
	case b.Class == Zero && a.Class == Finite:
		e.Flags |= DivideByZero
		return Num{Class: Inf, Sig: top, Neg: neg}
	}
	e.denormals(a, b)
	switch {
	case a.Class == Inf:
		return Num{Class: Inf, Sig: top, Neg: neg}
	case b.Class == Inf || a.Class == Zero:
		return Num{Neg: neg}
	}
	hi, r := bits.Div64(a.Sig>>1, a.Sig<<63, b.Sig)
	lo, r := bits.Div64(r, 0, b.Sig)
	return e.round(f, wide{hi, lo | sticky(r), a.Exp - b.Exp, neg}.normal())
}

// Sqrt returns the square root.
func (e *Env) Sqrt(f Format, a Num) Num {
	e.RoundedUp = false
	if a.Class > Inf {
		a, _ = e.unary(a)
		return a
	}
	a = e.flush(a)
	switch {
	case a.Class == Zero:
		return a
	case a.Neg:
		return e.invalid()
	}
	e.denormals(a, a)
	if a.Class == Inf {
		return a
	}
	hi, lo := a.Sig, uint64(0)
	if a.Exp&1 == 0 {
		hi, lo = a.Sig>>1, a.Sig<<63
	}
	root, rest := sqrt128(hi, lo)
	return e.round(f, wide{hi: root, lo: rest, exp: a.Exp >> 1})
}

// sqrt128 returns the integer square root of a number of 127 or 128 bits, and
// the fraction behind it: rounding bit and sticky bit.
func sqrt128(hi, lo uint64) (root, frac uint64) {
	var rh, rl uint64 // remainder
	for range 64 {
		// Bring down two bits and try the next bit of the root.
		rh, rl = rh<<2|rl>>62, rl<<2|hi>>62
		hi, lo = hi<<2|lo>>62, lo<<2
		th, tl := root>>62, root<<2|1
		root <<= 1
		if rh > th || rh == th && rl >= tl {
			var b uint64
			rl, b = bits.Sub64(rl, tl, 0)
			rh, _ = bits.Sub64(rh, th, b)
			root |= 1
		}
	}
	if rh != 0 || rl > root {
		frac = top
	}
	return root, frac | sticky(rh|rl)
}

// Order is the result of a comparison.
type Order uint8

// The orders.
const (
	Unordered Order = iota
	Less
	Equal
	Greater
)

// Compare compares a with b. An SNaN is invalid, and so is a QNaN unless quiet.
func (e *Env) Compare(a, b Num, quiet bool) Order {
	e.RoundedUp = false
	if a.Class > Inf || b.Class > Inf {
		if !quiet || a.Class > QNaN || b.Class > QNaN {
			e.Flags |= Invalid
		}
		return Unordered
	}
	a, b = e.flush(a), e.flush(b)
	e.denormals(a, b)
	x, y := a.key(), b.key()
	switch {
	case x.exp != y.exp:
		return order(x.exp < y.exp)
	case x.sig != y.sig:
		return order(x.sig < y.sig)
	}
	return Equal
}

// order is the result for a less or greater.
func order(less bool) Order {
	if less {
		return Less
	}
	return Greater
}

type sortKey struct {
	exp int64
	sig uint64
}

// key orders numbers: exp rises with magnitude and is negative for negative
// numbers.
func (n Num) key() sortKey {
	const off = 1 << 20
	k := sortKey{}
	switch n.Class {
	case Zero:
		return k
	case Inf:
		k.exp = 2 * off
	default:
		k.exp, k.sig = int64(n.Exp)+off, n.Sig
	}
	if n.Neg {
		k.exp, k.sig = -k.exp, ^k.sig
	}
	return k
}
