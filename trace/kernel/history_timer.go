package kernel

import (
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel/rule"
)

// lapicHistory is the timer's registers.
var lapicHistory = []Change{
	{Topic: TopicLAPIC, Since: v(4, 19), After: v(4, 14), Where: lapicC + "apic_update_lvtt", Kind: Merged,
		Subject: "the timer keeps running when LVTT changes between one-shot and periodic",
		set:     func(k *Kernel) { k.LAPIC.SwitchCancelsAll = false }},
	{Topic: TopicLAPIC, Since: v(4, 19), After: v(4, 14), Where: lapicC + "min_timer_period_us", Kind: Merged,
		Subject: "the shortest period of a periodic timer is 200 us instead of 500 us",
		set:     func(k *Kernel) { k.LAPIC.MinPeriod = 200 * us }},
	{Topic: TopicLAPIC, Since: v(4, 19), After: v(4, 14), Where: lapicC + "update_divide_count", Kind: Merged,
		Subject: "a write to TDCR rescales the running timer",
		set:     func(k *Kernel) { k.LAPIC.RescaleTDCR = true }},
	{Topic: TopicLAPIC, Since: v(5, 6), After: v(5, 4), Where: lapicC + "apic_update_lvtt", Kind: Merged,
		Subject: "entering or leaving TSC-deadline mode cancels the preemption timer too",
		set:     func(k *Kernel) { k.LAPIC.SwitchCancelsHV = true }},
	{Topic: TopicLAPIC, Since: v(5, 10), After: v(4, 19), Where: lapicC + "kvm_lapic_reg_write", Kind: Merged,
		Subject: "TDCR is stored with the mask 0xb",
		set:     func(k *Kernel) { k.LAPIC.RawTDCR = false }},
	{Topic: TopicLAPIC, Since: v(5, 10), After: v(5, 9), Where: lapicC + "kvm_set_lapic_tscdeadline_msr", Kind: Merged,
		Subject: "MSR 0x6e0 is ignored while IA32_APIC_BASE disables the APIC",
		set:     func(k *Kernel) { k.LAPIC.GuardEnabled = true }},
	{Topic: TopicLAPIC, Since: v(5, 14), After: v(5, 11), Commit: "2735886c9ef1", Where: lapicC + "set_target_expiration", Kind: Merged,
		Subject: "restoring a one-shot count of 0 expires at once",
		set:     func(k *Kernel) { k.LAPIC.RestoreZero = true }},
	{Topic: TopicLAPIC, Since: v(5, 14), After: v(5, 11), Where: lapicC + "kvm_apic_set_state", Kind: Merged,
		Subject: "restoring the APIC forgets the expired deadline",
		set:     func(k *Kernel) { k.LAPIC.RestoreDropsExpired = true }},
	{Topic: TopicLAPIC, Since: v(5, 19), After: v(5, 17), Stable: []Release{vp(5, 15, 85)}, Commit: "619f51da0979",
		Where: lapicC + "cancel_apic_timer", Kind: Merged,
		Subject: "cancelling the timer drops an expiry that is pending",
		set:     func(k *Kernel) { k.LAPIC.CancelDropsPending = true }},
	{Topic: TopicLAPIC, Since: v(6, 19), After: v(6, 18), Commit: "18ab3fc8e880", Stable: []Release{vp(6, 1, 176), vp(6, 12, 117)},
		Where: lapicC + "advance_periodic_target_expiration", Kind: Merged,
		Subject: PeriodFromNow,
		set:     func(k *Kernel) { k.LAPIC.PeriodicFromNow = true }},
}

