package vmm

import (
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// inhibit is a set of reasons for which a guest's own doing keeps APICv off in
// its VM (enum kvm_apicv_inhibit).
type inhibit uint8

const (
	inhibitID   inhibit = 1 << iota // APICV_INHIBIT_REASON_APIC_ID_MODIFIED
	inhibitBase                     // APICV_INHIBIT_REASON_APIC_BASE_MODIFIED
)

// inhibits are the reasons by bit, as events tell them.
var inhibits = [...]trace.Inhibit{trace.InhibitAPICID, trace.InhibitAPICBase}

// told is the set as a mask of events' reasons.
func (s inhibit) told() (mask uint64) {
	for i, r := range inhibits {
		if s>>i&1 != 0 {
			mask |= 1 << r
		}
	}
	return mask
}

// wantsAPICv is kvm_vcpu_apicv_activated, and what kvm_vcpu_update_apicv asks
// beside it.
func (m *Machine) wantsAPICv(v *vcpu) bool {
	return m.st.knobs.APICv && m.st.inhibits == 0 && (v.apic.Enabled() || !v.apic.Config.Rules.DisabledDropsAPICv)
}

// checkInhibits looks at v after a write to its ID or to IA32_APIC_BASE. An ID that
// is right again ends its inhibit where the map's recalculation looks at that, a
// base address never does.
//
// Source: arch/x86/kvm/lapic.c, kvm_lapic_xapic_id_updated, from 6.3 on
// kvm_recalculate_apic_map; kvm_lapic_set_base.
func (m *Machine) checkInhibits(p PCPU, v *vcpu, e lapic.Effect) {
	r := &v.apic.Config.Rules
	if !r.ModifiedInhibits || m.cfg.Real {
		return
	}
	set := m.st.inhibits
	if _, base := v.apic.Modified(); base && e.Has(lapic.EffectModeChange) {
		set |= inhibitBase
	}
	if m.anyID() {
		set |= inhibitID
	} else if r.ModifiedIDClears {
		set &^= inhibitID
	}
	if set == m.st.inhibits {
		return
	}
	for i, reason := range inhibits {
		if bit := inhibit(1) << i; (set^m.st.inhibits)&bit != 0 {
			m.emit(p, v.id, trace.KindInhibit, uint64(reason), b2u(set&bit != 0), set.told(), 0)
		}
	}
	changed := set == 0 || m.st.inhibits == 0
	if m.st.inhibits = set; !changed {
		return
	}
	for i := range m.vcpus { // kvm_make_all_cpus_request(KVM_REQ_APICV_UPDATE)
		o := &m.vcpus[i]
		m.request(p, o, ReqAPICvUpdate)
		if o != v {
			m.kick(p, o)
		}
	}
}

func (m *Machine) anyID() bool {
	for i := range m.vcpus {
		if id, _ := m.vcpus[i].apic.Modified(); id {
			return true
		}
	}
	return false
}

// Inhibited says why APICv is off although its knob is on; empty if it is not.
func (m *Machine) Inhibited() string {
	switch {
	case !m.st.knobs.APICv:
	case m.st.inhibits&inhibitBase != 0:
		return "inhibited: the guest has moved its APIC page"
	case m.st.inhibits&inhibitID != 0:
		return "inhibited: the guest has changed an xAPIC ID"
	}
	return ""
}
