package lapic

import "ticktrap/internal/clock"

// WaitClause says why there is no wait before an entry.
type WaitClause uint8

// The clauses. WaitDue is the zero value: every clause held.
const (
	WaitDue         WaitClause = iota
	WaitNoExpired              // no expired deadline recorded
	WaitNoAdvance              // timer_advance_ns is 0
	WaitNotInjected            // the timer's vector is not injected
)

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
// where the injected vector is looked for: IRR if true, ISR if not.
func (a *APIC) WaitDue(apicv bool) WaitClause { return 0 }

// WaitExpire takes up the expired deadline at guest time now: what to wait, and
// what tuning made of it. It checks WaitDue itself unless callback is true (a
// posted timer's callback, before injection). scaled says that the guest's TSC is
// scaled.
func (a *APIC) WaitExpire(now clock.TSC, apicv, scaled, callback bool) Wait { return Wait{} }
