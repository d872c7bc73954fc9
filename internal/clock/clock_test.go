package clock

import (
	"math"
	"testing"
)

func TestScaleMatchesKernelTable(t *testing.T) {
	// Rows computed from kvm_get_time_scale; 2.1 and 2.4 GHz show truncation.
	tests := []struct {
		khz   uint64
		shift int8
		mult  uint32
		want  [4]TSC // 25, 300, 1000, 5000 ns
	}{
		{2_000_000, 2, 2147483648, [4]TSC{50, 600, 2000, 10000}},
		{2_100_000, 2, 2254857830, [4]TSC{52, 629, 2099, 10499}},
		{2_400_000, 2, 2576980377, [4]TSC{59, 719, 2399, 11999}},
		{2_500_000, 2, 2684354560, [4]TSC{62, 750, 2500, 12500}},
		{3_000_000, 2, 3221225472, [4]TSC{75, 900, 3000, 15000}},
	}
	for _, tt := range tests {
		s := NewScale(Hz(tt.khz * 1000))
		if s.Shift != tt.shift || s.Mult != tt.mult {
			t.Errorf("NewScale(%d kHz) = %+v, want shift %d mult %d", tt.khz, s, tt.shift, tt.mult)
		}
		for i, ns := range []uint64{25, 300, 1000, 5000} {
			if got := s.Cycles(ns); got != tt.want[i] {
				t.Errorf("%d kHz: Cycles(%d) = %d, want %d", tt.khz, ns, got, tt.want[i])
			}
		}
	}
	if got := NewScale(0).Cycles(1000); got != 0 {
		t.Errorf("zero frequency: Cycles(1000) = %d, want 0", got)
	}
}

func TestConversionsUse128Bits(t *testing.T) {
	const f = Hz(2_500_000_000)
	tests := []struct {
		name string
		c    TSC
		want Nanos
		ok   bool
	}{
		{"round down", 3, 1, true},
		{"a year", TSC(f) * 86400 * 365, 86400 * 365 * 1e9, true},
		{"largest", math.MaxUint64, 7378697629483820646, true},
	}
	for _, tt := range tests {
		if got, ok := f.ToNanos(tt.c); got != tt.want || ok != tt.ok {
			t.Errorf("%s: ToNanos(%d) = %d, %v, want %d, %v", tt.name, tt.c, got, ok, tt.want, tt.ok)
		}
	}
	if got, ok := f.ToCycles(1); got != 3 || !ok {
		t.Errorf("ToCycles(1) = %d, %v, want 3 (rounded up), true", got, ok)
	}
	if _, ok := f.ToCycles(-1); ok {
		t.Error("ToCycles(-1) reports ok")
	}
	if _, ok := f.ToCycles(math.MaxInt64); ok {
		t.Error("ToCycles of 292 years at 2.5 GHz reports ok: it overflows")
	}
	if _, ok := Hz(0).ToNanos(1); ok {
		t.Error("ToNanos at 0 Hz reports ok")
	}
	if _, ok := Hz(1).ToNanos(math.MaxUint64); ok {
		t.Error("ToNanos beyond int64 reports ok")
	}
}

func TestTSCDistance(t *testing.T) {
	if got := TSC(5).Sub(8); got != -3 {
		t.Errorf("5 − 8 = %d, want −3", got)
	}
	if got := TSC(5).Add(-3); got != 2 {
		t.Errorf("5 + (−3) = %d, want 2", got)
	}
}
