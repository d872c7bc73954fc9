package lapic

import (
	"math"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

func TestTuningVectors(t *testing.T) {
	const khz = 2_500_000
	type step struct {
		next clock.Nanos
		v    TuneVerdict
		done bool
	}
	later := func(n clock.Nanos) step { return step{n, TuneLater, false} }
	earlier := func(n clock.Nanos) step { return step{n, TuneEarlier, false} }
	ignored := func(n clock.Nanos) step { return step{n, TuneIgnored, false} }
	done := func(n clock.Nanos) step { return step{n, TuneDone, true} }
	reset := step{1000, TuneReset, false}
	off := step{0, TuneOff, true}
	tests := []struct {
		adv   clock.Nanos
		delta clock.Cycles
		// 4.20, 5.2, 5.3, then 5.4 and 6.10
		e4_20, e5_2, e5_3, e5_4 step
	}{
		{1000, 99, done(1039), done(1039), done(1039), ignored(1000)},
		{1000, -99, done(961), done(961), done(961), ignored(1000)},
		{1000, 0, done(1000), done(1000), done(1000), ignored(1000)},
		{1000, 100, later(1040), later(1040), later(1040), later(1005)},
		{1000, -100, earlier(960), earlier(960), earlier(960), earlier(995)},
		{1000, 2500, later(1125), later(1125), later(1125), later(1125)},
		{1000, -2500, earlier(875), earlier(875), earlier(875), earlier(875)},
		{1000, 10000, later(1125), later(1125), later(1125), later(1500)},
		{1000, -10000, earlier(875), earlier(875), earlier(875), earlier(500)},
		{1000, 10001, later(1125), later(1125), later(1125), ignored(1000)},
		{1000, -10001, earlier(875), earlier(875), earlier(875), ignored(1000)},
		{4900, 10000, later(5512), off, reset, reset},
		{300, -10000, earlier(263), earlier(263), earlier(263), reset},
		{4999, 99, done(5038), off, reset, ignored(4999)},
		{5000, -100, earlier(4960), earlier(4960), earlier(4960), earlier(4995)},
		{500, -10000, earlier(438), earlier(438), earlier(438), earlier(0)},
		{499, -10000, earlier(437), earlier(437), earlier(437), reset}, // 499 − 500 wraps
	}
	for _, tt := range tests {
		for era, want := range map[TuneRules]step{Tune4_20: tt.e4_20, Tune5_2: tt.e5_2, Tune5_3: tt.e5_3, Tune5_4: tt.e5_4} {
			res, done := era.Step(tt.adv, tt.delta, khz)
			if res != (TuneResult{tt.adv, want.next, want.v}) || done != want.done {
				t.Errorf("%v: Step(%d, %+d) = %+v, done %v, want %+v", era, tt.adv, tt.delta, res, done, want)
			}
		}
	}
}

func TestTuningOddInputs(t *testing.T) {
	for _, era := range tunings {
		if res, done := era.Step(1000, 5000, 0); res.Verdict != TuneIgnored || done {
			t.Errorf("%v at 0 kHz: %+v", era, res)
		}
		for _, d := range []clock.Cycles{math.MinInt64, math.MaxInt64} {
			res, _ := era.Step(1000, d, 1)
			if res.New < 0 || res.New > math.MaxUint32 {
				t.Errorf("%v with delta %d: %+v", era, d, res)
			}
		}
	}
}

func TestEarlyStepAtOneKHzWraps(t *testing.T) {
	// 10000 cycles at 1 kHz are 10^10 ns; an eighth is 1250000000.
	if res, _ := Tune5_4.Step(1000, -10000, 1); res != (TuneResult{1000, 1000, TuneReset}) {
		t.Errorf("%+v", res)
	}
}

func TestTuningFreezesBelowTheBand(t *testing.T) {
	// A constant need of 1800 ns at 2.5 GHz: tuning stops 36 ns short of it.
	a := newAPIC(t)
	a.SetAdvance(TuningAdaptive, 0, Tune5_4)
	steps := 0
	for range 1000 {
		delta := clock.Cycles(1800-a.Timer.Advance) * 5 / 2
		if res, _ := a.tune(delta); res.Verdict == TuneIgnored {
			break
		}
		steps++
	}
	if a.Timer.Advance != 1764 || steps != 24 {
		t.Errorf("stops at %d ns after %d steps, want 1764 after 24", a.Timer.Advance, steps)
	}
}

func TestTuningStopsForGoodUpTo5_3(t *testing.T) {
	for _, era := range []TuneRules{Tune4_20, Tune5_2, Tune5_3} {
		a := newAPIC(t)
		a.SetAdvance(TuningAdaptive, 0, era)
		if res, ok := a.tune(50); !ok || res.Verdict != TuneDone {
			t.Errorf("%v: %+v, %v", era, res, ok)
		}
		if _, ok := a.tune(5000); ok || a.Timer.Advance != 1020 {
			t.Errorf("%v: tuned after the end, advance %d", era, a.Timer.Advance)
		}
		a.SetAdvance(TuningAdaptive, 0, era)
		if _, ok := a.tune(5000); !ok {
			t.Errorf("%v: setting the advance does not restart tuning", era)
		}
	}
}

func TestTuningBeyondTheCeilingTurnsOffIn5_2(t *testing.T) {
	a := newAPIC(t)
	a.SetAdvance(TuningAdaptive, 0, Tune5_2)
	a.Timer.Advance = 4900
	if res, _ := a.tune(5000); res != (TuneResult{4900, 0, TuneOff}) {
		t.Errorf("%+v", res)
	}
	if _, ok := a.tune(5000); ok {
		t.Error("tuned after being turned off")
	}
}

func TestAdvanceSettings(t *testing.T) {
	tests := []struct {
		name string
		mode Tuning
		ns   clock.Nanos
		want clock.Nanos
	}{
		{"off", TuningOff, 500, 0},
		{"fixed", TuningFixed, 500, 500},
		{"fixed beyond the ceiling stays", TuningFixed, 9000, 9000},
		{"fixed negative", TuningFixed, -1, 0},
		{"fixed beyond 32 bits", TuningFixed, 1 << 33, math.MaxUint32},
		{"adaptive starts at 1000", TuningAdaptive, 500, 1000},
	}
	for _, tt := range tests {
		a := newAPIC(t)
		a.SetAdvance(tt.mode, tt.ns, Tune5_4)
		if a.Timer.Advance != tt.want || a.Timer.Tuning != tt.mode {
			t.Errorf("%s: advance %d, tuning %v", tt.name, a.Timer.Advance, a.Timer.Tuning)
		}
	}
}

func TestEntryAdvanceCycles(t *testing.T) {
	for _, tt := range []struct {
		ns   clock.Nanos
		hz   clock.Hz
		want clock.Cycles
	}{
		{300, 2_500_000_000, 750}, {25, 2_500_000_000, 62}, {0, 2_500_000_000, 0}, {300, 2_100_000_000, 630},
		{1717, 2_500_000_000, 4292}, {1718, 2_500_000_000, 0}, {2000, 2_500_000_000, 705}, // 32 bits
		{-5, 2_500_000_000, 0}, {300, 0, 0},
	} {
		a := newAPIC(t)
		a.SetFrequency(tt.hz)
		a.SetEntryAdvance(tt.ns)
		if a.Timer.EntryCycles != tt.want {
			t.Errorf("%d ns at %d Hz: %d cycles, want %d", tt.ns, tt.hz, a.Timer.EntryCycles, tt.want)
		}
	}
}

func TestFrequencyChangeKeepsTheEntryAdvance(t *testing.T) {
	a := newAPIC(t)
	a.SetEntryAdvance(300)
	a.SetFrequency(2_000_000_000)
	if a.Timer.EntryCycles != 750 || a.Timer.KHz != 2_000_000 || a.Timer.Scale != clock.NewScale(2_000_000_000) {
		t.Errorf("%+v", a.Timer)
	}
}
