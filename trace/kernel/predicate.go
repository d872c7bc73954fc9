package kernel

import "codeberg.org/ticktrap/ticktrap/trace"

// Predicate is a condition of the kernel's as a list of clauses that must all hold,
// in the order in which it looks at them. The first that fails is the reason why
// something was not done.
type Predicate []trace.Clause

// First returns the first clause for which holds is false, ClauseNone if there is
// none.
func (p Predicate) First(holds func(trace.Clause) bool) trace.Clause {
	for _, c := range p {
		if !holds(c) {
			return c
		}
	}
	return trace.ClauseNone
}

// Suspects returns the clauses that can have been the first to fail, as far as is
// known: holds returns whether a clause held, and whether that is known. The list
// ends with the first that is known to have failed. It is empty if all are known to
// have held.
func (p Predicate) Suspects(holds func(trace.Clause) (held, known bool)) (suspects []trace.Clause) {
	for _, c := range p {
		held, known := holds(c)
		if known && held {
			continue
		}
		suspects = append(suspects, c)
		if known {
			break
		}
	}
	return suspects
}

// The MSRs that have a fastpath.
const (
	msrDeadline = 0x6e0 // IA32_TSC_DEADLINE
	msrICR      = 0x830 // x2APIC ICR
)

// exitTest is kvm_vcpu_exit_request.
var exitTest = Predicate{trace.ClauseModeExiting, trace.ClauseRequest, trace.ClauseNeedResched, trace.ClauseSignal}

// useHV is kvm_can_use_hv_timer: a hook that is there and not turned off by
// preemption_timer, and neither MWAIT in the guest nor a timer that is posted.
var useHV = Predicate{trace.ClauseNoHVTimer, trace.ClauseHVOff, trace.ClauseMWAITInGuest, trace.ClausePostable}

// ExitTest is what stands between REENTER_GUEST and the next entry, and before the
// first one.
func (k *Kernel) ExitTest() Predicate { return exitTest }

// UseHV is when the VMX preemption timer can back the LAPIC's.
func (k *Kernel) UseHV() Predicate { return useHV }

// CanPost is kvm_can_post_timer_interrupt: when expiries of the hrtimer are posted,
// if the vCPU is in the guest then.
func (k *Kernel) CanPost() Predicate {
	if k.Posted.NeedsExits {
		return Predicate{trace.ClausePIOff, trace.ClauseAPICvOff, trace.ClauseExitsOn}
	}
	return Predicate{trace.ClausePIOff, trace.ClauseAPICvOff}
}

// Direct is when apic_timer_expired injects at once, on the vCPU's own thread.
func (k *Kernel) Direct() Predicate {
	if !k.LAPIC.DirectInject {
		return Predicate{trace.ClauseAPICvOff, trace.ClauseNoDirect}
	}
	return Predicate{trace.ClauseAPICvOff}
}

// WaitFor is when an entry waits for an expired deadline.
func (k *Kernel) WaitFor() Predicate {
	return Predicate{trace.ClauseNoExpired, trace.ClauseNoAdvance, trace.ClauseNotInjected}
}

// Fast is when the fastpath takes an exit and the vCPU goes straight back: the entry
// condition, the handler's, and the exit test, which comes before the handler where
// Gated is set. msr is that of a WRMSR exit.
func (f *Fastpath) Fast(x trace.ExitReason, msr uint64) Predicate {
	p := Predicate{trace.ClauseKnobOff, trace.ClauseNoHandler}
	own, ok := f.Handler(x, msr)
	if !ok {
		return p
	}
	p = append(p, f.Gate()...)
	p = append(p, own...)
	if !f.Gated {
		p = append(p, exitTest...)
	}
	return p
}

// Gate is what is looked at before any handler: nothing in a kernel that was
// released.
func (f *Fastpath) Gate() Predicate {
	if !f.Gated {
		return nil
	}
	return append(Predicate{trace.ClauseAPICvOff}, exitTest...)
}

// Handler is the condition of the exit's own fastpath handler; ok is false if there
// is none.
func (f *Fastpath) Handler(x trace.ExitReason, msr uint64) (p Predicate, ok bool) {
	if f.NextRIP && (x == trace.ExitMSRWrite || x == trace.ExitHLT || x == trace.ExitINVD) {
		p = Predicate{trace.ClauseNoNextRIP}
	}
	switch x {
	case trace.ExitMSRWrite:
		return append(p, f.wrmsr(msr)...), f.Deadline || f.ICR != trace.FastNone
	case trace.ExitPreemptionTimer:
		if f.HVOther {
			return Predicate{trace.ClauseImmediateExit}, f.HVTimer
		}
		return Predicate{trace.ClauseImmediateExit, trace.ClauseSoftDisabled}, f.HVTimer
	case trace.ExitHLT:
		return append(p, trace.ClauseNotRunnable), f.HLT
	case trace.ExitINVD:
		return p, f.INVD
	}
	return nil, false
}

// wrmsr is the condition of handle_fastpath_wrmsr, before it had that name
// handle_fastpath_set_msr_irqoff.
func (f *Fastpath) wrmsr(msr uint64) Predicate {
	switch {
	case msr == msrDeadline && f.Deadline && f.DeadlineHV:
		return useHV
	case msr == msrDeadline && f.Deadline:
		return nil
	case msr == msrICR && f.ICR != trace.FastNone:
		return f.icr()
	}
	return Predicate{trace.ClauseOtherMSR}
}

// icr is the condition of handle_fastpath_set_x2apic_icr_irqoff; with MapICR that of
// kvm_x2apic_icr_write_fast.
func (f *Fastpath) icr() Predicate {
	p := Predicate{trace.ClauseNoKernelLAPIC, trace.ClauseNotX2APIC}
	switch {
	case f.MapICR:
		p = append(p, trace.ClauseWouldBlock)
	case f.Broadcast:
		p = append(p, trace.ClauseShorthand, trace.ClauseLogical, trace.ClauseNotFixed)
	default:
		p = append(p, trace.ClauseShorthand, trace.ClauseLogical, trace.ClauseNotFixed, trace.ClauseBroadcast)
	}
	return append(p, trace.ClauseReserved)
}

// ICRHolds evaluates a clause about an ICR on its value in x2APIC mode; known is
// false for a clause that is about something else.
func ICRHolds(icr uint64, c trace.Clause) (held, known bool) {
	const self, broadcast = 1, 0xffffffff
	shorthand := icr >> 18 & 3
	switch c {
	case trace.ClauseShorthand:
		return shorthand == 0, true
	case trace.ClauseLogical:
		return icr>>11&1 == 0, true
	case trace.ClauseNotFixed:
		return icr>>8&7 == 0, true
	case trace.ClauseBroadcast:
		return icr>>32 != broadcast, true
	case trace.ClauseWouldBlock:
		return shorthand == self || shorthand == 0 && icr>>32 != broadcast, true
	}
	return false, false
}
