package session

import (
	"cmp"
	"slices"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// Made is a knob turn that was made, with the engine's position.
type Made struct {
	Pos   uint64
	Knob  trace.Knob
	Value uint64
}

// Turns are the turns of the present branch in order, those that were scheduled
// and the user's; nil where the run is not reversible. With them the run can be
// repeated on another engine.
func (r *Runner) Turns() []Made {
	if r.past == nil {
		return nil
	}
	var out []Made
	for _, in := range append(slices.Clone(r.past.scheduled), r.past.inputs...) {
		out = append(out, Made{in.pos, in.knob, in.value})
	}
	slices.SortStableFunc(out, func(a, b Made) int { return cmp.Compare(a.Pos, b.Pos) })
	return out
}

// carriedOut notes the n-th scheduled turn; run through again it is known.
func (h *history) carriedOut(n int, k trace.Knob, v uint64) {
	if n > len(h.scheduled) {
		h.scheduled = append(h.scheduled, input{h.eng.Position(), k, v})
	}
}

// Turns are those of Runner.Turns as of the last frame.
func (l *Live) Turns() []Made {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.turns)
}
