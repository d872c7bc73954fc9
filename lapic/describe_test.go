package lapic

import "testing"

func TestDescribe(t *testing.T) {
	tests := []struct {
		reg  Reg
		v    uint64
		want string
	}{
		{LVTT, 0x400ef, "vector 239, unmasked, TSC-deadline"},
		{LVTT, 0x30040, "vector 64, masked, periodic"},
		{LVTT, 0x60000, "vector 0, unmasked, reserved"},
		{LVT0, 0x700, "vector 0, ExtINT, active high, edge, unmasked"},
		{LVT1, 0x1e400, "vector 0, NMI, active low, remote IRR, level, masked"},
		{LVTPC, 0x1400, "vector 0, NMI, send pending, unmasked"},
		{LVTError, 0x100fe, "vector 254, masked"},
		{ICRLow, 0x000c4641, "vector 65, start-up, to others, physical, assert, edge"},
		{ICRLow, 0x12_000040fd, "vector 253, fixed, to none, physical, assert, edge, destination 0x12"},
		{ICRLow, 0x8d00, "vector 0, INIT, to none, logical, de-assert, level"},
		{SPIV, 0x1ff, "vector 255, enabled"},
		{SPIV, 0x12ff, "vector 255, software-disabled, no focus check, no EOI broadcast"},
		{TPR, 0x35, "class 0x3, subclass 0x5"},
		{TDCR, 0xb, "divide by 1"},
		{TDCR, 0x3, "divide by 16"},
		{DFR, 0xffffffff, "flat model"},
		{DFR, 0x0fffffff, "cluster model"},
		{DFR, 0x3fffffff, "invalid"},
		{ESR, 0, "none"},
		{ESR, 0x60, "sent illegal vector, received illegal vector"},
		{Version, 0x1050014, "version 0x14, max LVT 0x5, directed EOI"},
		{IRR + 0x20, 1<<1 | 1<<31, "vectors 65 95"},
		{ISR + 0x70, 0, "none"},
		{TMICT, 1000000, "1000000"},
	}
	for _, tt := range tests {
		if got := Describe(tt.reg, tt.v); got != tt.want {
			t.Errorf("Describe(%s, %#x) =\n %q, want\n %q", tt.reg.Name(), tt.v, got, tt.want)
		}
	}
}

func TestDescribeBase(t *testing.T) {
	for v, want := range map[uint64]string{
		0xfee00900: "boot processor, enabled, xAPIC, at 0xfee00000",
		0xfee00c00: "enabled, x2APIC, at 0xfee00000",
		0x12345000: "disabled, xAPIC, at 0x12345000",
	} {
		if got := DescribeBase(v); got != want {
			t.Errorf("DescribeBase(%#x) = %q, want %q", v, got, want)
		}
	}
}

func TestEveryValueOfEveryFieldIsDescribed(t *testing.T) {
	for r, fields := range registerFields {
		if _, ok := Lookup(r); !ok {
			t.Errorf("fields for %#x, which is no register", r)
		}
		for _, f := range fields {
			if f.words != nil && len(f.words) != 1<<f.width {
				t.Errorf("%s bits %d+%d: %d words", r.Name(), f.lo, f.width, len(f.words))
			}
			if f.words == nil && f.name == "" {
				t.Errorf("%s bits %d+%d have neither name nor words", r.Name(), f.lo, f.width)
			}
		}
	}
	for _, w := range Table {
		if Describe(w.Reg, 0) == "" || Describe(w.Reg, ^uint64(0)) == "" {
			t.Errorf("%s is not described", w.Name)
		}
	}
}
