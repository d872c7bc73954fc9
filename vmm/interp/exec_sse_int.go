package interp

import (
	"encoding/binary"
	"math/bits"
)

// intOp is an integer operation on vectors of n bytes: 16 for XMM registers, 8,
// in the low half, for MMX.
type intOp func(a, b vec, n int) vec

// lanes8 to lanes64 apply f to each pair of elements.
func lanes8(f func(a, b uint8) uint8) intOp {
	return func(a, b vec, n int) (r vec) {
		for i := range n {
			s := i & 7 * 8
			r[i>>3] |= uint64(f(uint8(a[i>>3]>>s), uint8(b[i>>3]>>s))) << s
		}
		return r
	}
}

func lanes16(f func(a, b uint16) uint16) intOp {
	return func(a, b vec, n int) (r vec) {
		for i := range n / 2 {
			s := i & 3 * 16
			r[i>>2] |= uint64(f(uint16(a[i>>2]>>s), uint16(b[i>>2]>>s))) << s
		}
		return r
	}
}

func lanesOf32(f func(a, b uint32) uint32) intOp {
	return func(a, b vec, n int) (r vec) {
		for i := range n / 4 {
			set32(&r, i, f(get32(a, i), get32(b, i)))
		}
		return r
	}
}

func lanes64(f func(a, b uint64) uint64) intOp {
	return func(a, b vec, n int) (r vec) {
		for i := range n / 8 {
			r[i] = f(a[i], b[i])
		}
		return r
	}
}

// ones is an element of all ones if b.
func ones[T uint8 | uint16 | uint32 | uint64](b bool) T {
	if b {
		return ^T(0)
	}
	return 0
}

// Saturation to signed and unsigned ranges.
func sat8(v int) uint8      { return uint8(min(max(v, -128), 127)) }
func satU8(v int) uint8     { return uint8(min(max(v, 0), 255)) }
func sat16(v int) uint16    { return uint16(min(max(v, -32768), 32767)) }
func satU16(v int) uint16   { return uint16(min(max(v, 0), 65535)) }
func s8(v uint8) int        { return int(int8(v)) }
func s16(v uint16) int      { return int(int16(v)) }
func s32(v uint32) int      { return int(int32(v)) }
func abs8(v uint8) uint8    { return uint8(max(s8(v), -s8(v))) }
func abs16(v uint16) uint16 { return uint16(max(s16(v), -s16(v))) }
func abs32(v uint32) uint32 { return uint32(max(s32(v), -s32(v))) }

// sign is a times the sign of b.
func sign(a, b int) int {
	switch {
	case b < 0:
		return -a
	case b == 0:
		return 0
	}
	return a
}

// word16 and setWord access 16-bit elements.
func word16(v vec, i int) uint16 { return uint16(v[i>>2] >> (i & 3 * 16)) }

func setWord(v *vec, i int, x uint16) {
	s := i & 3 * 16
	v[i>>2] = v[i>>2]&^(0xffff<<s) | uint64(x)<<s
}

// bytesOf and vecOf convert to and from bytes, lowest first.
func bytesOf(v vec) (b [16]uint8) {
	binary.LittleEndian.PutUint64(b[:], v[0])
	binary.LittleEndian.PutUint64(b[8:], v[1])
	return b
}

func vecOf(b [16]uint8) vec {
	return vec{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])}
}

// shiftBy applies f to elements of size bytes if the count, the low half of b, is
// below their width; else the result is over.
func shiftBy(size int, f func(v, n uint64) uint64, over func(v uint64) uint64) intOp {
	w := uint64(size * 8)
	mask := ^uint64(0) >> (64 - w)
	return func(a, b vec, n int) (r vec) {
		for i := 0; i < n; i += size {
			s := i & 7 * 8
			v := a[i>>3] >> s & mask
			if b[0] < w {
				v = f(v, b[0])
			} else {
				v = over(v)
			}
			r[i>>3] |= v & mask << s
		}
		return r
	}
}

func toZero(uint64) uint64 { return 0 }

func shiftLeft(size int) intOp {
	return shiftBy(size, func(v, n uint64) uint64 { return v << n }, toZero)
}

func shiftRight(size int) intOp {
	return shiftBy(size, func(v, n uint64) uint64 { return v >> n }, toZero)
}

