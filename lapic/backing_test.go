package lapic

import (
	"math"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

var hv5 = HV{Usable: true, Multi: 5}

// The worked numbers: 2.5 GHz, no scaling, preemption timer rate 5.
func TestWorkedNumbers(t *testing.T) {
	tests := []struct {
		name     string
		advance  clock.Nanos
		entry    clock.Nanos
		ahead    clock.TSC // deadline minus now, guest cycles
		hvDelta  clock.TSC // preemption timer minus now, host cycles
		hvDue    bool
		swAfter  clock.Nanos // hrtimer minus now
		swExpire bool
	}{
		{"3000 ahead, advance 1000", 1000, 0, 3000, 500, false, 200, false},
		{"2500 ahead is within the advance", 1000, 0, 2500, 0, true, 0, true},
		{"2502 ahead: 1000 ns, still within for the hrtimer", 1000, 0, 2502, 2, false, 0, true},
		{"2503 ahead: 1001 ns", 1000, 0, 2503, 3, false, 1, false},
		{"no advance", 0, 0, 3000, 3000, false, 1200, false},
		{"no advance, 1 ahead: 0 ns is not more than 0", 0, 0, 1, 1, false, 0, true},
		{"now", 0, 0, 0, 0, true, 0, true},
		{"entry advance 300: 900 ns remain", 1000, 300, 3000, 0, true, 0, true},
		{"entry advance 300, 4000 ahead", 1000, 300, 4000, 750, false, 300, false},
		{"entry advance alone", 0, 300, 1000, 250, false, 100, false},
		{"within the entry advance", 0, 300, 750, 0, true, 0, true},
	}
	for _, tt := range tests {
		a := newDeadline(t, tt.advance)
		a.SetEntryAdvance(tt.entry)
		now := at(1_000_000)
		a.WriteDeadline(now.Guest + tt.ahead)
		before := a
		fire, due, v := a.HVStart(now, hv5)
		if v != StartArmed || fire != now.Host+tt.hvDelta || due != tt.hvDue {
			t.Errorf("%s: HVStart = now+%d, %v, %v, want now+%d, %v", tt.name, fire-now.Host, due, v, tt.hvDelta, tt.hvDue)
		}
		s := a.SoftStart(now)
		want := Soft{Verdict: StartArmed, FireAt: now.Mono + tt.swAfter}
		if tt.swExpire {
			want = Soft{Verdict: StartExpired}
		}
		if s != want {
			t.Errorf("%s: SoftStart = %+v, want %+v", tt.name, s, want)
		}
		if a != before {
			t.Errorf("%s: computing changed the APIC", tt.name)
		}
	}
}

func TestPreemptionTicksTruncate(t *testing.T) {
	const now = 1_000_000
	tests := []struct {
		name     string
		deadline clock.TSC
		multi    uint8
		want     uint32
		ok       bool
	}{
		{"entered 300 cycles after the start: fires 8 cycles early", now + 500 - 300, 5, 6, true},
		{"31 cycles are no tick", now + 31, 5, 0, true},
		{"32 are one", now + 32, 5, 1, true},
		{"due", now, 5, 0, true},
		{"past", now - 1, 5, 0, true},
		{"rate 0", now + 123, 0, 123, true},
		{"largest", now + 0xffffffff<<5 + 31, 5, 0xffffffff, true},
		{"off", clock.Never, 5, 0, false},
	}
	for _, tt := range tests {
		if ticks, ok := PreemptionTicks(tt.deadline, now, tt.multi); ticks != tt.want || ok != tt.ok {
			t.Errorf("%s: %d, %v, want %d, %v", tt.name, ticks, ok, tt.want, tt.ok)
		}
	}
}

func TestSoftDeadlineOverflowsAsTheKernelDoes(t *testing.T) {
	const last = math.MaxUint64 / 1_000_000 // largest distance whose product fits
	tests := []struct {
		name    string
		ahead   clock.TSC
		khz     uint64
		want    clock.Nanos
		wrapped bool
	}{
		{"2 h at 2.5 GHz fits", 18_000_000_000_000, 2_500_000, 7_200_000_000_000, false},
		{"largest that fits", last, 2_500_000, last * 1_000_000 / 2_500_000, false},
		// (last+1)·10^6 − 2^64 = 448384: 0 ns at 2.5 GHz, which is not more
		// than 0.
		{"one more wraps to nothing", last + 1, 2_500_000, -1, true},
		{"3 h fire after 56 min", 27_000_000_000_000, 2_500_000,
			clock.Nanos((27_000_000_000_000*1_000_000 - 1<<64) / 2_500_000), true},
		{"nanoseconds beyond 63 bits", 1_000_000_000_000, 1, clock.Nanos(1_000_000_000_000 * 1_000_000), false},
	}
	for _, tt := range tests {
		a := newDeadline(t, 0)
		a.SetFrequency(clock.Hz(tt.khz * 1000))
		now := Sample{Guest: 5}
		a.WriteDeadline(now.Guest + tt.ahead)
		s := a.SoftStart(now)
		want := Soft{Verdict: StartArmed, FireAt: tt.want, Wrapped: tt.wrapped}
		if tt.want < 0 {
			want = Soft{Verdict: StartExpired, Wrapped: tt.wrapped}
		}
		if s != want {
			t.Errorf("%s: SoftStart = %+v, want %+v", tt.name, s, want)
		}
	}
}

// A deadline less than a nanosecond ahead is due now, and has not wrapped.
func TestSoftDeadlineOfNoWholeNanosecond(t *testing.T) {
	a := newDeadline(t, 0, inEra(Era4_19))
	now := at(50_000)
	a.WriteDeadline(now.Guest + 1) // 0.4 ns
	if s := a.SoftStart(now); s != (Soft{Verdict: StartArmed, FireAt: now.Mono}) {
		t.Errorf("SoftStart = %+v, want it armed for now", s)
	}
}

func TestMessageOfAnICR(t *testing.T) {
	for c, want := range map[ICR]Message{
		0x00040: {Vector: 0x40, IPI: true},
		0x04041: {Vector: 0x41, IPI: true, Assert: true},
		0x0c542: {Vector: 0x42, IPI: true, Assert: true, Level: true, Delivery: INIT},
		0x00843: {Vector: 0x43, IPI: true, Logical: true},
	} {
		if got := c.Message(true); got != want {
			t.Errorf("%#x: %+v, want %+v", uint64(c), got, want)
		}
	}
}

func TestOutcomeThatIsNone(t *testing.T) {
	if s := numOutcomes.String(); s != BadOutcome.String() {
		t.Errorf("an outcome that is none is called %q", s)
	}
	if s := OutcomeIllegal.String(); s != "illegal-vector" {
		t.Errorf("the last outcome is called %q", s)
	}
}

func TestSoftDeadlineReportsMonotonicOverflow(t *testing.T) {
	a := newDeadline(t, 0)
	a.WriteDeadline(1_000_000_000)
	if s := a.SoftStart(Sample{Guest: 1, Mono: math.MaxInt64 - 1000}); s.Verdict != StartArmed || !s.Wrapped {
		t.Errorf("SoftStart = %+v, want it reported as wrapped", s)
	}
	a.SetFrequency(1000) // 1 kHz: 10^6 ns a cycle
	a.WriteDeadline(18_000_000_000_000)
	if s := a.SoftStart(Sample{}); !s.Wrapped {
		t.Errorf("SoftStart of 1.8e19 ns = %+v, want it reported as wrapped", s)
	}
}

func TestSoftDeadlineUpTo5_0ArmsInThePast(t *testing.T) {
	a := newDeadline(t, 1000, inEra(Era4_19))
	now := at(50_000)
	a.WriteDeadline(now.Guest + 250) // 100 ns ahead
	if s := a.SoftStart(now); s != (Soft{Verdict: StartArmed, FireAt: now.Mono + 100 - 1000}) {
		t.Errorf("SoftStart = %+v", s)
	}
}

func TestStartRefusals(t *testing.T) {
	future := func(a *APIC) { a.Timer.Deadline = at(0).Guest + 1_000_000 }
	tests := []struct {
		name    string
		era     Rules
		mode    TimerMode
		prepare func(*APIC)
		hv      HV
		wantHV  Verdict
		wantSW  Verdict
	}{
		{"both possible", Era5_14, TSCDeadline, future, hv5, StartArmed, StartArmed},
		{"no preemption timer", Era5_14, TSCDeadline, future, HV{}, StartNoHV, StartArmed},
		{"no deadline", Era5_14, TSCDeadline, func(*APIC) {}, hv5, StartZero, StartZero},
		{"no count", Era5_14, OneShot, func(*APIC) {}, hv5, StartZero, StartZero},
		{"reserved mode", Era5_14, ReservedMode, future, hv5, StartMode, StartMode},
		{"one-shot in 4.9", Era4_9, OneShot, func(a *APIC) { a.Write(TMICT, 9000, at(0)) }, hv5, StartMode, StartArmed},
		{"one-shot in 4.10", Era4_10, OneShot, func(a *APIC) { a.Write(TMICT, 9000, at(0)) }, hv5, StartArmed, StartArmed},
		{"no frequency", Era5_14, TSCDeadline, func(a *APIC) { future(a); a.SetFrequency(0) }, HV{}, StartNoHV, StartNoFreq},
	}
	for _, tt := range tests {
		a := newAPIC(t, inEra(tt.era))
		mustWrite(t, &a, LVTT, mode(tt.mode))
		tt.prepare(&a)
		if _, _, v := a.HVStart(at(0), tt.hv); v != tt.wantHV {
			t.Errorf("%s: HVStart says %v, want %v", tt.name, v, tt.wantHV)
		}
		if s := a.SoftStart(at(0)); s.Verdict != tt.wantSW {
			t.Errorf("%s: SoftStart says %v, want %v", tt.name, s.Verdict, tt.wantSW)
		}
	}
}

func TestPreemptionTimerRange(t *testing.T) {
	const limit = 1 << 37 // multi 5: 2^32 ticks, about 55 s at 2.5 GHz
	tests := []struct {
		name  string
		era   Rules
		hv    HV
		ahead clock.TSC
		want  Verdict
	}{
		{"last in range", Era5_14, hv5, limit - 1, StartArmed},
		{"first beyond", Era5_14, hv5, limit, StartRange},
		{"a maximum is not looked at before 7.3", Era6_19, HV{Usable: true, Multi: 5, Max: 99}, limit - 1, StartArmed},
		{"7.3: within the maximum", Era7_3, HV{Usable: true, Multi: 5, Max: 99}, 99<<5 + 31, StartArmed},
		{"7.3: beyond it", Era7_3, HV{Usable: true, Multi: 5, Max: 99}, 100 << 5, StartRange},
		{"7.3: no maximum given", Era7_3, hv5, limit - 1, StartArmed},
		{"rate 31", Era5_14, HV{Usable: true, Multi: 31}, 1<<63 + 1<<62, StartRange},
		{"rate 31 in range", Era5_14, HV{Usable: true, Multi: 31}, 1<<62 - 1, StartArmed},
	}
	for _, tt := range tests {
		a := newDeadline(t, 0, inEra(tt.era))
		a.WriteDeadline(at(0).Guest + tt.ahead)
		if _, _, v := a.HVStart(at(0), tt.hv); v != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, v, tt.want)
		}
	}
}

