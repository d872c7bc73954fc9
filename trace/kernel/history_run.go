package kernel

import (
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel/rule"
)

// fastpathHistory is the exits that are finished with IRQs off.
var fastpathHistory = []Change{
	{Topic: TopicFastpath, Since: v(5, 6), After: v(5, 4), Commit: "1e9e2622a149", Where: x86C + "handle_fastpath_set_msr_irqoff", Kind: Merged,
		Subject: "a fastpath for x2APIC ICR writes: fixed, physical, no shorthand",
		set: func(k *Kernel) {
			k.Fastpath = Fastpath{Set: rule.FastICR, ICR: trace.FastSkip, Broadcast: true, TestFirst: true, SyncActive: true}
		}},
	{Topic: TopicFastpath, Since: v(5, 7), After: v(5, 6), Where: x86C + "handle_fastpath_set_x2apic_icr_irqoff", Kind: Merged,
		Subject: "the broadcast destination is left to the handler",
		set:     func(k *Kernel) { k.Fastpath.Broadcast = false }},
	{Topic: TopicFastpath, Since: v(5, 8), Commit: "404d5d7bff0d", Where: x86C + "handle_fastpath_set_msr_irqoff", Kind: Merged,
		Subject: "the handlers skip the instruction; ICR writes go round the outer loop",
		set:     func(k *Kernel) { k.Fastpath.ICR, k.Fastpath.Set = trace.FastHandled, rule.FastTest }},
	{Topic: TopicFastpath, Since: v(5, 8), Commit: "ae95f566b3d2", Where: x86C + "handle_fastpath_set_tscdeadline", Kind: Merged,
		Subject: "TSC-deadline writes re-enter if the preemption timer can be used; the exit test follows the handler",
		set:     func(k *Kernel) { k.Fastpath.Deadline, k.Fastpath.DeadlineHV = true, true }},
	{Topic: TopicFastpath, Since: v(5, 8), Commit: "26efe2fd92e5", Where: vmxC + "handle_fastpath_preemption_timer", Vendor: Intel, Kind: Merged,
		Subject: "preemption-timer exits re-enter",
		set:     func(k *Kernel) { k.Fastpath.HVTimer = true }},
	{Topic: TopicFastpath, Since: v(5, 15), Commit: "de7cd3f6761f", Where: x86C + "vcpu_enter_guest", Kind: Merged,
		Subject: "on re-entry PIR is synced before the exit test",
		set:     func(k *Kernel) { k.Fastpath.TestFirst, k.Fastpath.Set = false, rule.FastSync }},
	{Topic: TopicFastpath, Since: v(5, 16), After: v(5, 15), Stable: []Release{vp(5, 15, 85)}, Commit: "37c4dbf337c5", Where: x86C + "vcpu_enter_guest", Kind: Merged,
		Subject: "on re-entry PIR is synced with APICv inhibited too",
		set:     func(k *Kernel) { k.Fastpath.SyncActive = false }},
	{Topic: TopicFastpath, Since: v(6, 9), After: v(6, 8), Stable: []Release{vp(6, 1, 176)}, Commit: "e6b5d16bbd2d", Where: vmxC + "handle_fastpath_preemption_timer",
		Vendor: Intel, Kind: Merged,
		Subject: "spurious preemption-timer exits re-enter, forced ones end in the fastpath",
		set:     func(k *Kernel) { k.Fastpath.HVOther, k.Fastpath.Set = true, rule.FastTimer }},
	{Topic: TopicFastpath, Since: v(6, 12), After: v(6, 11), Stable: []Release{vp(5, 10, 223), vp(6, 1, 176)}, Where: svmC + "svm_exit_handlers_fastpath",
		Vendor: AMD, Kind: Merged,
		Subject: "the fastpath needs nrips and a valid next RIP",
		set:     func(k *Kernel) { k.Fastpath.NextRIP = true }},
	{Topic: TopicFastpath, Since: v(6, 12), After: v(6, 11), Commit: "0dd45f2cd8cc", Where: x86C + "handle_fastpath_set_msr_irqoff", Kind: Merged,
		Subject: "ICR writes re-enter",
		set:     func(k *Kernel) { k.Fastpath.ICR, k.Fastpath.Set = trace.FastReenter, rule.FastHalt }},
	{Topic: TopicFastpath, Since: v(6, 12), After: v(6, 11), Commit: "1876dd69dfe8", Where: x86C + "handle_fastpath_hlt", Kind: Merged,
		Subject: "a fastpath for HLT: re-entry if the vCPU is still runnable",
		set:     func(k *Kernel) { k.Fastpath.HLT = true }},
	{Topic: TopicFastpath, Since: v(6, 18), After: v(6, 17), Commit: "0a94b2042419", Where: x86C + "handle_fastpath_wrmsr", Kind: Merged,
		Subject: "TSC-deadline writes re-enter whatever backs the timer, on AMD too",
		set:     func(k *Kernel) { k.Fastpath.DeadlineHV, k.Fastpath.Set = false, rule.FastAny }},
	{Topic: TopicFastpath, Since: v(6, 18), After: v(6, 17), Commit: "aeeb4c7fff52", Where: x86C + "handle_fastpath_wrmsr", Kind: Merged,
		Subject: "ICR writes re-enter wherever the APIC map delivers them, self-IPIs among them",
		set:     func(k *Kernel) { k.Fastpath.MapICR = true }},
	{Topic: TopicFastpath, Since: v(6, 18), After: v(6, 17), Commit: "6c3d4b917995", Where: x86C + "handle_fastpath_invd", Kind: Merged,
		Subject: "a fastpath for INVD",
		set:     func(k *Kernel) { k.Fastpath.INVD = true }},
	{Topic: TopicFastpath, Since: v(7, 2), After: v(7, 1), Where: "arch/x86/kvm/pmu.h: kvm_pmu_is_fastpath_emulation_allowed", Kind: Merged,
		Subject: "WRMSR, HLT and INVD are left to the handler while a mediated PMU counts instructions",
		set:     func(k *Kernel) { k.Fastpath.PMU, k.Fastpath.Set = true, rule.FastPMU }},
	{Topic: TopicFastpath, Kind: Dropped, Where: vmxC + "vmx_exit_handlers_fastpath", Vendor: Intel,
		Subject: TimerFastpathV3, Base: v(5, 7),
		Why: "5.8 has them with the exit test after the handler and without the condition that APICv is active",
		set: func(k *Kernel) {
			k.Fastpath = Fastpath{Set: rule.FastS004, Gated: true, SyncActive: true, ICR: trace.FastSkip, Deadline: true, DeadlineHV: true, HVTimer: true}
			k.Delivery.Shortcut = rule.ShortcutAlways
			k.LAPIC.DirectInject = true
		}},
}

