package ui

import (
	"slices"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/diff"
	"codeberg.org/ticktrap/ticktrap/ui/uitest"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

func TestVerdictFillsAsDeadlinesComeWithoutAKey(t *testing.T) {
	for _, sz := range []struct{ w, h int }{{80, 24}, {120, 40}, {200, 60}} {
		s := uitest.New(uitest.Header(), uitest.Stream(1200))
		s.Play(20_000)
		r := &rig{t, New(s, Options{Theme: "mono"}), s}
		r.m.w, r.m.h = sz.w, sz.h
		r.frame()
		r.m.history.turns = nil
		r.press("f")
		h := &r.m.history
		if len(h.turns) == 0 {
			t.Fatal("the turn has no place in the history")
		}
		turn := h.turns[len(h.turns)-1]
		r.wants("fastpath")
		r.wants("before: the last")
		before := len(turn.before.Late)
		for range 40 {
			s.Play(400)
			r.frame()
			r.m.Settle()
		}
		if turn.d == nil {
			t.Fatalf("no verdict after %d deadlines", turn.count)
		}
		if len(turn.before.Late) != before || before < diff.MinSamples {
			t.Errorf("before is %d deadlines now, %d at the turn: it is not kept", len(turn.before.Late), before)
		}
		for _, want := range []string{"lateness", "cost", "typical", "p50", "p99", "exits"} {
			r.wants(want)
		}
		r.press("esc")
		if strings.Contains(r.screen(), "lateness no difference") {
			t.Error("esc leaves the bar")
		}
		r.press("{")
		r.wants("lateness")
	}
}

func TestTurnsAreUndoneOneByOne(t *testing.T) {
	r := newRig(t, 120, 40, 3000)
	r.press("a")
	r.press("P")
	r.s.Done = nil
	old := r.s.Header.Knobs
	r.press("u")
	r.press("ctrl+z")
	want := []vmm.Command{{Verb: vmm.DoKnob, Knob: trace.KnobPreemptionTimer, Value: old[trace.KnobPreemptionTimer]},
		{Verb: vmm.DoKnob, Knob: trace.KnobAPICv, Value: old[trace.KnobAPICv]}}
	if len(r.s.Done) != 2 || r.s.Done[0] != want[0] || r.s.Done[1] != want[1] {
		t.Errorf("two undos ask for %+v, want %+v", r.s.Done, want)
	}
	r.press("u")
	r.wants("✗ no knob has been turned here")
}

// Turns so close that none had an effect of its own are one, and what goes there
// and back is no change.
func TestTurnsInARowAreOne(t *testing.T) {
	r := newRig(t, 120, 40, 9000)
	n := len(r.m.history.turns)
	for range 3 {
		r.press("+")
	}
	if got := len(r.m.history.turns); got > n+1 {
		t.Errorf("three turns in a row are %d turns of the history", got-n)
	}
	last := r.m.history.turns[len(r.m.history.turns)-1]
	from, to := uint64(0), uint64(0)
	for _, c := range last.changes() {
		if c.Knob == trace.KnobAdvance {
			from, to = c.Old, c.Value
		}
	}
	if to == 0 || from == to {
		t.Errorf("the turn changes the advance from %d to %d", from, to)
	}
	r.press("a")
	r.press("a")
	for _, c := range last.changes() {
		if c.Knob == trace.KnobAPICv {
			t.Errorf("off and on again is a change: %+v", c)
		}
	}
}

func TestHistoryIsThatOfTheBranch(t *testing.T) {
	r := newRig(t, 120, 40, 9000)
	r.press("f")
	ring := &r.m.frame.State.KnobTurns
	left := *ring.Last(0)
	ring.N-- // the view goes back before the turn
	r.m.history.take(r.m.frame)
	for _, turn := range r.m.history.turns {
		if slices.Contains(turn.marks, left) {
			t.Errorf("%+v stands in the history after going back before it", left)
		}
	}
}

func TestKeysThatMoveTurnNothing(t *testing.T) {
	for p := range numPanes {
		r := newRig(t, 120, 40, 3000)
		r.m.focus = p
		r.s.Done = nil
		for _, k := range []string{"h", "j", "k", "l", "left", "right", "up", "down", "home", "end", "pgup", "pgdown"} {
			r.press(k)
		}
		for _, c := range r.s.Done {
			if c.Verb == vmm.DoKnob {
				t.Errorf("%s: a key that moves turns %v", paneTitles[p], c.Knob)
			}
		}
	}
}

func TestSearchIsRepeatedAndTheLastPlaceIsKept(t *testing.T) {
	r := newRig(t, 120, 40, 3000)
	r.s.Status.CanBack = true
	r.frame()
	was := r.m.frame.Status.Now
	r.press(`>,"exit == HLT",enter`)
	r.s.Done = nil
	r.press("n")
	r.press("N")
	if len(r.s.Done) != 2 || r.s.Done[0] != (vmm.Command{Verb: vmm.DoRunTo, Text: "exit == HLT"}) ||
		r.s.Done[1] != (vmm.Command{Verb: vmm.DoBackTo, Text: "exit == HLT"}) {
		t.Errorf("n and N ask for %+v, want the search again", r.s.Done)
	}
	r = newRig(t, 120, 40, 3000)
	r.s.Status.CanBack = true
	r.frame()
	r.press("`")
	r.wants("✗ no jump has been made yet")
	r.press(`',"12,345",enter`)
	r.s.Done = nil
	r.press("`")
	if len(r.s.Done) != 1 || r.s.Done[0].At != was {
		t.Errorf("the last place is %+v, want TSC %d", r.s.Done, was)
	}
}

// A mean over the time in which adaptive tuning comes to rest would credit a turn
// with what tuning did.
func TestWhatSettlesIsLeftOutOfBeforeAndAfter(t *testing.T) {
	f := &vmm.Frame{}
	f.State.Reset(&trace.Header{Hz: 1e9, VCPUs: 1})
	add := func(n int, at clock.TSC) clock.TSC {
		for range n {
			at += 1000
			f.State.Scatter.Push(trace.LatePoint{At: at, Late: clock.Cycles(at)})
		}
		return at
	}
	turn := add(600, 0) + 1
	last := add(300, turn)
	for _, tt := range []struct {
		name     string
		from, to clock.TSC
		most     int
		want     int
		first    clock.Cycles
	}{
		{"from the start", f.State.First, turn - 1, 1024, 600 - settling, (settling + 1) * 1000},
		{"the last of them", f.State.First, turn - 1, 100, 100, 501 * 1000},
		{"after the turn", turn, last, 1 << 20, 299 - settling, clock.Cycles(turn) + (settling+2)*1000},
	} {
		s := sideBetween(f, tt.from, tt.to, tt.most)
		if len(s.Late) != tt.want || s.Late[0] != tt.first {
			t.Errorf("%s: %d deadlines from %d, want %d from %d", tt.name, len(s.Late), s.Late[0], tt.want, tt.first)
		}
	}
}
