package kernel

import "slices"

// pauseHistory is pause-loop exiting.
var pauseHistory = []Change{
	{Topic: TopicPause, Since: v(4, 17), After: v(4, 14), Where: "arch/x86/kvm/svm.c: grow_ple_window", Vendor: AMD, Kind: Merged, Commit: "8566ac8b8e7c",
		Subject: "the pause filter grows from 3000 to 65535 and has a threshold of 128 cycles",
		set:     func(k *Kernel) { k.Pause = Pause{Gap: 128, Window: 3000, Grow: 2, Max: 1<<16 - 1} }},
	{Topic: TopicPause, Since: v(5, 6), After: Oldest, Where: "arch/x86/kvm/x86.h: KVM_VMX_DEFAULT_PLE_WINDOW_MAX", Vendor: Intel, Kind: Merged,
		Subject: "ple_window_max is UINT_MAX instead of INT_MAX / 2",
		set:     func(k *Kernel) { k.Pause.Max = 1<<32 - 1 }},
}

// apicvHistory is the reasons for which APICv is off in a VM: enum
// kvm_apicv_inhibit. A change of the numbers lists them all.
var apicvHistory = []Change{
	{Topic: TopicAPICv, Since: v(5, 6), After: v(5, 4), Where: kvmHostH + "APICV_INHIBIT_REASON_DISABLE", Kind: Merged,
		Subject: "APICv can be inhibited at run time: disabled, Hyper-V SynIC, nested, IRQ window, PIT reinjection",
		set: func(k *Kernel) {
			k.Inhibits = inhibits("DISABLE", "HYPERV", "NESTED", "IRQWIN", "PIT_REINJ", "X2APIC")
		}},
	{Topic: TopicAPICv, Since: v(5, 15), After: v(5, 14), Where: "arch/x86/kvm/hyperv.c: synic_update_vector", Kind: Merged,
		Subject: "the SynIC inhibits only while an unmasked SINT has AutoEOI, not for good once it is enabled"},
	{Topic: TopicAPICv, Since: v(5, 17), After: v(5, 15), Where: x86C + "kvm_arch_vcpu_guestdbg_update_apicv_inhibit", Kind: Merged,
		Subject: "KVM_GUESTDBG_BLOCKIRQ and a missing in-kernel irqchip inhibit too",
		set: func(k *Kernel) {
			k.Inhibits = inhibits("DISABLE", "HYPERV", "NESTED", "IRQWIN", "PIT_REINJ", "X2APIC", "BLOCKIRQ", "ABSENT")
		}},
	{Topic: TopicAPICv, Since: v(5, 19), After: v(5, 17), Where: kvmHostH + "enum kvm_apicv_inhibit", Kind: Merged,
		Subject: "the guest inhibits by a changed xAPIC ID or APIC base; SEV does too",
		set: func(k *Kernel) {
			k.LAPIC.ModifiedInhibits = true
			k.Inhibits = inhibits("DISABLE", "HYPERV", "ABSENT", "BLOCKIRQ", "APIC_ID_MODIFIED", "APIC_BASE_MODIFIED", "NESTED",
				"IRQWIN", "PIT_REINJ", "SEV")
		}},
	{Topic: TopicAPICv, Since: v(5, 19), After: v(5, 17), Where: x86C + "kvm_vcpu_update_apicv", Kind: Merged,
		Subject: "a vCPU whose APIC is disabled by IA32_APIC_BASE has no APICv",
		set:     func(k *Kernel) { k.LAPIC.DisabledDropsAPICv = true }},
	{Topic: TopicAPICv, Since: v(6, 12), After: v(6, 1), Where: lapicC + "kvm_recalculate_apic_map", Kind: Merged,
		Subject: "the inhibit by a changed xAPIC ID ends when the ID is right again",
		set:     func(k *Kernel) { k.LAPIC.ModifiedIDClears = true }},
	{Topic: TopicAPICv, Since: v(6, 3), After: v(6, 2), Where: kvmHostH + "enum kvm_apicv_inhibit", Kind: Merged,
		Subject: "aliased physical and logical IDs inhibit",
		set: func(k *Kernel) {
			k.Inhibits = inhibits("DISABLED", "HYPERV", "ABSENT", "BLOCKIRQ", "PHYSICAL_ID_ALIASED", "APIC_ID_MODIFIED",
				"APIC_BASE_MODIFIED", "NESTED", "IRQWIN", "PIT_REINJ", "SEV", "LOGICAL_ID_ALIASED")
		}},
	{Topic: TopicAPICv, Since: v(7, 2), After: v(6, 12), Where: kvmHostH + "enum kvm_apicv_inhibit", Vendor: AMD, Kind: Merged,
		Subject: "a physical ID beyond what AVIC can hold inhibits",
		set: func(k *Kernel) {
			k.Inhibits = append(k.Inhibits, Inhibit{Bit: uint8(len(k.Inhibits)), Name: "PHYSICAL_ID_TOO_BIG"})
		}},
}

