package kernel

import (
	"fmt"
	"slices"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel/rule"
)

// Decision is a choice that a kernel makes: the clauses are asked in order, and
// all have to hold for Then.
type Decision struct {
	Name    string   `json:"name"`
	Where   string   `json:"where"` // file: function
	Clauses []string `json:"clauses,omitempty"`
	Then    string   `json:"then"`
	Else    string   `json:"else,omitempty"`
}

// Decisions lists what k decides about a timer, in the order in which one deadline
// meets the decisions.
func (k *Kernel) Decisions() []Decision {
	ds := []Decision{k.armDecision(), k.backingDecision()}
	if k.Posted.Exists {
		ds = append(ds, k.postDecision())
	}
	ds = append(ds, k.expiryDecision(), k.waitDecision())
	ds = append(ds, k.fastDecisions()...)
	if k.Vendor == Intel {
		ds = append(ds, k.deliveryDecision())
	}
	return append(ds, k.kickDecision(), k.haltDecision(), k.pauseDecision())
}

func (k *Kernel) armDecision() Decision {
	d := Decision{Name: "TSC-deadline write", Where: lapicC + "kvm_set_lapic_tscdeadline_msr",
		Clauses: []string{"the LAPIC is in the kernel", "the timer is in TSC-deadline mode"}, Then: "the timer is armed", Else: "ignored"}
	if k.LAPIC.GuardEnabled {
		d.Clauses = append(d.Clauses, "IA32_APIC_BASE enables the APIC")
	}
	return d
}

func (k *Kernel) backingDecision() Decision {
	d := Decision{Name: "backing", Where: lapicC + "start_hv_timer", Then: "preemption timer", Else: "hrtimer"}
	if k.Vendor == AMD {
		return Decision{Name: d.Name, Where: lapicC + "start_sw_timer", Then: "hrtimer: SVM has no preemption timer"}
	}
	d.Clauses = []string{"kvm_intel.preemption_timer is Y"}
	if k.Posted.Exists {
		d.Clauses = append(d.Clauses, "MWAIT exits", "the timer cannot be posted")
	}
	d.Clauses = append(d.Clauses, "the vCPU is not halting")
	if !k.LAPIC.HVAllModes {
		d.Clauses = append(d.Clauses, "the timer is in TSC-deadline mode")
	}
	d.Clauses = append(d.Clauses, "the deadline is within the timer's range")
	return d
}

func (k *Kernel) postDecision() Decision {
	d := Decision{Name: "posted timer", Where: lapicC + "kvm_can_post_timer_interrupt",
		Clauses: []string{"kvm.pi_inject_timer is not 0", "APICv is active"},
		Then:    "the timer callback posts to a vCPU in IN_GUEST_MODE", Else: "pending, and the outer loop injects"}
	if k.Posted.NeedsExits {
		d.Clauses = append(d.Clauses, "MWAIT or HLT exits are disabled")
	}
	return d
}

func (k *Kernel) expiryDecision() Decision {
	d := Decision{Name: "expiry on the vCPU's thread", Where: lapicC + "apic_timer_expired", Then: "pending, and the outer loop injects"}
	if k.LAPIC.DirectInject {
		d.Clauses, d.Then, d.Else = []string{"APICv is active"}, "injected at once", d.Then
	}
	if k.DirectInRun {
		d.Clauses = append(d.Clauses, "KVM_RUN, and without immediate_exit (wants_to_run)")
	}
	return d
}

