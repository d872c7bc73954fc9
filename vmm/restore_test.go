package vmm

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// armedOutside is a vCPU whose timer is armed for 100000 cycles ahead, where a VMM
// can save it.
func armedOutside(t *testing.T, turn func(*Knobs)) *rig {
	t.Helper()
	r := newRig(t, 1, turn)
	r.host.now += 1_000_000 // the VM has been up for a while
	r.msr(0, lapic.MSRDeadline, uint64(r.host.now)+100_000)
	if !r.m.Outside(0) || !r.m.Armed(0) {
		t.Fatal("the vCPU cannot be saved here")
	}
	return r
}

func noHV(k *Knobs) { k.PreemptionTimer = false }

func TestRestoreInTheRightOrderKeepsTheDeadline(t *testing.T) {
	r := armedOutside(t, noHV)
	due := r.host.timers[0]
	saved := r.m.SaveTimer(0, SaveOrder)
	before := r.host.now
	r.m.RestoreTimer(0, saved, RestoreOrder)
	v := &r.m.vcpus[0]
	if got := v.apic.DeadlineMSR(); got != clock.TSC(saved.Deadline) || saved.Deadline == 0 {
		t.Errorf("the restored deadline is %d, want %d", got, saved.Deadline)
	}
	// The guest's clock stood still between the calls, so the timer is as far away
	// as it was.
	late := r.host.timers[0] - due
	if spent := clock.Nanos(r.host.now - before); late < 0 || late > spent+100 {
		t.Errorf("the host timer moved by %d ns, want at most the %d ns of the calls", late, spent)
	}
}

func TestDeadlineBeforeTSCArmsTheTimerAnUptimeTooLate(t *testing.T) {
	r := armedOutside(t, noHV)
	due := r.host.timers[0]
	saved := r.m.SaveTimer(0, SaveOrder)
	r.m.RestoreTimer(0, saved, []StatePart{PartBase, PartLAPIC, PartDeadline, PartTSC})
	if late := r.host.timers[0] - due; late < 1_000_000 {
		t.Errorf("the host timer is %d ns later than before, want the uptime of a million or more", late)
	}
}

func TestDeadlineThatExpiresWhileSavingIsInNeither(t *testing.T) {
	r := armedOutside(t, nil)
	saved := r.m.SaveTimer(0, []StatePart{PartLAPIC, PartPause, PartMove, PartDeadline, PartBase, PartTSC})
	if saved.Deadline != 0 {
		t.Errorf("the saved deadline is %d, want 0: it was injected meanwhile", saved.Deadline)
	}
	r.m.RestoreTimer(0, saved, RestoreOrder)
	v := &r.m.vcpus[0]
	if !v.apic.IRR.Empty() || !v.apic.PI.PIR.Empty() || r.m.Armed(0) {
		t.Error("the restored vCPU has an interrupt or a timer, want none")
	}
}

func TestClearingPIRAfterTheRestoreLosesTheInterrupt(t *testing.T) {
	for _, fault := range []Faults{0, FaultClearPIR} {
		r := newRig(t, 1, nil)
		r.m.cfg.Faults = fault
		r.msr(0, lapic.LVTT.MSR(), 0x40) // one-shot
		r.msr(0, lapic.TMICT.MSR(), 1000)
		saved := r.m.SaveTimer(0, []StatePart{PartPause, PartBase, PartTSC, PartLAPIC, PartDeadline})
		r.m.RestoreTimer(0, saved, RestoreOrder)
		if lost := r.m.vcpus[0].apic.PI.PIR.Empty(); lost != (fault != 0) {
			t.Errorf("faults %d: interrupt lost %v", fault, lost)
		}
		if e, ok := r.last(trace.KindExpire); !ok || trace.ExpireRoute(e.B) != trace.RouteDirect {
			t.Errorf("faults %d: the restored timer did not expire directly: %+v", fault, e)
		}
	}
}
