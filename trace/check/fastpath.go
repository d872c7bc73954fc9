package check

import (
	"slices"
	"strings"

	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
)

// verdict is what the rules say about an exit: the results that can come of it,
// and the first clause that fails. why is set where an input is not known.
type verdict struct {
	may    []trace.FastpathResult
	clause trace.Clause
	why    string
}

func left(clause trace.Clause) verdict {
	return verdict{may: []trace.FastpathResult{trace.FastNone}, clause: clause}
}

// taken is a result of a handler. A re-entry can become a round of the outer
// loop, if something asks for it: what does is not traced before Linux 6.14.
func taken(r trace.FastpathResult) verdict {
	if r == trace.FastReenter {
		return verdict{may: []trace.FastpathResult{trace.FastReenter, trace.FastHandled}}
	}
	return verdict{may: []trace.FastpathResult{r}}
}

func unsure(why string) verdict { return verdict{why: why} }

// results names what may come of it.
func (x *verdict) results() string {
	var names []string
	for _, r := range x.may {
		names = append(names, r.String())
	}
	return strings.Join(names, " or ")
}

// fastpath compares the result of one exit.
func (c *Checker) fastpath(v *vcpu, e *trace.Event) {
	c.settleExpiry(v)
	if v.judged && v.seen {
		return // the result after the bail-out test follows the first
	}
	v.judged = true
	reason, result := trace.ExitReason(e.A), trace.FastpathResult(e.B)
	if reason == trace.ExitMSRWrite && !v.msrKnown && e.D != 0 {
		v.msrKnown, v.msr, v.value = true, e.D, 0
	}
	x := c.fastRule(v, reason)
	switch {
	case x.why != "":
		c.undecided(Fastpath, x.why)
	case slices.Contains(x.may, result):
		c.agreed(Fastpath)
	case c.k.Fastpath.PMU && result == trace.FastNone:
		c.undecided(Fastpath, "whether a mediated PMU counts instructions is not traced")
	default:
		c.compare(Fastpath, v, e.TSC, result.String(), x.results(), x.clause)
	}
}

// fastRule is the predicate: vmx_exit_handlers_fastpath or
// svm_exit_handlers_fastpath, and the handlers.
func (c *Checker) fastRule(v *vcpu, reason trace.ExitReason) verdict {
	f := &c.k.Fastpath
	switch reason {
	case trace.ExitMSRWrite, trace.ExitHLT, trace.ExitINVD:
		if f.NextRIP && c.noNextRIP {
			return left(trace.ClauseNoNextRIP)
		}
	}
	switch reason {
	case trace.ExitMSRWrite:
		return c.fastMSR(v)
	case trace.ExitPreemptionTimer:
		switch {
		case !f.HVTimer:
			return left(trace.ClauseNoHandler)
		case !f.HVOther:
			// A forced exit and a soft-disabled timer are left to the handler; neither
			// is traced.
			return verdict{may: []trace.FastpathResult{trace.FastReenter, trace.FastHandled, trace.FastNone}}
		}
		return taken(trace.FastReenter)
	case trace.ExitHLT:
		if f.HLT {
			return taken(trace.FastReenter) // or EXIT_HANDLED if nothing is to run
		}
	case trace.ExitINVD:
		if f.INVD {
			return taken(trace.FastReenter)
		}
	}
	return left(trace.ClauseNoHandler)
}

func (c *Checker) fastMSR(v *vcpu) verdict {
	f := &c.k.Fastpath
	if f.ICR == trace.FastNone && !f.Deadline {
		return left(trace.ClauseNoHandler)
	}
	if !v.msrKnown {
		return unsure("which MSR was written is not traced")
	}
	switch v.msr {
	case uint64(lapic.MSRDeadline):
		return c.fastDeadline()
	case uint64(lapic.ICRLow.MSR()):
		return c.fastICR(lapic.ICR(v.value))
	}
	return left(trace.ClauseOtherMSR)
}

// fastDeadline is handle_fastpath_set_tscdeadline.
func (c *Checker) fastDeadline() verdict {
	f := &c.k.Fastpath
	switch {
	case !f.Deadline:
		return left(trace.ClauseOtherMSR)
	case !f.DeadlineHV:
		return taken(trace.FastReenter)
	}
	clause, why := c.canUseHV()
	switch {
	case why != "":
		return unsure(why)
	case clause != trace.ClauseNone:
		return left(clause)
	}
	return taken(trace.FastReenter)
}

// canUseHV is kvm_can_use_hv_timer.
func (c *Checker) canUseHV() (clause trace.Clause, why string) {
	if c.k.Vendor == kernel.AMD {
		return trace.ClauseNoHVTimer, ""
	}
	on, known := c.on(trace.KnobPreemptionTimer)
	switch {
	case !known:
		return 0, "whether the preemption timer is on is not known"
	case !on:
		return trace.ClauseNoHVTimer, ""
	}
	if mwait, known := c.exitsDisabled(mwaitExits); !known {
		return 0, "which exits are disabled is not known"
	} else if mwait {
		return trace.ClauseMWAITInGuest, ""
	}
	switch postable, why := c.canPost(); {
	case why != "":
		return 0, why
	case postable:
		return trace.ClausePostable, ""
	}
	return trace.ClauseNone, ""
}

// canPost is kvm_can_post_timer_interrupt.
func (c *Checker) canPost() (yes bool, why string) {
	if !c.k.Posted.Exists {
		return false, ""
	}
	post, known := c.on(trace.KnobPostedTimer)
	if !known {
		return false, "whether pi_inject_timer is on is not known"
	}
	apicv, known := c.on(trace.KnobAPICv)
	if post && !known {
		return false, "whether APICv is active is not known"
	}
	exits, known := c.exitsDisabled(mwaitExits | hltExits)
	if post && apicv && c.k.Posted.NeedsExits && !known {
		return false, "which exits are disabled is not known"
	}
	return post && apicv && (exits || !c.k.Posted.NeedsExits), ""
}

// fastICR is handle_fastpath_set_x2apic_icr_irqoff.
func (c *Checker) fastICR(icr lapic.ICR) verdict {
	f := &c.k.Fastpath
	if f.ICR == trace.FastNone {
		return left(trace.ClauseOtherMSR)
	}
	broadcast := icr.Dest(true) == 0xffffffff
	switch {
	case f.MapICR && icr.Shorthand() == lapic.ToSelf:
	case f.MapICR && (icr.Shorthand() != lapic.NoShorthand || broadcast):
		return left(trace.ClauseWouldBlock)
	case f.MapICR:
	case icr.Shorthand() != lapic.NoShorthand:
		return left(trace.ClauseShorthand)
	case icr&lapic.ICRLogical != 0:
		return left(trace.ClauseLogical)
	case icr.Delivery() != lapic.Fixed:
		return left(trace.ClauseNotFixed)
	case broadcast && !f.Broadcast:
		return left(trace.ClauseBroadcast)
	}
	return taken(f.ICR)
}
