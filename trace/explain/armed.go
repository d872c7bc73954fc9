package explain

import (
	"ticktrap/internal/clock"
	"ticktrap/trace"
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