// backingHistory is the choice and the programming of the host timer.
var backingHistory = []Change{
	{Topic: TopicBacking, Since: v(4, 10), Where: lapicC + "start_hv_timer", Vendor: Intel, Kind: Merged,
		Subject: "the preemption timer backs one-shot and periodic timers",
		set:     func(k *Kernel) { k.LAPIC.HVAllModes = true }},
	{Topic: TopicBacking, Since: v(4, 19), After: v(4, 14), Where: "arch/x86/kvm/vmx.c: vmx_set_hv_timer", Vendor: Intel, Kind: Merged,
		Subject: "the preemption timer is programmed early by the advance",
		set:     func(k *Kernel) { k.LAPIC.HVAdvance = true }},
	{Topic: TopicBacking, Since: v(5, 2), After: v(5, 0), Where: lapicC + "start_sw_tscdeadline", Kind: Merged,
		Subject: "a deadline within the advance expires at once instead of being armed in the past",
		set:     func(k *Kernel) { k.LAPIC.SWAdvanceTest = true }},
	{Topic: TopicBacking, Since: v(5, 13), After: v(5, 11), Stable: []Release{vp(5, 10, 223)}, Commit: "d981dd15498b",
		Where: lapicC + "kvm_lapic_expired_hv_timer", Kind: Merged,
		Subject: "at a preemption-timer exit the expiry is handled before the timer is marked unused",
		set:     func(k *Kernel) { k.LAPIC.ExpireFirst = true }},
	{Topic: TopicBacking, Since: v(7, 3), Where: vmxC + "vmx_set_hv_timer", Vendor: Intel, Kind: Merged,
		Subject: "the preemption timer has a maximum of its own",
		set:     func(k *Kernel) { k.LAPIC.HVMaxValue = true }},
}

// expiryHistory is apic_timer_expired.
var expiryHistory = []Change{
	{Topic: TopicExpiry, Since: v(5, 2), After: v(5, 0), Where: lapicC + "apic_timer_expired", Kind: Merged,
		Subject: "an expiry backed by the preemption timer is waited for in every mode",
		set:     func(k *Kernel) { k.LAPIC.ExpiredIfHV = true }},
	{Topic: TopicExpiry, Since: v(5, 3), Commit: "0c5f81dad46c", Where: lapicC + "kvm_use_posted_timer_interrupt", Kind: Merged,
		Subject: "pi_inject_timer: the timer callback posts the interrupt",
		set:     func(k *Kernel) { k.LAPIC.PostedTimer, k.Posted.Exists = true, true }},
	{Topic: TopicExpiry, Since: v(5, 8), After: v(5, 7), Commit: "ae95f566b3d2", Where: lapicC + "apic_timer_expired", Kind: Merged,
		Subject: "an expiry on the vCPU's thread is injected at once if APICv is active",
		set:     func(k *Kernel) { k.LAPIC.DirectInject = true }},
	{Topic: TopicExpiry, Since: v(5, 8), After: v(5, 7), Where: x86C + "inject_pending_event", Kind: Merged,
		Subject: "an interrupt that finds the VM-entry field taken forces an immediate exit",
		set:     func(k *Kernel) { k.LAPIC.BusyExits = true }},
	{Topic: TopicExpiry, Since: v(5, 10), After: v(5, 9), Where: lapicC + "apic_timer_expired", Kind: Merged,
		Subject: "a pending expiry kicks only from the timer callback",
		set:     func(k *Kernel) { k.LAPIC.KickCallbackOnly = true }},
	{Topic: TopicExpiry, Since: v(5, 18), After: v(5, 17), Stable: []Release{vp(5, 10, 223), vp(5, 15, 85)}, Commit: "1714a4eb6fb0",
		Where: lapicC + "kvm_can_post_timer_interrupt", Kind: Merged,
		Subject: "timers are posted only if MWAIT or HLT exits are disabled",
		set:     func(k *Kernel) { k.Posted.NeedsExits = true }},
	{Topic: TopicExpiry, Since: v(7, 3), After: v(7, 1), Stable: []Release{vp(6, 12, 117), vp(7, 2, 13)}, Where: lapicC + "apic_timer_expired", Kind: Merged,
		Subject: "an expiry is injected at once only while KVM_RUN means to enter the guest",
		set:     func(k *Kernel) { k.DirectInRun = true }},
}

