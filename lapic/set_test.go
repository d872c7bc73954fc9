package lapic

import (
	"testing"

	"pgregory.net/rapid"
)

func TestSetBoundaries(t *testing.T) {
	for _, v := range []Vector{0, 1, 31, 32, 63, 64, 127, 128, 191, 192, 254, 255} {
		var s Set256
		if _, ok := s.Highest(); ok || !s.Empty() {
			t.Fatal("the zero set is not empty")
		}
		s.Set(v)
		if h, ok := s.Highest(); !ok || h != v || !s.Has(v) || s.Len() != 1 {
			t.Errorf("set {%d}: Highest = %d, %v, Len = %d", v, h, ok, s.Len())
		}
		if w := s.Word(int(v) / 32); w != 1<<(v%32) {
			t.Errorf("set {%d}: Word(%d) = %#x", v, v/32, w)
		}
		s.Clear(v)
		if !s.Empty() {
			t.Errorf("clearing %d leaves %x", v, s)
		}
	}
}

func TestSetAgreesWithMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Set256
		model := map[Vector]bool{}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			v := Vector(rapid.Uint8().Draw(t, "vector"))
			on := rapid.Bool().Draw(t, "on")
			s.Put(v, on)
			delete(model, v)
			if on {
				model[v] = true
			}
		}
		highest := -1
		for v := range 256 {
			if s.Has(Vector(v)) != model[Vector(v)] {
				t.Fatalf("Has(%d) = %v", v, s.Has(Vector(v)))
			}
			if model[Vector(v)] {
				highest = v
			}
		}
		if h, ok := s.Highest(); ok != (highest >= 0) || ok && int(h) != highest {
			t.Fatalf("Highest = %d, %v, want %d", h, ok, highest)
		}
		if s.Len() != len(model) || s.Empty() != (len(model) == 0) {
			t.Fatalf("Len = %d, Empty = %v, want %d", s.Len(), s.Empty(), len(model))
		}
		var copied Set256
		for i := range 8 {
			copied.SetWord(i, s.Word(i))
		}
		if copied != s {
			t.Fatalf("word by word copy is %x, want %x", copied, s)
		}
	})
}

func TestSetWordReplacesOnlyItsWord(t *testing.T) {
	s := Set256{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
	s.SetWord(3, 0x12345678)
	if want := (Set256{^uint64(0), 0x12345678_ffffffff, ^uint64(0), ^uint64(0)}); s != want {
		t.Errorf("SetWord(3) gives %x, want %x", s, want)
	}
}

func TestVectorClass(t *testing.T) {
	if got := Vector(0xef).Class(); got != 14 {
		t.Errorf("class of 0xef = %d, want 14", got)
	}
}
