package vmm

import (
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
)

// fastpath tries to finish an exit with IRQs off and reports the verdict. What a
// handler has done stays done, even if the bail-out test then sends the vCPU
// round the outer loop.
func (m *Machine) fastpath(p PCPU, v *vcpu) trace.FastpathResult {
	r := &m.st.fast
	m.spend(p, trace.PhaseFastDispatch)
	result, clause := m.tryFast(p, v, r)
	if result == trace.FastReenter && !r.Gated {
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
func (m *Machine) tryFast(p PCPU, v *vcpu, r *kernel.Fastpath) (trace.FastpathResult, trace.Clause) {
	if r.Set == RulesOff {
		return trace.FastNone, trace.ClauseKnobOff
	}
	h := handlerOf(r, v.reason)
	if h == nil {
		return trace.FastNone, trace.ClauseNoHandler
	}
	if r.Gated {
		c := m.first(p, v, m.st.pred.gate)
		if c != trace.ClauseAPICvOff {
			m.spend(p, trace.PhaseExitTest)
		}
		if c != trace.ClauseNone {
			return trace.FastNone, c
		}
	}
	return h(m, p, v, r)
}

// fastHandler tries one exit. It returns FastNone and the clause that failed, or
// the result.
type fastHandler func(m *Machine, p PCPU, v *vcpu, r *kernel.Fastpath) (trace.FastpathResult, trace.Clause)

// handlerOf is the handler of an exit in vmx_exit_handlers_fastpath; nil if the
// kernel has none.
//
// Source: arch/x86/kvm/vmx/vmx.c, vmx_exit_handlers_fastpath.
func handlerOf(r *kernel.Fastpath, reason trace.ExitReason) fastHandler {
	switch {
	case reason == trace.ExitMSRWrite:
		return fastWRMSR
	case reason == trace.ExitPreemptionTimer && r.HVTimer:
		return fastPreemptionTimer
	case reason == trace.ExitHLT && r.HLT:
		return fastHLT
	case reason == trace.ExitINVD && r.INVD:
		return fastINVD
	}
	return nil
}

// bailOut is what stands between REENTER_GUEST and the next entry: the exit test
// and the PIR sync, in the kernel's order.
func (m *Machine) bailOut(p PCPU, v *vcpu, r *kernel.Fastpath) trace.Clause {
	sync := v.apicv || !r.SyncActive
	if sync && !r.TestFirst {
		m.syncPIR(p, v)
	}
	m.spend(p, trace.PhaseExitTest)
	c := m.exitRequest(p, v)
	if c == trace.ClauseNone && sync && r.TestFirst {
		m.syncPIR(p, v)
	}
	return c
}

// fastWRMSR is handle_fastpath_set_msr_irqoff, later handle_fastpath_wrmsr.
func fastWRMSR(m *Machine, p PCPU, v *vcpu, r *kernel.Fastpath) (trace.FastpathResult, trace.Clause) {
	switch msr := uint32(v.exit.Addr); {
	case msr == lapic.MSRDeadline && r.Deadline:
		return fastDeadline(m, p, v, r)
	case msr == lapic.ICRLow.MSR() && r.ICR != trace.FastNone:
		return fastICR(m, p, v, r)
	}
	return trace.FastNone, trace.ClauseOtherMSR
}

func fastDeadline(m *Machine, p PCPU, v *vcpu, _ *kernel.Fastpath) (trace.FastpathResult, trace.Clause) {
	if c := m.first(p, v, m.st.pred.deadline); c != trace.ClauseNone {
		return trace.FastNone, c
	}
	m.spend(p, trace.PhaseMSR)
	m.writeAPICMSR(p, v, lapic.MSRDeadline, v.exit.Data)
	m.emit(p, v.id, trace.KindMSR, uint64(lapic.MSRDeadline), v.exit.Data, 1, 0)
	v.cpu.Skip()
	return trace.FastReenter, trace.ClauseNone
}

func fastICR(m *Machine, p PCPU, v *vcpu, r *kernel.Fastpath) (trace.FastpathResult, trace.Clause) {
	if c := m.first(p, v, m.st.pred.icr); c != trace.ClauseNone {
		return trace.FastNone, c
	}
	m.spend(p, trace.PhaseMSR)
	if !m.writeAPICMSR(p, v, lapic.ICRLow.MSR(), v.exit.Data) {
		return trace.FastNone, trace.ClauseReserved // the handler raises #GP
	}
	m.emit(p, v.id, trace.KindMSR, uint64(lapic.ICRLow.MSR()), v.exit.Data, 1, 0)
	v.cpu.Skip()
	return r.ICR, trace.ClauseNone
}

// fastPreemptionTimer is handle_fastpath_preemption_timer. With HVOther an exit
// that is no expiry is finished in the fastpath too.
func fastPreemptionTimer(m *Machine, p PCPU, v *vcpu, r *kernel.Fastpath) (trace.FastpathResult, trace.Clause) {
	if r.HVOther && v.hv.softDisabled {
		return trace.FastReenter, trace.ClauseNone
	}
	if c := m.first(p, v, m.st.pred.timer); c != trace.ClauseNone {
		if r.HVOther {
			return trace.FastHandled, c
		}
		return trace.FastNone, c
	}
	m.hvExpired(p, v)
	return trace.FastReenter, trace.ClauseNone
}

// fastHLT is handle_fastpath_hlt.
func fastHLT(m *Machine, p PCPU, v *vcpu, _ *kernel.Fastpath) (trace.FastpathResult, trace.Clause) {
	v.cpu.Skip()
	m.setMP(p, v, trace.MPHalted, 0)
	if m.runnable(v) != trace.BadWake {
		m.setMP(p, v, trace.MPRunnable, 0)
		return trace.FastReenter, trace.ClauseNone
	}
	return trace.FastHandled, trace.ClauseNotRunnable
}

// fastINVD is handle_fastpath_invd: INVD is emulated as nothing.
func fastINVD(_ *Machine, _ PCPU, v *vcpu, _ *kernel.Fastpath) (trace.FastpathResult, trace.Clause) {
	v.cpu.Skip()
	return trace.FastReenter, trace.ClauseNone
}
