package rerun

import (
	"errors"
	"fmt"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Run is a run that can be repeated.
type Run struct {
	// Make makes the engine as it was made for the first run.
	Make func(trace.Sink) (vmm.Rewinder, error)
	// Turns are the knob turns of the first run, in order.
	Turns []Turn
	// Watch, if it is not nil, is told now and then how far the run has come on the
	// way to the deadline, and returns true to give it up.
	Watch func(now, goal clock.TSC) (stop bool)
}

// ErrGivenUp says that Watch ended a re-run.
var ErrGivenUp = errors.New("the run was given up")

// Turn is a knob turn of the first run: at a position of the engine, or, if Pos is
// 0, once so many deadlines had been handled.
type Turn struct {
	Pos       uint64
	Deadlines uint64
	Knob      trace.Knob
	Value     uint64
}

// Setting is a knob with the value to try.
type Setting struct {
	Knob  trace.Knob
	Value uint64
}

// Outcome is what became of the deadline. Ran is false if its handler did not
// run within patience.
type Outcome struct {
	Chain trace.Chain
	Ran   bool
}

// patience is how long after its deadline a handler is waited for, in
// nanoseconds of guest time.
const patience = 50_000_000

// Deadline runs up to the arming of chain c and then on, once unchanged and once
// for each setting, which is turned at from: the exit in which c was armed, or 0
// if that is not known. The error says that the run does not repeat c.
func (r *Run) Deadline(c *trace.Chain, from clock.TSC, settings []Setting) ([]Outcome, error) {
	p := &player{num: c.Num}
	eng, err := r.Make(p)
	if err != nil {
		return nil, err
	}
	defer eng.Close()
	h := eng.Header()
	p.begin(&h)
	p.goal = before(c, from)
	p.watcher = r.Watch
	if err := p.to(eng, r.Turns, p.goal); err != nil {
		return nil, err
	}
	start := eng.Checkpoint()
	var st trace.State
	p.st.CopyTo(&st)
	extra, _ := h.Hz.ToCycles(patience)
	limit := max(c.Target, c.ISRAt) + extra
	try := func(s *Setting) (Outcome, error) {
		if err := eng.Rewind(start); err != nil {
			return Outcome{}, err
		}
		st.CopyTo(&p.st)
		p.watch()
		if s != nil {
			if err := eng.SetKnob(s.Knob, s.Value); err != nil {
				return Outcome{}, err
			}
		}
		eng.Run(limit, p.watched(eng, func() bool { return p.done }))
		if p.stopped {
			return Outcome{}, ErrGivenUp
		}
		p.open()
		return Outcome{p.chain, p.done && p.chain.Ran()}, nil
	}
	same, err := try(nil)
	if err != nil {
		return nil, err
	}
	if same.Chain.Target != c.Target || same.Ran != c.Ran() || same.Ran && same.Chain.Late != c.Late {
		return nil, fmt.Errorf("deadline %d: the run does not repeat itself: lateness %d at %d, was %d at %d", c.Num,
			same.Chain.Late, same.Chain.Target, c.Late, c.Target)
	}
	var out []Outcome
	for i := range settings {
		o, err := try(&settings[i])
		if err != nil {
			return out, err
		}
		out = append(out, o)
	}
	return out, nil
}

// before is a moment shortly before the guest armed c.
func before(c *trace.Chain, from clock.TSC) clock.TSC {
	const lead = 2000 // cycles: a VM-exit and the way to the event of arming
	switch {
	case from != 0:
		return from - 1
	case c.ArmAt != 0:
		return max(c.ArmAt, lead) - lead
	}
	return max(min(c.Target, c.ExpireAt), lead) - lead
}

// player folds the events of a re-run and waits for one deadline.
type player struct {
	num   trace.Num
	st    trace.State
	ready bool
	early []trace.Event
	seen  uint64 // entries of st.Chains looked at
	done  bool
	chain trace.Chain

	watcher func(now, goal clock.TSC) bool
	goal    clock.TSC
	looks   int
	stopped bool // by the watcher
}

// watchEvery is how many looks at whether to stop pass between two calls of Watch.
const watchEvery = 4096

// watched is due, or the end that Watch asks for.
func (p *player) watched(eng vmm.Rewinder, due func() bool) func() bool {
	if p.watcher == nil {
		return due
	}
	return func() bool {
		if p.looks++; p.looks%watchEvery == 1 && p.watcher(min(eng.Now(), p.goal), p.goal) {
			p.stopped = true
		}
		return p.stopped || due()
	}
}

// begin starts the fold; the events so far came while the engine was made.
func (p *player) begin(h *trace.Header) {
	p.st.Reset(h)
	p.ready = true
	for i := range p.early {
		p.st.Apply(&p.early[i])
	}
	p.early = nil
}

// Emit implements trace.Sink.
func (p *player) Emit(e trace.Event) {
	if !p.ready {
		p.early = append(p.early, e)
		return
	}
	p.st.Apply(&e)
	for ; p.seen < p.st.Chains.N; p.seen++ {
		if c := p.st.Chains.Get(p.seen); c != nil && c.Num == p.num {
			p.chain, p.done = *c, true
		}
	}
}

// open takes the deadline as it stands if it has not closed.
func (p *player) open() {
	for i := range p.st.VCPUs {
		p.st.VCPUs[i].Open(func(c *trace.Chain) {
			if c.Num == p.num && !p.done {
				p.chain = *c
			}
		})
	}
}

// watch forgets what an earlier attempt found.
func (p *player) watch() {
	p.seen, p.done, p.chain = p.st.Chains.N, false, trace.Chain{}
}

// to runs up to a moment and turns the knobs on the way.
func (p *player) to(eng vmm.Rewinder, turns []Turn, at clock.TSC) error {
	for _, t := range turns {
		due := func() bool { return p.st.Deadlines.Count() >= t.Deadlines }
		if t.Pos != 0 {
			due = func() bool { return eng.Position() >= t.Pos }
		}
		if !due() {
			eng.Run(at, p.watched(eng, due))
		}
		if p.stopped {
			return ErrGivenUp
		}
		if !due() {
			return nil // the deadline comes first
		}
		if err := eng.SetKnob(t.Knob, t.Value); err != nil {
			return fmt.Errorf("turning %s: %w", t.Knob, err)
		}
	}
	eng.Run(at, p.watched(eng, func() bool { return false }))
	if p.stopped {
		return ErrGivenUp
	}
	return nil
}
