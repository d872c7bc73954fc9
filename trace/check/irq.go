package check

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel/rule"
)

// delivered is an interrupt on its way to a vCPU: through IRR it is injected, with
// APICv the CPU takes it out of PIR and nothing is.
type delivered struct {
	at      clock.TSC
	vec     uint64
	timer   bool // the timer sent it
	apicv   bool
	entered bool // the guest has been entered since
}

// deliver follows {vmx,svm}_deliver_interrupt.
func (c *Checker) deliver(v *vcpu, e *trace.Event) {
	timer := trace.Source(e.D) == trace.SourceTimer
	if timer {
		if v.exp.open {
			did := trace.RouteDirect
			if v.exp.callback {
				did = trace.RoutePosted
			}
			c.expired(v, did)
		}
	}
	if trace.DeliverRoute(e.B) == trace.DeliverEvent {
		return
	}
	apicv, known := c.on(trace.KnobAPICv)
	if !known {
		c.undecided(Delivery, "whether APICv is active is not known")
		return
	}
	if timer && apicv {
		c.owesWait(v, e.TSC)
	}
	v.out = append(v.out, delivered{at: e.TSC, vec: e.A, timer: timer, apicv: apicv})
}

func (c *Checker) inject(v *vcpu, e *trace.Event) {
	if e.B != 0 {
		return // an earlier injection is repeated
	}
	out := v.out[:0]
	for _, d := range v.out {
		if d.vec == e.A && d.timer { // without a delivery it is a repetition, which old kernels do not mark
			c.owesWait(v, e.TSC)
		}
		switch {
		case d.vec != e.A:
			out = append(out, d)
		case d.apicv:
			c.compare(Delivery, v, d.at, "irr", "pir", trace.ClauseNone)
		default:
			c.agreed(Delivery)
		}
	}
	v.out = out
}

// passed sees the guest run without an injection: with APICv that is the
// delivery. Without, the interrupt may have to wait for the guest to take it.
func (c *Checker) passed(v *vcpu) {
	out := v.out[:0]
	for _, d := range v.out {
		if d.apicv && d.entered {
			c.agreed(Delivery)
			continue
		}
		out = append(out, d)
	}
	v.out = out
}

// kickLog keeps kicks of which it is not known yet whether the trace can tell
// that the target's mode was asked for: it can if it did so once.
type kickLog struct {
	seen, asked bool
	silent      uint64
	list        []Disagreement
}

// kick compares kvm_vcpu_kick: whether it calls kvm_arch_vcpu_should_kick, which
// exchanges the target's mode.
func (c *Checker) kick(v *vcpu, e *trace.Event) {
	c.kicks.seen = true
	if v.exp.open && v.exp.callback {
		c.expired(v, trace.RoutePendKick)
	}
	if !v.seen {
		c.undecided(Kick, "the target has not run yet")
		return
	}
	self := e.D == uint64(v.id)
	asks, clause := true, trace.ClauseNone
	switch k := c.k.Kick.Rules; {
	case v.blocked:
		asks, clause = false, trace.ClauseBlocked
	case k == rule.KickKA && v.pcpu == e.PCPU:
		asks, clause = false, trace.ClauseRunning
	case k == rule.KickKA && (v.pcpu == trace.NoCPU || e.PCPU == trace.NoCPU):
		c.undecided(Kick, "the target's CPU is not known")
		return
	case (k == rule.KickKC || k == rule.KickKD) && self:
		asks, clause = false, trace.ClauseRunning
	}
	asked := trace.KickSteps(e.C)&trace.StepCmpxchg != 0
	c.kicks.asked = c.kicks.asked || asked
	again := v.woken && !v.blocked
	if v.blocked && !asked {
		v.blocked, v.woken = false, true // the next kick finds nobody to wake
	}
	switch {
	case asked == asks:
		c.agreed(Kick)
		return
	case asked && v.blocked, !asked && again:
		c.undecided(Kick, "whether the thread sleeps yet, or still, is not traced")
		return
	case asked && self && !v.inside && mayLeave(v.reason):
		c.undecided(Kick, "whether the vCPU was loaded on its thread's CPU is not traced")
		return
	}
	x := Disagreement{Decision: Kick, TSC: e.TSC, VCPU: v.id, Exit: v.exitNo, Reason: v.reason, Did: asking(asked),
		Want: asking(asks), Clause: clause}
	if asked {
		c.differs(x)
		return
	}
	if c.kicks.silent++; len(c.kicks.list) < keep {
		c.kicks.list = append(c.kicks.list, x)
	}
}

// mayLeave reports whether an exit can go on to user space or to sleep, where the
// vCPU is no CPU's running one (virt/kvm/kvm_main.c, vcpu_put, kvm_sched_out).
func mayLeave(r trace.ExitReason) bool {
	return r == trace.ExitIO || r == trace.ExitMMIO || r == trace.ExitHLT
}

func asking(yes bool) string {
	if yes {
		return "the mode is asked for"
	}
	return "the mode is not asked for"
}

// settleKicks judges the kicks that did not ask where the rules say that they do.
func (c *Checker) settleKicks() {
	k := &c.kicks
	switch {
	case k.silent == 0:
	case !k.asked:
		for range k.silent {
			c.undecided(Kick, "no probe on kvm_arch_vcpu_should_kick was ever hit")
		}
	default:
		for _, x := range k.list {
			c.differs(x)
		}
		c.tallies[Kick].Disagreed += k.silent - uint64(len(k.list))
	}
	k.silent, k.list = 0, nil
}
