package vmm

import (
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
)

// kickResult is one row of the kick's decision table.
type kickResult struct {
	decision trace.KickDecision
	steps    trace.KickSteps
}

// kickInput is what a kick looks at.
type kickInput struct {
	task    bool // the rcuwait's task pointer is set
	woken   bool // wake_up_process would wake it
	running bool // the target is this CPU's running vCPU
	mode    trace.Mode
	other   bool // the target's CPU is another valid one
}

// decideKick is kvm_vcpu_kick without its effects.
//
// Sources: virt/kvm/kvm_main.c, kvm_vcpu_kick, kvm_vcpu_wake_up;
// arch/x86/kvm/x86.c, kvm_arch_vcpu_should_kick; the S002 series.
func decideKick(k kernel.Kick, in kickInput) kickResult {
	rules := k.Rules
	var r kickResult
	if rules == KickKC {
		r.steps |= trace.StepTask
		if in.task {
			r.steps |= trace.StepRCU
		}
	} else {
		r.steps |= trace.StepRCU
	}
	if in.task && in.woken {
		r.steps |= trace.StepWake
		r.decision = trace.KickWake
		if !k.GoesOn {
			return r
		}
	} else {
		r.decision = trace.KickNothing
	}
	switch {
	case rules == KickKA && !in.other:
		return r
	case rules == KickKC && in.running:
		if in.mode == trace.InGuestMode {
			r.decision = trace.KickWarn
		}
		return r
	case rules == KickKD && in.running:
		if in.mode == trace.InGuestMode {
			return kickResult{trace.KickExiting, r.steps | trace.StepStore}
		}
		return r
	}
	r.steps |= trace.StepCmpxchg
	if in.mode != trace.InGuestMode {
		return r
	}
	if !in.other {
		r.decision = trace.KickExiting
		return r
	}
	return kickResult{trace.KickIPI, r.steps | trace.StepIPI}
}

// kick makes v look at its requests: it wakes it, or makes it leave the guest.
// It runs on p, which has vCPU loaded[p] loaded.
func (m *Machine) kick(p PCPU, v *vcpu) {
	loaded := m.st.loaded[p]
	in := kickInput{
		task: v.blocked, woken: v.blocked && m.canWake(v),
		running: int(loaded) == v.id, mode: v.mode, other: v.pcpu != p && v.pcpu != NoPCPU,
	}
	r := decideKick(kernel.Kick{Rules: m.st.knobs.Kick, GoesOn: m.cfg.Kernel.Kick.GoesOn}, in)
	m.delayStores(p, v, r.steps)
	m.payKick(p, r.steps)
	from := uint64(trace.NoCPU)
	if loaded >= 0 {
		from = uint64(loaded)
	}
	m.emit(p, v.id, trace.KindKick, uint64(r.decision), uint64(in.mode), uint64(r.steps), from)
	switch r.decision {
	case trace.KickWake:
		m.wakeThread(p, v)
	case trace.KickExiting:
		v.mode = trace.ExitingGuestMode
	case trace.KickIPI:
		v.mode = trace.ExitingGuestMode
		m.host.SendIPI(p, v.pcpu, IRQResched, v.id)
	}
}

// kickPhases are the costs of the building blocks, by bit of trace.KickSteps.
var kickPhases = [...]trace.Phase{trace.PhaseKickRCU, trace.PhaseKickTask, trace.PhaseKickCmpxchg,
	trace.PhaseKickStore, trace.PhaseIPISend, trace.PhaseWake}

func (m *Machine) payKick(p PCPU, steps trace.KickSteps) {
	for i, ph := range kickPhases {
		if steps>>i&1 != 0 {
			m.spend(p, ph)
		}
	}
}