// waitHistory is the wait for an expired deadline.
var waitHistory = []Change{
	{Topic: TopicWait, Since: v(4, 19), After: v(4, 14), Where: x86C + "vcpu_enter_guest", Kind: Merged,
		Subject: "the wait is entered only with an advance",
		set:     func(k *Kernel) { k.LAPIC.WaitAlways = false }},
	{Topic: TopicWait, Since: v(5, 2), After: v(5, 0), Where: lapicC + "__wait_lapic_expire", Kind: Merged,
		Subject: "with TSC scaling the wait is counted in nanoseconds",
		set:     func(k *Kernel) { k.LAPIC.WaitInNanos = true }},
	{Topic: TopicWait, Since: v(5, 3), After: v(5, 2), Where: vmxC + "vmx_vcpu_run", Kind: Merged,
		Subject: WaitAtEntry,
		set:     func(k *Kernel) { k.Wait, k.Trace.LateWait = trace.WaitLate, true }},
	{Topic: TopicWait, Since: v(5, 10), After: v(5, 9), Where: lapicC + "kvm_wait_lapic_expire", Kind: Merged,
		Subject: "the wait tests its conditions itself: the expired deadline, then the advance, then the injected vector",
		set:     func(k *Kernel) { k.WaitTests = true }},
	{Topic: TopicWait, Since: v(5, 19), After: v(5, 17), Commit: "e0ac535178ad", Where: lapicC + "__kvm_wait_lapic_expire", Kind: Merged,
		Subject: "tuning comes before the wait, and the wait is traced where it is",
		set: func(k *Kernel) {
			k.LAPIC.TuneFirst, k.Trace.WaitAtWait, k.Trace.LateWait = true, true, false
		}},
	{Topic: TopicWait, Kind: Proposed, Where: lapicC + "kvm_wait_lapic_expire", Subject: VMEntryAdvance, Base: v(5, 3),
		Why: "posted in June 2019; reviewers would not hard-code more than 25 ns, and no release has it"},
}

// advanceHistory is timer_advance_ns.
var advanceHistory = []Change{
	{Topic: TopicAdvance, Since: v(4, 20), Where: lapicC + "wait_lapic_expire", Kind: Merged,
		Subject: GlobalAdvance,
		set: func(k *Kernel) {
			k.Advance = Advance{Adaptive: true, ByDefault: true, Fixed: true, Global: true, Start: lapic.AdvanceInit,
				Tuning: rule.TuneGlobal, Rules: lapic.TuneRules{Capped: true, Stops: true}}
		}},
	{Topic: TopicAdvance, Since: v(5, 1), After: v(5, 0), Commit: "39497d7660d9", Where: lapicC + "kvm_create_lapic", Kind: Merged,
		Subject: "each vCPU has its own advance",
		set:     func(k *Kernel) { k.Advance.Global, k.Advance.Tuning = false, rule.TuneStop }},
	{Topic: TopicAdvance, Since: v(5, 1), After: v(5, 0), Commit: "57bf67e73ce9", Where: lapicC + "wait_lapic_expire", Kind: Merged,
		Subject: "an advance beyond 5000 ns is turned off",
		set:     func(k *Kernel) { k.Advance.Rules.Ceiling = lapic.TuneOff }},
	{Topic: TopicAdvance, Since: v(5, 2), Commit: "0e6edceb8f18", Where: x86C + "lapic_timer_advance_ns", Kind: Merged,
		Subject: "lapic_timer_advance_ns is an int: adaptive reads as -1, not 4294967295"},
	{Topic: TopicAdvance, Since: v(5, 3), Where: lapicC + "adjust_lapic_timer_advance", Kind: Merged,
		Subject: AdvanceStarts,
		set:     func(k *Kernel) { k.Advance.Tuning, k.Advance.Rules.Ceiling = rule.TuneReset, lapic.TuneReset }},
	{Topic: TopicAdvance, Since: v(5, 4), Where: lapicC + "adjust_lapic_timer_advance", Kind: Merged,
		Subject: AdvanceBand,
		set: func(k *Kernel) {
			k.Advance.Tuning, k.Advance.Rules = rule.TuneBand, lapic.TuneRules{Band: true, Ceiling: lapic.TuneReset}
		}},
	{Topic: TopicAdvance, Since: v(6, 10), Commit: "89a58812c47f", Where: lapicC + "kvm_create_lapic", Kind: Merged,
		Subject: "lapic_timer_advance replaces lapic_timer_advance_ns: adaptive, or off",
		set:     func(k *Kernel) { k.Advance.Fixed, k.Advance.Tuning = false, rule.TuneSwitch }},
}
