package interptest

// Kind says what the seeded part of the input looks like.
type Kind byte

// The kinds, as the text form has them.
const (
	KindInt    Kind = 'i' // integers, x87 as after FNINIT
	KindSingle Kind = 'f' // XMM and memory hold single-precision numbers
	KindDouble Kind = 'd' // XMM and memory hold double-precision numbers
	KindX87    Kind = 'x' // eight x87 registers in use, memory of doubles
)

// Rand is the splitmix64 generator: state += golden ratio, output is a finalizer
// of the state.
type Rand uint64

// Next returns the next 64 bits.
func (r *Rand) Next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// N returns a number below n.
func (r *Rand) N(n int) int { return int(r.Next() >> 33 % uint64(n)) }

// Chance is true in p of 100 cases.
func (r *Rand) Chance(p int) bool { return r.N(100) < p }

var corners = []uint64{
	0, 1, 2, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff,
	0x100000000, 0x7fffffffffffffff, 0x8000000000000000, ^uint64(0), ^uint64(0) - 1, 0xffffffff80000000,
}

// Int returns an integer that is often a corner case of some width.
func (r *Rand) Int() uint64 {
	switch r.N(8) {
	case 0:
		return corners[r.N(len(corners))]
	case 1:
		return r.Next() & 0xff
	case 2:
		return uint64(int64(int32(r.Next())))
	case 3:
		return r.Next() & 0xffff_ffff
	}
	return r.Next()
}

// float returns a number of exponent field width e and fraction width f that is
// often near one, an integer, or a special value.
func (r *Rand) float(e, f uint) uint64 {
	bias, mask := uint64(1)<<(e-1)-1, uint64(1)<<f-1
	sign := r.Next() >> 63 << (e + f)
	frac := r.Next() & mask
	if r.Chance(35) {
		frac &= mask << (f - uint(r.N(12)))
	}
	var exp uint64
	switch r.N(16) {
	case 0: // zero
		return sign
	case 1: // denormal
		return sign | frac>>uint(r.N(int(f)))
	case 2: // infinity
		return sign | (1<<e-1)<<f
	case 3: // NaN
		return sign | (1<<e-1)<<f | frac | 1
	case 4: // smallest
		exp = 1 + uint64(r.N(3))
	case 5: // largest
		exp = 1<<e - 2 - uint64(r.N(3))
	case 6, 7: // any
		exp = 1 + r.Next()%(1<<e-2)
	case 8, 9: // about the size of integers
		exp = bias + uint64(r.N(68))
	default:
		exp = bias - 4 + uint64(r.N(9))
	}
	return sign | exp<<f | frac&mask
}

// Single returns the bits of a single-precision number, Double of a double.
func (r *Rand) Single() uint32 { return uint32(r.float(8, 23)) }

// Double returns the bits of a double-precision number.
func (r *Rand) Double() uint64 { return r.float(11, 52) }

// Extended returns an 80-bit number, one in twelve of them in an encoding that
// no operation produces (unnormal, pseudo-denormal, pseudo-infinity).
func (r *Rand) Extended() X87 {
	sign := uint16(r.Next() >> 63 << 15)
	mant := r.Next()
	switch r.N(6) {
	case 0:
		n := uint(r.N(64))
		mant = mant >> n << n
	case 1: // 53 bits, 24 bits
		mant = mant >> 11 << 11
	case 2:
		mant = mant >> 40 << 40
	}
	switch r.N(24) {
	case 0, 1:
		return X87{0, sign}
	case 2:
		return X87{mant >> 1 >> uint(r.N(62)), sign}
	case 3:
		return X87{1 << 63, sign | 0x7fff}
	case 4:
		return X87{mant | 1<<63 | 1, sign | 0x7fff}
	case 5:
		return X87{mant, uint16(r.Next())}
	case 6:
		return X87{mant | 1<<63, sign}
	case 7:
		return X87{mant | 1<<63, sign | uint16(1+r.N(3))}
	case 8:
		return X87{mant | 1<<63, sign | uint16(0x7ffe-r.N(3))}
	case 9, 10:
		return X87{mant | 1<<63, sign | uint16(1+r.N(0x7ffe))}
	case 11, 12:
		return X87{mant | 1<<63, sign | uint16(0x3c01+r.N(0x800))}
	case 13, 14, 15:
		return X87{mant | 1<<63, sign | uint16(0x3fff+r.N(68))}
	}
	return X87{mant | 1<<63, sign | uint16(0x3ffb+r.N(9))}
}

// ArithFlags are CF, PF, AF, ZF, SF and OF.
const ArithFlags uint64 = 0x8d5

// Seeded returns the input state that a seed stands for.
func Seeded(kind Kind, seed uint64) State {
	r := Rand(seed)
	s := State{RIP: CodeBase, MXCSR: 0x1f80, FCW: 0x37f}
	for i := range s.GPR {
		s.GPR[i] = r.Int()
	}
	s.GPR[4] = Scratch + ScratchSize/2
	s.Flags = 0x202 | r.Next()&ArithFlags
	for i := range s.XMM {
		for j := range s.XMM[i] {
			s.XMM[i][j] = r.word(kind)
		}
	}
	for i := 0; i < ScratchSize; i += 8 {
		v := r.word(kind)
		for j := range 8 {
			s.Mem[i+j] = byte(v >> (8 * j))
		}
	}
	if kind == KindX87 {
		s.seedX87(&r)
	}
	if kind == KindSingle || kind == KindDouble {
		s.seedMXCSR(&r)
	}
	return s
}

func (r *Rand) word(kind Kind) uint64 {
	switch kind {
	case KindSingle:
		return uint64(r.Single()) | uint64(r.Single())<<32
	case KindDouble, KindX87:
		return r.Double()
	}
	return r.Int()
}

func (s *State) seedX87(r *Rand) {
	s.FTW = 0xff
	if r.Chance(15) {
		s.FTW = uint8(r.Next())
	}
	for i := range s.ST {
		s.ST[i] = r.Extended()
	}
	s.FSW = uint16(r.N(8)) << 11
	if r.Chance(50) {
		s.FSW |= uint16(r.Next()) & 0x4700
	}
	s.FCW = 0x7f | uint16(r.N(4))<<10 | []uint16{0x300, 0x300, 0x200, 0}[r.N(4)]
	if r.Chance(12) {
		s.FCW &^= uint16(r.Next()) & 0x3f
	}
	if r.Chance(20) {
		s.FSW |= uint16(r.Next()) & s.FCW & 0x3f
	}
}

func (s *State) seedMXCSR(r *Rand) {
	s.MXCSR = 0x1f80 | uint32(r.Next())&0x3f
	if r.Chance(50) {
		s.MXCSR |= uint32(r.N(4)) << 13
	}
	if r.Chance(10) {
		s.MXCSR |= 1 << 15 // FZ
	}
	if r.Chance(10) {
		s.MXCSR |= 1 << 6 // DAZ
	}
	if r.Chance(10) {
		s.MXCSR &^= uint32(r.Next()) & 0x1f80
	}
}
