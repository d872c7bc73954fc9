package ui

import (
	"ticktrap/internal/clock"
	"ticktrap/trace"
)

// The columns of the exit list; those that do not fit are left out from the
// right, the cost always stands at the right end.
const (
	colNum    = 0
	colDelta  = 9
	colVCPU   = 22
	colReason = 25
	colInfo   = 44
	colFast   = 73
)

func exitHead(a area) {
	a.text(colNum, 0, label, "     exit")
	a.text(colDelta+7, 0, label, "+cyc")
	a.text(colVCPU, 0, label, "v")
	a.text(colReason, 0, label, "reason")
	cost := a.w - 9
	if a.w >= 84 {
		a.text(colInfo, 0, label, "about")
		a.text(colFast, 0, label, "fastpath, first clause that failed")
	} else {
		a.text(colInfo, 0, label, "fastpath, clause")
	}
	a.text(cost, 0, label, " ≡ cycles")
}

func exitLine(s *scene, a area, x, before *trace.ExitRecord) {
	if x == nil {
		return
	}
	a.right(colDelta, 0, dim, group3(uint64(x.Num)))
	if before != nil {
		a.right(colVCPU-1, 0, dim, "+"+group3(uint64(max(x.At.Sub(before.At), 0))))
	}
	a.text(colVCPU, 0, vcpuStyle(x.VCPU), "v"+cpuWord(x.VCPU))
	a.cut(colReason, 0, colInfo-colReason-1, value, x.Reason.String())
	right := a.w - 9
	if c := x.Cycles(); c > 0 {
		a.right(a.w, 0, value, group3(uint64(c)))
	} else {
		a.right(a.w, 0, dim, "open")
	}
	if a.w < 84 { // one column for both
		x0 := a.cut(colInfo, 0, right-colInfo, fastStyle(x), fastWord(x))
		a.cut(x0+1, 0, right-x0-2, dim, exitNote(x))
		return
	}
	a.cut(colInfo, 0, colFast-colInfo-1, text, exitInfo(x))
	bar := 0
	if right-colFast > 46 {
		bar = min(right-colFast-36, 30)
		costBar(s, a.sub(right-bar-1, 0, bar, 1), x, 0)
	}
	x0 := a.cut(colFast, 0, right-bar-colFast-1, fastStyle(x), fastWord(x))
	a.cut(x0+1, 0, right-bar-x0-3, dim, clauseNote(x))
}

// exitNote is what a narrow line has room for: the clause, else the subject.
func exitNote(x *trace.ExitRecord) string {
	if n := clauseNote(x); n != "" {
		return n
	}
	return exitInfo(x)
}

func clauseNote(x *trace.ExitRecord) string {
	if !x.HasFast || x.Clause == trace.ClauseNone {
		return ""
	}
	return x.Clause.String()
}

// fastWord says what the fastpath made of an exit.
func fastWord(x *trace.ExitRecord) string {
	if !x.HasFast {
		return "–"
	}
	return x.Result.String()
}

func fastStyle(x *trace.ExitRecord) style {
	switch {
	case !x.HasFast:
		return dim
	case x.Result == trace.FastReenter || x.Result == trace.FastSkip:
		return good
	case x.Result == trace.FastNone:
		return dim
	}
	return warn
}

func vcpuStyle(v uint8) style {
	if v == trace.NoCPU {
		return dim
	}
	return series0 + style(v%8)
}

// phaseStyle gives phases of the host loop a look, by family.
func phaseStyle(p trace.Phase) (style, rune) {
	switch p {
	case trace.PhaseExit, trace.PhaseEntry:
		return series0, '█'
	case trace.PhaseFastDispatch, trace.PhaseDispatch, trace.PhaseOuter, trace.PhasePrepare, trace.PhaseExitTest:
		return series7, '▒'
	case trace.PhaseWait, trace.PhaseEarlyGap, trace.PhaseLateGap:
		return phaseWait, '░'
	case trace.PhaseHrtimerStart, trace.PhaseHrtimerStop, trace.PhaseHVStart, trace.PhaseHrtimerIRQ, trace.PhaseExpire,
		trace.PhaseInjectTimer, trace.PhaseHostIRQ:
		return series4, '▓'
	case trace.PhasePost, trace.PhaseKickRCU, trace.PhaseKickTask, trace.PhaseKickCmpxchg, trace.PhaseKickStore,
		trace.PhaseIPISend, trace.PhaseIPIFlight, trace.PhaseNotify, trace.PhaseWake, trace.PhaseEvent, trace.PhasePIRSync:
		return series5, '▚'
	case trace.PhaseSwitchOut, trace.PhaseSwitchIn, trace.PhaseIdleExit, trace.PhasePoll, trace.PhaseBlock:
		return series3, '▞'
	case trace.PhaseUser:
		return series6, '▙'
	}
	return series2, '▟'
}

// costBar draws an exit's host time by phase; scale is the cycles that the width
// stands for, 0 for the exit's own total.
func costBar(s *scene, a area, x *trace.ExitRecord, scale clock.Cycles) {
	total := x.Costs.Total()
	if total == 0 {
		return
	}
	parts := make([]segment, 0, trace.MaxExitCosts+1)
	for i := range x.Costs.N {
		st, fill := phaseStyle(x.Costs.Phases[i])
		if !s.mono {
			fill = '█'
		}
		parts = append(parts, segment{float64(x.Costs.Cycles[i]), st, fill})
	}
	a.stack(0, 0, a.w, float64(max(scale, total)), parts)
}

func stripExits(s *scene, a area) {
	st := s.state()
	x := st.Exits.Last(0)
	if x == nil {
		a.text(0, 0, dim, "no VM-exit yet")
		return
	}
	ps := []piece{{group3(exitCount(st)) + " ", value, 0}, {"exits  ", label, 1}, {"last ", label, 2},
		{x.Reason.String(), value, 0}, {" " + exitInfo(x), text, 3}, {" " + fastWord(x), fastStyle(x), 0},
		{" " + clauseNote(x), dim, 4}}
	if c := x.Cycles(); c > 0 {
		ps = append(ps, piece{"  " + s.span(c), value, 1})
	}
	a.pieces(0, 0, a.w, ps)
}
