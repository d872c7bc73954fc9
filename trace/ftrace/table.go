package ftrace

// row is one form of one event's body.
type row struct {
	event   string
	form    string
	options []string
	era     Era
	printer Printer // the only one that prints it so, or AnyPrinter
	handle  func(*Decoder, *rawLine, *match)
}

// forms is every body that is understood, the most specific of an event first.
// Sources: arch/x86/kvm/trace.h, include/trace/events/kvm.h, timer.h, sched.h
// and ipi.h of the releases named; libtraceevent's plugin_kvm.c; perf's printer.
var forms = []row{
	{event: "kvm_entry", form: "vcpu {vcpu:d}, rip {rip:x} intr_info {intr:x} error_code {err:x}",
		options: []string{"[immediate exit]"}, era: Era{V(6, 14), 0}, handle: (*Decoder).entry},
	{event: "kvm_entry", form: "vcpu {vcpu:d}, rip {rip:x}[immediate exit]", era: Era{V(6, 9), V(6, 13)},
		handle: (*Decoder).entry},
	{event: "kvm_entry", form: "vcpu {vcpu:d}, rip {rip:x}", era: Era{V(5, 10), V(6, 13)}, handle: (*Decoder).entry},
	{event: "kvm_entry", form: "vcpu {vcpu:d} rip {rip:x}", options: []string{" {word:t}"}, era: Era{V(5, 10), 0},
		printer: TraceCmd, handle: (*Decoder).entry},
	{event: "kvm_entry", form: "vcpu {vcpu:d}", era: Era{0, V(5, 9)}, handle: (*Decoder).entry},

	{event: "kvm_exit", form: "vcpu {vcpu:d} reason {reason:t} rip {rip:x} info1 {info1:x} info2 {info2:x} " +
		"intr_info {intr:x} error_code {err:x} requests {req:x}", era: Era{V(6, 14), 0}, handle: (*Decoder).exit},
	{event: "kvm_exit", form: "vcpu {vcpu:d} reason {reason:t} rip {rip:x} info1 {info1:x} info2 {info2:x} " +
		"intr_info {intr:x} error_code {err:x}", era: Era{V(5, 10), V(6, 13)}, handle: (*Decoder).exit},
	{event: "kvm_exit", form: "vcpu {vcpu:d} reason {reason:t} rip {rip:x} info {info1:x} {info2:x}",
		era: Era{V(5, 4), V(5, 9)}, handle: (*Decoder).exit},
	{event: "kvm_exit", form: "reason {reason:t} rip {rip:x} info {info1:x} {info2:x} intr {intr:x}", printer: Perf,
		handle: (*Decoder).exit},
	{event: "kvm_exit", form: "reason {reason:t} rip {rip:x} info {info1:x} {info2:x}", handle: (*Decoder).exit},
	{event: "kvm_exit", form: "reason {reason:t} rip {rip:x} {word:t} info {info1:x} {info2:x}", printer: TraceCmd,
		handle: (*Decoder).exit},

	{event: "kvm_msr", form: "msr_{word:w} {index:x} = {value:x}", options: []string{" (#GP)"}, handle: (*Decoder).msr},
	{event: "kvm_apic", form: "apic_{word:w} {what:w} = {value:x}", handle: (*Decoder).apicAccess},
	{event: "kvm_apic_accept_irq", form: "apicid {apic:x} vec {vec:d} ({mode:t})", handle: (*Decoder).acceptIRQ},
	{event: "kvm_apicv_accept_irq", form: "apicid {apic:x} vec {vec:d} ({mode:t})", era: Era{V(5, 17), 0},
		handle: (*Decoder).apicvAccept},
	{event: "kvm_apic_ipi", form: "dst {dest:x} vec {vec:d} ({mode:t})", handle: (*Decoder).ipi},
	{event: "kvm_eoi", form: "apicid {apic:x} vector {vec:i}", handle: (*Decoder).eoi},

	{event: "kvm_inj_virq", form: "IRQ {vec:x}", options: []string{" [reinjected]"}, era: Era{V(6, 0), 0},
		handle: (*Decoder).inject},
	{event: "kvm_inj_virq", form: "Soft/INTn {vec:x}", options: []string{" [reinjected]"}, era: Era{V(6, 0), 0},
		handle: (*Decoder).inject},
	{event: "kvm_inj_virq", form: "irq {vec:d}", era: Era{0, V(5, 19)}, handle: (*Decoder).inject},

	{event: "kvm_wait_lapic_expire", form: "vcpu {vcpu:d}: delta {delta:i} ({word:w})", handle: (*Decoder).wait},
	{event: "kvm_hv_timer_state", form: "vcpu_id {vcpu:x} hv_timer {hv:x}", handle: (*Decoder).hvTimer},
	{event: "kvm_vcpu_wakeup", form: "{word:w} time {time:d} ns, polling {what:w}", handle: (*Decoder).wakeup},
	{event: "kvm_halt_poll_ns", form: "vcpu {vcpu:d}: halt_poll_ns {value:d} ({word:w} {old:d})",
		handle: (*Decoder).haltPoll},
	{event: "kvm_write_tsc_offset", form: "vcpu={vcpu:d} prev={old:d} next={value:d}", handle: (*Decoder).tscOffset},

	{event: "kvm_apicv_inhibit_changed", form: "{word:w} reason={index:d}, inhibits=0x0", // none has no names either
		era: Era{V(5, 18), 0}, handle: (*Decoder).inhibit},
	{event: "kvm_apicv_inhibit_changed", form: "{word:w} reason={index:d}, inhibits={inhibits:x}",
		era: Era{V(5, 18), V(6, 10)}, handle: (*Decoder).inhibit},
	{event: "kvm_apicv_inhibit_changed", form: "{word:w} reason={index:d}, inhibits={inhibits:x}",
		options: []string{" {what:t}"}, era: Era{V(6, 11), 0}, handle: (*Decoder).inhibit},
	{event: "kvm_apicv_update_request", form: "{word:w} bit={index:d}", era: Era{V(5, 6), V(5, 17)},
		handle: (*Decoder).updateRequest},

	{event: "sched_switch", form: "prev_comm={word:t} prev_pid={pid:d} prev_prio={old:i} prev_state={what:t} ==> next_comm={mode:t} " +
		"next_pid={next:d} next_prio={value:i}", handle: (*Decoder).schedSwitch},
	{event: "sched_switch", form: "{word:t} [{old:i}] {what:w} ==> {mode:t} [{value:i}]", printer: TraceCmd,
		handle: (*Decoder).schedSwitchShort},
	{event: "sched_waking", form: "comm={word:t} pid={pid:d} prio={old:i} {what:t}target_cpu={cpu:d}", handle: (*Decoder).waking},
	{event: "sched_wakeup", form: "comm={word:t} pid={pid:d} prio={old:i} {what:t}target_cpu={cpu:d}", handle: (*Decoder).waking},
	{event: "sched_waking", form: "{word:t} [{old:i}]{what:t} CPU:{cpu:d}", printer: TraceCmd, handle: (*Decoder).waking},
	{event: "sched_wakeup", form: "{word:t} [{old:i}]{what:t} CPU:{cpu:d}", printer: TraceCmd, handle: (*Decoder).waking},

	{event: "kvm_userspace_exit", form: "reason {word:w} ({value:d})", handle: (*Decoder).userExit},
	{event: "kvm_pio", form: "pio_{word:w} at {value:x} size {old:d} count {index:d}{what:t}", handle: (*Decoder).access},
	{event: "kvm_mmio", form: "mmio {word:w} len {old:d} gpa {value:x} val {index:x}", handle: (*Decoder).access},
	{event: "kvm_mmio", form: "mmio {word:w} len {old:d} gpa {value:x}{what:t}", handle: (*Decoder).access},
	{event: "kvm_ple_window_update", form: "vcpu {vcpu:d} old {old:d} new {value:d} ({word:w})", era: Era{V(5, 1), 0},
		handle: (*Decoder).pleWindow},

	{event: "kvm_hv_stimer_start_one_shot", form: "vcpu_id {vcpu:d} timer {index:d} time_now {now:d} count {value:d}",
		handle: (*Decoder).stimerOneShot},
	{event: "kvm_hv_stimer_start_periodic", form: "vcpu_id {vcpu:d} timer {index:d} time_now {now:d} exp_time {time:d}",
		handle: (*Decoder).stimerPeriodic},
	{event: "kvm_hv_stimer_callback", form: "vcpu_id {vcpu:d} timer {index:d}", handle: (*Decoder).stimerCallback},
	{event: "kvm_hv_stimer_expiration", form: "vcpu_id {vcpu:d} timer {index:d} direct {value:d} msg_send_result {ret:i}",
		handle: (*Decoder).stimerExpired},

	{event: "cpu_idle", form: "state={value:d} cpu_id={cpu:d}", handle: (*Decoder).idle},
	{event: "local_timer_entry", form: "vector={index:d}", handle: (*Decoder).hostIRQ},
	{event: "local_timer_exit", form: "vector={index:d}", handle: (*Decoder).hostIRQ},
	{event: "reschedule_entry", form: "vector={index:d}", handle: (*Decoder).hostIRQ},
	{event: "reschedule_exit", form: "vector={index:d}", handle: (*Decoder).hostIRQ},
	{event: "call_function_entry", form: "vector={index:d}", handle: (*Decoder).hostIRQ},
	{event: "call_function_exit", form: "vector={index:d}", handle: (*Decoder).hostIRQ},
	{event: "call_function_single_entry", form: "vector={index:d}", handle: (*Decoder).hostIRQ},
	{event: "call_function_single_exit", form: "vector={index:d}", handle: (*Decoder).hostIRQ},
	{event: "irq_work_entry", form: "vector={index:d}", handle: (*Decoder).hostIRQ},
	{event: "irq_work_exit", form: "vector={index:d}", handle: (*Decoder).hostIRQ},
	{event: "irq_handler_entry", form: "irq={index:d} name={what:t}", handle: (*Decoder).hostIRQ},
	{event: "irq_handler_exit", form: "irq={index:d} ret={word:t}", handle: (*Decoder).hostIRQ},
	{event: "softirq_entry", form: "vec={index:d} [action={what:t}]", handle: (*Decoder).hostIRQ},
	{event: "softirq_exit", form: "vec={index:d} [action={what:t}]", handle: (*Decoder).hostIRQ},
	{event: "hrtimer_cancel", form: "hrtimer={ptr:x}", handle: (*Decoder).hrtimerCancel},

	{event: "hrtimer_start", form: "hrtimer={ptr:x} function={what:t} expires={time:d} softexpires={value:d}",
		options: []string{" mode={mode:w}", " was_armed={old:d}"}, handle: (*Decoder).hrtimerStart},
	{event: "hrtimer_expire_entry", form: "hrtimer={ptr:x} function={what:t} now={now:d}",
		handle: (*Decoder).hrtimerExpire},
	{event: "hrtimer_expire_entry", form: "hrtimer={ptr:x} now={now:d} function={what:t}", printer: TraceCmd,
		handle: (*Decoder).hrtimerExpire},

	{event: "tracing_mark_write", form: "{what:t}", handle: (*Decoder).mark},
	{event: "print", form: "{value:x}: {what:t}", printer: TraceCmd, handle: (*Decoder).mark},
	{event: "print", form: "{what:t}", handle: (*Decoder).mark},
}

