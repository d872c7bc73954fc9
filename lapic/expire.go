package lapic

// Expire is the beginning of apic_timer_expired: it reports whether the expiry
// counts (false: one is pending already, merged) and records the deadline to wait
// for. What follows (inject, post, or set Timer.Pending) is the loop's.
func (a *APIC) Expire() (counts bool) { return false }

// InjectTimer raises the timer's local vector and clears what the mode says:
// the deadline in TSC-deadline mode, deadline and target in one-shot mode. It
// clears Timer.Pending. ok is false if LVTT is masked or the APIC disabled: the
// interrupt is lost, the fields are cleared all the same.
//
// Source: arch/x86/kvm/lapic.c, kvm_apic_inject_pending_timer_irqs.
func (a *APIC) InjectTimer() (m Message, ok bool) { return Message{}, false }

// HasPendingTimer is kvm_cpu_has_pending_timer: an expiry is pending and LVTT
// would deliver it. A pending expiry with LVTT masked waits.
func (a *APIC) HasPendingTimer() bool { return false }
