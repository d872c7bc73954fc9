package lapic

import "testing"

func TestDeadlineIsReadBackUntilInjected(t *testing.T) {
	a := newDeadline(t, 0)
	a.Timer.Pending = true
	e := a.WriteDeadline(50_000)
	if e.Do != EffectCancelSW|EffectArm || a.Timer.Pending {
		t.Errorf("effects %#x, pending %v", e.Do, a.Timer.Pending)
	}
	if got := a.DeadlineMSR(); got != 50_000 {
		t.Errorf("MSR = %d", got)
	}
	a.Expire()
	a.Timer.Pending = true
	if got := a.DeadlineMSR(); got != 50_000 {
		t.Errorf("MSR = %d between expiry and injection, want the old deadline", got)
	}
	a.InjectTimer()
	if got := a.DeadlineMSR(); got != 0 {
		t.Errorf("MSR = %d after injection", got)
	}
}

func TestDeadlineZeroDisarms(t *testing.T) {
	a := newDeadline(t, 0)
	a.WriteDeadline(at(0).Guest + 1_000_000)
	hv := HV{Usable: true, Multi: 5}
	if p := a.Restart(at(0), hv); p.Backing != BackHV {
		t.Fatalf("plan %+v", p)
	}
	a.Timer.Pending = true
	if e := a.WriteDeadline(0); e.Do != EffectCancelSW|EffectArm {
		t.Errorf("effects %#x", e.Do)
	}
	p := a.Restart(at(10), hv)
	if p.Backing != BackNone || p.HV != StartZero || p.SW != StartZero || p.Expire {
		t.Errorf("plan %+v", p)
	}
	if a.Timer.HVInUse || a.Timer.Pending {
		t.Errorf("timer %+v", a.Timer)
	}
}

func TestDeadlineGuard(t *testing.T) {
	tests := []struct {
		name     string
		era      Rules
		mode     TimerMode
		disabled bool
		works    bool
	}{
		{"TSC-deadline mode", Era5_14, TSCDeadline, false, true},
		{"one-shot", Era5_14, OneShot, false, false},
		{"periodic", Era5_14, Periodic, false, false},
		{"reserved mode", Era5_14, ReservedMode, false, false},
		{"disabled APIC", Era5_10, TSCDeadline, true, false},
		{"disabled APIC before the test existed", Era5_8, TSCDeadline, true, true},
	}
	for _, tt := range tests {
		a := newAPIC(t, inEra(tt.era))
		mustWrite(t, &a, LVTT, mode(tt.mode))
		if tt.disabled {
			a.WriteBase(DefaultBase)
		}
		a.Timer.Deadline = 4242
		before := a
		e, ok := a.WriteMSR(MSRDeadline, 99, at(0))
		if !ok {
			t.Errorf("%s: #GP; the MSR never faults", tt.name)
		}
		want := before.Timer.Deadline
		if tt.works {
			want = 99
		}
		if a.Timer.Deadline != want || (e.Do != EffectNone) != tt.works {
			t.Errorf("%s: deadline %d, effects %#x", tt.name, a.Timer.Deadline, e.Do)
		}
		v, ok := a.ReadMSR(MSRDeadline, at(0))
		if !tt.works {
			want = 0
		}
		if !ok || v != uint64(want) {
			t.Errorf("%s: reads %d, %v, want %d", tt.name, v, ok, want)
		}
	}
}

func TestDeadlineArmsWhileMasked(t *testing.T) {
	a := newAPIC(t)
	mustWrite(t, &a, LVTT, 2<<17|lvtMasked|0xef)
	if e := a.WriteDeadline(at(0).Guest + 1000); !e.Has(EffectArm) {
		t.Errorf("effects %#x", e.Do)
	}
	if s := a.SoftStart(at(0)); s.Verdict != StartArmed {
		t.Errorf("verdict %v", s.Verdict)
	}
}
