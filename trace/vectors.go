package trace

import (
	"fmt"
	"math/bits"
	"strings"
)

// Vectors is a set of interrupt vectors: IRR, ISR or PIR. Vector v is bit v mod
// 64 of word v / 64.
type Vectors [4]uint64

// Add puts v into the set.
func (s *Vectors) Add(v uint8) { s[v>>6] |= 1 << (v & 63) }

// Remove takes v out of the set.
func (s *Vectors) Remove(v uint8) { s[v>>6] &^= 1 << (v & 63) }

// Has reports whether v is in the set.
func (s *Vectors) Has(v uint8) bool { return s[v>>6]>>(v&63)&1 != 0 }

// Empty reports whether the set holds no vector.
func (s *Vectors) Empty() bool { return s[0]|s[1]|s[2]|s[3] == 0 }

// Len is the number of vectors in the set.
func (s *Vectors) Len() int {
	return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) + bits.OnesCount64(s[2]) + bits.OnesCount64(s[3])
}

// Highest returns the highest vector, the one with priority; ok is false if the
// set is empty.
func (s *Vectors) Highest() (v uint8, ok bool) {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] != 0 {
			return uint8(i<<6 + bits.Len64(s[i]) - 1), true
		}
	}
	return 0, false
}

// List appends the vectors in ascending order to p.
func (s *Vectors) List(p []uint8) []uint8 {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			p = append(p, uint8(i<<6+bits.TrailingZeros64(w)))
		}
	}
	return p
}

// drain moves all vectors of from into s.
func (s *Vectors) drain(from *Vectors) {
	for i := range s {
		s[i] |= from[i]
	}
	*from = Vectors{}
}

// String lists the vectors from the highest down, "-" if there are none.
func (s Vectors) String() string {
	if s.Empty() {
		return "-"
	}
	var b strings.Builder
	for v := 255; v >= 0; v-- {
		if s.Has(uint8(v)) {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "%#02x", v)
		}
	}
	return b.String()
}
