package vmm

import (
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// fastRules is the fastpath of one rule set. A row lists what the era's exit
// handlers take; the terms of the entry condition and of the bail-out test are
// flags beside it.
type fastRules struct {
	name string
	// gated: no exit is looked at unless APICv is active and nothing asks to
	// cancel the entry (S004, patches 1 and 2).
	gated bool
	// testFirst: on re-entry the exit test comes before the PIR sync (5.8–5.14).
	testFirst bool
	// handlers are the fastpath handlers by exit reason.
	handlers [trace.NumExits]fastHandler
	// anyDeadline: a TSC-deadline write is taken without kvm_can_use_hv_timer.
	anyDeadline bool
	// icr is the result of an ICR write, and mapICR takes every ICR that fast
	// delivery by map can do, not only physical fixed ones.
	icr    trace.FastpathResult
	mapICR bool
}

// fastHandler tries one exit. It returns FastNone and the clause that failed, or
// the result.
type fastHandler func(m *Machine, p PCPU, v *vcpu, r *fastRules) (trace.FastpathResult, trace.Clause)

// fastTable is the table of rule sets, by RuleSet.
//
// Sources: arch/x86/kvm/vmx/vmx.c, vmx_exit_handlers_fastpath; arch/x86/kvm/
// x86.c, handle_fastpath_set_msr_irqoff, handle_fastpath_wrmsr,
// handle_fastpath_hlt; the S004 series.
var fastTable = [numRuleSets]fastRules{
	RulesOff: {name: "off"},
	RulesS004: {name: "s004v3", gated: true, icr: trace.FastSkip,
		handlers: [trace.NumExits]fastHandler{
			trace.ExitMSRWrite: fastWRMSR, trace.ExitPreemptionTimer: fastPreemptionTimer}},
	Rules58: {name: "5.8", testFirst: true, icr: trace.FastHandled,
		handlers: [trace.NumExits]fastHandler{
			trace.ExitMSRWrite: fastWRMSR, trace.ExitPreemptionTimer: fastPreemptionTimer}},
	Rules515: {name: "5.15", icr: trace.FastHandled,
		handlers: [trace.NumExits]fastHandler{
			trace.ExitMSRWrite: fastWRMSR, trace.ExitPreemptionTimer: fastPreemptionTimer}},
	Rules618: {name: "6.18", icr: trace.FastReenter, mapICR: true, anyDeadline: true,
		handlers: [trace.NumExits]fastHandler{
			trace.ExitMSRWrite: fastWRMSR, trace.ExitPreemptionTimer: fastPreemptionTimer618,
			trace.ExitHLT: fastHLT, trace.ExitINVD: fastINVD}},
}

// fastpath tries to finish an exit with IRQs off and reports the verdict. What a
// handler has done stays done, even if the bail-out test then sends the vCPU
// round the outer loop.
func (m *Machine) fastpath(p PCPU, v *vcpu) trace.FastpathResult {
	r := &fastTable[m.st.knobs.Fastpath]
	m.spend(p, trace.PhaseFastDispatch)
	result, clause := m.tryFast(p, v, r)
	if result == trace.FastReenter && !r.gated {
		if bail := m.bailOut(p, v, r); bail != trace.ClauseNone {
			result, clause = trace.FastHandled, bail
		}
	} else if result == trace.FastReenter {
		m.syncPIR(p, v)
	}
	var msr uint64
	if v.reason == trace.ExitMSRWrite {
		msr = v.info[0]
	}
	m.emit(p, v.id, trace.KindFastpath, uint64(v.reason), uint64(result), uint64(clause), msr)
	return result
}

// tryFast checks the entry conditions and runs the handler.
func (m *Machine) tryFast(p PCPU, v *vcpu, r *fastRules) (trace.FastpathResult, trace.Clause) {
	if m.st.knobs.Fastpath == RulesOff {
		return trace.FastNone, trace.ClauseKnobOff
	}
	h := r.handlers[v.reason]
	if h == nil {
		return trace.FastNone, trace.ClauseNoHandler
	}
	if r.gated {
		if !v.apicv {
			return trace.FastNone, trace.ClauseAPICvOff
		}
		m.spend(p, trace.PhaseExitTest)
		if c := m.exitRequest(p, v); c != trace.ClauseNone {
			return trace.FastNone, c
		}
	}
	return h(m, p, v, r)
}

// bailOut is what stands between REENTER_GUEST and the next entry: the exit test
// and the PIR sync, in the era's order.
func (m *Machine) bailOut(p PCPU, v *vcpu, r *fastRules) trace.Clause {
	if !r.testFirst {
		m.syncPIR(p, v)
	}
	m.spend(p, trace.PhaseExitTest)
	c := m.exitRequest(p, v)
	if c == trace.ClauseNone && r.testFirst && v.apicv {
		m.syncPIR(p, v)
	}
	return c
}

// fastWRMSR is handle_fastpath_set_msr_irqoff, handle_fastpath_wrmsr from 6.18.
func fastWRMSR(m *Machine, p PCPU, v *vcpu, r *fastRules) (trace.FastpathResult, trace.Clause) {
	switch uint32(v.exit.Addr) {
	case lapic.MSRDeadline:
		return fastDeadline(m, p, v, r)
	case lapic.ICRLow.MSR():
		return fastICR(m, p, v, r)
	}
	return trace.FastNone, trace.ClauseOtherMSR
}

func fastDeadline(m *Machine, p PCPU, v *vcpu, r *fastRules) (trace.FastpathResult, trace.Clause) {
	if _, c := m.hv(v); c != trace.ClauseNone && !r.anyDeadline {
		return trace.FastNone, c
	}
	m.spend(p, trace.PhaseMSR)
	m.writeAPICMSR(p, v, lapic.MSRDeadline, v.exit.Data)
	m.emit(p, v.id, trace.KindMSR, uint64(lapic.MSRDeadline), v.exit.Data, 1, 0)
	v.cpu.Skip()
	return trace.FastReenter, trace.ClauseNone
}

func fastICR(m *Machine, p PCPU, v *vcpu, r *fastRules) (trace.FastpathResult, trace.Clause) {
	if !v.apic.X2APIC() {
		return trace.FastNone, trace.ClauseNotX2APIC
	}
	icr := lapic.ICR(v.exit.Data)
	if c := fastICRClause(icr, r); c != trace.ClauseNone {
		return trace.FastNone, c
	}
	m.spend(p, trace.PhaseMSR)
	if !m.writeAPICMSR(p, v, lapic.ICRLow.MSR(), v.exit.Data) {
		return trace.FastNone, trace.ClauseReserved // the handler raises #GP
	}
	m.emit(p, v.id, trace.KindMSR, uint64(lapic.ICRLow.MSR()), v.exit.Data, 1, 0)
	v.cpu.Skip()
	return r.icr, trace.ClauseNone
}

// fastICRClause is the first condition on an ICR that fails.
func fastICRClause(icr lapic.ICR, r *fastRules) trace.Clause {
	switch {
	case r.mapICR:
		if icr.Shorthand() == lapic.ToSelf {
			return trace.ClauseNone
		}
		if icr.Shorthand() != lapic.NoShorthand || icr.Dest(true) == 0xffffffff {
			return trace.ClauseWouldBlock
		}
		return trace.ClauseNone
	case icr.Delivery() != lapic.Fixed:
		return trace.ClauseNotFixed
	case icr.Shorthand() != lapic.NoShorthand:
		return trace.ClauseShorthand
	case icr&lapic.ICRLogical != 0:
		return trace.ClauseLogical
	case icr.Dest(true) == 0xffffffff:
		return trace.ClauseBroadcast
	}
	return trace.ClauseNone
}

// fastPreemptionTimer is handle_fastpath_preemption_timer up to 6.8.
func fastPreemptionTimer(m *Machine, p PCPU, v *vcpu, _ *fastRules) (trace.FastpathResult, trace.Clause) {
	switch {
	case v.hv.forced:
		return trace.FastNone, trace.ClauseImmediateExit
	case v.hv.softDisabled:
		return trace.FastNone, trace.ClauseSoftDisabled
	}
	m.hvExpired(p, v)
	return trace.FastReenter, trace.ClauseNone
}

// fastPreemptionTimer618 is the same from 6.9 on: what is not an expiry is
// finished in the fastpath too.
func fastPreemptionTimer618(m *Machine, p PCPU, v *vcpu, _ *fastRules) (trace.FastpathResult, trace.Clause) {
	switch {
	case v.hv.softDisabled:
		return trace.FastReenter, trace.ClauseNone
	case v.hv.forced:
		return trace.FastHandled, trace.ClauseImmediateExit
	}
	m.hvExpired(p, v)
	return trace.FastReenter, trace.ClauseNone
}

// fastHLT is handle_fastpath_hlt.
func fastHLT(m *Machine, p PCPU, v *vcpu, _ *fastRules) (trace.FastpathResult, trace.Clause) {
	v.cpu.Skip()
	m.setMP(p, v, trace.MPHalted, 0)
	if m.runnable(v) != trace.BadWake {
		m.setMP(p, v, trace.MPRunnable, 0)
		return trace.FastReenter, trace.ClauseNone
	}
	return trace.FastHandled, trace.ClauseNotRunnable
}

// fastINVD is handle_fastpath_invd: INVD is emulated as nothing.
func fastINVD(_ *Machine, _ PCPU, v *vcpu, _ *fastRules) (trace.FastpathResult, trace.Clause) {
	v.cpu.Skip()
	return trace.FastReenter, trace.ClauseNone
}