const kvmHostH = "arch/x86/include/asm/kvm_host.h: "

// inhibits numbers the reasons from 0.
func inhibits(names ...string) []Inhibit {
	list := make([]Inhibit, len(names))
	for i, n := range names {
		list[i] = Inhibit{Bit: uint8(i), Name: n}
	}
	return list
}

// traceHistory is the form of the tracepoints.
var traceHistory = []Change{
	{Topic: TopicTrace, Since: v(5, 4), After: v(5, 3), Where: traceH + "kvm_exit", Kind: Merged, Subject: "kvm_exit begins with the vCPU",
		set: func(k *Kernel) { k.Trace.ExitsVCPU = true }},
	{Topic: TopicTrace, Since: v(5, 10), After: v(5, 9), Where: traceH + "kvm_exit", Kind: Merged,
		Subject: "kvm_exit prints info1, info2, intr_info and error_code",
		set:     func(k *Kernel) { k.Trace.ExitError = true }},
	{Topic: TopicTrace, Since: v(5, 10), After: v(5, 9), Where: traceH + "kvm_entry", Kind: Merged, Subject: "kvm_entry prints RIP",
		set: func(k *Kernel) { k.Trace.EntryRIP = true }},
	{Topic: TopicTrace, Since: v(5, 11), After: v(5, 10), Where: vmxC + "vmx_vcpu_run", Kind: Merged,
		Subject: "kvm_entry is printed at each VM-entry, not once per vcpu_enter_guest",
		set:     func(k *Kernel) { k.Trace.EntryPerRun = true }},
	{Topic: TopicTrace, Since: v(5, 17), After: v(5, 15), Where: traceH + "kvm_apicv_accept_irq", Kind: Merged,
		Subject: "kvm_apicv_accept_irq: a posted delivery",
		set:     func(k *Kernel) { k.Trace.Posted = true }},
	{Topic: TopicTrace, Since: v(5, 6), After: v(5, 4), Where: traceH + "kvm_apicv_update_request", Kind: Merged,
		Subject: "kvm_apicv_update_request: APICv is inhibited or not",
		set:     func(k *Kernel) { k.Trace.Inhibit = "kvm_apicv_update_request" }},
	{Topic: TopicTrace, Since: v(5, 19), After: v(5, 17), Where: traceH + "kvm_apicv_inhibit_changed", Kind: Merged,
		Subject: "kvm_apicv_inhibit_changed replaces kvm_apicv_update_request",
		set:     func(k *Kernel) { k.Trace.Inhibit = "kvm_apicv_inhibit_changed" }},
	{Topic: TopicTrace, Since: v(5, 19), After: v(5, 17), Where: traceH + "kvm_apic", Kind: Merged, Subject: "kvm_apic prints 64 bits",
		set: func(k *Kernel) { k.Trace.WideAPIC = true }},
	{Topic: TopicTrace, Since: v(6, 0), After: v(5, 19), Where: traceH + "kvm_inj_virq", Kind: Merged,
		Subject: "kvm_inj_virq prints IRQ and the vector in hex, not irq in decimal",
		set:     func(k *Kernel) { k.Trace.HexIRQ = true }},
	{Topic: TopicTrace, Since: v(6, 5), After: v(6, 3), Where: "include/trace/events/ipi.h: ipi_send_cpu", Kind: Merged,
		Subject: "ipi_send_cpu: who sends a reschedule IPI",
		set:     func(k *Kernel) { k.Trace.IPISend = true }},
	{Topic: TopicTrace, Since: v(6, 9), After: v(6, 8), Stable: []Release{vp(6, 1, 176)}, Where: traceH + "kvm_entry", Kind: Merged,
		Subject: "kvm_entry says that the exit is forced",
		set:     func(k *Kernel) { k.Trace.EntryImmediate = true }},
	{Topic: TopicTrace, Since: v(6, 11), After: v(6, 10), Where: traceH + "kvm_apicv_inhibit_changed", Kind: Merged,
		Subject: "kvm_apicv_inhibit_changed names the reasons",
		set:     func(k *Kernel) { k.Trace.InhibitNames = true }},
	{Topic: TopicTrace, Since: v(6, 14), After: v(6, 13), Where: traceH + "kvm_exit", Kind: Merged, Subject: "kvm_exit prints the requests",
		set: func(k *Kernel) { k.Trace.Requests = true }},
	{Topic: TopicTrace, Since: v(6, 14), After: v(6, 13), Where: traceH + "kvm_entry", Kind: Merged,
		Subject: "kvm_entry prints intr_info and error_code",
		set:     func(k *Kernel) { k.Trace.EntryError = true }},
	{Topic: TopicTrace, Since: v(6, 16), After: v(6, 14), Where: "include/trace/events/timer.h: hrtimer_setup", Kind: Merged,
		Subject: "hrtimer_setup replaces hrtimer_init",
		set:     func(k *Kernel) { k.Trace.Setup = true }},
	{Topic: TopicTrace, Since: v(7, 1), After: v(6, 19), Stable: []Release{vp(6, 1, 176), vp(6, 12, 117)},
		Where: "include/trace/events/timer.h: hrtimer_start", Kind: Merged,
		Subject: "hrtimer_start says whether the timer was armed",
		set:     func(k *Kernel) { k.Trace.WasArmed = true }},
}

