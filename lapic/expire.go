package lapic

// Expire is the beginning of apic_timer_expired: it reports whether the expiry
// counts (false: one is pending already, so this one is merged into it) and
// records the deadline to wait for: in TSC-deadline mode, and with
// ExpiredIfHV in every mode while the preemption timer is in use. What follows (inject at
// once, post, or set Timer.Pending) is the loop's.
func (a *APIC) Expire() (counts bool) {
	t := &a.Timer
	if t.Pending {
		return false
	}
	if t.Mode == TSCDeadline || t.HVInUse && a.rules().ExpiredIfHV {
		t.Expired = t.Deadline
	}
	return true
}

// InjectTimer raises the timer's local vector and clears what the mode says:
// the deadline in TSC-deadline mode, deadline and target in one-shot mode. It
// clears Timer.Pending. ok is false if LVTT is masked or the APIC disabled: the
// interrupt is lost, the fields are cleared all the same and Expired stays.
//
// Source: arch/x86/kvm/lapic.c, kvm_apic_inject_pending_timer_irqs.
func (a *APIC) InjectTimer() (m Message, ok bool) {
	m, ok = a.LocalDeliver(LVTT)
	t := &a.Timer
	switch t.Mode {
	case TSCDeadline:
		t.Deadline = 0
	case OneShot:
		t.Deadline, t.Target = 0, 0
	}
	t.Pending = false
	return m, ok
}

// HasPendingTimer is kvm_cpu_has_pending_timer: an expiry is pending, the APIC
// enabled in hardware and software, and LVTT not masked. A pending expiry with
// LVTT masked waits, does not wake a halted vCPU, and is delivered late once LVTT
// is unmasked; hardware would have lost it.
func (a *APIC) HasPendingTimer() bool {
	return a.Timer.Pending && a.Enabled() && a.SoftEnabled() && a.reg(LVTT)&lvtMasked == 0
}

// TimerInjected is lapic_timer_int_injected: the timer's vector is in service
// (APICv off) or in IRR (APICv on), and the APIC enabled by IA32_APIC_BASE.
func (a *APIC) TimerInjected(apicv bool) bool {
	s := &a.ISR
	if apicv {
		s = &a.IRR
	}
	return a.Enabled() && s.Has(Vector(a.reg(LVTT)))
}