// What does not fit into 64 bits when it is scaled is out of range (u64_shl_div_u64).
func TestPreemptionTimerScalingOverflow(t *testing.T) {
	const ratio = 1 << 40
	for ahead, want := range map[clock.TSC]Verdict{ratio << 16: StartRange, ratio<<16 + 1: StartRange, 1000: StartArmed} {
		a := newDeadline(t, 0)
		a.WriteDeadline(at(0).Guest + ahead)
		if _, _, v := a.HVStart(at(0), HV{Usable: true, Multi: 5, Ratio: ratio, Frac: 48}); v != want {
			t.Errorf("%d cycles ahead: %v, want %v", ahead, v, want)
		}
	}
}

func TestPreemptionTimerScaling(t *testing.T) {
	tests := []struct {
		name    string
		ratio   uint64
		frac    uint8
		ahead   clock.TSC
		want    clock.TSC
		verdict Verdict
	}{
		{"guest at half speed", 1 << 47, 48, 1000, 2000, StartArmed},
		{"guest at double speed", 1 << 49, 48, 1001, 500, StartArmed},
		{"same speed", 1 << 48, 48, 1001, 1001, StartArmed},
		{"SVM's format", 1 << 31, 32, 1000, 2000, StartArmed},
		{"1.5, rounded down", 3 << 47, 48, 1000, 666, StartArmed},
		{"quotient overflows", 1, 48, 1 << 17, 0, StartRange},
		{"nothing to scale", 1, 48, 0, 0, StartArmed},
	}
	for _, tt := range tests {
		a := newDeadline(t, 0)
		a.WriteDeadline(at(0).Guest + tt.ahead)
		hv := HV{Usable: true, Multi: 5, Ratio: tt.ratio, Frac: tt.frac}
		fire, due, v := a.HVStart(at(0), hv)
		if v != tt.verdict || v == StartArmed && (fire != hostZero+tt.want || due != (tt.want == 0)) {
			t.Errorf("%s: now+%d, %v, %v, want now+%d, %v", tt.name, fire-hostZero, due, v, tt.want, tt.verdict)
		}
	}
}

