package ui

import (
	"math"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

func TestNumbersAreGroupedAndSigned(t *testing.T) {
	tests := []struct{ name, got, want string }{
		{"three digits", group3(999), "999"},
		{"four digits", group3(1000), "1,000"},
		{"largest", group3(math.MaxUint64), "18,446,744,073,709,551,615"},
		{"positive", signed3(1234), "+1,234"},
		{"negative", signed3(-88), "−88"},
		{"zero", signed3(0), "0"},
		{"smallest", signed3(math.MinInt64), "−9,223,372,036,854,775,808"},
		{"plain negative", plain3(-1000), "−1,000"},
		{"short", short(9999), "9999"},
		{"short thousands", short(12400), "12.4k"},
		{"short hundreds of thousands", short(124000), "124k"},
		{"short millions", short(3_100_000), "3.10M"},
		{"share", percent(1, 8), "12.5%"},
		{"share of nothing", percent(0, 0), "–"},
		{"hex", hex(0x6e0), "0x6e0"},
		{"all digits", hex16(0xfee00320), "00000000fee00320"},
		{"bytes", bytesSize(12400), "12.4 kB"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

func TestDurationsHaveFourDigits(t *testing.T) {
	tests := []struct {
		ns   clock.Nanos
		want string
	}{
		{0, "0 ns"}, {999, "999 ns"}, {1000, "1.000 us"}, {41_230, "41.23 us"}, {412_300, "412.3 us"},
		{1_204_000, "1.204 ms"}, {2_000_000_000, "2.000 s"}, {-1500, "−1.500 us"}, {999_999, "1000.0 us"},
	}
	for _, tt := range tests {
		if got := duration(tt.ns); got != tt.want {
			t.Errorf("duration(%d) = %q, want %q", tt.ns, got, tt.want)
		}
	}
}

func TestVirtualTimeShowsNanoseconds(t *testing.T) {
	if got, want := virtualTime(2_500_000_000, 2_500_000_000*3+5), "3.000 000 002 s"; got != want {
		t.Errorf("virtualTime = %q, want %q", got, want)
	}
	if got := virtualTime(0, 5); got != "? s" {
		t.Errorf("virtualTime without a frequency = %q", got)
	}
}

func TestSpeedSaysMaxAndFractions(t *testing.T) {
	for v, want := range map[float64]string{0: "max", 1: "1×", 0.01: "0.01×", 0.001: "0.001×", 1e-6: "1/1,000,000×", 10: "10×", 1000: "1000×"} {
		if got := speed(v); got != want {
			t.Errorf("speed(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestSignedCyclesConvertBothWays(t *testing.T) {
	if got := cyclesToNanos(2_500_000_000, -250); got != -100 {
		t.Errorf("−250 cycles at 2.5 GHz = %d ns, want −100", got)
	}
	if got := cyclesToNanos(0, 250); got != 0 {
		t.Errorf("cycles at 0 Hz = %d ns, want 0", got)
	}
}

func TestSymlogIsOddAndMonotonic(t *testing.T) {
	last := math.Inf(-1)
	for _, v := range []float64{-1e6, -1000, -100, -50, 0, 50, 100, 1000, 1e6} {
		got := symlog(v, 100)
		if got <= last || math.Abs(got+symlog(-v, 100)) > 1e-12 {
			t.Errorf("symlog(%v) = %v after %v", v, got, last)
		}
		last = got
	}
}

func TestFiguresTooWideForTheirColumnAreShortened(t *testing.T) {
	tests := []struct {
		n    int64
		want string
	}{{216959, "+216,959"}, {-9999999, "−9,999,999"}, {56754175, "+56.8M"}, {-107085823, "−107M"}, {0, "0"}}
	for _, tt := range tests {
		if got := signedIn(10, tt.n); got != tt.want {
			t.Errorf("signedIn(10, %d) = %q, want %q", tt.n, got, tt.want)
		}
	}
}
