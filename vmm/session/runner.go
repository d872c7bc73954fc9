package session

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/query"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Turn is a knob turn that waits for its deadline.
type Turn struct {
	// At is the number of deadlines that must have been handled before.
	At    uint64
	Knob  trace.Knob
	Value uint64
}

// Limits say when a run ends by itself. Zero means no limit.
type Limits struct {
	Deadlines uint64    // handled deadlines
	Exits     uint64    // VM-exits
	TSC       clock.TSC // position on the common line
}

// Runner drives an engine and folds its events. It belongs to one goroutine.
type Runner struct {
	eng    vmm.Engine
	header trace.Header
	st     trace.State
	tee    []trace.Sink
	rec    *Recorder     // also among tee, nil if none
	early  []trace.Event // what the engine emitted while it was made
	turns  []Turn
	turned int // of turns, carried out
	limits Limits
	goal   goal
	halt   bool             // leave Run at the next opportunity
	silent bool             // a stretch is run through again: the tees know it
	past   *history         // nil where the run is not reversible
	seen   *seen            // what it has shown, nil where it is reversible
	stopAt *query.Condition // break condition, nil if none
	hit    bool             // it held
	hitAt  string           // where, in words
	watch  trace.Sink       // sees every event, a known stretch included
}

// goal is what a step waits for; zero means nothing.
type goal struct {
	entries   uint64 // VM-entries
	deadlines uint64 // handled deadlines
}

// Factory makes the engine, given the sink for its events.
type Factory func(trace.Sink) (vmm.Engine, error)

// NewRunner makes the engine and a Runner for it.
func NewRunner(make Factory) (*Runner, error) {
	r := &Runner{}
	eng, err := make((*intake)(r))
	if err != nil {
		return nil, err
	}
	r.eng, r.header = eng, eng.Header()
	r.st.Reset(&r.header)
	for i := range r.early {
		r.emit(&r.early[i])
	}
	return r, nil
}

// intake is a Runner as the sink of its engine.
type intake Runner

// Emit implements trace.Sink.
func (i *intake) Emit(e trace.Event) {
	r := (*Runner)(i)
	if r.eng == nil {
		r.early = append(r.early, e)
		return
	}
	r.emit(&e)
}

// EmitBatch implements trace.BatchSink.
func (i *intake) EmitBatch(events []trace.Event, done func() bool) int {
	r := (*Runner)(i)
	if r.eng == nil {
		r.early = append(r.early, events...)
		return len(events)
	}
	for k := range events {
		r.emit(&events[k])
		if done() {
			return k + 1
		}
	}
	return len(events)
}

// KeepHistory makes the run reversible from now on, where the engine can go
// back; where it cannot what the run shows is kept, to be looked at again. It
// must be called before the first RunTo.
func (r *Runner) KeepHistory() {
	if r.past = newHistory(r); r.past == nil {
		r.seen = newSeen(r)
	}
}

// Header describes the run.
func (r *Runner) Header() *trace.Header { return &r.header }

// State is the fold of all events so far. It changes as the run goes on.
func (r *Runner) State() *trace.State { return &r.st }

// Engine is what runs.
func (r *Runner) Engine() vmm.Engine { return r.eng }

// Tee gives all further events to s as well.
func (r *Runner) Tee(s trace.Sink) { r.tee = append(r.tee, s) }

// Untee ends what Tee began.
func (r *Runner) Untee(s trace.Sink) {
	for i := range r.tee {
		if r.tee[i] == s {
			r.tee = append(r.tee[:i], r.tee[i+1:]...)
			return
		}
	}
}

// SetLimits says when Run ends by itself.
func (r *Runner) SetLimits(l Limits) { r.limits = l }

// Schedule adds knob turns that wait for their deadlines.
func (r *Runner) Schedule(turns []Turn) error {
	knobs := vmm.DefaultKnobs()
	for _, t := range turns {
		if err := knobs.Set(t.Knob, t.Value); err != nil {
			return err
		}
	}
	r.turns = append(r.turns, turns...)
	r.keepUp()
	sort.SliceStable(r.turns, func(i, j int) bool { return r.turns[i].At < r.turns[j].At })
	return r.turn()
}

// Pending are the scheduled turns whose deadlines have not come.
func (r *Runner) Pending() []Turn { return slices.Clone(r.turns[r.turned:]) }

// turn carries out the scheduled turns that are due.
func (r *Runner) turn() error {
	for r.turned < len(r.turns) && r.turns[r.turned].At <= r.st.Deadlines.Count() {
		t := r.turns[r.turned]
		r.turned++
		if r.past != nil {
			r.past.carriedOut(r.turned, t.Knob, t.Value)
		}
		r.note(t.Knob, t.Value)
		if err := r.set(t.Knob, t.Value); err != nil {
			return fmt.Errorf("at deadline %d: %w", t.At, err)
		}
		r.keepUp()
	}
	return nil
}

