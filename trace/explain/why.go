package explain

import (
	"fmt"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// why is the decision that led to a cause, and its clause.
func (b *builder) why(k cause) (string, trace.Clause) {
	if f := whyTable[k]; f != nil {
		return f(b)
	}
	return "", trace.ClauseNone
}

// whyTable holds the causes that a decision of the loop led to.
var whyTable = [numCauses]func(*builder) (string, trace.Clause){
	causeArmedLate:     whyArmedLate,
	causeProgram:       whyBacking,
	causeOtherExit:     whyTimerHeld,
	causeTimerLate:     whyTimerLate,
	causeIdle:          whyBlocked,
	causeHostTimer:     whyBacking,
	causeExit:          whyAdvance,
	causeExpire:        whyAdvance,
	causePost:          whyDeliver,
	causeNotify:        whyDeliver,
	causeKick:          whyKick,
	causeWake:          whyBlocked,
	causeSwitch:        whyBlocked,
	causeOuter:         whyOuter,
	causeInject:        whyDeliver,
	causeWaitCheck:     whyAdvance,
	causeEarlyGap:      whyPlace,
	causeLateGap:       whyAfterWait,
	causeEntry:         whyAfterWait,
	causeVectoring:     whyAfterWait,
	causeGuestOff:      whyGuestOff,
	causeAsleepPIR:     whyDeliver,
	causeAsleepPending: whyKick,
	causeNeverFired:    whyBacking,
	causeVanished:      whyDeliver,
	causeMistimed:      whyMistimed,
	causeEntryAdvance:  whyEntryAdvance,
	causeCapped:        whyCapped,
	causeNoWait:        whyNoWait,
	causeHeldOff:       whyHeldOff,
	causeAPICOff:       whySilent,
	causeSVROff:        whySilent,
	causeMasked:        whySilent,
	causeNoEOI:         whySilent,
	causeTPR:           whySilent,
	causeHaltedOff:     whySilent,
	causeNotKicked:     whyNotKicked,
	causeUser:          whyUser,
}

func whyArmedLate(*builder) (string, trace.Clause) {
	return "the guest chose the deadline; nothing in the host can make it earlier", trace.ClauseInPast
}

// backingWords names the host timers.
var backingWords = [trace.NumBackings]string{"no host timer", "the VMX preemption timer", "an hrtimer"}

func whyBacking(b *builder) (string, trace.Clause) {
	c := b.c
	w := "backed by " + backingWords[c.Backing]
	if c.Clause != trace.ClauseNone {
		w += ", because of " + c.Clause.String()
	}
	return w, c.Clause
}

func whyMistimed(b *builder) (string, trace.Clause) {
	return fmt.Sprintf("the guest's TSC was moved by %+d cycles after the timer was armed, and KVM does not arm it again",
		b.c.Fire.Sub(b.c.Target)+b.c.Advance), trace.ClauseNone
}

func whyTimerHeld(b *builder) (string, trace.Clause) {
	if b.c.Backing == trace.BackHV {
		return "the preemption timer counts in guest mode only, so it could fire at the next entry at the earliest",
			trace.ClauseNone
	}
	return "host interrupts were off, or the way to the next entry was longer, until that exit was done",
		trace.ClauseNone
}

func whyTimerLate(b *builder) (string, trace.Clause) {
	if b.c.Backing == trace.BackHV {
		return "the preemption timer is set before the wait and counts in guest mode only", trace.ClauseNone
	}
	return "the timer's CPU took the interrupt late", trace.ClauseNone
}

func whyHeldOff(*builder) (string, trace.Clause) {
	return "the thread was runnable and the scheduler ran the other task", trace.ClauseNone
}

func whyNotKicked(b *builder) (string, trace.Clause) {
	return fmt.Sprintf("the hrtimer fired on CPU %d while the vCPU was in the guest on CPU %d; it saw the expiry at its next exit",
		b.c.FirePCPU, b.c.FireVCPU), trace.ClauseNone
}

func whyUser(*builder) (string, trace.Clause) {
	return "KVM_RUN had returned: only the VMM can go on", trace.ClauseNone
}

func whyBlocked(b *builder) (string, trace.Clause) {
	if state, idle := b.idleAt(); idle && state >= 0 {
		return fmt.Sprintf("CPU %d was in C-state %d when the timer was due", b.c.FirePCPU, state), b.c.Clause
	} else if idle {
		return fmt.Sprintf("CPU %d was idle when the timer was due; the trace does not tell in which C-state", b.c.FirePCPU), b.c.Clause
	}
	if b.c.Clause == trace.ClauseBlocked && !b.knows(trace.KnobHaltPoll) {
		return "the vCPU halted and slept, so the timer moved to an hrtimer", trace.ClauseBlocked
	}
	if b.c.Clause == trace.ClauseBlocked && b.s.Knobs[trace.KnobHaltPoll] == 0 {
		return "the vCPU halted and slept at once, halt polling being off, so the timer moved to an hrtimer", trace.ClauseBlocked
	}
	if b.c.Clause == trace.ClauseBlocked {
		return fmt.Sprintf("the vCPU halted and slept, so the timer moved to an hrtimer (halt polling, at most %s, had run out)",
			trace.FormatKnob(trace.KnobHaltPoll, b.s.Knobs[trace.KnobHaltPoll])), trace.ClauseBlocked
	}
	return "the vCPU's thread was not running", trace.ClauseNone
}

// whyAdvance names how much of the way the advance covered.
func whyAdvance(b *builder) (string, trace.Clause) {
	c := b.c
	switch {
	case !b.canAdvance():
		return "the hrtimer of a " + c.Mode.String() + " timer is not programmed early", trace.ClauseMode
	case c.AdvanceNS == 0 && !b.knows(trace.KnobAdvance):
		return "how early the host timer was programmed is not in the trace", trace.ClauseNone
	case c.AdvanceNS == 0:
		return "timer-advance is off: the host timer fires at the deadline, and the way to the guest comes on top",
			trace.ClauseNoAdvance
	case c.WaitAt != 0 && c.Delta > 0:
		return fmt.Sprintf("an advance of %d ns (%d cycles) was too small by %d cycles", c.AdvanceNS, b.advance(), c.Delta),
			trace.ClauseNone
	}
	return "", trace.ClauseNone
}

func whyDeliver(b *builder) (string, trace.Clause) {
	c := b.c
	w := "delivered by " + c.Deliver.String()
	if c.DeliverClause != trace.ClauseNone {
		w += ", because of " + c.DeliverClause.String()
	}
	return w, c.DeliverClause
}

func whyKick(b *builder) (string, trace.Clause) {
	c := b.c
	w := "expiry by route " + c.Route.String()
	if c.RouteClause != trace.ClauseNone {
		w += ", because of " + c.RouteClause.String()
	}
	if k := b.kick(); k != nil {
		w += fmt.Sprintf("; the kick found mode %s and decided: %s", k.Mode, k.Decision)
	}
	return w, c.RouteClause
}

// whyOuter names why the expiry was not injected and re-entered straight away.
func whyOuter(b *builder) (string, trace.Clause) {
	c := b.c
	if c.Route == trace.RoutePending || c.Route == trace.RoutePendKick {
		w := "route " + c.Route.String() + " is injected by the outer loop only"
		if c.RouteClause != trace.ClauseNone {
			w += ", because of " + c.RouteClause.String()
		}
		return w, c.RouteClause
	}
	if x := b.exit(c.EntryExit); x != nil && x.HasFast && x.Clause != trace.ClauseNone {
		return fmt.Sprintf("the fastpath did not re-enter after %s, because of %s", x.Reason, x.Clause), x.Clause
	}
	return whyAdvance(b)
}

func whyPlace(b *builder) (string, trace.Clause) {
	if b.c.Place != trace.WaitEarly {
		return whyAdvance(b)
	}
	return "wait-placement is " + b.c.Place.String() +
		": the wait ends before the exit-request check and the rest of the entry", trace.ClauseNone
}

func whyAfterWait(b *builder) (string, trace.Clause) {
	c := b.c
	if c.WaitAt == 0 || c.Delta > 0 {
		return whyAdvance(b)
	}
	if !b.knows(trace.KnobVMEntryAdvance) {
		return "the wait ended at the deadline, and what follows comes on top", trace.ClauseNone
	}
	return fmt.Sprintf("the wait ended at the deadline; vmentry-advance is %s, so what follows comes on top",
		trace.FormatKnob(trace.KnobVMEntryAdvance, b.s.Knobs[trace.KnobVMEntryAdvance])), trace.ClauseNone
}

func whyGuestOff(b *builder) (string, trace.Clause) {
	if b.c.InjectAt != 0 && b.c.DeliverAt != 0 {
		return "the guest could not take the interrupt when it was delivered", trace.ClauseIF
	}
	return "no exit and no decision: the guest ran on with the interrupt in IRR", trace.ClauseIF
}

func whyEntryAdvance(b *builder) (string, trace.Clause) {
	if !b.knows(trace.KnobVMEntryAdvance) {
		return "the guest was entered before the deadline; what made it so is not in the trace", trace.ClauseNone
	}
	return "vmentry-advance is " + trace.FormatKnob(trace.KnobVMEntryAdvance, b.s.Knobs[trace.KnobVMEntryAdvance]) +
		": more than the way from the wait to the handler took", trace.ClauseNone
}

func whyCapped(b *builder) (string, trace.Clause) {
	return fmt.Sprintf("arrived %d cycles before the deadline and waited %d: the wait is never longer than timer_advance_ns",
		-b.c.Delta, b.c.Waited), trace.ClauseNone
}

func whyNoWait(b *builder) (string, trace.Clause) {
	if b.c.AdvanceNS == 0 && b.knows(trace.KnobAdvance) {
		return "timer-advance is off, so nothing waits for the deadline", trace.ClauseNoAdvance
	}
	if b.skippedEarlyWait() {
		return "wait-placement is early, and a re-entry from the fastpath does not pass there", trace.ClauseNone
	}
	return "no wait before the VM-entry: the vector was not injected yet, or no expired deadline was recorded",
		trace.ClauseNotInjected
}

// skippedEarlyWait reports whether the early wait was not passed on the way in.
func (b *builder) skippedEarlyWait() bool {
	x := b.exit(b.c.EntryExit)
	return b.s.Knobs[trace.KnobWaitPlacement] == uint64(trace.WaitEarly) && x != nil && x.Reentry
}
