package session_test

import (
	"slices"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// TestKnownFutureStaysUntilAKnobIsTurned steps back and on again, and branches.
func TestKnownFutureStaysUntilAKnobIsTurned(t *testing.T) {
	r, eng := newRunner(t, "deadline", "mode=mixed", 1, 1, 1, vmm.DefaultKnobs())
	r.KeepHistory()
	stepDeadlines(t, r, 200)
	var whole, line vmm.Timeline
	r.Known(&whole)
	count := func(l *vmm.Timeline) (n uint32) {
		for _, b := range l.Buckets {
			n += b.Deadlines
		}
		return n
	}
	if count(&whole) != 200 {
		t.Fatalf("%d deadlines are known, want 200", count(&whole))
	}
	if err := r.BackDeadlines(150); err != nil {
		t.Fatal(err)
	}
	stepDeadlines(t, r, 20)
	if r.Known(&line); !slices.Equal(line.Buckets, whole.Buckets) {
		t.Error("going back and on has changed what is known")
	}
	if _, err := r.SetKnob(trace.KnobAPICv, 0); err != nil {
		t.Fatal(err)
	}
	r.Known(&line)
	if n := count(&line); n != uint32(r.State().Deadlines.Count()) || line.To < eng.Now() {
		t.Errorf("on the new branch %d deadlines are known up to %d, want %d up to %d", n, line.To, r.State().Deadlines.Count(), eng.Now())
	}
}

func stepDeadlines(t *testing.T, r *session.Runner, n int) {
	t.Helper()
	r.StepDeadlines(n)
	if _, err := r.RunTo(clock.Never, nil); err != nil {
		t.Fatal(err)
	}
}
