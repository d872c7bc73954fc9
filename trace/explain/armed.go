package explain

import (
	"fmt"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// ArmedIn is when the exit in which c was armed began, 0 if that is not known: the
// moment at which a knob must be turned to have had a say in it.
func ArmedIn(st *trace.State, c *trace.Chain) clock.TSC {
	if c.ArmExit == trace.NoNum {
		return 0
	}
	x := st.Exits.Get(uint64(c.ArmExit) - 1)
	if x == nil || x.Num != c.ArmExit || x.At > c.ArmAt {
		return 0
	}
	return x.At
}

// NewCheck is what became of deadline c, which was late by late cycles, once a knob
// was turned: after, if its handler ran.
func NewCheck(s Setting, c *trace.Chain, late int64, after *trace.Chain, ran bool) Check {
	k := Check{Knob: s.Knob.String(), Value: trace.FormatKnob(s.Knob, s.Value), Before: late, After: int64(after.Late)}
	switch {
	case !ran:
		k.Note = "its handler did not run within 50 ms"
	case after.Target != c.Target:
		k.Note = fmt.Sprintf("%d cycles instead of %d, for a deadline %d cycles away from this one", k.After, late,
			after.Target.Sub(c.Target))
	}
	return k
}
