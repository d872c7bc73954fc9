package lapic

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

func TestCountStartsTheTimer(t *testing.T) {
	tests := []struct {
		name   string
		mode   TimerMode
		tdcr   uint64
		bus    clock.Nanos
		count  uint64
		period clock.Nanos
	}{
		{"one-shot, divisor 2", OneShot, 0, 0, 1000, 2000},
		{"one-shot, divisor 1", OneShot, 0xb, 1, 1000, 1000},
		{"one-shot, divisor 128, bus 10 ns", OneShot, 0xa, 10, 1000, 1_280_000},
		{"one-shot is not clamped", OneShot, 0xb, 1, 1, 1},
		{"periodic is clamped", Periodic, 0xb, 1, 1000, 200_000},
		{"periodic at the limit", Periodic, 0xb, 1, 200_000, 200_000},
		{"periodic above it", Periodic, 0xb, 1, 200_001, 200_001},
		{"largest", OneShot, 0xa, 1, 0xffffffff, 0xffffffff * 128},
	}
	for _, tt := range tests {
		a := newAPIC(t, func(c *Config) { c.BusCycle = tt.bus })
		mustWrite(t, &a, LVTT, mode(tt.mode))
		mustWrite(t, &a, TDCR, tt.tdcr)
		a.Timer.Pending = true
		e := mustWriteAt(t, &a, TMICT, tt.count, at(1000))
		tm := &a.Timer
		if e.Do != EffectCancel|EffectArm {
			t.Errorf("%s: effects %#x", tt.name, e.Do)
		}
		deadline := at(1000).Guest + tm.Scale.Cycles(uint64(tt.period))
		if tm.Period != tt.period || tm.Target != 1000+tt.period || tm.Deadline != deadline || tm.Pending {
			t.Errorf("%s: period %d, target %d, deadline %d, pending %v", tt.name, tm.Period, tm.Target, tm.Deadline, tm.Pending)
		}
		if got := mustRead(t, &a, TMICT, at(1000)); got != tt.count {
			t.Errorf("%s: TMICT = %d", tt.name, got)
		}
	}
}

func TestCountZeroStopsTheTimer(t *testing.T) {
	a := newAPIC(t)
	mustWrite(t, &a, TMICT, 5000)
	a.Restart(at(0), HV{Usable: true, Multi: 5})
	if !a.Timer.HVInUse {
		t.Fatal("the preemption timer did not start")
	}
	e := mustWriteAt(t, &a, TMICT, 0, at(100))
	tm := &a.Timer
	if e.Do != EffectCancel || tm.Period != 0 || tm.Deadline != 0 || tm.HVInUse || tm.HVDeadline != clock.Never {
		t.Errorf("effects %#x, timer %+v", e.Do, tm)
	}
	if got := a.CurrentCount(100); got != 0 {
		t.Errorf("TMCCT = %d", got)
	}
}

func TestCountIsDroppedInDeadlineMode(t *testing.T) {
	a := newDeadline(t, 0)
	a.WriteDeadline(999_999)
	before := a
	if e := mustWrite(t, &a, TMICT, 5000); e != (Effect{}) || a != before {
		t.Errorf("TMICT in TSC-deadline mode: %+v", e)
	}
}

func TestCurrentCount(t *testing.T) {
	tests := []struct {
		name  string
		mode  TimerMode
		count uint64 // at divisor 2
		after clock.Nanos
		want  uint64
	}{
		{"at the start the modulo gives 0", OneShot, 1000, 0, 0},
		{"1 ns later", OneShot, 1000, 1, 999},
		{"2 ns later", OneShot, 1000, 2, 999},
		{"3 ns later", OneShot, 1000, 3, 998},
		{"half way", OneShot, 1000, 1000, 500},
		{"1 ns before the end", OneShot, 1000, 1999, 0},
		{"at the end", OneShot, 1000, 2000, 0},
		{"after the end", OneShot, 1000, 5000, 0},
		{"periodic", Periodic, 200_000, 100_000, 150_000},
		{"periodic, late by more than a period", Periodic, 200_000, 1_000_000, 0},
		{"clamped: counts through the longer period", Periodic, 1000, 1, 99_999},
		{"no count", OneShot, 0, 0, 0},
	}
	for _, tt := range tests {
		a := newAPIC(t)
		mustWrite(t, &a, LVTT, mode(tt.mode))
		mustWrite(t, &a, TMICT, tt.count)
		if got := mustRead(t, &a, TMCCT, at(tt.after)); got != tt.want {
			t.Errorf("%s: TMCCT = %d, want %d", tt.name, got, tt.want)
		}
		if mustWriteAt(t, &a, TMCCT, 77, at(tt.after)); mustRead(t, &a, TMCCT, at(tt.after)) != tt.want {
			t.Errorf("%s: TMCCT can be written", tt.name)
		}
	}
}

