package ui

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// exitColumns are the columns of the exit list for a width: where each begins.
// A narrow list shows the fastpath's verdict and the subject in one.
type exitColumns struct {
	delta, vcpu, reason, about, fast, bar, cost int
	deadline, vector                            int // right ends, 0 where there is no room
	exact, split                                bool
}

func exitLayout(w int) exitColumns {
	c := exitColumns{delta: 8, vcpu: 17, cost: w - 9}
	if c.exact = w >= 118; c.exact {
		c.vcpu = 22
	}
	c.reason = c.vcpu + 3
	c.about = c.reason + 19
	c.fast, c.bar = c.about, c.cost
	free := c.cost - c.about
	if c.split = free >= 50; c.split {
		c.fast = c.about + min(free-29, 28)
		end := c.fast + 30
		if c.cost-end >= 50 { // a wide list has room for what belongs to the exit
			c.deadline, c.vector = end+11, end+20
			end += 22
		}
		if left := c.cost - end; left >= 8 {
			c.bar = c.cost - min(left, 34+c.deadline/4)
		}
	}
	return c
}

func exitHead(a area) {
	c := exitLayout(a.w)
	a.right(c.delta, 0, label, "exit")
	a.right(c.vcpu-1, 0, label, "+cyc")
	a.text(c.vcpu, 0, label, "v")
	a.text(c.reason, 0, label, "reason")
	if c.split {
		a.text(c.about, 0, label, "about")
		a.cut(c.fast, 0, c.bar-c.fast-1, label, "fastpath, failed clause")
		if c.deadline > 0 {
			a.right(c.deadline, 0, label, "deadline")
			a.right(c.vector, 0, label, "injects")
		}
		if c.bar < c.cost {
			a.text(c.bar, 0, label, "host by phase")
		}
	} else {
		a.text(c.about, 0, label, "fastpath, failed clause")
	}
	a.right(a.w, 0, label, "cycles")
}

func exitLine(s *scene, a area, x, before *trace.ExitRecord) {
	if x == nil {
		return
	}
	c := exitLayout(a.w)
	a.right(c.delta, 0, dim, group3(uint64(x.Num)))
	if before != nil {
		d := uint64(max(x.At.Sub(before.At), 0))
		if c.exact {
			a.right(c.vcpu-1, 0, dim, "+"+group3(d))
		} else {
			a.right(c.vcpu-1, 0, dim, "+"+short(d))
		}
	}
	a.text(c.vcpu, 0, vcpuStyle(x.VCPU), "v"+cpuWord(x.VCPU))
	a.cut(c.reason, 0, c.about-c.reason-1, value, x.Reason.String())
	if n := x.Cycles(); n > 0 {
		a.right(a.w, 0, value, group3(uint64(n)))
	} else {
		a.right(a.w, 0, dim, "open")
	}
	if c.split {
		a.cut(c.about, 0, c.fast-c.about-1, text, exitBrief(x, c.fast-c.about-1))
		costBar(s, a.sub(c.bar, 0, c.cost-c.bar-1, 1), x, 0)
	}
	if c.deadline > 0 {
		if x.Deadline != trace.NoNum {
			a.right(c.deadline, 0, text, group3(uint64(x.Deadline)))
		}
		if x.Vector != 0 {
			a.right(c.vector, 0, text, hex(uint64(x.Vector)))
		}
	}
	room := c.bar - c.fast
	if c.deadline > 0 {
		room = c.deadline - 10 - c.fast
	}
	note := exitNote(x, room-textWidth(fastWord(x))-2)
	if c.split {
		note = clauseNote(x)
	}
	end := a.cut(c.fast, 0, room-1, fastStyle(x), fastWord(x))
	a.cut(end+1, 0, c.fast+room-end-2, dim, note)
}

// exitNote is what a narrow line has room for: the clause, else the subject.
func exitNote(x *trace.ExitRecord, w int) string {
	if n := clauseNote(x); n != "" {
		return n
	}
	return exitBrief(x, w)
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
			fill = blockFill
		}
		parts = append(parts, segment{float64(x.Costs.Cycles[i]), st, fill})
	}
	rest := segment{float64(x.Costs.Rest), faint, '·'}
	a.stack(0, 0, a.w, float64(max(scale, total)), append(parts, rest))
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
