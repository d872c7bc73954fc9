package session

import (
	"fmt"
	"strconv"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// stoppedAt says that a run stopped where a condition held, and what it stopped at.
func stoppedAt(cond, place string) string { return "stopped at " + cond + ": " + place }

// placeOf says what a moment is, whose event e was folded into st last.
func placeOf(e *trace.Event, st *trace.State) string {
	tsc := "TSC " + grouped(uint64(e.TSC))
	cpu := ""
	if e.VCPU != trace.NoCPU {
		cpu = fmt.Sprintf(" on v%d", e.VCPU)
	}
	switch e.Kind {
	case trace.KindGuestIRQ:
		if p := st.Scatter.Last(0); p != nil && p.At == e.TSC && p.VCPU == e.VCPU {
			return fmt.Sprintf("deadline %s%s, %s, %s", grouped(uint64(p.Deadline)), cpu, lateWords(int64(p.Late)), tsc)
		}
		return fmt.Sprintf("handler of vector %#x%s, %s", e.A, cpu, tsc)
	case trace.KindExit, trace.KindFastpath, trace.KindEntry:
		if int(e.VCPU) < len(st.VCPUs) && st.VCPUs[e.VCPU].Exit != trace.NoNum {
			v := &st.VCPUs[e.VCPU]
			return fmt.Sprintf("exit %s, %s%s, %s", grouped(uint64(v.Exit)), v.ExitReason, cpu, tsc)
		}
	case trace.KindKick:
		return fmt.Sprintf("kick of v%d: %s, %s", e.VCPU, trace.KickDecision(e.A), tsc)
	case trace.KindKnob:
		return fmt.Sprintf("%s is turned, %s", trace.Knob(e.A), tsc)
	}
	return fmt.Sprintf("%s%s, %s", e.Kind, cpu, tsc)
}

// grouped writes a number as screens do, with a comma between groups of three.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func lateWords(cycles int64) string {
	if cycles < 0 {
		return grouped(uint64(-cycles)) + " cycles early"
	}
	return grouped(uint64(cycles)) + " cycles late"
}