func TestModeSwitch(t *testing.T) {
	const running = 1_000_000 // TMICT: 2 ms
	tests := []struct {
		name     string
		era      Rules
		from, to TimerMode
		effect   EffectKind
		kept     bool // TMICT, period and deadline survive
		pending  bool // a pending expiry survives
	}{
		{"4.9: one-shot to periodic", Era4_9, OneShot, Periodic, EffectCancelSW, true, true},
		{"4.14: periodic to TSC-deadline", Era4_10, Periodic, TSCDeadline, EffectCancelSW, true, true},
		{"4.19: one-shot to periodic", Era4_19, OneShot, Periodic, EffectNone, true, true},
		{"4.19: periodic to TSC-deadline", Era4_19, Periodic, TSCDeadline, EffectCancelSW, false, true},
		{"5.4: one-shot to TSC-deadline", Era5_3, OneShot, TSCDeadline, EffectCancelSW, false, true},
		{"5.6: one-shot to TSC-deadline", Era5_6, OneShot, TSCDeadline, EffectCancel, false, true},
		{"5.10: one-shot to TSC-deadline", Era5_10, OneShot, TSCDeadline, EffectCancel, false, true},
		{"5.14: one-shot to TSC-deadline", Era5_14, OneShot, TSCDeadline, EffectCancel, false, false},
		{"5.14: periodic to one-shot", Era5_14, Periodic, OneShot, EffectNone, true, true},
		{"7.3: one-shot to reserved keeps running", Era7_3, OneShot, ReservedMode, EffectNone, true, true},
		{"7.3: no change", Era7_3, OneShot, OneShot, EffectNone, true, true},
	}
	for _, tt := range tests {
		a := newAPIC(t, inEra(tt.era))
		mustWrite(t, &a, LVTT, mode(tt.from))
		mustWrite(t, &a, TMICT, running)
		old := a.Timer
		a.Timer.Pending = true
		e := mustWriteAt(t, &a, LVTT, mode(tt.to), at(1000))
		tm := &a.Timer
		if e.Do != tt.effect || tm.Mode != tt.to || tm.Pending != tt.pending {
			t.Errorf("%s: effects %#x, mode %v, pending %v", tt.name, e.Do, tm.Mode, tm.Pending)
		}
		kept := tm.Period == old.Period && tm.Deadline == old.Deadline && a.reg(TMICT) == running
		gone := tm.Period == 0 && tm.Deadline == 0 && a.reg(TMICT) == 0
		if tt.kept && !kept || !tt.kept && !gone {
			t.Errorf("%s: period %d, deadline %d, TMICT %d", tt.name, tm.Period, tm.Deadline, a.reg(TMICT))
		}
		if err := invariants(&a); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestLeavingDeadlineModeDropsTheDeadline(t *testing.T) {
	for _, to := range []TimerMode{OneShot, Periodic, ReservedMode} {
		a := newDeadline(t, 0)
		a.WriteDeadline(1 << 30)
		e := mustWrite(t, &a, LVTT, mode(to))
		if e.Do != EffectCancel || a.Timer.Deadline != 0 {
			t.Errorf("to %v: effects %#x, deadline %d", to, e.Do, a.Timer.Deadline)
		}
	}
}

func TestOneShotBecomingPeriodicIsClamped(t *testing.T) {
	a := newAPIC(t)
	mustWrite(t, &a, TMICT, 1000)
	target := a.Timer.Target
	mustWrite(t, &a, LVTT, mode(Periodic))
	if a.Timer.Period != 200_000 || a.Timer.Target != target || a.reg(TMICT) != 1000 {
		t.Errorf("period %d, target %d (was %d), TMICT %d", a.Timer.Period, a.Timer.Target, target, a.reg(TMICT))
	}
}

func TestMinimumPeriodByEraAndConfig(t *testing.T) {
	for _, tt := range []struct {
		era        Rules
		configured clock.Nanos
		want       clock.Nanos
	}{{Era4_9, 0, 500_000}, {Era4_10, 0, 500_000}, {Era4_19, 0, 200_000}, {Era7_3, 0, 200_000}, {Era7_3, 50_000, 50_000}} {
		a := newAPIC(t, inEra(tt.era), func(c *Config) { c.MinPeriod = tt.configured })
		mustWrite(t, &a, LVTT, mode(Periodic))
		mustWrite(t, &a, TMICT, 10)
		if a.Timer.Period != tt.want {
			t.Errorf("%v with %d configured: period %d, want %d", tt.era, tt.configured, a.Timer.Period, tt.want)
		}
	}
}

func TestSameModeLeavesTheTimerAlone(t *testing.T) {
	a := newDeadline(t, 0)
	a.WriteDeadline(1 << 30)
	tm := a.Timer
	for _, v := range []uint64{2<<17 | 0x31, 2<<17 | 0x10031, 2<<17 | 0x31} {
		if e := mustWrite(t, &a, LVTT, v); e != (Effect{}) || a.Timer != tm {
			t.Errorf("LVTT := %#x: %+v", v, e)
		}
	}
}

func TestDeadlineModeNeedsItsCPUIDBit(t *testing.T) {
	a := newAPIC(t, func(c *Config) { c.TSCDeadline = false })
	mustWrite(t, &a, LVTT, mode(TSCDeadline))
	if got := mustRead(t, &a, LVTT, at(0)); got != 0x40 || a.Timer.Mode != OneShot {
		t.Errorf("LVTT = %#x, mode %v: bit 18 must not stick", got, a.Timer.Mode)
	}
	mustWrite(t, &a, LVTT, mode(ReservedMode))
	if a.Timer.Mode != Periodic {
		t.Errorf("mode 3 without the CPUID bit is %v, want periodic", a.Timer.Mode)
	}
}

func TestDivideChangeRescalesTheRemainingTime(t *testing.T) {
	a := newAPIC(t)
	mustWrite(t, &a, TMICT, 100_000) // divisor 2: 200 µs
	deadline := a.Timer.Deadline
	e := mustWriteAt(t, &a, TDCR, 0x3, at(50_000)) // divisor 16; 150 µs remain
	tm := &a.Timer
	if e.Do != EffectCancelSW|EffectArm {
		t.Errorf("effects %#x", e.Do)
	}
	if tm.Period != 1_600_000 || tm.Target != 50_000+1_200_000 {
		t.Errorf("period %d, target %d", tm.Period, tm.Target)
	}
	if got, want := tm.Deadline-deadline, tm.Scale.Cycles(1_200_000)-tm.Scale.Cycles(150_000); got != want {
		t.Errorf("deadline moved by %d cycles, want %d", got, want)
	}
	if got := a.CurrentCount(50_000); got != 75_000 {
		t.Errorf("TMCCT = %d, want it unchanged by the new divisor", got)
	}
}

func TestDivideChangeOddCases(t *testing.T) {
	t.Run("same divisor", func(t *testing.T) {
		a := newAPIC(t)
		mustWrite(t, &a, TMICT, 1000)
		tm := a.Timer
		if e := mustWriteAt(t, &a, TDCR, 0x4, at(5)); e != (Effect{}) || a.Timer != tm {
			t.Errorf("%+v", e)
		}
	})
	t.Run("stopped", func(t *testing.T) {
		a := newAPIC(t)
		if e := mustWrite(t, &a, TDCR, 0xb); e != (Effect{}) {
			t.Errorf("%+v", e)
		}
	})
	t.Run("late", func(t *testing.T) {
		a := newAPIC(t)
		mustWrite(t, &a, TMICT, 1000)
		if mustWriteAt(t, &a, TDCR, 0xb, at(9000)); a.Timer.Target != 9000 {
			t.Errorf("target %d, want now", a.Timer.Target)
		}
	})
	t.Run("up to 4.14 the target stays", func(t *testing.T) {
		a := newAPIC(t, inEra(Era4_10))
		mustWrite(t, &a, TMICT, 1000)
		tm := a.Timer
		if e := mustWriteAt(t, &a, TDCR, 0xb, at(5)); e != (Effect{}) || a.Timer != tm {
			t.Errorf("%+v", e)
		}
	})
	t.Run("up to 5.9 all bits are stored", func(t *testing.T) {
		a := newAPIC(t, inEra(Era5_8))
		if mustWrite(t, &a, TDCR, 0xfffffff4); mustRead(t, &a, TDCR, at(0)) != 0xfffffff4 {
			t.Errorf("TDCR = %#x", a.reg(TDCR))
		}
	})
}

func TestPeriodWithLargestCountDoesNotOverflow(t *testing.T) {
	a := newAPIC(t, func(c *Config) { c.BusCycle = 33554432 })
	mustWrite(t, &a, TDCR, 0xa)
	e := mustWrite(t, &a, TMICT, 0xffffffff)
	if a.Timer.Period < 0 {
		t.Errorf("period %d is negative, effects %#x", a.Timer.Period, e.Do)
	}
	if got := a.CurrentCount(5); got != 0 && a.Timer.Period == 0 {
		t.Errorf("TMCCT = %d without a period", got)
	}
}
