package lapic

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// WaitClause says why there is no wait before an entry.
type WaitClause uint8

// The clauses. WaitDue is the zero value: every clause held.
const (
	WaitDue         WaitClause = iota
	WaitNoExpired              // no expired deadline recorded
	WaitNoAdvance              // timer_advance_ns is 0
	WaitNotInjected            // the timer's vector is not injected
	numWaitClauses
)

// WaitClauseNames names the clauses.
var WaitClauseNames = [numWaitClauses]string{"due", "no-expired-deadline", "no-advance", "not-injected"}

// String returns the short name.
func (c WaitClause) String() string { return WaitClauseNames[c%numWaitClauses] }

// Wait is the outcome of a wait before VM-entry.
type Wait struct {
	Clause WaitClause // why not, WaitDue if the deadline was taken up
	// Delta is guest TSC (plus the entry advance) minus deadline on arrival;
	// negative is early.
	Delta clock.Cycles
	// Wait is how long to wait, guest cycles, 0 if late.
	Wait clock.Cycles
	// Cap is the most that may be waited, guest cycles.
	Cap   clock.Cycles
	Tuned bool // Tune says what adaptive tuning did
	Tune  TuneResult
}

// WaitDue returns the first clause that forbids a wait at this entry. apicv says
// where the injected vector is looked for: IRR if true, ISR if not. An expired
// deadline that cannot be waited for stays, and a later entry sees a large delta.
func (a *APIC) WaitDue(apicv bool) WaitClause {
	if c := a.waitGate(); c != WaitDue {
		return c
	}
	if !a.TimerInjected(apicv) {
		return WaitNotInjected
	}
	return WaitDue
}

// waitGate holds the clauses that a posted timer's callback has too.
func (a *APIC) waitGate() WaitClause {
	switch {
	case a.Timer.Expired == 0:
		return WaitNoExpired
	case a.Timer.Advance == 0 && !a.rules().WaitAlways:
		return WaitNoAdvance
	}
	return WaitDue
}

// WaitExpire takes up the expired deadline at guest time now: what to wait, and
// what tuning made of it. The wait is capped by the advance, which bounds the
// time with interrupts off: with a larger error the guest sees its interrupt
// before the deadline. With TuneFirst its new value is the cap.
//
// callback is true for a posted timer's callback, which does not ask whether the
// vector is injected (it is not yet). scaled says that the guest's TSC is scaled:
// the wait is then counted in nanoseconds and truncated to them.
//
// Source: arch/x86/kvm/lapic.c, __kvm_wait_lapic_expire.
func (a *APIC) WaitExpire(now clock.TSC, apicv, scaled, callback bool) Wait {
	c := a.waitGate()
	if !callback {
		c = a.WaitDue(apicv)
	}
	if c != WaitDue {
		return Wait{Clause: c}
	}
	t, r := &a.Timer, a.rules()
	w := Wait{Delta: now.Add(t.EntryCycles).Sub(t.Expired)}
	t.Expired = 0
	if r.TuneFirst {
		w.Tune, w.Tuned = a.tune(w.Delta)
	}
	w.Wait, w.Cap = a.waitFor(w.Delta, scaled && r.WaitInNanos)
	if !r.TuneFirst {
		w.Tune, w.Tuned = a.tune(w.Delta)
	}
	return w
}

// waitFor returns the wait for a delta and its cap, guest cycles.
func (a *APIC) waitFor(delta clock.Cycles, inNanos bool) (wait, limit clock.Cycles) {
	t := &a.Timer
	limit = clock.Cycles(t.Scale.Cycles(uint64(t.Advance)))
	if delta >= 0 {
		return 0, limit
	}
	early := uint64(-delta)
	if inNanos && t.KHz != 0 {
		ns := min(uint32(early*1_000_000/uint64(t.KHz)), uint32(t.Advance))
		return clock.Cycles(t.Scale.Cycles(uint64(ns))), limit
	}
	return clock.Cycles(min(early, uint64(limit))), limit
}
