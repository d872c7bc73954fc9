package vmm

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// 5.8 tests before it syncs, and syncs only with APICv active; later kernels sync
// first, so that the request which the sync of an inhibited vCPU makes is seen.
func TestExitTestAndSyncHaveTheirOrder(t *testing.T) {
	for _, tt := range []struct {
		rules  RuleSet
		result trace.FastpathResult
		clause trace.Clause
	}{{Rules58, trace.FastReenter, trace.ClauseNone}, {Rules515, trace.FastHandled, trace.ClauseRequest}} {
		r := newRig(t, 1, func(k *Knobs) { k.Fastpath, k.APICv = tt.rules, false })
		r.cpus[0].exits = []Exit{deadlineWrite()}
		r.enter(0)
		r.until(0, StageExit)
		r.host.phase = trace.PhaseMSR
		r.host.during = func() { r.m.vcpus[0].apic.Post(0x60, false) } // a device
		r.m.Step(0)
		e, _ := r.last(trace.KindFastpath)
		if trace.FastpathResult(e.B) != tt.result || trace.Clause(e.C) != tt.clause {
			t.Errorf("%s: %s, %s; want %s, %s", trace.RuleSetNames[tt.rules], trace.FastpathResult(e.B), trace.Clause(e.C), tt.result,
				tt.clause)
		}
	}
}

// A preemption-timer exit that is no expiry goes to the handler up to 6.8, and is
// finished in the fastpath from then on. It must not expire the timer.
func TestPreemptionTimerExitsThatAreNoExpiry(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rules  RuleSet
		upset  func(*vcpu)
		result trace.FastpathResult
		clause trace.Clause
	}{
		{"forced, 5.15", Rules515, func(v *vcpu) { v.hv.forced = true }, trace.FastNone, trace.ClauseImmediateExit},
		{"forced, 6.18", Rules618, func(v *vcpu) { v.hv.forced, v.hv.softDisabled = true, false }, trace.FastHandled,
			trace.ClauseImmediateExit},
		{"soft-disabled, 5.15", Rules515, func(v *vcpu) { v.hv.softDisabled = true }, trace.FastNone, trace.ClauseSoftDisabled},
		{"soft-disabled, 6.18", Rules618, func(v *vcpu) { v.hv.softDisabled = true }, trace.FastReenter, trace.ClauseNone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, 1, func(k *Knobs) { k.Fastpath = tt.rules })
			r.msr(0, lapic.MSRDeadline, 1_000_000)
			r.enter(0)
			v := &r.m.vcpus[0]
			tt.upset(v)
			r.m.left(v, trace.ExitPreemptionTimer, 0, 0)
			r.events = nil
			for range 2 { // the fastpath, and the handler if it comes to that
				r.m.Step(0)
			}
			e, _ := r.last(trace.KindFastpath)
			if trace.FastpathResult(e.B) != tt.result || trace.Clause(e.C) != tt.clause {
				t.Errorf("%s, %s; want %s, %s", trace.FastpathResult(e.B), trace.Clause(e.C), tt.result, tt.clause)
			}
			if r.count(trace.KindExpire) != 0 || !v.apic.Timer.HVInUse {
				t.Error("the timer has expired")
			}
		})
	}
}

// The HLT fastpath leaves a vCPU that has something to run for runnable, and one
// that has not halted.
func TestHLTFastpathSetsTheState(t *testing.T) {
	for _, waits := range []bool{true, false} {
		r := newRig(t, 1, func(k *Knobs) { k.Fastpath = Rules618 })
		r.cpus[0].exits = []Exit{{Reason: ExitHLT, Len: 1}}
		r.enter(0)
		r.until(0, StageExit)
		v := &r.m.vcpus[0]
		if waits {
			v.apic.Post(0x60, false)
		}
		r.m.Step(0)
		want, stage := trace.MPHalted, StageAfter
		if waits {
			want, stage = trace.MPRunnable, StageEntry
		}
		if v.mp != want || v.stage != stage {
			t.Errorf("interrupt waits %v: %s at %s, want %s at %s", waits, v.mp, StageNames[v.stage], want, StageNames[stage])
		}
	}
}

// A kick by IPI leaves the target in EXITING_GUEST_MODE: a second kick sends none,
// and the exit test sees it.
func TestKickedVCPUIsExiting(t *testing.T) {
	r := newRig(t, 2, nil)
	r.enter(0)
	v := &r.m.vcpus[0]
	r.m.kick(1, v)
	r.m.kick(1, v)
	if v.mode != trace.ExitingGuestMode || len(r.host.ipis) != 1 {
		t.Errorf("mode %s after %d IPIs, want exiting after 1", v.mode, len(r.host.ipis))
	}
	if c := r.m.exitRequest(0, v); c != trace.ClauseModeExiting {
		t.Errorf("the exit test says %s", c)
	}
}

// INIT drops a SIPI that came before it and was not taken: the vCPU waits for
// another one.
func TestInitDropsAWaitingSIPI(t *testing.T) {
	r := newRig(t, 2, nil)
	v := &r.m.vcpus[1]
	send := func(d lapic.Delivery, vec lapic.Vector) {
		r.m.receive(0, v, lapic.Message{Delivery: d, Vector: vec, Assert: true, IPI: true}, trace.SourceIPI)
	}
	send(lapic.INIT, 0)
	send(lapic.StartUp, 8)
	send(lapic.INIT, 0)
	r.m.acceptInit(1, v)
	if v.mp != trace.MPInitReceived {
		t.Errorf("the vCPU is %s, want init-received", v.mp)
	}
	send(lapic.StartUp, 9)
	r.m.acceptInit(1, v)
	if v.mp != trace.MPRunnable || r.cpus[1].regs.CS.Selector != 0x900 {
		t.Errorf("the vCPU is %s at CS %#x, want runnable at 0x900", v.mp, r.cpus[1].regs.CS.Selector)
	}
}