// counted are events whose bodies are not looked at: they are counted and their
// absence means nothing.
var counted = []string{"kvm_update_master_clock", "kvm_track_tsc", "kvm_fpu", "kvm_unmap_hva_range",
	"kvm_set_spte_hva", "kvm_page_fault", "kvm_emulate_insn", "kvm_cpuid", "kvm_cr", "kvm_cr_load", "kvm_cr_write", "kvm_hypercall", "kvm_pic_set_irq",
	"kvm_ioapic_set_irq", "kvm_set_irq", "kvm_msi_set_irq", "kvm_ack_irq", "kvm_ioapic_delayed_eoi_inj",
	"kvm_inj_exception", "kvm_nested_vmexit", "kvm_nested_vmenter", "kvm_nested_vmrun", "kvm_pi_irte_update",
	"kvm_hv_stimer_set_config", "kvm_hv_stimer_set_count", "kvm_hv_stimer_cleanup", "kvm_hv_synic_set_msr", "kvm_hv_synic_set_irq", "kvm_pvclock_update", "kvm_age_hva", "kvm_test_age_hva",
	"kvm_enter_smm", "kvm_smm_transition", "kvm_avic_ga_log", "kvm_avic_incomplete_ipi", "kvm_avic_kick_vcpu_slowpath",
	"kvm_avic_unaccelerated_access", "kvm_pv_eoi", "kvm_vcpu_kick", "sched_stat_runtime",
	"sched_migrate_task", "hrtimer_init", "hrtimer_setup", "hrtimer_expire_exit", "timer_start",
	"timer_cancel", "timer_init", "timer_expire_entry", "timer_expire_exit", "tick_stop", "itimer_state", "itimer_expire",
	"ipi_send_cpu", "ipi_send_cpumask",
	"softirq_raise", "start_hv", "start_hv_r", "external_interrupt_entry"}
