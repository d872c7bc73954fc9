package vmm

import (
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
)

// predicates are the conditions that the loop evaluates, as its kernel and the
// fastpath chosen have them. They are made when one of the two is set.
type predicates struct {
	gate, deadline, icr, timer kernel.Predicate // of the fastpath
	test, hv, post, direct     kernel.Predicate
}

// follow takes over the fastpath that the knob says.
func (m *Machine) follow() {
	k := &m.cfg.Kernel
	m.st.fast = k.FastpathAs(m.st.knobs.Fastpath)
	f := &m.st.fast
	of := func(x trace.ExitReason, msr uint32) kernel.Predicate {
		p, _ := f.Handler(x, uint64(msr))
		return p
	}
	m.st.pred = predicates{gate: f.Gate(), deadline: of(trace.ExitMSRWrite, lapic.MSRDeadline),
		icr: of(trace.ExitMSRWrite, lapic.ICRLow.MSR()), timer: of(trace.ExitPreemptionTimer, 0),
		test: k.ExitTest(), hv: k.UseHV(), post: k.CanPost(), direct: k.Direct()}
}

// first is the first clause of a predicate that fails for v now.
func (m *Machine) first(p PCPU, v *vcpu, pr kernel.Predicate) trace.Clause {
	for _, c := range pr {
		if holds := clauses[c]; holds != nil && !holds(m, p, v) {
			return c
		}
	}
	return trace.ClauseNone
}

// clauses is the table of what holds, by clause. A clause without a row holds: there
// is no L2, the LAPIC is in the kernel and the next RIP known; and those that only
// trying tells (a reserved bit, whether a halted vCPU can run) are their handlers'.
var clauses [trace.NumClauses]func(m *Machine, p PCPU, v *vcpu) bool

func init() { // the functions reach the table by way of first
	clauses = [trace.NumClauses]func(m *Machine, p PCPU, v *vcpu) bool{
		trace.ClauseAPICvOff:    func(_ *Machine, _ PCPU, v *vcpu) bool { return v.apicv },
		trace.ClauseModeExiting: func(_ *Machine, _ PCPU, v *vcpu) bool { return v.mode != trace.ExitingGuestMode },
		trace.ClauseRequest:     func(_ *Machine, _ PCPU, v *vcpu) bool { return v.requests == 0 },
		// On a real host the kernel looks at these two.
		trace.ClauseNeedResched: func(m *Machine, p PCPU, v *vcpu) bool { return m.cfg.Real || !m.host.NeedResched(p, v.id) },
		trace.ClauseSignal:      func(m *Machine, p PCPU, v *vcpu) bool { return m.cfg.Real || !m.host.SignalPending(p, v.id) },

		trace.ClauseNoHVTimer:    func(m *Machine, _ PCPU, _ *vcpu) bool { return m.host.HasPreemptionTimer() },
		trace.ClauseHVOff:        func(m *Machine, _ PCPU, _ *vcpu) bool { return m.st.knobs.PreemptionTimer },
		trace.ClauseMWAITInGuest: func(m *Machine, _ PCPU, _ *vcpu) bool { return m.st.knobs.ExitsDisabled&DisableMWAIT == 0 },
		trace.ClausePostable:     func(m *Machine, _ PCPU, v *vcpu) bool { return !m.canPost(v) },
		trace.ClausePIOff:        func(m *Machine, _ PCPU, _ *vcpu) bool { return m.st.knobs.PostedTimer && m.cfg.Kernel.Posted.Exists },
		trace.ClauseExitsOn: func(m *Machine, _ PCPU, _ *vcpu) bool {
			return m.st.knobs.ExitsDisabled&(DisableMWAIT|DisableHLT) != 0
		},
		trace.ClauseNoDirect: func(_ *Machine, _ PCPU, v *vcpu) bool { return v.apic.Config.Rules.DirectInject },

		trace.ClauseOtherMSR:      func(*Machine, PCPU, *vcpu) bool { return false },
		trace.ClauseNotX2APIC:     func(_ *Machine, _ PCPU, v *vcpu) bool { return v.apic.X2APIC() },
		trace.ClauseShorthand:     icrHolds(trace.ClauseShorthand),
		trace.ClauseLogical:       icrHolds(trace.ClauseLogical),
		trace.ClauseNotFixed:      icrHolds(trace.ClauseNotFixed),
		trace.ClauseBroadcast:     icrHolds(trace.ClauseBroadcast),
		trace.ClauseWouldBlock:    icrHolds(trace.ClauseWouldBlock),
		trace.ClauseImmediateExit: func(_ *Machine, _ PCPU, v *vcpu) bool { return !v.hv.forced },
		trace.ClauseSoftDisabled:  func(_ *Machine, _ PCPU, v *vcpu) bool { return !v.hv.softDisabled },
	}
}

// icrHolds is a clause about the ICR that the exit writes.
func icrHolds(c trace.Clause) func(*Machine, PCPU, *vcpu) bool {
	return func(_ *Machine, _ PCPU, v *vcpu) bool {
		held, _ := kernel.ICRHolds(v.exit.Data, c)
		return held
	}
}