func (k *Kernel) waitDecision() Decision {
	d := Decision{Name: "wait for the deadline", Where: lapicC + "__kvm_wait_lapic_expire",
		Clauses: []string{"a deadline has expired", "its vector is injected"}, Then: "busy wait just before VM-entry", Else: "no wait"}
	const advance = "the advance is not 0"
	switch {
	case k.WaitTests:
		d.Clauses = slices.Insert(d.Clauses, 1, advance)
	case !k.LAPIC.WaitAlways:
		d.Clauses = slices.Insert(d.Clauses, 0, advance)
	}
	if k.Wait == trace.WaitEarly {
		d.Where, d.Then = lapicC+"wait_lapic_expire", "busy wait in vcpu_enter_guest, before guest_enter_irqoff"
	}
	if k.LAPIC.TuneFirst {
		d.Then += ", at most the advance as just tuned"
	} else if k.Advance.Adaptive {
		d.Then += ", and the advance is tuned after it"
	}
	return d
}

func (k *Kernel) fastDecisions() []Decision {
	f := &k.Fastpath
	handlers := vmxC + "vmx_exit_handlers_fastpath"
	if k.Vendor == AMD {
		handlers = svmC + "svm_exit_handlers_fastpath"
	}
	if f.Set == rule.FastOff {
		return []Decision{{Name: "fastpath", Where: handlers, Then: "none: every exit goes to its handler"}}
	}
	var common []string
	if f.Gated {
		common = append(common, "APICv is active", "nothing cancels the entry")
	}
	var own []string
	if f.NextRIP && k.Vendor == AMD {
		own = append(own, "kvm_amd.nrips, and a valid next RIP")
	}
	if f.PMU {
		own = append(own, "no mediated PMU counts instructions")
	}
	l1 := append(append([]string{}, common...), "L2 is not running")
	own = append(l1, own...)
	reenter := k.reenter()
	var ds []Decision
	add := func(name, where, then string, clauses ...string) {
		ds = append(ds, Decision{Name: "fastpath: " + name, Where: where, Clauses: append(append([]string{}, own...), clauses...), Then: then,
			Else: "the exit's handler"})
	}
	if f.ICR != trace.FastNone {
		cs := []string{"x2APIC mode", "fixed delivery", "no shorthand", "physical destination"}
		if f.MapICR {
			cs = []string{"x2APIC mode", "the APIC map delivers it without blocking"}
		} else if !f.Broadcast {
			cs = append(cs, "not the broadcast destination")
		}
		then := "sent, and round the outer loop"
		if f.ICR == trace.FastReenter {
			then = "sent; " + reenter
		}
		add("ICR write", x86C+"handle_fastpath_set_msr_irqoff", then, cs...)
	}
	switch {
	case f.Deadline && f.DeadlineHV && k.Vendor == AMD:
		// the handler declines for want of a preemption timer
	case f.Deadline && f.DeadlineHV:
		add("TSC-deadline write", x86C+"handle_fastpath_set_tscdeadline", "armed; "+reenter, "the preemption timer can back it")
	case f.Deadline:
		add("TSC-deadline write", x86C+"handle_fastpath_wrmsr", "armed; "+reenter)
	}
	if f.HVTimer && k.Vendor == Intel {
		d := Decision{Name: "fastpath: preemption timer", Where: vmxC + "handle_fastpath_preemption_timer",
			Clauses: append(append([]string{}, l1...), "no immediate exit is forced", "the timer is not soft-disabled"),
			Then:    "expired; " + reenter, Else: "the exit's handler"}
		if f.HVOther {
			d.Clauses = append(append([]string{}, common...), "the timer is not soft-disabled", "no immediate exit is forced", "L2 is not running")
			d.Else = "soft-disabled: re-entry; forced: round the outer loop; L2: the exit's handler"
		}
		ds = append(ds, d)
	}
	if f.HLT {
		add("HLT", x86C+"handle_fastpath_hlt", "re-entry if the vCPU is still runnable, else round the outer loop to halt")
	}
	if f.INVD {
		add("INVD", x86C+"handle_fastpath_invd", "skipped; "+reenter)
	}
	return ds
}

// reenter says what follows a handler that asks for re-entry.
func (k *Kernel) reenter() string {
	switch f := &k.Fastpath; {
	case f.Gated:
		return "PIR sync, re-entry"
	case f.TestFirst:
		return "exit test, PIR sync, re-entry"
	}
	return "PIR sync, exit test, re-entry"
}

