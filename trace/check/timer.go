package check

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// backing compares the host timer that was chosen: start_hv_timer and
// kvm_lapic_switch_to_sw_timer.
func (c *Checker) backing(v *vcpu, e *trace.Event) {
	did := "sw"
	if trace.Backing(e.A) == trace.BackHV {
		did = "hv"
	}
	clause, why := c.canUseHV()
	switch {
	case why != "":
	case clause != trace.ClauseNone:
	case !v.armed:
		why = "the arming of the timer is not traced"
	case v.target == 0:
		clause = trace.ClauseZeroDeadline
	case v.halting:
		clause = trace.ClauseBlocked
	case v.expiredNow && did == "sw":
		clause = trace.ClauseInPast // it expired while it was programmed: nothing backs it
	case did == "sw" && v.woken:
		why = "whether the vCPU halts again is not traced before its timer moves"
	case did == "sw" && v.target.Sub(e.TSC) >= hvRange:
		why = "the deadline may be beyond the preemption timer's range, and its rate is not traced"
	}
	if why != "" {
		c.undecided(Backing, why)
		return
	}
	want := "hv"
	if clause != trace.ClauseNone {
		want = "sw"
	}
	c.compare(Backing, v, e.TSC, did, want, clause)
}

// hvRange is the least range of the preemption timer: 32 bits, counted at a rate
// of the TSC's at most (Intel SDM vol. 3C, "VMX-Preemption Timer").
const hvRange clock.Cycles = 1 << 32

// expiry is a call of apic_timer_expired whose outcome is not seen yet. Injection
// at once is the next thing that happens to the vCPU; with a pending expiry the
// handler ends first, or the callback kicks.
type expiry struct {
	open     bool
	at       clock.TSC
	callback bool
	want     trace.ExpireRoute
	clause   trace.Clause
}

func (c *Checker) expire(v *vcpu, e *trace.Event) {
	v.expiredNow = true
	if v.exp.open {
		c.undecided(Expiry, "the one before it was not delivered")
	}
	v.exp = expiry{}
	callback := e.D != 0
	apicv, known := c.on(trace.KnobAPICv)
	postable, why := c.canPost()
	switch {
	case !known:
		why = "whether APICv is active is not known"
	case why != "":
	case e.Flags&trace.FlagInferred != 0 && !c.modeled:
		why = "no probe on apic_timer_expired"
	case callback && !c.kicks.seen && !c.modeled:
		why = "no kick was traced before it"
	case callback && postable && v.inside:
		v.exp = expiry{want: trace.RoutePosted}
	case !callback && c.k.LAPIC.DirectInject && apicv:
		v.exp = expiry{want: trace.RouteDirect}
	case callback, !c.k.LAPIC.KickCallbackOnly:
		v.exp = expiry{want: trace.RoutePendKick, clause: trace.ClauseCallback}
	default:
		v.exp = expiry{want: trace.RoutePending, clause: trace.ClauseAPICvOff}
	}
	if why != "" {
		c.undecided(Expiry, why)
		return
	}
	if c.modeled {
		c.compare(Expiry, v, e.TSC, trace.ExpireRoute(e.B).String(), v.exp.want.String(), v.exp.clause)
		return
	}
	v.exp.open, v.exp.at, v.exp.callback = true, e.TSC, callback
}

// settleExpiry sees the vCPU go on with its exit: what expired on its thread is
// pending. What a callback did shows in the kick or the delivery alone.
func (c *Checker) settleExpiry(v *vcpu) {
	if v.exp.open && !v.exp.callback {
		c.expired(v, trace.RoutePending)
	}
}

func (c *Checker) expired(v *vcpu, did trace.ExpireRoute) {
	v.exp.open = false
	if did == trace.RoutePending && v.exp.want == trace.RoutePendKick {
		did = trace.RoutePendKick // the kick of the own vCPU has no effect that shows
	}
	c.compare(Expiry, v, v.exp.at, did.String(), v.exp.want.String(), v.exp.clause)
}

// waiting is the wait that the next VM-entry owes.
type waiting struct {
	due, left bool // left: one exit has passed
	at        clock.TSC
}

// owesWait is kvm_wait_lapic_expire, when the timer's interrupt has been
// injected.
func (c *Checker) owesWait(v *vcpu, at clock.TSC) {
	switch adv := c.knobs[trace.KnobAdvance]; {
	case adv == trace.UnknownKnob, adv == 0, v.mode != trace.TSCDeadline:
		return
	}
	v.wait = waiting{due: true, at: at}
}

func (c *Checker) waited(v *vcpu, e *trace.Event) {
	if trace.Placement(e.D) == trace.WaitCallback {
		v.wait.due = false
		return
	}
	if adv := c.knobs[trace.KnobAdvance]; adv == 0 {
		c.compare(Wait, v, e.TSC, "wait", "none", trace.ClauseNoAdvance)
		return
	}
	if v.wait.due {
		v.wait.due = false
		c.agreed(Wait)
	}
}

// noWait sees an exit, or an entry, without the wait that was due. Up to 5.18 the
// wait is printed after the exit that follows it.
func (c *Checker) noWait(v *vcpu, entry bool) {
	w := &v.wait
	switch {
	case !w.due:
		return
	case c.k.Trace.LateWait && !w.left:
		w.left = !entry
		return
	case c.k.Trace.LateWait != entry:
		return
	}
	w.due = false
	c.compare(Wait, v, w.at, "none", "wait", trace.ClauseNone)
}
