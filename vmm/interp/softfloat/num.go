package softfloat

import "math/bits"

// Class is what kind of number a Num is.
type Class uint8

// The classes, in the order of rising trouble.
const (
	Zero Class = iota
	Finite
	Inf
	QNaN
	SNaN
	Unsupported // an 80-bit encoding that stands for nothing
)

// Num is an unpacked number. A finite one has the value Sig × 2^(Exp−63), with
// the top bit of Sig set; of a NaN, Sig is the significand of its 80-bit form.
type Num struct {
	Sig      uint64
	Exp      int32
	Class    Class
	Neg      bool
	Denormal bool // it was denormal in the format it came from
}

// Format is what results are rounded to.
type Format struct {
	Prec       uint  // bits of the significand
	Emin, Emax int32 // range of the exponent of normal numbers
}

// The formats. Precision control of the x87 FPU shortens the significand but not
// the exponent: Intel SDM vol. 1, 8.1.5.2 "Precision Control Field".
var (
	Single   = Format{24, -126, 127}
	Double   = Format{53, -1022, 1023}
	Extended = Format{64, -16382, 16383}
	Short    = Format{24, -16382, 16383} // precision control 00
	Medium   = Format{53, -16382, 16383} // precision control 10
)

const top = 1 << 63

// IsNaN reports whether n is a NaN of either kind.
func (n Num) IsNaN() bool { return n.Class == QNaN || n.Class == SNaN }

// quiet returns NaN n as a quiet one.
func (n Num) quiet() Num {
	n.Class = QNaN
	n.Sig |= 3 << 62
	return n
}

// indefinite is the default NaN. Intel SDM vol. 1, 4.8.3.7 "QNaN Floating-Point
// Indefinite".
var indefinite = Num{Class: QNaN, Neg: true, Sig: 3 << 62}

// Indefinite returns the default NaN.
func Indefinite() Num { return indefinite }

// FromSingle unpacks single-precision bits.
func FromSingle(b uint32) Num {
	return unpack(uint64(b)<<40, b>>31 != 0, int32(b>>23&0xff), 0xff, 127)
}

// FromDouble unpacks double-precision bits.
func FromDouble(b uint64) Num {
	return unpack(b<<11, b>>63 != 0, int32(b>>52&0x7ff), 0x7ff, 1023)
}

// unpack takes the fraction in the bits below the top one of frac.
func unpack(frac uint64, neg bool, exp, maxExp, bias int32) Num {
	frac &^= top
	n := Num{Neg: neg}
	switch {
	case exp == maxExp && frac == 0:
		n.Class, n.Sig = Inf, top
	case exp == maxExp:
		n.Class, n.Sig = SNaN, frac|top
		if frac&(1<<62) != 0 {
			n.Class = QNaN
		}
	case exp != 0:
		n.Class, n.Sig, n.Exp = Finite, frac|top, exp-bias
	case frac != 0:
		z := bits.LeadingZeros64(frac)
		n.Class, n.Sig, n.Exp, n.Denormal = Finite, frac<<z, 1-bias-int32(z), true
	}
	return n
}

// FromExtended unpacks an 80-bit register image: significand, then sign and
// exponent. Intel SDM vol. 1, 8.2.2 "Unsupported Double Extended-Precision
// Floating-Point Encodings and Pseudo-Denormals".
func FromExtended(mant uint64, se uint16) Num {
	n := Num{Neg: se>>15 != 0, Sig: mant}
	exp := int32(se & 0x7fff)
	switch {
	case exp == 0 && mant == 0:
	case exp == 0:
		z := bits.LeadingZeros64(mant)
		n.Class, n.Sig, n.Exp, n.Denormal = Finite, mant<<z, -16382-int32(z), true
	case mant < top:
		n.Class = Unsupported
	case exp != 0x7fff:
		n.Class, n.Exp = Finite, exp-16383
	case mant == top:
		n.Class = Inf
	case mant&(1<<62) != 0:
		n.Class = QNaN
	default:
		n.Class = SNaN
	}
	return n
}

// Single packs n, which must be representable.
func (n Num) Single() uint32 { return uint32(n.pack(8, 23)) }

// Double packs n, which must be representable.
func (n Num) Double() uint64 { return n.pack(11, 52) }

func (n Num) pack(e, f uint) uint64 {
	bias := int32(1)<<(e-1) - 1
	v := uint64(0)
	switch {
	case n.Class == Zero:
	case n.Class != Finite:
		v = (1<<e-1)<<f | n.Sig<<1>>(64-f)
	case n.Exp < 1-bias:
		v = n.Sig >> (63 - f) >> uint(1-bias-n.Exp)
	default:
		v = uint64(n.Exp+bias)<<f | n.Sig<<1>>(64-f)
	}
	if n.Neg {
		v |= 1 << (e + f)
	}
	return v
}

// Extended packs n.
func (n Num) Extended() (mant uint64, se uint16) {
	switch {
	case n.Class == Zero:
	case n.Class == Inf:
		mant, se = top, 0x7fff
	case n.Class != Finite:
		mant, se = n.Sig, 0x7fff
	case n.Exp < -16382:
		mant = n.Sig >> uint(-16382-n.Exp)
	default:
		mant, se = n.Sig, uint16(n.Exp+16383)
	}
	if n.Neg {
		se |= 0x8000
	}
	return mant, se
}