func (k *Kernel) deliveryDecision() Decision {
	d := Decision{Name: "posted delivery", Where: vmxC + "vmx_deliver_posted_interrupt",
		Clauses: []string{"the PIR bit was clear", "ON was clear", "the target is in IN_GUEST_MODE"}, Then: "notification IPI",
		Else: "PIR or ON set: merged; outside the guest: kicked"}
	switch k.Delivery.Shortcut {
	case rule.ShortcutAlways:
		d.Clauses = append(d.Clauses[:2:2], "the target is not this CPU's running vCPU", d.Clauses[2])
		d.Else = "PIR or ON set: merged; the running vCPU: nobody is told; outside the guest: kicked"
	case rule.ShortcutInGuest:
		d.Clauses = append(d.Clauses, "the target is not this CPU's running vCPU")
		d.Else = "PIR or ON set: merged; outside the guest: woken; the running vCPU in IN_GUEST_MODE: nobody is told"
	case rule.ShortcutWake:
		d.Else = "PIR or ON set: merged; outside the guest: woken"
	}
	return d
}

func (k *Kernel) kickDecision() Decision {
	d := Decision{Name: "kick", Where: mainC + "kvm_vcpu_kick", Then: "reschedule IPI", Else: "nothing"}
	first := "a wake-up did nothing"
	if k.Kick.GoesOn {
		first = "after a wake-up"
	}
	switch k.Kick.Rules {
	case rule.KickKA:
		d.Clauses = []string{first, "the target is on another CPU", "cmpxchg from IN_GUEST_MODE to EXITING_GUEST_MODE"}
	case rule.KickKB:
		d.Clauses = []string{first, "cmpxchg from IN_GUEST_MODE to EXITING_GUEST_MODE", "the target is on another CPU"}
	case rule.KickKC:
		d.Clauses = []string{"nobody waits, by a plain read; else a wake-up did nothing", "the target is not this CPU's running vCPU",
			"cmpxchg from IN_GUEST_MODE to EXITING_GUEST_MODE", "the target is on another CPU"}
	case rule.KickKD:
		d.Clauses = []string{first, "the target is not this CPU's running vCPU, which stores EXITING_GUEST_MODE itself",
			"cmpxchg from IN_GUEST_MODE to EXITING_GUEST_MODE", "the target is on another CPU"}
	}
	return d
}

func (k *Kernel) haltDecision() Decision {
	p := &k.Poll
	shrink := "shrinks to nothing"
	if p.Shrink != 0 {
		shrink = fmt.Sprintf("is divided by %d", p.Shrink)
	}
	return Decision{Name: "halt", Where: mainC + "kvm_vcpu_halt", Clauses: []string{"halt_poll_ns is not 0"},
		Then: fmt.Sprintf("polls before it sleeps; the time grows by the factor %d from %d ns to %d ns, and %s after a longer halt", p.Grow,
			p.GrowStart, p.Max, shrink), Else: "sleeps"}
}

func (k *Kernel) pauseDecision() Decision {
	p := &k.Pause
	d := Decision{Name: "PAUSE exit", Where: vmxC + "grow_ple_window",
		Clauses: []string{fmt.Sprintf("PAUSEs at most %d cycles apart, for %d cycles", p.Gap, p.Window)}}
	if k.Vendor == AMD {
		d.Where = svmC + "grow_ple_window"
		d.Clauses = []string{fmt.Sprintf("%d PAUSEs", p.Window)}
		if p.Gap != 0 {
			d.Clauses[0] += fmt.Sprintf(" at most %d cycles apart", p.Gap)
		}
	}
	d.Then = "exit"
	if p.Grow != 0 {
		d.Then = fmt.Sprintf("exit; the window grows by the factor %d to at most %d, and is reset when the vCPU is scheduled in", p.Grow, p.Max)
	}
	return d
}
