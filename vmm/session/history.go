package session

import (
	"fmt"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/query"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// history makes a run on a Rewinder reversible: it keeps checkpoints along the
// way and the user's knob turns with their positions. Going back is restoring
// the checkpoint before the goal and running on to it, with the same turns.
type history struct {
	eng    vmm.Rewinder
	points []point
	inputs []input
	// scheduled are the scheduled turns of this branch that were carried out.
	scheduled []input
	next      int                 // first input after the present position
	spacing   uint64              // exits between two checkpoints
	last      uint64              // exits at the last checkpoint
	rose      [numMeasures]uint64 // positions at which the measures rose last
	head      uint64              // furthest position of this branch
	headTSC   clock.TSC
	known     known
	branch    int           // number of this branch, from 0
	ahead     trace.State   // at the head, noted when it was left
	other     *vmm.OtherRun // what was left behind by the last branching, nil if nothing
}

// point is one checkpoint.
type point struct {
	pos   uint64
	chk   any
	st    trace.State
	turns int // scheduled turns carried out
	next  int
	rose  [numMeasures]uint64
}

// input is a knob turn of the user.
type input struct {
	pos   uint64
	knob  trace.Knob
	value uint64
}

// Checkpoints begin close together; when there are too many every other one goes
// and the distance doubles. A checkpoint is less than 1 MiB beside the guest
// pages written since the last one; the model runs through the largest usual
// distance in less than 100 ms.
const (
	firstSpacing = 8192
	maxPoints    = 400
)

// newHistory keeps the beginning of the run as the first checkpoint.
func newHistory(r *Runner) *history {
	eng, ok := r.eng.(vmm.Rewinder)
	if !ok {
		return nil
	}
	h := &history{eng: eng, spacing: firstSpacing}
	h.keep(r)
	return h
}

// keep makes a checkpoint of the present moment.
func (h *history) keep(r *Runner) {
	if len(h.points) == maxPoints {
		for i := 0; i < maxPoints/2; i++ {
			h.points[i] = h.points[2*i]
		}
		clear(h.points[maxPoints/2:])
		h.points = h.points[:maxPoints/2]
		h.spacing *= 2
	}
	h.points = append(h.points, point{pos: h.eng.Position(), chk: h.eng.Checkpoint(), turns: r.turned, next: h.next,
		rose: h.rose})
	r.st.CopyTo(&h.points[len(h.points)-1].st)
	h.last = r.st.Kinds[trace.KindExit]
}

// due reports whether it is time for a checkpoint: only beyond the last one, not
// in a stretch that is run through again.
func (h *history) due(r *Runner) bool {
	return r.st.Kinds[trace.KindExit] >= h.last+h.spacing && h.eng.Position() > h.points[len(h.points)-1].pos
}

// replaying reports whether the present position has been passed before.
func (h *history) replaying() bool { return h.eng.Position() < h.head }

// inputDue reports whether a recorded turn belongs to the present position.
func (h *history) inputDue() bool {
	return h.next < len(h.inputs) && h.inputs[h.next].pos <= h.eng.Position()
}

// replay carries out the recorded turns that belong to the present position.
func (h *history) replay() error {
	for h.inputDue() {
		in := h.inputs[h.next]
		h.next++
		if err := h.quietly(func() error { return h.eng.SetKnob(in.knob, in.value) }); err != nil {
			return fmt.Errorf("repeating a knob turn: %w", err)
		}
	}
	return nil
}

// quietly does what is no progress of the guest: a moment at which a measure rose
// stays one.
func (h *history) quietly(f func() error) error {
	before := h.eng.Position()
	err := f()
	for i := range h.rose {
		if h.rose[i] == before {
			h.rose[i] = h.eng.Position()
		}
	}
	return err
}

// turn records a knob turn of the user at the present position. In the past it
// begins a new branch: what lay ahead is kept for comparison, and forgotten.
func (h *history) turn(r *Runner, k trace.Knob, v uint64) (branched bool) {
	if h.replaying() {
		h.fork(r)
		branched = true
	}
	h.inputs = append(h.inputs, input{pos: h.eng.Position(), knob: k, value: v})
	h.next = len(h.inputs)
	return branched
}

// fork makes the present position the head of a new branch.
func (h *history) fork(r *Runner) {
	pos := h.eng.Position()
	n := len(h.points)
	for n > 1 && h.points[n-1].pos > pos {
		n--
	}
	clear(h.points[n:])
	h.points, h.inputs, h.head, h.headTSC = h.points[:n], h.inputs[:h.next], pos, h.eng.Now()
	h.last = h.points[n-1].st.Kinds[trace.KindExit]
	h.other = &vmm.OtherRun{Name: fmt.Sprintf("branch %d", h.branch), Header: r.header, Fork: r.eng.Now()}
	h.ahead.CopyTo(&h.other.State)
	h.known.cut(&r.st)
	h.scheduled = h.scheduled[:min(r.turned, len(h.scheduled))]
	h.branch++
}

// leave notes the head before the first step back from it.
func (h *history) leave(r *Runner) {
	if pos := h.eng.Position(); pos >= h.head {
		h.head, h.headTSC = pos, h.eng.Now()
		r.st.CopyTo(&h.ahead)
	}
}

// measure is a figure of a run that never falls: what a goal is given in.
type measure func(*trace.State) uint64

// byEntries counts VM-entries: between two of them one exit has been handled.
func byEntries(s *trace.State) uint64 { return s.Kinds[trace.KindEntry] }

func byDeadlines(s *trace.State) uint64 { return s.Deadlines.Count() }

// measureID names a measure of which the history knows where it rose last.
type measureID uint8

const (
	entries measureID = iota
	deadlines
	numMeasures
)

var measures = [numMeasures]measure{entries: byEntries, deadlines: byDeadlines}

// back goes to the n-th last moment at which the measure rose, not counting the
// present one.
func (h *history) back(r *Runner, i measureID, n int) error {
	m := measures[i]
	now := m(&r.st)
	if h.rose[i] == h.eng.Position() {
		n++ // this is such a moment itself
	}
	h.leave(r)
	if now < uint64(n) {
		return h.restore(r, 0)
	}
	return h.goTo(r, m, now-uint64(n)+1)
}

// goTo goes to the first moment at which the measure is at least goal.
func (h *history) goTo(r *Runner, m measure, goal uint64) error {
	i := len(h.points) - 1
	for i > 0 {
		p := &h.points[i]
		if m(&p.st) < goal {
			break
		}
		i--
	}
	if err := h.restore(r, i); err != nil {
		return err
	}
	return r.runSilently(func() bool { return m(&r.st) >= goal })
}

// backTo goes back to the last position before the present one at which c held.
// It looks through the run checkpoint by checkpoint, the latest first.
func (h *history) backTo(r *Runner, c *query.Condition) (found bool, err error) {
	h.leave(r)
	end := h.eng.Position()
	for i := len(h.points) - 1; i >= 0; i-- {
		if h.points[i].pos >= end {
			continue
		}
		at, found, err := h.lastHit(r, c, i, end)
		if err != nil {
			return false, err
		}
		if err := h.restore(r, i); err != nil {
			return false, err
		}
		if found {
			return true, r.runSilently(func() bool { return h.eng.Position() >= at })
		}
		end = h.points[i].pos + 1 // what happened at the checkpoint is before it
	}
	return false, nil
}

// lastHit runs from checkpoint i to position end and returns the last position
// before it at which c held.
func (h *history) lastHit(r *Runner, c *query.Condition, i int, end uint64) (at uint64, found bool, err error) {
	if err := h.restore(r, i); err != nil {
		return 0, false, err
	}
	watch := trace.SinkFunc(func(e trace.Event) {
		if h.eng.Position() < end && c.Eval(query.MomentOf(&e, &r.st), r.header.Hz) {
			at, found = h.eng.Position(), true
		}
	})
	r.watch = watch
	defer func() { r.watch = nil }()
	err = r.runSilently(func() bool { return h.eng.Position() >= end })
	return at, found, err
}

// seek goes to the first position at or after t, no further than the head.
func (h *history) seek(r *Runner, t clock.TSC) error {
	h.leave(r)
	i := len(h.points) - 1
	for i > 0 && h.points[i].st.Now >= t {
		i--
	}
	if err := h.restore(r, i); err != nil {
		return err
	}
	return r.runSilently(func() bool { return h.eng.Now() >= t || h.eng.Position() >= h.head })
}

// restore brings back checkpoint i.
func (h *history) restore(r *Runner, i int) error {
	p := &h.points[i]
	if err := h.eng.Rewind(p.chk); err != nil {
		return fmt.Errorf("going back: %w", err)
	}
	p.st.CopyTo(&r.st)
	r.turned, h.next, h.rose = p.turns, p.next, p.rose
	return nil
}
