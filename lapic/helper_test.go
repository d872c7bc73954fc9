package lapic

import (
	"fmt"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

const (
	testHz    = clock.Hz(2_500_000_000)
	guestZero = 10_000    // guest TSC at monotonic time 0
	hostZero  = 1_000_000 // host TSC at monotonic time 0
)

// at is the sample at a monotonic time: 2.5 cycles per nanosecond on both lines.
func at(ns clock.Nanos) Sample {
	c := clock.TSC(ns * 5 / 2)
	return Sample{Host: hostZero + c, Guest: guestZero + c, Mono: ns}
}

func testConfig() Config {
	return Config{Rules: Era5_14, Freq: testHz, TSCDeadline: true, X2APIC: true}
}

// newAPIC is a boot processor's APIC, software-enabled, in xAPIC mode.
func newAPIC(t testing.TB, change ...func(*Config)) APIC {
	t.Helper()
	c := testConfig()
	for _, f := range change {
		f(&c)
	}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	a := New(0, true, c)
	mustWrite(t, &a, SPIV, 0x1ff)
	return a
}

// newDeadline is the same in TSC-deadline mode with vector 0xef, advance fixed.
func newDeadline(t testing.TB, advance clock.Nanos, change ...func(*Config)) APIC {
	t.Helper()
	a := newAPIC(t, change...)
	mustWrite(t, &a, LVTT, uint64(TSCDeadline)<<17|0xef)
	a.SetAdvance(TuningFixed, advance, Tune5_4)
	return a
}

func inEra(r Rules) func(*Config) { return func(c *Config) { c.Rules = r } }

func x2apic(t testing.TB, a *APIC) {
	t.Helper()
	if _, ok := a.WriteBase(a.Base | BaseX2APIC); !ok {
		t.Fatal("entering x2APIC mode: #GP")
	}
}

func mustWrite(t testing.TB, a *APIC, r Reg, v uint64) Effect {
	t.Helper()
	return mustWriteAt(t, a, r, v, at(0))
}

func mustWriteAt(t testing.TB, a *APIC, r Reg, v uint64, now Sample) Effect {
	t.Helper()
	e, ok := a.Write(r, v, now)
	if !ok {
		t.Fatalf("Write(%s, %#x): #GP", r.Name(), v)
	}
	return e
}

func mustRead(t testing.TB, a *APIC, r Reg, now Sample) uint64 {
	t.Helper()
	v, ok := a.Read(r, now)
	if !ok {
		t.Fatalf("Read(%s): #GP", r.Name())
	}
	return v
}

// mode is an LVTT value with vector 0x40, unmasked.
func mode(m TimerMode) uint64 { return uint64(m)<<17 | 0x40 }

// invariants returns the first invariant of an APIC that a guest can reach which
// does not hold. Unit, property and fuzz tests share it.
func invariants(a *APIC) error {
	t := &a.Timer
	switch {
	case a.reg(LVTT)&a.timerMask()>>17 != uint32(t.Mode):
		return fmt.Errorf("timer mode %v differs from LVTT %#x", t.Mode, a.reg(LVTT))
	case t.HVInUse == (t.HVDeadline == clock.Never):
		return fmt.Errorf("HVInUse %v with HVDeadline %#x", t.HVInUse, uint64(t.HVDeadline))
	case t.Mode == Periodic && t.Period != 0 && t.Period < a.minPeriod() && !a.rules().SwitchCancelsAll:
		return fmt.Errorf("periodic with a period of %d ns, below the minimum", t.Period)
	case t.Mode == TSCDeadline && (t.Period != 0 || a.reg(TMICT) != 0) && !a.rules().SwitchCancelsAll:
		return fmt.Errorf("TSC-deadline with period %d ns and TMICT %d", t.Period, a.reg(TMICT))
	case a.reg(LVTT)&timerModes&^a.timerMask() != 0:
		return fmt.Errorf("LVTT %#x has a mode bit that the CPU lacks", a.reg(LVTT))
	case t.Advance < 0 || t.Advance > 1<<32-1:
		return fmt.Errorf("advance %d ns is not 32 bits", t.Advance)
	case a.X2APIC() && a.LogicalID() != LogicalX2APIC(a.ID):
		return fmt.Errorf("x2APIC LDR %#x is not derived from ID %#x", a.LogicalID(), a.ID)
	case a.reg(ICRLow)&uint32(ICRBusy) != 0:
		return fmt.Errorf("ICR %#x shows a send pending", a.reg(ICRLow))
	case !a.Config.Errors && a.reg(ESR) != 0:
		return fmt.Errorf("ESR is %#x", a.reg(ESR))
	}
	return maskInvariants(a)
}

// maskInvariants checks the registers against the table.
func maskInvariants(a *APIC) error {
	for i := range Table {
		w := &Table[i]
		for n := range w.Count {
			r := w.Reg + Reg(n<<4)
			if w.Count > 1 && a.reg(r) != 0 {
				return fmt.Errorf("raw page has %#x at %s", a.reg(r), r.Name())
			}
		}
		quirk := w.Reg == LVT0 && a.reg(LVT0) == uint32(ExtINT)<<8 // as reset leaves it
		if strings.HasPrefix(w.Name, "LVT") && !quirk && a.reg(w.Reg) != 0 && !a.SoftEnabled() && a.reg(w.Reg)&lvtMasked == 0 {
			return fmt.Errorf("%s %#x is unmasked while the APIC is software-disabled", w.Name, a.reg(w.Reg))
		}
	}
	v, ok := a.Deliverable()
	if ok && (!a.IRR.Has(v) || uint8(v)&0xf0 <= a.PPR()) {
		return fmt.Errorf("vector %d is deliverable with PPR %#x", v, a.PPR())
	}
	return nil
}
