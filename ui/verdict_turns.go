package ui

import (
	"slices"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/diff"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// mostBefore is how many of the deadlines up to a turn stand for what was before
// it. Older ones would weigh down what the settings had come to.
const mostBefore = 1024

// settling is how many deadlines after a start or a turn are left out: adaptive
// tuning and halt polling first have to come to what the settings ask for, and a
// mean over their way there would credit the next turn with its end. Of a short
// stretch half is left out at most.
const settling = 128

// turned is a turn of a knob, or several in so short a time that none had an
// effect of its own, with what it changed.
type turned struct {
	marks  []trace.KnobMark // in the order of the turns
	before *diff.Side       // frozen at the turn
	after  *diff.Side       // up to the last look
	d      *diff.Diff       // of both, nil before the first look
	looked int              // deadlines after the turn at the last look
	count  int              // deadlines after the turn so far
	busy   bool             // a look is being taken
}

// at is when the last of the knobs was turned.
func (t *turned) at() clock.TSC { return t.marks[len(t.marks)-1].At }

// changes are the knobs whose value differs from what it was before the turn.
func (t *turned) changes() (out []trace.KnobMark) {
	for _, m := range t.marks {
		i := slices.IndexFunc(out, func(o trace.KnobMark) bool { return o.Knob == m.Knob })
		if i < 0 {
			out = append(out, m)
			continue
		}
		out[i].Value = m.Value
	}
	return slices.DeleteFunc(out, func(m trace.KnobMark) bool { return m.Old == m.Value })
}

// history is the turns of a run, and which of them the verdict bar shows.
type history struct {
	turns  []*turned
	shown  int  // from the end: 0 is the latest
	hidden bool // the bar was closed
	// undo are the turns that the user made here, to be taken back from the end.
	undo []trace.KnobMark
}

// chosen is the turn on the bar, nil if there is none.
func (h *history) chosen() *turned {
	if len(h.turns) == 0 || h.hidden {
		return nil
	}
	h.shown = min(h.shown, len(h.turns)-1)
	return h.turns[len(h.turns)-1-h.shown]
}

// take brings the history up to a frame: turns that are in another branch go, new
// ones come, and the deadlines after the latest are counted.
func (h *history) take(f *vmm.Frame) {
	ring := &f.State.KnobTurns
	gone := func(m trace.KnobMark) bool {
		return !isTurn(ring, m) && (ring.First() == 0 || m.Seq >= ring.At(0).Seq)
	}
	h.turns = slices.DeleteFunc(h.turns, func(t *turned) bool {
		if n := slices.IndexFunc(t.marks, gone); n >= 0 {
			t.marks, t.after, t.d, t.looked = t.marks[:n], nil, nil, 0
		}
		return len(t.marks) == 0
	})
	for i := range ring.Len() {
		m := *ring.At(i)
		if !slices.ContainsFunc(h.turns, func(t *turned) bool { return slices.Contains(t.marks, m) }) {
			h.add(f, m)
		}
	}
	if n := len(h.turns); n > 0 {
		last := h.turns[n-1]
		last.count = countSince(&f.State, last.at())
	}
}

func isTurn(ring *trace.Ring[trace.KnobMark], m trace.KnobMark) bool {
	for i := range ring.Len() {
		if *ring.At(i) == m {
			return true
		}
	}
	return false
}

// add notes a turn. What follows another before that can have had an effect joins
// it.
func (h *history) add(f *vmm.Frame, m trace.KnobMark) {
	from := f.State.First
	var last *turned
	if n := len(h.turns); n > 0 {
		last = h.turns[n-1]
		from = last.at()
	}
	before := sideBetween(f, from, m.At-1, mostBefore)
	if last != nil && len(before.Late) < diff.MinSamples {
		last.marks = append(last.marks, m)
		last.after, last.d, last.looked = nil, nil, 0
		return
	}
	if last != nil { // what came of it until now stays
		last.after, last.count = before, len(before.Late)
	}
	h.turns, h.shown, h.hidden = append(h.turns, &turned{marks: []trace.KnobMark{m}, before: before}), 0, false
}

// countSince is how many deadlines that were armed after a turn have been handled,
// as far as they are kept.
func countSince(st *trace.State, at clock.TSC) int {
	r := &st.Scatter
	n := 0
	for i := range r.Len() {
		if r.Last(i).At <= at {
			break
		}
		n++
	}
	return n
}

// sideBetween are the last deadlines between two times, at most so many. The first
// of those after a turn was armed before it.
func sideBetween(f *vmm.Frame, from, to clock.TSC, most int) *diff.Side {
	st := &f.State
	r := &st.Scatter
	s := &diff.Side{Known: st.SpentKnown(), Report: &trace.Report{Provenance: f.Header.Provenance.String(), Hz: uint64(f.Header.Hz)}}
	begins := false // the stretch begins among the deadlines that are kept
	for i := range r.Len() {
		p := r.Last(i)
		if begins = p.At <= from && from != st.First || p.At < from; begins || len(s.Late) == most+settling {
			break
		}
		if p.At > to {
			continue
		}
		s.Late, s.Costs = append(s.Late, p.Late), append(s.Costs, p.Cost)
	}
	if n := len(s.Late); n > 0 && begins && from != st.First { // armed under the settings before
		s.Late, s.Costs = s.Late[:n-1], s.Costs[:n-1]
	}
	n := len(s.Late)
	if begins || from == st.First && r.First() == 0 {
		n -= min(settling, n/2)
	}
	n = min(n, most)
	s.Late, s.Costs = s.Late[:n], s.Costs[:n]
	slices.Reverse(s.Late)
	slices.Reverse(s.Costs)
	return s
}
