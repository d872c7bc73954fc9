package ui

import (
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/trace/kernel/rule"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// knobText is what the screen says of a knob: brief beside its value, about below
// the list, and what each value of an enumeration means.
type knobText struct {
	brief, about string
	values       map[uint64]string
}

// knobTexts has a row for each knob of knobRows; brief is at most 31 columns.
var knobTexts = map[trace.Knob]knobText{
	trace.KnobAPICv: {"enable_apicv",
		"APIC virtualization: virtual-interrupt delivery and posted interrupts. Off, a vector goes into IRR with a request and a kick, and is injected through the VM-entry field.", nil},
	trace.KnobPostedTimer: {"pi_inject_timer",
		"The hrtimer callback posts the interrupt to a vCPU in guest mode, instead of leaving it pending for the outer loop. Only with APICv, and only where MWAIT or HLT exits are disabled.", nil},
	trace.KnobPreemptionTimer: {"enable_preemption_timer",
		"The VMX preemption timer (hv) counts down to the deadline while the guest runs. Off, or while the vCPU halts, an hrtimer (sw) backs it.", nil},
	trace.KnobAdvance: {"lapic_timer_advance_ns",
		"How much earlier than the deadline the host timer is programmed. What is left is waited for with IRQs off. adaptive: tuned by the delta that each wait finds.", nil},
	trace.KnobVMEntryAdvance: {"vmentry_advance_ns, posted only",
		"VM-entry time that the wait accounts for: it ends this much earlier, so that the handler and not the entry meets the deadline. Posted with default 300 ns, later 25; in no kernel.", nil},
	trace.KnobWaitPlacement: {"where wait_lapic_expire stands",
		"Where the loop waits for an expired deadline.", map[uint64]string{
			uint64(trace.WaitEarly): "in vcpu_enter_guest: " + when(func(k *kernel.Kernel) bool { return k.Wait == trace.WaitEarly }),
			uint64(trace.WaitLate):  "just before VM-entry: " + when(func(k *kernel.Kernel) bool { return k.Wait == trace.WaitLate })}},
	trace.KnobFastpath: {"exits handled with IRQs off",
		"Which exits are finished in the inner loop, on which conditions, and where it tests whether it must leave. As posted it tests before the handler; the first merged one tests after it and then syncs PIR, later ones sync first.", map[uint64]string{
			uint64(vmm.RulesOff):   "no fastpath",
			uint64(vmm.RulesS004):  "as posted: with APICv only",
			uint64(vmm.Rules58):    "tests after the handler",
			uint64(vmm.Rules515):   "PIR sync, then the test",
			uint64(vmm.Rules618):   "0x6e0, HLT, INVD unconditional",
			uint64(rule.FastICR):   "ICR writes only",
			uint64(rule.FastTimer): "forced exits end in it too",
			uint64(rule.FastHalt):  "HLT too, ICR re-enters",
			uint64(rule.FastPMU):   "the same, but for a counting PMU"}},
	trace.KnobKick: {"algorithm of kvm_vcpu_kick",
		"What a kick looks at and pays for before it knows whether the vCPU has to be told.", map[uint64]string{
			uint64(vmm.KickKA): kicks(rule.KickKA),
			uint64(vmm.KickKB): "taxes every kick: " + kicks(rule.KickKB),
			uint64(vmm.KickKC): "as posted: plain task read first",
			uint64(vmm.KickKD): "the tax cut as merged: " + kicks(rule.KickKD)}},
	trace.KnobExitsDisabled: {"KVM_CAP_X86_DISABLE_EXITS",
		"Instructions that the guest executes without an exit. With hlt the vCPU idles on its CPU: no sleep, no wake-up, no other use of that CPU.", nil},
	trace.KnobHaltPoll: {"halt_poll_ns",
		"The longest time for which a halted vCPU polls before its thread goes to sleep. The time in use grows and shrinks up to here.", nil},
	trace.KnobTuning: {"adaptive tuning, by kernel",
		"The rules by which the advance is tuned after each wait.", map[uint64]string{
			uint64(rule.TuneGlobal): "steps of at most an eighth, ends at a delta below 100 cycles, no ceiling",
			uint64(rule.TuneStop):   "the same; above 5000 ns the advance is turned off",
			uint64(rule.TuneReset):  "the same; above 5000 ns it starts again from 1000 ns",
			uint64(rule.TuneBand):   "an eighth of a delta of 100 to 10000 cycles; above 5000 ns back to 1000 ns",
			uint64(rule.TuneSwitch): "the same, always: a non-zero advance is a tuned one"}},
	trace.KnobRunningShort: {"PIR of the running vCPU",
		"What posting does if the target is the vCPU that is loaded on this CPU.", map[uint64]string{
			uint64(vmm.ShortcutOff):     "like any other target: " + posts(rule.ShortcutOff),
			uint64(vmm.ShortcutAlways):  "PIR alone, nobody is told: " + posts(rule.ShortcutAlways),
			uint64(vmm.ShortcutInGuest): "PIR alone only in IN_GUEST_MODE: " + posts(rule.ShortcutInGuest),
			uint64(vmm.ShortcutWake):    "like any other, woken instead of kicked: " + posts(rule.ShortcutWake)}},
}

// when says in which kernels something holds on Intel's CPUs.
func when(has func(*kernel.Kernel) bool) string { return kernel.Where(kernel.Intel, has) }

func kicks(r rule.Kick) string {
	return when(func(k *kernel.Kernel) bool { return k.Kick.Rules == r })
}

func posts(r rule.Shortcut) string {
	return when(func(k *kernel.Kernel) bool { return k.Delivery.Shortcut == r })
}

// knobBrief says beside the value what a knob is, or what its value means.
func knobBrief(k trace.Knob, v uint64) string {
	t := knobTexts[k]
	if s := t.values[v]; s != "" && textWidth(s) <= 31 {
		return s
	}
	return t.brief
}

// knobAbout is what there is to say of the selected knob: its keys and meaning,
// and its values with the present one marked. w is the width.
func knobAbout(s *scene, r *knobRow, w int) (out [][]piece) {
	t, ks := knobTexts[r.knob], s.knob(r.knob)
	head := []piece{{r.knob.String(), heading, 0}, {"  " + t.brief, label, 1}}
	if turnable(ks) && s.f.Status.File == "" {
		head = append(head, piece{"  key ", label, 2}, piece{knobKeys(s, r), keyHint, 2})
	}
	out = append(out, head)
	for _, l := range wrap(t.about, w-2) {
		out = append(out, []piece{{l, text, 0}})
	}
	if !turnable(ks) || ks.Why != "" {
		for _, l := range wrap(vmm.TagNames[min(int(ks.Tag), len(vmm.TagNames)-1)]+": "+ks.Why, w-2) {
			out = append(out, []piece{{l, warn, 0}})
		}
	}
	if len(t.values) == 0 {
		return out
	}
	for v := uint64(0); v < 16; v++ {
		if words := t.values[v]; words != "" {
			now := v == ks.Value
			out = append(out, []piece{{pickString(now, "▶ ", "  "), running, 0}, {padRight(showKnob(r.knob, v), 9), pick(now, value|strong, value), 0},
				{words, pick(now, text, dim), 0}})
		}
	}
	return out
}

// turnable reports whether an engine can turn a knob, in whatever way.
func turnable(ks vmm.KnobState) bool {
	return ks.Tag == vmm.TagLive || ks.Tag == vmm.TagRebuild || ks.Tag == vmm.TagHostWide
}