// paramHistory is the module parameters that decide about timers.
var paramHistory = []Change{
	{Topic: TopicParam, Since: Oldest, Where: x86C + "lapic_timer_advance_ns", Kind: Merged, Subject: "parameters of the oldest release",
		set: func(k *Kernel) {
			k.param("kvm", "lapic_timer_advance_ns", "0", true)
			k.param("kvm", "min_timer_period_us", "500", true)
			k.param("kvm", "halt_poll_ns", "400000", true)
			k.param("kvm", "halt_poll_ns_grow", "2", true)
			k.param("kvm", "halt_poll_ns_shrink", "0", true)
			if k.Vendor == AMD {
				k.param("kvm_amd", "avic", "0", false)
				return
			}
			k.param("kvm_intel", "preemption_timer", "Y", false)
			k.param("kvm_intel", "enable_apicv", "Y", false)
		}},
	{Topic: TopicParam, Since: v(4, 14), After: v(4, 10), Where: kvmHostH + "KVM_HALT_POLL_NS_DEFAULT", Kind: Merged, Subject: "halt_poll_ns=200000",
		set: func(k *Kernel) { k.param("kvm", "halt_poll_ns", "200000", true) }},
	{Topic: TopicParam, Since: v(4, 19), After: v(4, 14), Where: lapicC + "min_timer_period_us", Kind: Merged, Subject: "min_timer_period_us=200",
		set: func(k *Kernel) { k.param("kvm", "min_timer_period_us", "200", true) }},
	{Topic: TopicParam, Since: v(4, 20), Where: x86C + "lapic_timer_advance_ns", Kind: Merged, Subject: "lapic_timer_advance_ns=1000, and shows what tuning made of it",
		set: func(k *Kernel) { k.param("kvm", "lapic_timer_advance_ns", "1000", true) }},
	{Topic: TopicParam, Since: v(5, 2), After: v(5, 0), Where: mainC + "halt_poll_ns_grow_start", Kind: Merged, Subject: "halt_poll_ns_grow_start=10000",
		set: func(k *Kernel) { k.param("kvm", "halt_poll_ns_grow_start", "10000", true) }},
	{Topic: TopicParam, Since: v(5, 2), After: v(5, 0), Where: x86C + "lapic_timer_advance_ns", Kind: Merged,
		Subject: "lapic_timer_advance_ns=-1: adaptive; read when a vCPU is made",
		set:     func(k *Kernel) { k.param("kvm", "lapic_timer_advance_ns", "-1", true) }},
	{Topic: TopicParam, Since: v(5, 3), Commit: "0c5f81dad46c", Where: x86C + "pi_inject_timer", Kind: Merged,
		Subject: "pi_inject_timer: on where the timer housekeeping CPUs are set apart",
		set:     func(k *Kernel) { k.param("kvm", "pi_inject_timer", "-1", true) }},
	{Topic: TopicParam, Since: v(6, 10), Commit: "89a58812c47f", Where: x86C + "lapic_timer_advance", Kind: Merged,
		Subject: "lapic_timer_advance=Y replaces lapic_timer_advance_ns and is read-only",
		set: func(k *Kernel) {
			k.dropParam("lapic_timer_advance_ns")
			k.param("kvm", "lapic_timer_advance", "Y", false)
		}},
	{Topic: TopicParam, Since: v(6, 11), After: v(6, 10), Where: mainC + "halt_poll_ns_shrink", Kind: Merged, Subject: "halt_poll_ns_shrink=2",
		set: func(k *Kernel) { k.param("kvm", "halt_poll_ns_shrink", "2", true) }},
	{Topic: TopicParam, Since: v(6, 1), After: v(5, 10), Where: svmC + "avic", Vendor: AMD, Kind: Merged, Subject: "avic is a bool: N",
		set: func(k *Kernel) { k.param("kvm_amd", "avic", "N", false) }},
	{Topic: TopicParam, Since: v(7, 2), After: v(6, 12), Where: "arch/x86/kvm/svm/avic.c: avic_want_avic_enabled", Vendor: AMD, Kind: Merged,
		Subject: "avic=auto: on from Zen 4 on where the CPU has x2AVIC; reads as Y or N",
		set:     func(k *Kernel) { k.param("kvm_amd", "avic", "auto", false) }},
}

// param adds a parameter or changes its default.
func (k *Kernel) param(module, name, def string, writable bool) {
	for i := range k.Params {
		if k.Params[i].Name == name {
			k.Params[i] = Param{module, name, def, writable}
			return
		}
	}
	k.Params = append(k.Params, Param{module, name, def, writable})
}

func (k *Kernel) dropParam(name string) {
	k.Params = slices.DeleteFunc(k.Params, func(p Param) bool { return p.Name == name })
}