func TestPreemptionTimerWithoutAdvanceUpTo4_14(t *testing.T) {
	a := newDeadline(t, 1000, inEra(Era4_10))
	a.WriteDeadline(at(0).Guest + 3000)
	if fire, _, _ := a.HVStart(at(0), hv5); fire != hostZero+3000 {
		t.Errorf("fires at now+%d, want now+3000", fire-hostZero)
	}
}

func TestCountedModesIgnoreTheAdvanceInSoftware(t *testing.T) {
	a := newAPIC(t)
	a.SetAdvance(TuningFixed, 1000, Tune5_4)
	a.SetEntryAdvance(300)
	mustWrite(t, &a, TMICT, 5000) // 10 µs
	if s := a.SoftStart(at(0)); s != (Soft{Verdict: StartArmed, FireAt: 10_000}) {
		t.Errorf("SoftStart = %+v", s)
	}
	if s := a.SoftStart(at(10_000)); s.Verdict != StartArmed {
		t.Errorf("at the target: %+v, want armed: only later is late", s)
	}
	if s := a.SoftStart(at(10_001)); s != (Soft{Verdict: StartExpired}) {
		t.Errorf("after the target: %+v", s)
	}
}

func TestLatePeriodicTimer(t *testing.T) {
	tests := []struct {
		name   string
		era    Rules
		now    clock.Nanos
		target clock.Nanos
	}{
		{"one period late", Era6_10, 1_000_001, 2_000_000},
		{"one period late, from 6.19", Era6_19, 1_000_001, 2_000_000},
		{"many periods late catches up one by one", Era6_10, 7_500_000, 2_000_000},
		{"many periods late restarts from now, from 6.19", Era6_19, 7_500_000, 7_500_000},
	}
	for _, tt := range tests {
		a := newAPIC(t, inEra(tt.era))
		mustWrite(t, &a, LVTT, mode(Periodic))
		mustWrite(t, &a, TMICT, 500_000) // 1 ms
		s := a.SoftStart(at(tt.now))
		if s != (Soft{Verdict: StartExpired, FireAt: tt.target, Rearm: true}) || a.Timer.Target != tt.target {
			t.Errorf("%s: %+v, target %d, want %d", tt.name, s, a.Timer.Target, tt.target)
		}
	}
}

