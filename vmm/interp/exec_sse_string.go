package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// stringCompare is PCMPESTRI and its kin. Intel SDM vol. 2B, 4.1 "Imm8 Control
// Byte Operation for PCMPESTRI / PCMPESTRM / PCMPISTRI / PCMPISTRM".
type stringCompare struct {
	a, b   [16]int // elements, sign- or zero-extended
	na, nb int     // valid elements
	n      int     // elements per register
	how    int     // aggregation
}

// newStringCompare splits the operands. la and lb are the lengths, or negative
// for implicit ones, which end at the first zero.
func newStringCompare(x, y vec, imm uint8, la, lb int64) *stringCompare {
	s := &stringCompare{n: 16 - int(imm&1)*8, how: int(imm >> 2 & 3)}
	s.na, s.nb = s.split(&s.a, x, imm, la), s.split(&s.b, y, imm, lb)
	return s
}

// implicit is the length of a string that ends at its first zero.
const implicit = -1

func (s *stringCompare) split(to *[16]int, v vec, imm uint8, length int64) int {
	b := bytesOf(v)
	end := s.n
	for i := s.n - 1; i >= 0; i-- {
		switch imm & 3 {
		case 0:
			to[i] = int(b[i])
		case 1:
			to[i] = int(word16(v, i))
		case 2:
			to[i] = s8(b[i])
		case 3:
			to[i] = s16(word16(v, i))
		}
		if to[i] == 0 {
			end = i
		}
	}
	if length == implicit {
		return end
	}
	return int(min(length, int64(s.n)))
}

// equal is the comparison of one pair with the override for invalid elements.
// Table 4-7 "Comparison Result for Each Element Pair BoolRes[i.j]".
func (s *stringCompare) equal(i, j int) bool {
	va, vb := i < s.na, j < s.nb
	switch {
	case va && vb:
		return s.a[i] == s.b[j]
	case s.how == 2:
		return !va && !vb
	case s.how == 3:
		return !va
	}
	return false
}

// mask is IntRes1: one bit per element of b.
func (s *stringCompare) mask() uint64 {
	m := uint64(0)
	for j := range s.n {
		hit := false
		switch s.how {
		case 0: // equal any
			for i := range s.n {
				hit = hit || s.equal(i, j)
			}
		case 1: // ranges
			for i := 0; i+1 < s.n; i += 2 {
				hit = hit || i+1 < s.na && j < s.nb && s.a[i] <= s.b[j] && s.b[j] <= s.a[i+1]
			}
		case 2: // equal each
			hit = s.equal(j, j)
		case 3: // equal ordered
			hit = true
			for i := 0; i+j < s.n; i++ {
				hit = hit && s.equal(i, i+j)
			}
		}
		m |= bit(hit, 1) << j
	}
	return m
}

// polarity makes IntRes2 of IntRes1.
func (s *stringCompare) polarity(m uint64, imm uint8) uint64 {
	all := uint64(1)<<s.n - 1
	switch imm >> 4 & 3 {
	case 1:
		return m ^ all
	case 3:
		return m ^ (1<<s.nb - 1)
	}
	return m
}

// compareStrings is the family of the four instructions.
func compareStrings(explicit, index bool) family {
	return sse(func(c *CPU, o *op) {
		y := c.fpu.XMM[o.rm&15]
		if o.flags&opMem != 0 {
			var ok bool
			if y, ok = c.loadVec(o, false); !ok {
				return
			}
		}
		imm := uint8(o.imm)
		la, lb := int64(implicit), int64(implicit)
		if explicit {
			la, lb = c.stringLength(vmm.RAX, o), c.stringLength(vmm.RDX, o)
		}
		s := newStringCompare(c.fpu.XMM[o.reg&15], y, imm, la, lb)
		m := s.polarity(s.mask(), imm)
		switch {
		case !index && imm&0x40 == 0:
			c.fpu.XMM[0] = vec{m}
		case !index:
			c.fpu.XMM[0] = spread(m, s.n)
		case imm&0x40 == 0:
			c.r[vmm.RCX] = uint64(firstBit(m, s.n))
		default:
			c.r[vmm.RCX] = uint64(lastBit(m, s.n))
		}
		c.setFlags(c.flags()&^flagsArith | bit(m != 0, flagCF) | bit(s.nb < s.n, flagZF) | bit(s.na < s.n, flagSF) |
			bit(m&1 != 0, flagOF))
	})
}

// stringLength is the magnitude of an explicit length.
func (c *CPU) stringLength(r uint8, o *op) int64 {
	v := int64(int32(c.r[r]))
	if o.rex&8 != 0 {
		v = int64(c.r[r])
	}
	if v < 0 {
		v = -v
	}
	if v < 0 || v > 16 { // the most negative number has no magnitude
		return 16
	}
	return v
}

// spread makes a mask of n elements of m's bits.
func spread(m uint64, n int) vec {
	var r [16]uint8
	for i := range r {
		r[i] = -uint8(m >> (i * n / 16) & 1)
	}
	return vecOf(r)
}