func shiftArith(size int) intOp {
	sign := func(v uint64) uint64 { return uint64(sext(v, uint8(size)) >> 63) }
	return shiftBy(size, func(v, n uint64) uint64 { return uint64(sext(v, uint8(size)) >> n) }, sign)
}

// byteShift is PSLLDQ or PSRLDQ by so many bytes.
func byteShift(v vec, n uint64, left bool) vec {
	if n > 15 {
		return vec{}
	}
	var r [16]uint8
	b := bytesOf(v)
	if left {
		copy(r[n:], b[:])
	} else {
		copy(r[:], b[n:])
	}
	return vecOf(r)
}

// unpack interleaves elements of size bytes of the low halves, or the high ones.
func unpack(size int, high bool) intOp {
	return func(a, b vec, n int) vec {
		x, y := bytesOf(a), bytesOf(b)
		var r [16]uint8
		from := 0
		if high {
			from = n / 2
		}
		for i := 0; i < n/2; i += size {
			copy(r[2*i:2*i+size], x[from+i:])
			copy(r[2*i+size:2*i+2*size], y[from+i:])
		}
		return vecOf(r)
	}
}

// pack16 narrows words to bytes, pack32 doublewords to words: those of a, then
// those of b.
func pack16(f func(int) uint8) intOp {
	return func(a, b vec, n int) vec {
		var r [16]uint8
		for i := range n / 2 {
			r[i], r[n/2+i] = f(s16(word16(a, i))), f(s16(word16(b, i)))
		}
		return vecOf(r)
	}
}

func pack32(f func(int) uint16) intOp {
	return func(a, b vec, n int) (r vec) {
		for i := range n / 4 {
			setWord(&r, i, f(s32(get32(a, i))))
			setWord(&r, n/4+i, f(s32(get32(b, i))))
		}
		return r
	}
}

func pmaddwd(a, b vec, n int) (r vec) {
	for i := range n / 4 {
		lo := s16(word16(a, 2*i)) * s16(word16(b, 2*i))
		hi := s16(word16(a, 2*i+1)) * s16(word16(b, 2*i+1))
		set32(&r, i, uint32(lo+hi))
	}
	return r
}

func pmaddubsw(a, b vec, n int) (r vec) {
	x, y := bytesOf(a), bytesOf(b)
	for i := range n / 2 {
		setWord(&r, i, sat16(int(x[2*i])*s8(y[2*i])+int(x[2*i+1])*s8(y[2*i+1])))
	}
	return r
}

func psadbw(a, b vec, n int) (r vec) {
	x, y := bytesOf(a), bytesOf(b)
	for i := range n {
		r[i>>3] += uint64(max(int(x[i])-int(y[i]), int(y[i])-int(x[i])))
	}
	return r
}

// horizontal16 and horizontal32i combine neighbours: those of a, then those of b.
func horizontal16(f func(a, b int) uint16) intOp {
	return func(a, b vec, n int) (r vec) {
		for i := range n / 4 {
			setWord(&r, i, f(s16(word16(a, 2*i)), s16(word16(a, 2*i+1))))
			setWord(&r, n/4+i, f(s16(word16(b, 2*i)), s16(word16(b, 2*i+1))))
		}
		return r
	}
}

func horizontal32i(f func(a, b uint32) uint32) intOp {
	return func(a, b vec, n int) (r vec) {
		for i := range n / 8 {
			set32(&r, i, f(get32(a, 2*i), get32(a, 2*i+1)))
			set32(&r, n/8+i, f(get32(b, 2*i), get32(b, 2*i+1)))
		}
		return r
	}
}

func pshufb(a, b vec, n int) vec {
	x, y := bytesOf(a), bytesOf(b)
	var r [16]uint8
	for i := range n {
		if y[i]&0x80 == 0 {
			r[i] = x[int(y[i])&(n-1)]
		}
	}
	return vecOf(r)
}

func pmulhrsw(a, b uint16) uint16 { return uint16((s16(a)*s16(b)>>14 + 1) >> 1) }

// align is PALIGNR: n bytes of b followed by a, from byte imm on.
func align(a, b vec, n int, imm uint8) vec {
	var all [48]uint8
	x, y := bytesOf(a), bytesOf(b)
	copy(all[:], y[:n])
	copy(all[n:], x[:n])
	var r [16]uint8
	if int(imm) < 2*n {
		copy(r[:n], all[imm:])
	}
	return vecOf(r)
}

