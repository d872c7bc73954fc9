package explain

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// Pick says which deadline of a run to explain.
type Pick struct {
	Deadline trace.Num // its ordinal; NoNum for the latest one
	Earliest bool      // the earliest instead of the latest
}

// Finder looks for the deadline that a Pick means while a run's events are
// folded. It keeps a copy of the state at the moment at which that deadline
// closed. It belongs to one goroutine.
type Finder struct {
	pick  Pick
	seen  uint64 // entries of State.Chains looked at
	found bool
	chain trace.Chain
	state trace.State
}

// NewFinder returns a Finder for the deadline that p means.
func NewFinder(p Pick) *Finder { return &Finder{pick: p} }

// Look looks at the deadlines that have closed in s since the last call. It is
// cheap where none has.
func (f *Finder) Look(s *trace.State) {
	for ; f.seen < s.Chains.N; f.seen++ {
		if c := s.Chains.Get(f.seen); c != nil && f.better(c) {
			f.chain, f.found = *c, true
			s.CopyTo(&f.state)
		}
	}
}

func (f *Finder) better(c *trace.Chain) bool {
	switch {
	case f.pick.Deadline != trace.NoNum:
		return c.Num == f.pick.Deadline
	case !c.Ran():
		return false
	case !f.found:
		return true
	case f.pick.Earliest:
		return c.Late < f.chain.Late
	}
	return c.Late > f.chain.Late
}

// Finish looks at the deadlines that are still open at the end of the run. One
// that is overdue is as late as it is overdue.
func (f *Finder) Finish(s *trace.State) {
	for i := range s.VCPUs {
		s.VCPUs[i].Open(func(c *trace.Chain) {
			wanted := c.Num == f.pick.Deadline
			if f.pick.Deadline == trace.NoNum && f.pick.Earliest && c.FireAt != 0 {
				wanted = firedEarly(s, c) && (!f.found || c.FireAt.Sub(c.Target) < f.chain.Late)
			}
			if f.pick.Deadline == trace.NoNum && !f.pick.Earliest && c.Target < s.Now {
				wanted = !f.found || s.End.How == trace.EndDeadlock || s.Now.Sub(c.Target) > f.late()
			}
			if wanted {
				f.chain, f.found = *c, true
				s.CopyTo(&f.state)
			}
		})
	}
}

// late is the lateness of the deadline found so far, up to the end of the run if
// it has not run.
func (f *Finder) late() clock.Cycles {
	if f.chain.Ran() {
		return f.chain.Late
	}
	return f.state.Now.Sub(f.chain.Target)
}

// Found returns the deadline and the state in which it closed; ok is false if
// there was none.
func (f *Finder) Found() (c *trace.Chain, s *trace.State, ok bool) {
	return &f.chain, &f.state, f.found
}