func TestPeriodicAdvanceKeepsBothDeadlinesTogether(t *testing.T) {
	a := newAPIC(t, inEra(Era6_19))
	mustWrite(t, &a, LVTT, mode(Periodic))
	mustWrite(t, &a, TMICT, 500_000)
	a.AdvancePeriodic(at(1_000_100))
	if a.Timer.Target != 2_000_000 {
		t.Fatalf("target %d", a.Timer.Target)
	}
	if want := at(1_000_100).Guest + a.Timer.Scale.Cycles(999_900); a.Timer.Deadline != want {
		t.Errorf("deadline %d, want %d", a.Timer.Deadline, want)
	}
	a.AdvancePeriodic(at(9_000_000))
	if a.Timer.Target != 9_000_000 || a.Timer.Deadline != at(9_000_000).Guest {
		t.Errorf("late: target %d, deadline %d, want both now", a.Timer.Target, a.Timer.Deadline)
	}
}

func TestLatePeriodicDeadlineIsAbsurdBefore6_19(t *testing.T) {
	a := newAPIC(t, inEra(Era6_10))
	mustWrite(t, &a, LVTT, mode(Periodic))
	mustWrite(t, &a, TMICT, 500_000)
	a.AdvancePeriodic(at(9_000_000))
	if a.Timer.Target != 2_000_000 {
		t.Errorf("target %d", a.Timer.Target)
	}
	if ahead := a.Timer.Deadline - at(9_000_000).Guest; ahead < 1<<40 {
		t.Errorf("deadline lies %d cycles ahead, want the negative distance taken as unsigned", ahead)
	}
	if _, _, v := a.HVStart(at(9_000_000), hv5); v != StartRange {
		t.Errorf("the preemption timer says %v, want out of range", v)
	}
}

func TestHrtimerRestart(t *testing.T) {
	tests := []struct {
		name  string
		era   Rules
		mode  TimerMode
		fired clock.Nanos // when it had been due
		now   clock.Nanos
		want  clock.Nanos
		again bool
	}{
		{"own expiry plus period before 6.19", Era6_10, Periodic, 999_000, 1_000_100, 1_999_000, true},
		{"target from 6.19", Era6_19, Periodic, 999_000, 1_000_100, 2_000_000, true},
		{"late from 6.19", Era6_19, Periodic, 1_000_000, 8_000_000, 8_000_000, true},
		{"one-shot does not restart", Era6_19, OneShot, 1_000_000, 1_000_100, 0, false},
	}
	for _, tt := range tests {
		a := newAPIC(t, inEra(tt.era))
		mustWrite(t, &a, LVTT, mode(tt.mode))
		mustWrite(t, &a, TMICT, 500_000)
		if fire, again := a.NextHrtimer(tt.fired, at(tt.now)); fire != tt.want || again != tt.again {
			t.Errorf("%s: %d, %v, want %d, %v", tt.name, fire, again, tt.want, tt.again)
		}
	}
	a := newDeadline(t, 0)
	if _, again := a.NextHrtimer(5, at(5)); again {
		t.Error("a TSC-deadline timer restarts")
	}
}

