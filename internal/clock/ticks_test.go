package clock

import (
	"math"
	"testing"
)

func TestTicksOfDeviceClocks(t *testing.T) {
	const f, pm = Hz(2_500_000_000), Hz(3_579_545)
	tests := []struct {
		name string
		c    TSC
		want uint64
	}{
		{"just before the first tick", 698, 0},
		{"first tick", 699, 1}, // 2.5e9 / 3579545 = 698.41
		{"one second", TSC(f), 3_579_545},
		{"a year", TSC(f) * 86400 * 365, 3_579_545 * 86400 * 365},
		{"largest", math.MaxUint64, 26412380206130662}, // (2^64 − 1) × 3579545 / 2.5e9
	}
	for _, tt := range tests {
		if got := f.Ticks(tt.c, pm); got != tt.want {
			t.Errorf("%s: Ticks(%d) = %d, want %d", tt.name, tt.c, got, tt.want)
		}
	}
	if got := Hz(0).Ticks(5, pm); got != 0 {
		t.Errorf("Ticks at 0 Hz = %d, want 0", got)
	}
	// 3.58 MHz of a 1 Hz clock: the quotient exceeds 64 bits and wraps.
	if got, want := Hz(1).Ticks(math.MaxUint64, 3), ^uint64(2); got != want {
		t.Errorf("wrapped Ticks = %#x, want %#x", got, want)
	}
}

func TestTickTimeIsTheFirstCycleOfATick(t *testing.T) {
	for _, f := range []Hz{1_000_000, 100_000_000, 2_096_015_000, 2_500_000_000} {
		for _, n := range []uint64{1, 2, 3, 65536, 1 << 40} {
			c, ok := f.TickTime(n, 1_193_181)
			if !ok {
				t.Fatalf("TickTime(%d) at %d Hz does not fit", n, f)
			}
			if at, before := f.Ticks(c, 1_193_181), f.Ticks(c-1, 1_193_181); at < n || before >= n {
				t.Errorf("%d Hz: ticks at %d are %d and one cycle before %d, want %d reached between", f, c, at, before, n)
			}
		}
	}
	if _, ok := Hz(2_500_000_000).TickTime(math.MaxUint64, 1_193_181); ok {
		t.Error("TickTime beyond 2^64 cycles reports ok")
	}
	if _, ok := Hz(1).TickTime(1, 0); ok {
		t.Error("TickTime of a stopped clock reports ok")
	}
}
