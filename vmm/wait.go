package vmm

import (
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// waitExpire is kvm_wait_lapic_expire at its call site in the entry path.
func (m *Machine) waitExpire(p PCPU, v *vcpu, place trace.Placement) {
	if v.apic.Timer.Expired == 0 {
		return
	}
	m.waitNow(p, v, place, false)
}

// waitNow busy-waits for the expired deadline and lets adaptive tuning look at
// what was left of the advance. Taking the deadline up costs something whether
// there is anything to wait for or not: before the wait where tuning comes first
// (TuneFirst), else after it.
func (m *Machine) waitNow(p PCPU, v *vcpu, place trace.Placement, callback bool) {
	before := v.apic.Config.Rules.TuneFirst
	if before && (callback || v.apic.WaitDue(v.apicv) == lapic.WaitDue) {
		m.spend(p, trace.PhaseWaitCheck)
	}
	s := m.sample(p, v)
	w := v.apic.WaitExpire(s.Guest, v.apicv, false, callback)
	if w.Clause != lapic.WaitDue {
		return
	}
	m.emit(p, v.id, trace.KindWait, uint64(w.Delta), uint64(w.Wait), uint64(w.Cap), uint64(place))
	if w.Tuned {
		m.emit(p, v.id, trace.KindTune, uint64(w.Tune.Old), uint64(w.Tune.New), uint64(w.Delta), uint64(w.Tune.Verdict))
	}
	if w.Wait > 0 {
		m.host.Delay(p, w.Wait)
		m.account(p, trace.PhaseWait, w.Wait)
	}
	if !before {
		m.spend(p, trace.PhaseWaitCheck)
	}
}

// programHV is vmx_update_hv_timer: it returns the distance at which the VMCS
// timer will run out, in host cycles, or all ones for "off".
//
// Source: arch/x86/kvm/vmx/vmx.c, vmx_update_hv_timer.
func (m *Machine) programHV(p PCPU, v *vcpu) uint64 {
	t := &v.apic.Timer
	v.hv.forced = false
	switch {
	case v.immediate:
		v.immediate, v.hv.softDisabled, v.hv.forced = false, false, true
		m.request(p, v, ReqEvent) // vcpu_enter_guest, before it enters
		return 0
	case t.HVInUse:
		v.hv.softDisabled = false
		ticks, _ := lapic.PreemptionTicks(t.HVDeadline, m.host.Now(p), m.cfg.MultiShift)
		return uint64(ticks) << m.cfg.MultiShift
	}
	v.hv.softDisabled = true
	return hvOff
}

const hvOff = 1<<64 - 1
