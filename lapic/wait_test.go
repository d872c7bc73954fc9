package lapic

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// expired is an APIC whose deadline has expired, with the timer's vector in IRR.
func expired(t *testing.T, deadline clock.TSC, advance clock.Nanos, change ...func(*Config)) APIC {
	t.Helper()
	a := newDeadline(t, advance, change...)
	a.WriteDeadline(deadline)
	a.Expire()
	a.InjectTimer()
	a.Accept(0xef, false)
	return a
}

func TestWaitClauses(t *testing.T) {
	tests := []struct {
		name    string
		era     Rules
		prepare func(*APIC)
		apicv   bool
		want    WaitClause
	}{
		{"due", Era5_14, func(*APIC) {}, true, WaitDue},
		{"nothing expired", Era5_14, func(a *APIC) { a.Timer.Expired = 0 }, true, WaitNoExpired},
		{"no advance", Era5_14, func(a *APIC) { a.Timer.Advance = 0 }, true, WaitNoAdvance},
		{"no advance up to 4.14", Era4_10, func(a *APIC) { a.Timer.Advance = 0 }, true, WaitDue},
		{"APICv off, vector only in IRR", Era5_14, func(*APIC) {}, false, WaitNotInjected},
		{"APICv off, in service", Era5_14, func(a *APIC) { a.Ack(0xef) }, false, WaitDue},
		{"APIC disabled", Era5_14, func(a *APIC) { a.WriteBase(DefaultBase) }, true, WaitNotInjected},
	}
	for _, tt := range tests {
		a := expired(t, 50_000, 1000, inEra(tt.era))
		tt.prepare(&a)
		before := a.Timer.Expired
		if got := a.WaitDue(tt.apicv); got != tt.want {
			t.Errorf("%s: WaitDue = %v, want %v", tt.name, got, tt.want)
		}
		w := a.WaitExpire(50_000, tt.apicv, false, false)
		if w.Clause != tt.want {
			t.Errorf("%s: WaitExpire says %v, want %v", tt.name, w.Clause, tt.want)
		}
		if tt.want == WaitDue && a.Timer.Expired != 0 || tt.want != WaitDue && a.Timer.Expired != before {
			t.Errorf("%s: expired deadline %d afterwards", tt.name, a.Timer.Expired)
		}
	}
}

func TestWaitIsCappedByTheAdvance(t *testing.T) {
	tests := []struct {
		name    string
		advance clock.Nanos
		delta   clock.Cycles
		want    Wait
	}{
		{"early", 1000, -2000, Wait{Delta: -2000, Wait: 2000, Cap: 2500}},
		{"earlier than the advance", 1000, -2501, Wait{Delta: -2501, Wait: 2500, Cap: 2500}},
		{"on time", 1000, 0, Wait{Cap: 2500}},
		{"late", 1000, 400, Wait{Delta: 400, Cap: 2500}},
		{"very early", 100, -1 << 40, Wait{Delta: -1 << 40, Wait: 250, Cap: 250}},
	}
	for _, tt := range tests {
		const deadline = clock.TSC(1 << 41)
		a := expired(t, deadline, tt.advance)
		if got := a.WaitExpire(deadline.Add(tt.delta), true, false, false); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestTuningBeforeOrAfterTheWait(t *testing.T) {
	tests := []struct {
		era Rules
		cap clock.Cycles
	}{
		{Era5_14, 2500}, // the old 1000 ns
		{Era5_19, 2250}, // the new 900 ns
		{Era6_10, 2250},
	}
	for _, tt := range tests {
		a := expired(t, 50_000, 0, inEra(tt.era))
		a.SetAdvance(TuningAdaptive, 0, Tune5_4)
		w := a.WaitExpire(48_000, true, false, false)
		want := Wait{Delta: -2000, Wait: 2000, Cap: tt.cap, Tuned: true, Tune: TuneResult{1000, 900, TuneEarlier}}
		if w != want || a.Timer.Advance != 900 {
			t.Errorf("%v: %+v, want %+v; advance %d", tt.era, w, want, a.Timer.Advance)
		}
	}
}

func TestLateExpiryEnlargesTheAdvance(t *testing.T) {
	a := expired(t, 50_000, 0)
	a.SetAdvance(TuningAdaptive, 0, Tune5_4)
	w := a.WaitExpire(50_400, true, false, false) // 160 ns late
	if w.Wait != 0 || w.Tune != (TuneResult{1000, 1020, TuneLater}) {
		t.Errorf("%+v", w)
	}
}

func TestFixedAdvanceIsNotTuned(t *testing.T) {
	a := expired(t, 50_000, 700)
	if w := a.WaitExpire(52_500, true, false, false); w.Tuned || a.Timer.Advance != 700 {
		t.Errorf("%+v, advance %d", w, a.Timer.Advance)
	}
}

func TestWaitWithScaledTSCCountsNanoseconds(t *testing.T) {
	tests := []struct {
		name  string
		era   Rules
		delta clock.Cycles
		want  clock.Cycles
	}{
		{"truncated to nanoseconds", Era5_14, -2001, 2000}, // 800.4 ns
		{"capped", Era5_14, -9999, 2500},
		{"one cycle is no nanosecond", Era5_14, -1, 0},
		{"5.0 counts cycles", Era4_19, -2001, 2001},
		// 2^32 ns and 8: the kernel takes the minimum in 32 bits.
		{"nanoseconds beyond 32 bits wrap", Era5_14, -(1<<32 + 8) * 5 / 2, 20},
	}
	for _, tt := range tests {
		const deadline = clock.TSC(1 << 41)
		a := expired(t, deadline, 1000, inEra(tt.era))
		w := a.WaitExpire(deadline.Add(tt.delta), true, true, false)
		if w.Wait != tt.want || w.Cap != 2500 {
			t.Errorf("%s: wait %d, cap %d, want %d", tt.name, w.Wait, w.Cap, tt.want)
		}
	}
}

func TestCallbackWaitsBeforeInjection(t *testing.T) {
	a := newDeadline(t, 1000)
	a.WriteDeadline(50_000)
	a.Expire()
	if c := a.WaitDue(true); c != WaitNotInjected {
		t.Errorf("before an entry: %v", c)
	}
	if w := a.WaitExpire(49_000, true, false, true); w.Clause != WaitDue || w.Wait != 1000 {
		t.Errorf("in the callback: %+v", w)
	}
	if w := a.WaitExpire(49_000, true, false, true); w.Clause != WaitNoExpired {
		t.Errorf("a second time: %+v", w)
	}
}

func TestEntryAdvanceShortensTheWait(t *testing.T) {
	a := expired(t, 50_000, 0)
	a.SetAdvance(TuningAdaptive, 0, Tune5_4)
	a.SetEntryAdvance(300) // 750 cycles
	w := a.WaitExpire(48_000, true, false, false)
	if w.Delta != -1250 || w.Wait != 1250 || w.Tune != (TuneResult{1000, 938, TuneEarlier}) {
		t.Errorf("%+v, want everything 750 cycles later", w)
	}
	a = expired(t, 50_000, 1000)
	a.SetEntryAdvance(300)
	if w := a.WaitExpire(49_250, true, false, false); w.Delta != 0 || w.Wait != 0 {
		t.Errorf("%+v, want on time", w)
	}
}
