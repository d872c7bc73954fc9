package vmm

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
)

const future = 1_000_000

// deadlineWrite is an exit for a TSC-deadline write far ahead.
func deadlineWrite() Exit {
	return Exit{Reason: ExitWRMSR, Addr: uint64(lapic.MSRDeadline), Data: future, Write: true, Len: 2}
}

// icrWrite is an exit for an x2APIC ICR write.
func icrWrite(icr lapic.ICR) Exit {
	return Exit{Reason: ExitWRMSR, Addr: uint64(lapic.ICRLow.MSR()), Data: uint64(icr), Write: true, Len: 2}
}

func TestFastpathNamesTheClauseThatFailed(t *testing.T) {
	rules := func(r RuleSet) func(*Knobs) { return func(k *Knobs) { k.Fastpath = r } }
	and := func(fs ...func(*Knobs)) func(*Knobs) {
		return func(k *Knobs) {
			for _, f := range fs {
				f(k)
			}
		}
	}
	noAPICv := func(k *Knobs) { k.APICv = false }
	noHV := func(k *Knobs) { k.PreemptionTimer = false }
	mwait := func(k *Knobs) { k.ExitsDisabled = DisableMWAIT }
	postable := func(k *Knobs) { k.PostedTimer, k.ExitsDisabled = true, DisableHLT }
	self := lapic.ICR(1<<18 | 0x50)
	to0 := lapic.ICR(0x50)
	pend := func(r *rig) { r.m.vcpus[0].requests |= ReqEvent }
	exiting := func(r *rig) { r.m.vcpus[0].mode = trace.ExitingGuestMode }
	resched := func(r *rig) { r.host.resched = true }
	signal := func(r *rig) { r.host.signal = true }

	tests := []struct {
		name   string
		knobs  func(*Knobs)
		exit   Exit
		upset  func(*rig) // between entry and exit
		result trace.FastpathResult
		clause trace.Clause
	}{
		{"off", rules(RulesOff), deadlineWrite(), nil, trace.FastNone, trace.ClauseKnobOff},
		{"deadline, 5.15", nil, deadlineWrite(), nil, trace.FastReenter, trace.ClauseNone},
		{"deadline, 5.8", rules(Rules58), deadlineWrite(), nil, trace.FastReenter, trace.ClauseNone},
		{"deadline, 6.18", rules(Rules618), deadlineWrite(), nil, trace.FastReenter, trace.ClauseNone},
		{"deadline, S004", rules(RulesS004), deadlineWrite(), nil, trace.FastReenter, trace.ClauseNone},
		{"S004 wants APICv", and(rules(RulesS004), noAPICv), deadlineWrite(), nil, trace.FastNone, trace.ClauseAPICvOff},
		{"5.15 does not", noAPICv, deadlineWrite(), nil, trace.FastReenter, trace.ClauseNone},
		{"no preemption timer", noHV, deadlineWrite(), nil, trace.FastNone, trace.ClauseHVOff},
		{"6.18 wants no timer", and(rules(Rules618), noHV), deadlineWrite(), nil, trace.FastReenter, trace.ClauseNone},
		{"MWAIT in guest", mwait, deadlineWrite(), nil, trace.FastNone, trace.ClauseMWAITInGuest},
		{"postable", postable, deadlineWrite(), nil, trace.FastNone, trace.ClausePostable},
		{"other MSR", nil, Exit{Reason: ExitWRMSR, Addr: msrTSCAdjust, Write: true}, nil, trace.FastNone, trace.ClauseOtherMSR},
		{"no handler", nil, Exit{Reason: ExitCPUID}, nil, trace.FastNone, trace.ClauseNoHandler},
		{"HLT before 6.18", nil, Exit{Reason: ExitHLT, Len: 1}, nil, trace.FastNone, trace.ClauseNoHandler},
		{"HLT, 6.18, nothing to run", rules(Rules618), Exit{Reason: ExitHLT, Len: 1}, nil, trace.FastHandled,
			trace.ClauseNotRunnable},
		{"INVD, 6.18", rules(Rules618), Exit{Reason: ExitINVD, Len: 2}, nil, trace.FastReenter, trace.ClauseNone},

		{"S004 tests before: request", rules(RulesS004), deadlineWrite(), pend, trace.FastNone, trace.ClauseRequest},
		{"S004 tests before: mode", rules(RulesS004), deadlineWrite(), exiting, trace.FastNone, trace.ClauseModeExiting},
		{"S004 tests before: resched", rules(RulesS004), deadlineWrite(), resched, trace.FastNone, trace.ClauseNeedResched},
		{"S004 tests before: signal", rules(RulesS004), deadlineWrite(), signal, trace.FastNone, trace.ClauseSignal},
		{"5.15 tests after: request", nil, deadlineWrite(), pend, trace.FastHandled, trace.ClauseRequest},
		{"5.15 tests after: mode", nil, deadlineWrite(), exiting, trace.FastHandled, trace.ClauseModeExiting},
		{"5.15 tests after: resched", nil, deadlineWrite(), resched, trace.FastHandled, trace.ClauseNeedResched},
		{"5.15 tests after: signal", nil, deadlineWrite(), signal, trace.FastHandled, trace.ClauseSignal},

		{"ICR, 5.15", nil, icrWrite(to0), nil, trace.FastHandled, trace.ClauseNone},
		{"ICR, S004", rules(RulesS004), icrWrite(to0), nil, trace.FastSkip, trace.ClauseNone},
		{"ICR, 6.18", rules(Rules618), icrWrite(to0), nil, trace.FastReenter, trace.ClauseNone},
		{"ICR shorthand", nil, icrWrite(self), nil, trace.FastNone, trace.ClauseShorthand},
		{"ICR self, 6.18", rules(Rules618), icrWrite(self), nil, trace.FastReenter, trace.ClauseNone},
		{"ICR logical", nil, icrWrite(to0 | lapic.ICRLogical), nil, trace.FastNone, trace.ClauseLogical},
		{"ICR lowest priority", nil, icrWrite(to0 | 1<<8), nil, trace.FastNone, trace.ClauseNotFixed},
		{"ICR with a reserved bit", nil, icrWrite(to0 | 1<<20), nil, trace.FastNone, trace.ClauseReserved},
		{"ICR NMI, 6.18", rules(Rules618), icrWrite(to0 | 4<<8), nil, trace.FastHandled, trace.ClauseModeExiting},
		{"ICR broadcast, 6.18", rules(Rules618), icrWrite(to0 | 0xffffffff<<32), nil, trace.FastNone, trace.ClauseWouldBlock},
		{"ICR broadcast", nil, icrWrite(to0 | 0xffffffff<<32), nil, trace.FastNone, trace.ClauseBroadcast},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, 1, tt.knobs)
			r.cpus[0].exits = []Exit{tt.exit}
			r.enter(0)
			r.until(0, StageExit)
			if tt.upset != nil {
				tt.upset(r)
			}
			r.m.Step(0)
			e, ok := r.last(trace.KindFastpath)
			if !ok {
				t.Fatal("no fastpath event")
			}
			if trace.FastpathResult(e.B) != tt.result || trace.Clause(e.C) != tt.clause {
				t.Errorf("fastpath says %s, %s, want %s, %s", trace.FastpathResult(e.B), trace.Clause(e.C), tt.result, tt.clause)
			}
		})
	}
}