func pmuludq(a, b vec, n int) (r vec) {
	for i := range n / 8 {
		r[i] = (a[i] & 0xffffffff) * (b[i] & 0xffffffff)
	}
	return r
}

func pmuldq(a, b vec, n int) (r vec) {
	for i := range n / 8 {
		r[i] = uint64(int64(int32(a[i])) * int64(int32(b[i])))
	}
	return r
}

func phminposuw(_, b vec, _ int) vec {
	at := 0
	for i := range 8 {
		if word16(b, i) < word16(b, at) {
			at = i
		}
	}
	return vec{uint64(word16(b, at)) | uint64(at)<<16}
}

// byteSigns is PMOVMSKB: the top bits of n bytes.
func byteSigns(v vec, n int) uint64 {
	m := uint64(0)
	for i, b := range bytesOf(v) {
		if i < n {
			m |= uint64(b>>7) << i
		}
	}
	return m
}

// widenElements is PMOVSX or PMOVZX from elements of size from to size to.
func widenElements(from, to uint8, signed bool) func(src uint64) vec {
	return func(src uint64) (r vec) {
		for i := range 16 / to {
			v := zext(src>>(from*8*i), from)
			if signed {
				v = zext(uint64(sext(v, from)), to)
			}
			at := i * to
			r[at>>3] |= v << (at & 7 * 8)
		}
		return r
	}
}

// mpsadbw sums absolute differences of four bytes of b with eight groups of a.
func mpsadbw(a, b vec, imm uint8) (r vec) {
	x, y := bytesOf(a), bytesOf(b)
	i, j := int(imm>>2&1)*4, int(imm&3)*4
	for k := range 8 {
		sum := 0
		for l := range 4 {
			d := int(x[i+k+l]) - int(y[j+l])
			sum += max(d, -d)
		}
		setWord(&r, k, uint16(sum))
	}
	return r
}

// crc32c adds the lowest n bytes of v to a CRC with the Castagnoli polynomial.
// Intel SDM vol. 2A, "CRC32—Accumulate CRC32 Value".
func crc32c(crc uint32, v uint64, n uint8) uint32 {
	const poly = 0x82f63b78
	for range n {
		crc ^= uint32(v & 0xff)
		v >>= 8
		for range 8 {
			crc = crc>>1 ^ poly&-(crc&1)
		}
	}
	return crc
}

// execCRC32 takes a source of one byte, or of the operand size.
func execCRC32(byte bool) handler {
	return func(c *CPU, o *op) {
		n := uint8(4)
		switch {
		case byte:
			n = 1
		case o.rex&8 != 0:
			n = 8
		case o.flags&opData != 0 != (c.w.mode == mode16):
			n = 2
		}
		if v, ok := c.operand(o, o.src, n); ok {
			c.r[o.dst&15] = uint64(crc32c(uint32(c.r[o.dst&15]), v, n))
		}
	}
}

// mulHigh returns bits 31:16 of a product of words.
func mulHigh(a, b uint16) uint16  { return uint16(s16(a) * s16(b) >> 16) }
func mulHighU(a, b uint16) uint16 { return uint16(uint32(a) * uint32(b) >> 16) }

// average rounds up.
func average8(a, b uint8) uint8    { return uint8((int(a) + int(b) + 1) >> 1) }
func average16(a, b uint16) uint16 { return uint16((int(a) + int(b) + 1) >> 1) }

// ptest sets ZF and CF for PTEST.
func (c *CPU) ptest(a, b vec) {
	zf := a[0]&b[0]|a[1]&b[1] == 0
	cf := ^a[0]&b[0]|^a[1]&b[1] == 0
	c.setFlags(c.flags()&^flagsArith | bit(zf, flagZF) | bit(cf, flagCF))
}

// firstBit is the number of the lowest one in m, or none if there is none.
func firstBit(m uint64, none int) int {
	if m == 0 {
		return none
	}
	return bits.TrailingZeros64(m)
}

// lastBit is the same for the highest one.
func lastBit(m uint64, none int) int {
	if m == 0 {
		return none
	}
	return bits.Len64(m) - 1
}
