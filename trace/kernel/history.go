package kernel

import (
	"slices"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel/rule"
)

const (
	us clock.Nanos = 1000

	lapicC = "arch/x86/kvm/lapic.c: "
	x86C   = "arch/x86/kvm/x86.c: "
	vmxC   = "arch/x86/kvm/vmx/vmx.c: "
	svmC   = "arch/x86/kvm/svm/svm.c: "
	mainC  = "virt/kvm/kvm_main.c: "
	traceH = "arch/x86/kvm/trace.h: "
)

// history is every row, topic by topic. Within a topic the order is that of the
// releases; it is the order of the fold.
var history = slices.Concat(beginning, lapicHistory, backingHistory, expiryHistory, waitHistory, advanceHistory,
	fastpathHistory, deliveryHistory, kickHistory, haltHistory, pauseHistory, apicvHistory, traceHistory, paramHistory)

// beginning is the oldest release: what all others change.
var beginning = []Change{
	{Topic: TopicLAPIC, Since: Oldest, Where: lapicC + "struct kvm_timer", Kind: Merged,
		Subject: "the oldest release of the history",
		set: func(k *Kernel) {
			k.LAPIC = lapic.Rules{MinPeriod: 500 * us, SwitchCancelsAll: true, RawTDCR: true, WaitAlways: true}
			k.Advance = Advance{Fixed: true, Tuning: rule.TuneNone}
			k.Fastpath = Fastpath{Set: rule.FastOff}
			k.Kick = Kick{Rules: rule.KickKA, GoesOn: true}
			k.Delivery = Delivery{Shortcut: rule.ShortcutOff}
			k.Wait = trace.WaitEarly
			k.Poll = Poll{Max: 400 * us, Grow: 2, GrowStart: 10 * us}
			k.Trace = Trace{}
		}},
	{Topic: TopicPause, Since: Oldest, Where: "arch/x86/kvm/vmx.c: grow_ple_window", Vendor: Intel, Kind: Merged,
		Subject: "the PLE window doubles at each PAUSE exit and is reset when the vCPU is scheduled in",
		set:     func(k *Kernel) { k.Pause = Pause{Gap: 128, Window: 4096, Grow: 2, Max: (1<<31 - 1) / 2} }},
	{Topic: TopicPause, Since: Oldest, Where: "arch/x86/kvm/svm.c: init_vmcb", Vendor: AMD, Kind: Merged,
		Subject: "the pause filter counts 3000 PAUSEs",
		set:     func(k *Kernel) { k.Pause = Pause{Window: 3000} }},
}
