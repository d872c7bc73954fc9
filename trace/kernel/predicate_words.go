package kernel

import "codeberg.org/ticktrap/ticktrap/trace"

// Term is a clause of a predicate for people.
type Term struct {
	Holds string // the condition that must hold
	Reads string // what it looks at, in the kernel's names
	Where string // the function that does
}

// terms is the table of terms, by clause. Words for a clause that failed are the
// screen's.
var terms = map[trace.Clause]Term{
	trace.ClauseKnobOff:       {"fastpath on", "the knob", "vmx_exit_handlers_fastpath"},
	trace.ClauseNoHandler:     {"a handler for this exit", "the exit reason", "vmx_exit_handlers_fastpath"},
	trace.ClauseAPICvOff:      {"APICv active", "apic->apicv_active", "kvm_vcpu_apicv_active"},
	trace.ClauseModeExiting:   {"mode ≠ EXITING_GUEST_MODE", "vcpu->mode", "kvm_vcpu_exit_request"},
	trace.ClauseRequest:       {"no request pending", "vcpu->requests", "kvm_vcpu_exit_request"},
	trace.ClauseNeedResched:   {"!need_resched", "thread flags", "kvm_vcpu_exit_request"},
	trace.ClauseSignal:        {"!signal_pending", "thread flags", "kvm_vcpu_exit_request"},
	trace.ClauseNoHVTimer:     {"hv timer present", "kvm_x86_ops.set_hv_timer", "kvm_can_use_hv_timer"},
	trace.ClauseHVOff:         {"preemption_timer on", "kvm_intel.preemption_timer", "hardware_setup"},
	trace.ClauseMWAITInGuest:  {"MWAIT exits", "kvm->arch.mwait_in_guest", "kvm_can_use_hv_timer"},
	trace.ClausePostable:      {"timer not postable", "kvm_can_post_timer_interrupt", "kvm_can_use_hv_timer"},
	trace.ClausePIOff:         {"pi_inject_timer on", "pi_inject_timer", "kvm_can_post_timer_interrupt"},
	trace.ClauseExitsOn:       {"MWAIT or HLT exits disabled", "kvm->arch.{mwait,hlt}_in_guest", "kvm_can_post_timer_interrupt"},
	trace.ClauseNoDirect:      {"direct injection exists", "the release", "apic_timer_expired"},
	trace.ClauseNoExpired:     {"an expired deadline", "expired_tscdeadline", "kvm_wait_lapic_expire"},
	trace.ClauseNoAdvance:     {"timer_advance_ns ≠ 0", "timer_advance_ns", "kvm_wait_lapic_expire"},
	trace.ClauseNotInjected:   {"the vector injected", "vIRR or vISR", "lapic_timer_int_injected"},
	trace.ClauseNoKernelLAPIC: {"LAPIC in the kernel", "vcpu->arch.apic", "handle_fastpath_set_x2apic_icr_irqoff"},
	trace.ClauseNotX2APIC:     {"x2APIC mode", "IA32_APIC_BASE", "handle_fastpath_set_x2apic_icr_irqoff"},
	trace.ClauseShorthand:     {"no shorthand", "ICR bits 19:18", "handle_fastpath_set_x2apic_icr_irqoff"},
	trace.ClauseLogical:       {"physical destination", "ICR bit 11", "handle_fastpath_set_x2apic_icr_irqoff"},
	trace.ClauseNotFixed:      {"fixed delivery", "ICR bits 10:8", "handle_fastpath_set_x2apic_icr_irqoff"},
	trace.ClauseBroadcast:     {"not the broadcast", "ICR bits 63:32", "handle_fastpath_set_x2apic_icr_irqoff"},
	trace.ClauseWouldBlock:    {"map-based delivery possible", "the APIC map", "kvm_x2apic_icr_write_fast"},
	trace.ClauseReserved:      {"no reserved bit set", "ICR", "kvm_x2apic_icr_write"},
	trace.ClauseOtherMSR:      {"0x6e0 or 0x830", "RCX", "handle_fastpath_wrmsr"},
	trace.ClauseImmediateExit: {"!req_immediate_exit", "req_immediate_exit", "handle_fastpath_preemption_timer"},
	trace.ClauseSoftDisabled:  {"!hv_timer_soft_disabled", "hv_timer_soft_disabled", "handle_fastpath_preemption_timer"},
	trace.ClauseNotRunnable:   {"still runnable", "kvm_vcpu_has_events", "handle_fastpath_hlt"},
	trace.ClauseNoNextRIP:     {"next RIP known", "nrips, control.next_rip", "svm_exit_handlers_fastpath"},
}

// TermOf returns the words of a clause; empty for one that is in no predicate.
func TermOf(c trace.Clause) Term { return terms[c] }
