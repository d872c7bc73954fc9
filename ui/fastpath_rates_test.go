package ui

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// A clause that the list of the predicate lacks is shown with its count all the
// same.
func TestCountedClausesAreAllShown(t *testing.T) {
	r := newRig(t, 200, 60, 3000)
	r.press("3,z")
	x := &r.m.frame.State.ExitStats[trace.ExitMSRWrite]
	x.Clauses[trace.ClauseHVOff] = 778 // a clause of the predicate
	x.Clauses[trace.ClauseIF] = 779    // one of no predicate
	r.m.dirty = true
	r.wants("778")
	r.wants(termWords(trace.ClauseHVOff))
	r.wants("779")
	r.wants("not: " + clauseShort(trace.ClauseIF))
	ts := []trace.Clause{trace.ClauseKnobOff, trace.ClauseHVOff}
	if out := beyondPredicate(ts, x); len(out) > 0 && out[0] == trace.ClauseHVOff {
		t.Errorf("a clause of the list is beyond it: %v", out)
	}
}