// keepUp holds a guest that may run ahead of its events to them for as long as
// turns wait for their deadlines.
func (r *Runner) keepUp() {
	if x, ok := r.eng.(interface{ KeepUp(bool) }); ok {
		x.KeepUp(r.turned < len(r.turns))
	}
}

// emit folds one event and looks whether it is time to stop.
func (r *Runner) emit(e *trace.Event) {
	before := r.st.Deadlines.Count()
	r.st.Apply(e)
	if !r.silent {
		for _, s := range r.tee {
			s.Emit(*e)
		}
	}
	if r.past != nil && (e.Kind == trace.KindGuestIRQ || e.Kind == trace.KindKnob) {
		r.past.known.take(e, &r.st, r.st.Deadlines.Count() != before)
	}
	if r.watch != nil {
		r.watch.Emit(*e)
	}
	if r.stopAt != nil && r.stopAt.Eval(query.MomentOf(e, &r.st), r.header.Hz) {
		if !r.hit {
			r.hitAt = placeOf(e, &r.st)
		}
		r.hit, r.halt = true, true
	}
	switch e.Kind {
	case trace.KindEntry:
		r.rise(entries)
		if n := r.goal.entries; n != 0 && byEntries(&r.st) >= n {
			r.halt = true
		}
	case trace.KindExit:
		if n := r.limits.Exits; n != 0 && r.st.Kinds[trace.KindExit] >= n || r.past != nil && r.past.due(r) {
			r.halt = true
		}
	case trace.KindGuestIRQ:
		if r.st.Deadlines.Count() != before {
			r.rise(deadlines)
		}
		r.handled()
	case trace.KindEnd:
		r.halt = true
	}
}

// rise notes where a measure rose.
func (r *Runner) rise(m measureID) {
	if r.past != nil {
		r.past.rose[m] = r.past.eng.Position()
	}
}

func (r *Runner) handled() {
	n := r.st.Deadlines.Count()
	if r.turned < len(r.turns) && n >= r.turns[r.turned].At || r.limits.Deadlines != 0 && n >= r.limits.Deadlines ||
		r.goal.deadlines != 0 && n >= r.goal.deadlines {
		r.halt = true
	}
}

// Done reports whether the guest has ended or a limit is reached.
func (r *Runner) Done() bool {
	if _, _, ended := r.eng.Ended(); ended {
		return true
	}
	l := &r.limits
	return l.Deadlines != 0 && r.st.Deadlines.Count() >= l.Deadlines ||
		l.Exits != 0 && r.st.Kinds[trace.KindExit] >= l.Exits || l.TSC != 0 && r.eng.Now() >= l.TSC
}

// RunTo lets the guest run until the common line reaches until, a limit or a
// step's goal is reached, the guest ends, or stop (which may be nil) says so. It
// returns whether it stopped for another reason than until or stop.
func (r *Runner) RunTo(until clock.TSC, stop func() bool) (reached bool, err error) {
	if r.limits.TSC != 0 {
		until = min(until, r.limits.TSC)
	}
	for !r.Done() {
		if err := r.between(); err != nil {
			return false, err
		}
		r.halt, r.hit = false, false
		stopped := false
		r.eng.Run(until, func() bool {
			if r.halt || r.past != nil && r.past.inputDue() {
				return true
			}
			stopped = stop != nil && stop()
			return stopped
		})
		switch {
		case r.stepped(), r.hit:
			return true, r.between()
		case !r.halt && (r.past == nil || !r.past.inputDue()):
			return r.Done(), r.between()
		}
	}
	return true, r.between()
}

// between does what happens between two stretches of a run: knob turns that are
// due, and checkpoints.
func (r *Runner) between() error {
	if p := r.past; p != nil {
		if err := p.replay(); err != nil {
			return err
		}
		r.silent = p.replaying()
		if p.due(r) {
			p.keep(r)
		}
	}
	return r.turn()
}

// runSilently runs through a known stretch until done.
func (r *Runner) runSilently(done func() bool) error {
	cond := r.stopAt
	r.stopAt = nil
	defer func() { r.stopAt = cond }()
	r.silent = true
	r.goal = goal{}
	for !done() {
		if err := r.between(); err != nil {
			return err
		}
		r.silent = true
		r.halt = false
		r.eng.Run(clock.Never, func() bool { return r.halt || r.past.inputDue() || done() })
		if _, _, ended := r.eng.Ended(); ended {
			break
		}
	}
	return r.between()
}

