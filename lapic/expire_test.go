package lapic

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

func TestExpiryRecordsTheDeadline(t *testing.T) {
	tests := []struct {
		name    string
		era     Rules
		mode    TimerMode
		hv      bool
		pending bool
		counts  bool
		records bool
	}{
		{"TSC-deadline", Era5_14, TSCDeadline, false, false, true, true},
		{"TSC-deadline, 4.9", Era4_9, TSCDeadline, false, false, true, true},
		{"one-shot, hrtimer", Era5_14, OneShot, false, false, true, false},
		{"one-shot, preemption timer", Era5_14, OneShot, true, false, true, true},
		{"periodic, preemption timer, 5.2", Era5_2, Periodic, true, false, true, true},
		{"one-shot, preemption timer, 5.0", Era4_19, OneShot, true, false, true, false},
		{"merged", Era5_14, TSCDeadline, false, true, false, false},
	}
	for _, tt := range tests {
		a := newAPIC(t, inEra(tt.era))
		mustWrite(t, &a, LVTT, mode(tt.mode))
		a.Timer.Deadline, a.Timer.HVInUse, a.Timer.Pending = 777, tt.hv, tt.pending
		want := clock.TSC(0)
		if tt.records {
			want = 777
		}
		if got := a.Expire(); got != tt.counts || a.Timer.Expired != want {
			t.Errorf("%s: counts = %v, expired deadline %d", tt.name, got, a.Timer.Expired)
		}
	}
}

func TestInjectionClearsByMode(t *testing.T) {
	for _, tt := range []struct {
		mode     TimerMode
		deadline clock.TSC
		target   clock.Nanos
	}{{TSCDeadline, 0, 88}, {OneShot, 0, 0}, {Periodic, 77, 88}, {ReservedMode, 77, 88}} {
		a := newAPIC(t)
		mustWrite(t, &a, LVTT, mode(tt.mode))
		a.Timer.Deadline, a.Timer.Target, a.Timer.Pending = 77, 88, true
		m, ok := a.InjectTimer()
		if !ok || m != (Message{Vector: 0x40, Assert: true}) {
			t.Errorf("%v: message %+v, %v", tt.mode, m, ok)
		}
		if a.Timer.Deadline != tt.deadline || a.Timer.Target != tt.target || a.Timer.Pending {
			t.Errorf("%v: timer %+v", tt.mode, a.Timer)
		}
	}
}

func TestMaskedExpiryOnTheDirectPathIsLost(t *testing.T) {
	a := newDeadline(t, 1000)
	a.WriteDeadline(50_000)
	mustWrite(t, &a, LVTT, 2<<17|lvtMasked|0xef)
	a.Expire()
	if _, ok := a.InjectTimer(); ok {
		t.Error("a masked LVTT delivers")
	}
	if a.Timer.Deadline != 0 {
		t.Errorf("deadline %d, want 0", a.Timer.Deadline)
	}
	if a.Timer.Expired != 50_000 {
		t.Errorf("expired deadline %d, want it kept", a.Timer.Expired)
	}
}

func TestMaskedExpiryOnThePendingPathWaits(t *testing.T) {
	masked := func(t *testing.T) APIC {
		a := newDeadline(t, 1000)
		a.WriteDeadline(50_000)
		mustWrite(t, &a, LVTT, 2<<17|lvtMasked|0xef)
		a.Expire()
		a.Timer.Pending = true
		if a.HasPendingTimer() {
			t.Error("a masked expiry would wake the vCPU")
		}
		if a.DeadlineMSR() != 50_000 {
			t.Errorf("MSR = %d, want the old deadline", a.DeadlineMSR())
		}
		return a
	}
	t.Run("unmasking delivers late", func(t *testing.T) {
		a := masked(t)
		mustWrite(t, &a, LVTT, 2<<17|0xef)
		if !a.HasPendingTimer() {
			t.Error("not injectable")
		}
	})
	for name, drop := range map[string]func(*APIC){
		"re-arming":         func(a *APIC) { a.WriteDeadline(90_000) },
		"mode switch":       func(a *APIC) { a.Write(LVTT, 0x40, at(0)) },
		"software disable":  func(a *APIC) { a.Write(SPIV, 0xff, at(0)) },
		"reset":             func(a *APIC) { a.Reset(true) },
		"writing 0 disarms": func(a *APIC) { a.WriteDeadline(0) },
	} {
		t.Run(name+" drops it", func(t *testing.T) {
			a := masked(t)
			drop(&a)
			if a.Timer.Pending {
				t.Error("still pending")
			}
		})
	}
}

func TestPendingNeedsAnEnabledAPIC(t *testing.T) {
	a := newDeadline(t, 0)
	if a.HasPendingTimer() {
		t.Error("nothing pending, yet injectable")
	}
	a.Timer.Pending = true
	if !a.HasPendingTimer() {
		t.Error("pending and unmasked, yet not injectable")
	}
	b := a
	b.WriteBase(DefaultBase)
	if b.HasPendingTimer() {
		t.Error("injectable with the APIC disabled")
	}
	a.Page[SPIV>>4] = 0xff
	if a.HasPendingTimer() {
		t.Error("injectable with the APIC software-disabled")
	}
}

func TestTimerInjectedLooksWhereTheVectorIs(t *testing.T) {
	a := newDeadline(t, 0)
	a.Accept(0xef, false)
	if !a.TimerInjected(true) || a.TimerInjected(false) {
		t.Error("vector in IRR: want injected with APICv only")
	}
	a.Ack(0xef)
	if a.TimerInjected(true) || !a.TimerInjected(false) {
		t.Error("vector in ISR: want injected without APICv only")
	}
	a.WriteBase(DefaultBase)
	if a.TimerInjected(false) {
		t.Error("injected with the APIC disabled")
	}
}