func TestRestartPlans(t *testing.T) {
	deadline := func(ahead clock.TSC) func(*APIC) {
		return func(a *APIC) { a.Write(LVTT, mode(TSCDeadline), at(0)); a.WriteDeadline(guestZero + ahead) }
	}
	periodic := func(a *APIC) { a.Write(LVTT, mode(Periodic), at(0)); a.Write(TMICT, 500_000, at(0)) }
	oneShot := func(a *APIC) { a.Write(TMICT, 500_000, at(0)) }
	tests := []struct {
		name    string
		prepare func(*APIC)
		now     clock.Nanos
		hv      HV
		want    Plan
		inUse   bool
	}{
		{"preemption timer", deadline(5000), 0, hv5,
			Plan{Backing: BackHV, HV: StartArmed, CancelSW: true, HVFire: hostZero + 5000}, true},
		{"expired at once: still in use for the expiry", deadline(0), 0, hv5,
			Plan{HV: StartExpired, CancelSW: true, Expire: true, HVFire: hostZero}, true},
		{"hrtimer", deadline(5000), 0, HV{},
			Plan{Backing: BackSW, HV: StartNoHV, SW: StartArmed, FireAt: 2000}, false},
		{"hrtimer, expired at once", deadline(0), 0, HV{},
			Plan{HV: StartNoHV, SW: StartExpired, Expire: true}, false},
		{"too far for the preemption timer", deadline(1 << 40), 0, hv5,
			Plan{Backing: BackSW, HV: StartRange, SW: StartArmed, FireAt: 439804651110}, false},
		{"pending expiry blocks", func(a *APIC) { deadline(5000)(a); a.Timer.Pending = true }, 0, hv5,
			Plan{HV: StartPending, SW: StartPending}, false},
		{"periodic with a pending expiry", func(a *APIC) { periodic(a); a.Timer.Pending = true }, 0, HV{},
			Plan{Backing: BackSW, HV: StartNoHV, SW: StartArmed, FireAt: 1_000_000}, false},
		{"late periodic stays on the preemption timer", periodic, 1_000_000, hv5,
			Plan{Backing: BackHV, HV: StartArmed, CancelSW: true, HVFire: hostZero + 2_500_000}, true},
		{"late periodic on the hrtimer is armed again", periodic, 1_000_001, HV{},
			Plan{Backing: BackSW, HV: StartNoHV, SW: StartExpired, Expire: true, FireAt: 2_000_000}, false},
		{"late one-shot on the hrtimer is not", oneShot, 1_000_001, HV{},
			Plan{HV: StartNoHV, SW: StartExpired, Expire: true}, false},
	}
	for _, tt := range tests {
		a := newAPIC(t)
		tt.prepare(&a)
		if got := a.Restart(at(tt.now), tt.hv); got != tt.want {
			t.Errorf("%s:\n got %+v\nwant %+v", tt.name, got, tt.want)
		}
		if a.Timer.HVInUse != tt.inUse {
			t.Errorf("%s: HVInUse = %v", tt.name, a.Timer.HVInUse)
		}
		if err := invariants(&a); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestBlockingSwitchesToTheHrtimer(t *testing.T) {
	a := newDeadline(t, 0)
	if _, ok := a.SwitchToSoft(at(0)); ok {
		t.Error("switched without the preemption timer in use")
	}
	a.WriteDeadline(guestZero + 5000)
	a.Restart(at(0), hv5)
	p, ok := a.SwitchToSoft(at(400))
	if !ok || p != (Plan{Backing: BackSW, SW: StartArmed, FireAt: 2000}) {
		t.Errorf("plan %+v, %v", p, ok)
	}
	if a.Timer.HVInUse || a.Timer.HVDeadline != clock.Never {
		t.Errorf("timer %+v", a.Timer)
	}
	a.Restart(at(400), hv5)
	if p, _ := a.SwitchToSoft(at(3000)); !p.Expire || p.Backing != BackNone {
		t.Errorf("deadline passed while switching: %+v", p)
	}
}
