package explain

import (
	"slices"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// late divides the time of a deadline that was late, or is overdue: along the
// steps of its chain, and then by what its thread was measured to do.
func (b *builder) late() {
	b.chain()
	b.measured()
}

// chain lays out the steps.
func (b *builder) chain() {
	c := b.c
	if c.ArmAt > b.at && c.ArmAt > c.Target {
		b.add(c.ArmAt, causeArmedLate, "")
	}
	b.at = max(b.at, min(c.ArmAt, b.end))
	if c.ExpireAt == 0 {
		b.unfired()
		return
	}
	if c.Mode == trace.TSCDeadline && c.Fire > c.Target && c.FireAt != 0 {
		b.add(min(c.Fire, c.FireAt), causeMistimed, "")
	}
	b.toFire()
	b.toExpire()
	if c.DeliverAt == 0 {
		b.undelivered()
		return
	}
	b.toDelivery()
	if c.ISRAt == 0 {
		b.untaken()
		return
	}
	b.toEntry()
	b.toHandler()
}

// toFire is the time until the host timer's callback or exit handler ran.
func (b *builder) toFire() {
	c := b.c
	switch {
	case c.FireAt == 0 && b.preempted(): // expired while it was armed again
		b.until(c.ExpireAt, how{guest: causeProgram, rest: causeSwitch})
	case c.FireAt == 0: // expired while it was armed
		b.until(c.ExpireAt, how{guest: causeProgram, rest: causeProgram,
			phases: []trace.Phase{trace.PhaseHVStart, trace.PhaseHrtimerStart, trace.PhaseExpire}})
	case c.Backing == trace.BackHV:
		b.until(c.FireAt, how{guest: causeTimerLate, rest: causeExit, other: true,
			phases: []trace.Phase{trace.PhaseExit, trace.PhaseFastDispatch, trace.PhaseDispatch}})
	case b.blocked() || b.firedIdle():
		b.until(c.FireAt, how{guest: causeTimerLate, rest: causeIdle, phases: []trace.Phase{trace.PhaseHrtimerIRQ}})
	case c.Backing == trace.BackSW && c.Fire != 0 && c.FireAt.Sub(c.Fire) > micros(b.s, mostIdleExit):
		b.until(c.FireAt, how{guest: causeTimerLate, rest: causeTimerLate, other: true})
	default:
		b.until(c.FireAt, how{guest: causeTimerLate, rest: causeHostTimer, other: true,
			phases: []trace.Phase{trace.PhaseExit, trace.PhaseFastDispatch, trace.PhaseDispatch, trace.PhaseHrtimerIRQ}})
	}
}

// preempted reports whether the vCPU's thread was switched in during the exit in
// which the deadline expired.
func (b *builder) preempted() bool {
	x := b.exit(b.c.FireExit)
	if x == nil {
		return false
	}
	for _, ph := range x.Costs.Phases[:x.Costs.N] {
		if ph == trace.PhaseSwitchIn {
			return true
		}
	}
	return false
}

// blocked reports whether the expiry found the vCPU's thread asleep: its kick
// woke it.
func (b *builder) blocked() bool {
	k := b.kick()
	return k != nil && k.Decision == trace.KickWake
}

// kick is the kick of the expiry, or of its delivery if the expiry had none.
func (b *builder) kick() *trace.KickRecord {
	last := b.c.InjectAt
	if last == 0 {
		last = max(b.c.DeliverAt, b.c.EntryAt, b.c.ExpireAt) + 1
	}
	for i := b.s.KickLedger.Len(); i > 0; i-- {
		k := b.s.KickLedger.At(i - 1)
		if k.At < b.c.ExpireAt {
			return nil
		}
		if k.Target == b.c.VCPU && k.At <= last {
			return b.earliestKick(i - 1)
		}
	}
	return nil
}

// earliestKick goes back from a kick to the first one after the expiry.
func (b *builder) earliestKick(i int) *trace.KickRecord {
	best := b.s.KickLedger.At(i)
	for ; i >= 0; i-- {
		k := b.s.KickLedger.At(i)
		if k.At < b.c.ExpireAt {
			break
		}
		if k.Target == b.c.VCPU {
			best = k
		}
	}
	return best
}

// firedIdle reports whether the timer's CPU was idle when the timer was due.
func (b *builder) firedIdle() bool {
	_, idle := b.idleAt()
	return idle && b.c.FireAt.Sub(b.c.Fire) < micros(b.s, mostIdleExit)
}

// mostIdleExit is more than any CPU takes out of its deepest C-state, in
// microseconds.
const mostIdleExit = 10_000

// toExpire is the handling of the expiry; a posted timer waits in its callback.
func (b *builder) toExpire() {
	c := b.c
	h := how{guest: causeExpire, rest: causeExpire, phases: []trace.Phase{trace.PhaseExpire, trace.PhaseWaitCheck}}
	if b.otherCPU() {
		h.guest = causeNotKicked
	}
	if c.Place == trace.WaitCallback && c.WaitAt != 0 {
		b.until(c.WaitAt, h)
		b.add(c.WaitAt.Add(c.Waited), causeWait, "")
	}
	b.until(c.ExpireAt, h)
}

// toDelivery is the time until the vector was handed to the vCPU.
func (b *builder) toDelivery() {
	c := b.c
	h := how{guest: causeKick, rest: causePost, phases: []trace.Phase{trace.PhasePost}}
	if c.Route == trace.RoutePending || c.Route == trace.RoutePendKick {
		h = how{guest: causeKick, rest: causeOuter, phases: []trace.Phase{trace.PhaseKickRCU, trace.PhaseKickTask,
			trace.PhaseKickCmpxchg, trace.PhaseKickStore, trace.PhaseIPISend, trace.PhaseWake, trace.PhaseSwitchIn,
			trace.PhaseExit, trace.PhaseFastDispatch, trace.PhaseDispatch, trace.PhaseInjectTimer, trace.PhasePost}}
		if b.blocked() {
			h.rest = causeWake
		}
	}
	if b.otherCPU() {
		h.guest = causeNotKicked
	}
	b.until(c.DeliverAt, h)
}

// entryPhases is what stands between the delivery and the VM-entry.
var entryPhases = []trace.Phase{trace.PhaseKickRCU, trace.PhaseKickTask, trace.PhaseKickCmpxchg, trace.PhaseKickStore,
	trace.PhaseIPISend, trace.PhaseWake, trace.PhaseSwitchIn, trace.PhaseOuter, trace.PhaseEvent, trace.PhasePrepare,
	trace.PhasePIRSync, trace.PhaseExitTest, trace.PhaseEarlyGap, trace.PhaseWaitCheck}

// entryPhasesEarly is the same up to an early wait, before the gap.
var entryPhasesEarly = slices.DeleteFunc(slices.Clone(entryPhases),
	func(ph trace.Phase) bool { return ph == trace.PhaseEarlyGap })

// toEntry is the time from the delivery to the last VM-entry before the handler.
func (b *builder) toEntry() {
	c := b.c
	rest := causeOuter
	if x := b.exit(c.EntryExit); x != nil && x.Reentry {
		rest = causePost
	}
	h := how{guest: causeGuestOff, rest: rest, other: true, phases: entryPhases}
	if b.otherCPU() && c.InjectAt != 0 {
		h.guest = causeNotKicked
	}
	if c.EntryAt == 0 || c.EntryAt < c.DeliverAt { // it was in the guest
		b.until(c.SyncAt, how{guest: causeNotify, rest: causeNotify, other: true, phases: []trace.Phase{trace.PhaseNotify}})
		return
	}
	if c.InjectAt != 0 {
		b.until(c.InjectAt, h)
	}
	if c.WaitAt != 0 && c.Place != trace.WaitCallback {
		if c.Place == trace.WaitEarly {
			h.phases = entryPhasesEarly
		}
		b.until(c.WaitAt, h)
		b.add(c.WaitAt.Add(c.Waited), causeWait, "")
		h = how{guest: causeGuestOff, rest: causeEntry}
	}
	h.phases = append(append([]trace.Phase(nil), h.phases...), trace.PhaseEarlyGap, trace.PhaseLateGap, trace.PhaseEntry)
	b.until(c.EntryAt, h)
}

// toHandler is the time from the VM-entry, or the sync in the guest, to the
// handler: as long as vectoring takes at its fastest, and the rest is the
// guest's.
func (b *builder) toHandler() {
	if at := b.at; b.vector >= 0 && at.Add(b.vector) < b.end && b.end.Sub(at) > 4*b.vector {
		b.until(b.end.Add(-b.vector), how{guest: causeGuestOff, rest: causeGuestOff, other: true})
	}
	b.add(b.end, causeVectoring, "")
}

func (b *builder) exit(n trace.Num) *trace.ExitRecord {
	if n == trace.NoNum {
		return nil
	}
	x := b.s.Exits.Get(uint64(n) - 1)
	if x == nil || x.Num != n {
		return nil
	}
	return x
}

// overdue reports whether an open deadline has passed.
func (b *builder) overdue() bool { return b.c.Outcome == trace.OutcomeOpen && b.c.Target < b.s.Now }

// unfired is a deadline whose host timer has not fired.
func (b *builder) unfired() {
	b.until(b.end, how{guest: causeNeverFired, rest: causeNeverFired})
}

// undelivered is a deadline that expired and waits for the outer loop.
func (b *builder) undelivered() {
	if k, _ := silence(b.s, b.v, b.v.TimerVector()); k != causeUnknown {
		b.add(b.end, k, "")
		return
	}
	if b.v.Halt != trace.BadHalt {
		b.add(b.end, causeAsleepPending, "")
		return
	}
	b.until(b.end, how{guest: causeKick, rest: causeOuter, other: true})
}

// untaken is a deadline that was delivered and whose handler has not run.
func (b *builder) untaken() {
	v, vec := b.v, b.c.Vector
	if k, _ := silence(b.s, v, vec); k != causeUnknown {
		b.add(b.end, k, "")
		return
	}
	switch {
	case !v.PIR.Has(vec) && !v.IRR.Has(vec) && !v.ISR.Has(vec):
		b.add(b.end, causeVanished, "")
	case v.Halt == trace.HaltBlocked && v.PIR.Has(vec) && b.c.DeliverAt < v.HaltedAt:
		b.add(b.end, causeVanished, "") // the check before the sleep did not find it
	case v.Halt != trace.BadHalt && v.PIR.Has(vec):
		b.add(b.end, causeAsleepPIR, "")
	default:
		b.until(b.end, how{guest: causeGuestOff, rest: causeOuter, other: true})
	}
}

// early divides the time from the handler to the deadline among what let the
// guest in before its time.
func (b *builder) early() {
	c := b.c
	b.spans, b.at, b.end = nil, c.ISRAt, c.Target
	if c.WaitAt == 0 {
		b.add(c.Target, causeNoWait, "")
		return
	}
	// The wait aimed at Target − entry advance; arrival was Delta before that.
	aim := c.WaitAt.Add(-c.Delta)
	b.add(min(aim, c.Target), causeCapped, "")
	b.add(c.Target, causeEntryAdvance, "")
}

// advanceOf is the advance in force when the deadline was armed, in cycles.
func (b *builder) advance() clock.Cycles {
	n, _ := b.s.Hz.ToCycles(max(0, b.c.AdvanceNS))
	return clock.Cycles(n)
}
