package lapic

import (
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

func TestPowerUpState(t *testing.T) {
	for _, tt := range []struct {
		name string
		bsp  bool
		base uint64
		lvt0 uint64
	}{
		{"boot processor has ExtINT on LINT0", true, 0xfee00900, 0x700},
		{"application processor is masked", false, 0xfee00800, 0x10000},
	} {
		a := New(3, tt.bsp, testConfig())
		want := map[Reg]uint64{ID: 3 << 24, Version: 0x50014, TPR: 0, PPR: 0, LDR: 0, DFR: 0xffffffff, SPIV: 0xff, ESR: 0,
			ICRLow: 0, ICR2: 0, LVTT: 0x10000, LVTThermal: 0x10000, LVTPC: 0x10000, LVT0: tt.lvt0, LVT1: 0x10000,
			LVTError: 0x10000, TMICT: 0, TMCCT: 0, TDCR: 0, IRR: 0, ISR + 0x70: 0}
		for r, v := range want {
			if got := mustRead(t, &a, r, at(0)); got != v {
				t.Errorf("%s: %s = %#x, want %#x", tt.name, r.Name(), got, v)
			}
		}
		if a.Base != tt.base || !a.Enabled() || a.X2APIC() || a.SoftEnabled() {
			t.Errorf("%s: base %#x", tt.name, a.Base)
		}
		if a.Timer.HVDeadline != clock.Never || a.Timer.Tuning != TuningOff || a.Timer.KHz != 2_500_000 {
			t.Errorf("%s: timer %+v", tt.name, a.Timer)
		}
	}
}

func TestVersionTellsFeatures(t *testing.T) {
	c := testConfig()
	c.CMCI, c.DirectedEOI = true, true
	a := New(0, false, c)
	if got := mustRead(t, &a, Version, at(0)); got != 0x1060014 {
		t.Errorf("version = %#x, want 0x1060014", got)
	}
	if got := mustRead(t, &a, LVTCMCI, at(0)); got != 0x10000 {
		t.Errorf("LVT CMCI = %#x, want 0x10000", got)
	}
}

func TestInitKeepsModeAndSettings(t *testing.T) {
	a := newDeadline(t, 1500)
	a.SetEntryAdvance(300)
	x2apic(t, &a)
	a.WriteDeadline(1 << 40)
	a.Accept(0x50, true)
	a.Post(0x60, false)
	a.Timer.Pending = true
	a.Restart(at(0), HV{Usable: true, Multi: 5})
	base := a.Base
	a.Reset(true)
	if a.Base != base || !a.X2APIC() || a.LogicalID() != 1 {
		t.Errorf("INIT changed the mode: base %#x, LDR %#x", a.Base, a.LogicalID())
	}
	tm := &a.Timer
	if tm.Mode != OneShot || tm.Deadline != 0 || tm.Pending || tm.HVInUse || tm.HVDeadline != clock.Never {
		t.Errorf("INIT leaves the timer %+v", tm)
	}
	if tm.Advance != 1500 || tm.Tuning != TuningFixed || tm.EntryCycles != 750 || tm.Scale == (clock.Scale{}) {
		t.Errorf("INIT changed the timer's settings: %+v", tm)
	}
	if !a.IRR.Empty() || !a.PI.PIR.Empty() || a.PI.ON || a.PI.NV != NotifyVector {
		t.Errorf("INIT leaves interrupts: IRR %x, PI %+v", a.IRR, a.PI)
	}
	if err := invariants(&a); err != nil {
		t.Error(err)
	}
	a.Reset(false)
	if a.X2APIC() || a.Base != 0xfee00900 {
		t.Errorf("power-up gives base %#x", a.Base)
	}
}

func TestInitKeepsXAPICID(t *testing.T) {
	a := newAPIC(t)
	mustWrite(t, &a, ID, 7<<24)
	a.Reset(true)
	if got := mustRead(t, &a, ID, at(0)); got != 7<<24 {
		t.Errorf("ID after INIT = %#x, want %#x", got, 7<<24)
	}
	a.Reset(false)
	if got := mustRead(t, &a, ID, at(0)); got != 0 {
		t.Errorf("ID after power-up = %#x, want 0", got)
	}
}

func TestConfigCheck(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Config)
		want   string // part of the error
	}{
		{"no rules", func(c *Config) { c.Rules = Rules{} }, "no rules"},
		{"no frequency", func(c *Config) { c.Freq = 999 }, "999 Hz"},
		{"frequency beyond 32 bits", func(c *Config) { c.Freq = 1 << 42 }, "Hz"},
		{"largest bus cycle", func(c *Config) { c.BusCycle = 33554432 }, ""},
		{"bus cycle overflows", func(c *Config) { c.BusCycle = 33554433 }, "33554433 ns"},
		{"negative bus cycle", func(c *Config) { c.BusCycle = -1 }, "-1 ns"},
		{"negative minimum", func(c *Config) { c.MinPeriod = -5 }, "-5 ns"},
	}
	for _, tt := range tests {
		c := testConfig()
		tt.change(&c)
		err := c.Check()
		if tt.want == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: Check = %v, want an error with %q", tt.name, err, tt.want)
		}
	}
}

func TestAPICIsAValue(t *testing.T) {
	a := newDeadline(t, 1000)
	b := a
	a.WriteDeadline(12345)
	a.Accept(0x41, false)
	a.Post(0x42, false)
	if b == a || b.Timer.Deadline != 0 || !b.IRR.Empty() || !b.PI.PIR.Empty() {
		t.Error("a copy changes with its original")
	}
}
