package lapic

import "math/bits"

// Vector is an interrupt vector, 0–255. Vectors below 16 are illegal for
// interrupts. Intel SDM vol. 3A, 10.5.2 "Valid Interrupt Vectors".
type Vector uint8

// Class returns the priority class, bits 7:4. Intel SDM vol. 3A, 10.8.3
// "Interrupt, Task, and Processor Priority".
func (v Vector) Class() uint8 { return uint8(v) >> 4 }

// Set256 is one of the 256-bit registers IRR, ISR, TMR or PIR: bit v%64 of word
// v/64 is vector v.
type Set256 [4]uint64

// Has reports whether v is in the set.
func (s *Set256) Has(v Vector) bool { return s[v>>6]>>(v&63)&1 != 0 }

// Set adds v.
func (s *Set256) Set(v Vector) { s[v>>6] |= 1 << (v & 63) }

// Clear removes v.
func (s *Set256) Clear(v Vector) { s[v>>6] &^= 1 << (v & 63) }

// Put adds v if on is true and removes it if not.
func (s *Set256) Put(v Vector, on bool) {
	if on {
		s.Set(v)
	} else {
		s.Clear(v)
	}
}

// Empty reports whether no vector is in the set.
func (s *Set256) Empty() bool { return s[0]|s[1]|s[2]|s[3] == 0 }

// Len returns the number of vectors in the set.
func (s *Set256) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Highest returns the highest vector; ok is false if the set is empty.
func (s *Set256) Highest() (v Vector, ok bool) {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] != 0 {
			return Vector(i<<6 + bits.Len64(s[i]) - 1), true
		}
	}
	return 0, false
}

// Word returns the i-th 32-bit register of the set, 0–7: vectors 32i to 32i+31.
func (s *Set256) Word(i int) uint32 { return uint32(s[i>>1] >> (i & 1 * 32)) }

// SetWord replaces the i-th 32-bit register of the set.
func (s *Set256) SetWord(i int, w uint32) {
	sh := i & 1 * 32
	s[i>>1] = s[i>>1]&^(0xffffffff<<sh) | uint64(w)<<sh
}
