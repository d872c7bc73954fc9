package lapic

import (
	"encoding/binary"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

func TestExportLayout(t *testing.T) {
	a := New(0x42, false, testConfig())
	mustWrite(t, &a, SPIV, 0x1ff)
	mustWrite(t, &a, TPR, 0x30)
	mustWrite(t, &a, ICR2, 7<<24)
	mustWrite(t, &a, ICRLow, 0x40fd)
	mustWrite(t, &a, TMICT, 1000)
	a.Accept(0x41, true)
	a.Accept(0x42, false)
	a.Ack(0x42)
	var p [StateSize]byte
	a.Export(&p, false, at(1000))
	want := map[int]uint32{0x20: 0x42 << 24, 0x30: 0x50014, 0x80: 0x30, 0xa0: 0x40, 0xe0: 0xffffffff, 0xf0: 0x1ff,
		0x100 + 0x20: 1 << 2, 0x180 + 0x20: 1 << 1, 0x200 + 0x20: 1 << 1, 0x300: 0x40fd, 0x310: 7 << 24, 0x320: 0x10000,
		0x380: 1000, 0x390: 500, 0x3e0: 0}
	for off, v := range want {
		if got := binary.LittleEndian.Uint32(p[off:]); got != v {
			t.Errorf("offset %#x = %#x, want %#x", off, got, v)
		}
	}
	for i := range p {
		if i&0xf >= 4 && p[i] != 0 {
			t.Fatalf("byte %#x between registers is %#x", i, p[i])
		}
	}
}

func TestX2APICStateFormats(t *testing.T) {
	a := New(0x123, false, testConfig())
	x2apic(t, &a)
	mustWrite(t, &a, ICRLow, 0xabcd_000040fd)
	var narrow, wide [StateSize]byte
	a.Export(&narrow, false, at(0))
	a.Export(&wide, true, at(0))
	if n, w := getReg(&narrow, ID), getReg(&wide, ID); n != 0x23000000 || w != 0x123 {
		t.Errorf("ID: narrow %#x, wide %#x", n, w)
	}
	if low, high := getReg(&wide, ICRLow), getReg(&wide, ICR2); low != 0x40fd || high != 0xabcd {
		t.Errorf("ICR halves %#x and %#x", low, high)
	}
	b := New(0x123, false, testConfig())
	x2apic(t, &b)
	putReg(&narrow, LDR, 99)
	if _, err := b.Import(&narrow, false, at(0)); err != nil || b.reg(ID) != 0x123 || b.LogicalID() != LogicalX2APIC(0x123) {
		t.Errorf("narrow import: %v, ID %#x, LDR %#x", err, b.reg(ID), b.LogicalID())
	}
	if v := mustRead(t, &b, ICRLow, at(0)); v != 0xabcd_000040fd {
		t.Errorf("ICR = %#x after import", v)
	}
	putReg(&wide, ID, 0x124)
	before := b
	_, err := b.Import(&wide, true, at(0))
	if err == nil || !strings.Contains(err.Error(), "0x124") || !strings.Contains(err.Error(), "0x20") || b != before {
		t.Errorf("import with another ID: %v", err)
	}
}

func TestRestoredCounts(t *testing.T) {
	tests := []struct {
		name  string
		era   Rules
		mode  TimerMode
		count uint32 // TMCCT at divisor 2; TMICT is 100000
		left  clock.Nanos
	}{
		{"half way", Era5_14, OneShot, 50_000, 100_000},
		{"one-shot at 0 expires at once", Era5_14, OneShot, 0, 0},
		{"one-shot at 0 up to 5.11: full period", Era5_10, OneShot, 0, 200_000},
		{"periodic at 0: full period", Era5_14, Periodic, 0, 200_000},
		{"more than TMICT: full period", Era5_14, OneShot, 100_001, 200_000},
		{"all of it", Era5_14, OneShot, 100_000, 200_000},
	}
	for _, tt := range tests {
		src := newAPIC(t, inEra(tt.era))
		mustWrite(t, &src, LVTT, mode(tt.mode))
		mustWrite(t, &src, TMICT, 100_000)
		var p [StateSize]byte
		src.Export(&p, false, at(0))
		putReg(&p, TMCCT, tt.count)
		a := New(0, true, src.Config)
		a.Timer.Expired, a.Timer.Pending = 99, true
		a.Timer.HVInUse, a.Timer.HVDeadline = true, 5
		e, err := a.Import(&p, false, at(7000))
		if err != nil || e.Do != EffectCancel|EffectArm|EffectLVT0|EffectLDR {
			t.Errorf("%s: effects %#x, %v", tt.name, e.Do, err)
		}
		tm := &a.Timer
		if tm.Period != 200_000 || tm.Target != 7000+tt.left || tm.Deadline != at(7000).Guest+tm.Scale.Cycles(uint64(tt.left)) {
			t.Errorf("%s: period %d, target now+%d, want now+%d", tt.name, tm.Period, tm.Target-7000, tt.left)
		}
		wantExpired := clock.TSC(0)
		if !tt.era.RestoreDropsExpired {
			wantExpired = 99
		}
		if tm.Expired != wantExpired || tm.Pending || tm.HVInUse {
			t.Errorf("%s: timer %+v", tt.name, tm)
		}
		if a.reg(TMCCT) != 0 {
			t.Errorf("%s: TMCCT stays in the page", tt.name)
		}
	}
}

func TestRestoringDeadlineModeNeedsTheMSRAfterwards(t *testing.T) {
	src := newDeadline(t, 0)
	src.WriteDeadline(1 << 40)
	var p [StateSize]byte
	src.Export(&p, false, at(0))
	a := New(0, true, src.Config)
	a.WriteDeadline(1 << 40) // too early: LVTT is not restored yet
	if _, err := a.Import(&p, false, at(0)); err != nil {
		t.Fatal(err)
	}
	if a.DeadlineMSR() != 0 || a.SoftStart(at(0)).Verdict != StartZero {
		t.Errorf("deadline %d before the MSR is restored", a.DeadlineMSR())
	}
	a.WriteDeadline(1 << 40)
	if a.SoftStart(at(0)).Verdict != StartArmed {
		t.Error("not armed after the MSR is restored")
	}
}

func TestImportOfStoppedTimerArmsNothing(t *testing.T) {
	src := newAPIC(t)
	var p [StateSize]byte
	src.Export(&p, false, at(0))
	if e, err := src.Import(&p, false, at(0)); err != nil || e.Has(EffectArm) {
		t.Errorf("effects %#x, %v", e.Do, err)
	}
}

func TestImportCannotChangeTheVersion(t *testing.T) {
	a := newAPIC(t)
	var p [StateSize]byte
	a.Export(&p, false, at(0))
	putReg(&p, Version, 0x99)
	a.Import(&p, false, at(0))
	if got := mustRead(t, &a, Version, at(0)); got != 0x50014 {
		t.Errorf("version = %#x", got)
	}
}

func TestStateRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := newAPIC(t)
		if rapid.Bool().Draw(rt, "x2apic") {
			x2apic(t, &a)
		}
		drive(rt, &a, 40)
		wide := rapid.Bool().Draw(rt, "wide")
		now := at(clock.Nanos(rapid.Int64Range(0, 1e9).Draw(rt, "now")))
		var p, q [StateSize]byte
		a.Export(&p, wide, now)
		b := New(a.ID, true, a.Config)
		b.Base = a.Base
		if _, err := b.Import(&p, wide, now); err != nil {
			rt.Fatal(err)
		}
		b.Export(&q, wide, now)
		// A mode that does not count loses its count, and so does a count that is not
		// below the period that TMICT gives, left over from an earlier TMICT or mode.
		if !a.Timer.Mode.counts() || b.countNanos(getReg(&p, TMCCT)) >= b.Timer.Period {
			putReg(&p, TMCCT, 0)
		}
		for off := Reg(0); off < StateSize; off += 16 {
			if was, is := getReg(&p, off), getReg(&q, off); was != is {
				rt.Fatalf("%s changes from %#x to %#x when imported and exported", off.Name(), was, is)
			}
		}
		if err := invariants(&b); err != nil {
			rt.Fatal(err)
		}
		if b.ISR != a.ISR || b.IRR != a.IRR || b.TMR != a.TMR || b.PPR() != a.PPR() {
			rt.Fatal("interrupt state differs")
		}
	})
}