// deliveryHistory is posted delivery.
var deliveryHistory = []Change{
	{Topic: TopicDelivery, Since: v(5, 8), After: v(5, 7), Where: vmxC + "vmx_deliver_posted_interrupt", Vendor: Intel, Kind: Merged,
		Commit:  "379a3c8ee444",
		Subject: ShortcutAll,
		set:     func(k *Kernel) { k.Delivery.Shortcut = rule.ShortcutAlways }},
	{Topic: TopicDelivery, Since: v(5, 16), Stable: []Release{vp(5, 10, 223), vp(5, 15, 85)}, Where: vmxC + "vmx_deliver_posted_interrupt",
		Vendor: Intel, Kind: Merged, Commit: "fdba608f15e2",
		Subject: ShortcutGone,
		set:     func(k *Kernel) { k.Delivery.Shortcut = rule.ShortcutOff }},
	{Topic: TopicDelivery, Since: v(5, 17), After: v(5, 15), Where: vmxC + "vmx_deliver_interrupt", Vendor: Intel, Kind: Merged,
		Subject: "a target outside the guest is woken, not kicked",
		set:     func(k *Kernel) { k.Delivery.Shortcut = rule.ShortcutWake }},
	{Topic: TopicDelivery, Since: v(5, 18), After: v(5, 17), Commit: "9b44423bf4c8", Where: vmxC + "kvm_vcpu_trigger_posted_interrupt", Vendor: Intel, Kind: Merged,
		Subject: "posting to the running vCPU tells nobody if it is in IN_GUEST_MODE",
		set:     func(k *Kernel) { k.Delivery.Shortcut = rule.ShortcutInGuest }},
}

// kickHistory is kvm_vcpu_kick.
var kickHistory = []Change{
	{Topic: TopicKick, Since: v(4, 14), After: v(4, 10), Where: mainC + "kvm_vcpu_kick", Kind: Merged,
		Subject: "a kick that has woken the vCPU returns",
		set:     func(k *Kernel) { k.Kick.GoesOn = false }},
	{Topic: TopicKick, Since: v(5, 15), After: v(5, 14), Stable: []Release{vp(5, 10, 223)}, Commit: "85b640450ddc", Where: mainC + "kvm_vcpu_kick", Kind: Merged,
		Subject: "the mode is exchanged before the CPUs are compared",
		set:     func(k *Kernel) { k.Kick.Rules = rule.KickKB }},
	{Topic: TopicKick, Kind: Dropped, Where: mainC + "kvm_vcpu_kick",
		Subject: KickTaxCutV3, Base: v(5, 15),
		Why: "its plain read of the task pointer lacks a barrier; aefdc2ed445e in 5.17 took its place",
		set: func(k *Kernel) { k.Kick.Rules = rule.KickKC }},
	{Topic: TopicKick, Since: v(5, 17), After: v(5, 16), Where: mainC + "kvm_vcpu_kick", Kind: Merged, Commit: "aefdc2ed445e",
		Subject: KickStores,
		set:     func(k *Kernel) { k.Kick.Rules = rule.KickKD }},
}

// haltHistory is halt polling.
var haltHistory = []Change{
	{Topic: TopicHalt, Since: v(4, 14), After: v(4, 10), Where: "arch/x86/include/asm/kvm_host.h: KVM_HALT_POLL_NS_DEFAULT", Kind: Merged,
		Subject: "halt_poll_ns is 200000 instead of 400000",
		set:     func(k *Kernel) { k.Poll.Max = 200 * us }},
	{Topic: TopicHalt, Since: v(6, 11), Where: mainC + "halt_poll_ns_shrink", Kind: Merged,
		Subject: "halt_poll_ns_shrink is 2: polling that was too short is halved instead of ended",
		set:     func(k *Kernel) { k.Poll.Shrink = 2 }},
}