// stepped reports whether the goal of a step is reached, and forgets it then.
func (r *Runner) stepped() bool {
	g := &r.goal
	if g.entries != 0 && byEntries(&r.st) >= g.entries || g.deadlines != 0 && r.st.Deadlines.Count() >= g.deadlines {
		*g = goal{}
		return true
	}
	return false
}

// StepExits sets the goal of the next RunTo: n more exits, each handled up to the
// VM-entry that follows.
func (r *Runner) StepExits(n int) { r.goal = goal{entries: byEntries(&r.st) + uint64(max(1, n))} }

// StepDeadlines sets the goal of the next RunTo: n more handled deadlines.
func (r *Runner) StepDeadlines(n int) {
	r.goal = goal{deadlines: r.st.Deadlines.Count() + uint64(max(1, n))}
}

// BreakAt sets the condition at which RunTo stops; nil removes it.
func (r *Runner) BreakAt(c *query.Condition) { r.stopAt = c }

// Hit reports whether the last RunTo stopped at the break condition.
func (r *Runner) Hit() bool { return r.hit }

// NoGoal forgets the goal of a step.
func (r *Runner) NoGoal() { r.goal = goal{} }

// CanBack reports whether the run is reversible.
func (r *Runner) CanBack() bool { return r.past != nil }

// BackExits goes back over n exits, to the moment after the one before them.
func (r *Runner) BackExits(n int) error { return r.back(entries, n) }

// BackDeadlines goes back to the n-th last handled deadline.
func (r *Runner) BackDeadlines(n int) error { return r.back(deadlines, n) }

// BackTo goes back to the last moment before the present one at which the
// condition held. found is false if there was none; the run is then at its start.
func (r *Runner) BackTo(c *query.Condition) (found bool, err error) {
	if r.past == nil {
		return false, errors.New("this run is not reversible")
	}
	return r.past.backTo(r, c)
}

// Seek goes to the first position at or after t on the common line, as far as the
// run has been explored.
func (r *Runner) Seek(t clock.TSC) error {
	if r.past == nil {
		return errors.New("this run is not reversible")
	}
	return r.past.seek(r, t)
}

// Where tells the branch of the run, whether the position has been passed
// before, and how far the branch reaches.
func (r *Runner) Where() (branch int, replaying bool, head clock.TSC) {
	if r.past == nil {
		return 0, false, r.eng.Now()
	}
	return r.past.branch, r.past.replaying(), max(r.past.headTSC, r.eng.Now())
}

// Known fills line with what the present branch has come to, what lies ahead
// included; where a run is not reversible, with nothing.
func (r *Runner) Known(line *vmm.Timeline) {
	if r.past == nil {
		*line = vmm.Timeline{Buckets: line.Buckets[:0]}
		return
	}
	r.past.known.timeline(line, max(r.past.headTSC, r.eng.Now()))
}

// Others appends the runs to compare with to dst[:0]: the branch that was left
// last.
func (r *Runner) Others(dst []*vmm.OtherRun) []*vmm.OtherRun {
	dst = dst[:0]
	if r.past != nil && r.past.other != nil {
		dst = append(dst, r.past.other)
	}
	return dst
}

func (r *Runner) back(m measureID, n int) error {
	if r.past == nil {
		return errors.New("this run is not reversible")
	}
	return r.past.back(r, m, max(1, n))
}

// SetKnob turns a knob now. In the past of a reversible run that begins a new
// branch.
func (r *Runner) SetKnob(k trace.Knob, v uint64) (branched bool, err error) {
	if r.past != nil {
		branched = r.past.turn(r, k, v)
		r.silent = false
	}
	r.note(k, v)
	return branched, r.set(k, v)
}

func (r *Runner) set(k trace.Knob, v uint64) error {
	if r.past == nil {
		return r.eng.SetKnob(k, v)
	}
	return r.past.quietly(func() error { return r.eng.SetKnob(k, v) })
}

// note lets the recorder know of the knob turn that follows.
func (r *Runner) note(k trace.Knob, value uint64) {
	if r.rec != nil && !r.silent {
		r.rec.turned(r.eng, k, value)
	}
}

// Mark sets a bookmark.
func (r *Runner) Mark(name string) {
	var w uint64
	for i := 0; i < len(name) && i < 8; i++ {
		w |= uint64(name[i]) << (8 * i)
	}
	r.emit(&trace.Event{TSC: r.st.Now, Kind: trace.KindMark, VCPU: trace.NoCPU, PCPU: trace.NoCPU, A: w})
}
