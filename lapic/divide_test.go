package lapic

import "testing"

func TestDivisor(t *testing.T) {
	want := map[uint32]uint32{0x0: 2, 0x1: 4, 0x2: 8, 0x3: 16, 0x8: 32, 0x9: 64, 0xa: 128, 0xb: 1}
	for v := range uint32(256) {
		if got := Divisor(v); got != want[v&0xb] {
			t.Errorf("Divisor(%#x) = %d, want %d: bits other than 3, 1 and 0 do not count", v, got, want[v&0xb])
		}
	}
}