// What a fast handler did stays done when the exit test then fails, and the
// normal handler does not do it again.
func TestBailOutKeepsTheHandlersWork(t *testing.T) {
	r := newRig(t, 1, nil)
	r.cpus[0].exits = []Exit{deadlineWrite()}
	r.enter(0)
	r.until(0, StageExit)
	r.m.vcpus[0].requests |= ReqEvent
	r.until(0, StageOuter)
	if got := r.count(trace.KindArm); got != 1 {
		t.Errorf("%d arm events, want 1", got)
	}
	if got := r.cpus[0].skips; got != 1 {
		t.Errorf("RIP advanced %d times, want once", got)
	}
	if !r.m.vcpus[0].apic.Timer.HVInUse {
		t.Error("the timer is not armed")
	}
}

// With APICv off an expiry in the fastpath sets a request, so the preemption
// timer's fastpath never re-enters; with APICv on it posts and re-enters.
func TestPreemptionTimerFastpathNeedsAPICvToReenter(t *testing.T) {
	for _, apicv := range []bool{true, false} {
		r := newRig(t, 1, func(k *Knobs) { k.APICv = apicv; k.Advance = 0 })
		r.cpus[0].exits = []Exit{{Reason: ExitWRMSR, Addr: uint64(lapic.MSRDeadline), Data: 5000, Write: true, Len: 2}}
		r.enter(0)
		r.until(0, StageExit)
		r.m.Step(0) // arms, re-enters
		r.until(0, StageExit)
		r.m.Step(0)
		e, _ := r.last(trace.KindFastpath)
		want, clause := trace.FastReenter, trace.ClauseNone
		if !apicv {
			want, clause = trace.FastHandled, trace.ClauseRequest
		}
		if trace.ExitReason(e.A) != trace.ExitPreemptionTimer || trace.FastpathResult(e.B) != want || trace.Clause(e.C) != clause {
			t.Errorf("APICv %v: fastpath of %s says %s, %s, want PREEMPTION_TIMER %s, %s", apicv, trace.ExitReason(e.A),
				trace.FastpathResult(e.B), trace.Clause(e.C), want, clause)
		}
		x, _ := r.last(trace.KindExpire)
		if route := trace.ExpireRoute(x.B); apicv != (route == trace.RouteDirect) {
			t.Errorf("APICv %v: expiry went %s", apicv, route)
		}
		if k := r.count(trace.KindKick); k != 0 {
			t.Errorf("APICv %v: %d kicks for an expiry on the vCPU's own thread, want none", apicv, k)
		}
	}
}

// 5.8 tests before it syncs PIR, 5.15 syncs first: an interrupt posted by
// another CPU while the handler runs is in IRR before the next entry either way.
func TestReentrySeesInterruptsPostedMeanwhile(t *testing.T) {
	for _, rs := range []RuleSet{RulesS004, Rules58, Rules515} {
		r := newRig(t, 1, func(k *Knobs) { k.Fastpath = rs })
		r.cpus[0].exits = []Exit{deadlineWrite()}
		r.enter(0)
		r.until(0, StageExit)
		r.host.phase = trace.PhaseMSR
		r.host.during = func() { r.m.vcpus[0].apic.Post(0x60, false) }
		r.m.Step(0)
		if v := &r.m.vcpus[0]; v.stage != StageEntry || !v.apic.IRR.Has(0x60) {
			t.Errorf("%s: stage %s, IRR has 0x60: %v; want entry, true", trace.RuleSetNames[rs], StageNames[v.stage],
				v.apic.IRR.Has(0x60))
		}
	}
}
