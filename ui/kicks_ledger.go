package ui

import (
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

const kickKnob = trace.KnobKick

var kickDecisions = []trace.KickDecision{trace.KickWake, trace.KickIPI, trace.KickExiting, trace.KickNothing, trace.KickWarn}

func kickStyle(d trace.KickDecision) style {
	switch d {
	case trace.KickWake:
		return series1
	case trace.KickIPI:
		return series2
	case trace.KickExiting:
		return series0
	case trace.KickWarn:
		return bad
	}
	return dim
}

// kickCounts draws the decisions with their shares and returns the rows used.
func kickCounts(s *scene, a area) int {
	k := &s.state().Kicks
	var sum, most uint64
	for _, d := range kickDecisions {
		sum += k.Decisions[d]
		most = max(most, k.Decisions[d])
	}
	if a.h < 10 { // one line
		var ps []piece
		for _, d := range kickDecisions {
			n := k.Decisions[d]
			drop := 0
			if n == 0 {
				drop = 1 + int(d)
			}
			ps = append(ps, piece{d.String() + " ", pick(n > 0, kickStyle(d), dim), drop}, piece{short(n) + "  ", pick(n > 0, value, dim), drop})
		}
		a.pieces(0, 0, a.w, ps)
		return 1
	}
	for i, d := range kickDecisions {
		n := k.Decisions[d]
		a.text(0, i, pick(n > 0, kickStyle(d), dim), d.String())
		a.right(20, i, pick(n > 0, value, dim), group3(n))
		a.right(28, i, dim, percent(n, sum))
		if w := min(a.w-30, 80); w > 4 {
			a.bar(30, i, w, float64(n)/float64(max(most, 1)), kickStyle(d))
		}
	}
	y := len(kickDecisions)
	ps := []piece{{"steps", label, 0}}
	for i, n := range k.Steps {
		if n > 0 {
			ps = append(ps, piece{"  " + trace.KickStepNames[i] + " ", text, 1 + i}, piece{group3(n), value, 1 + i})
		}
	}
	if k.Self > 0 {
		ps = append(ps, piece{"  target loaded on the kicking CPU ", label, 8}, piece{group3(k.Self), value, 8})
	}
	a.pieces(0, y, a.w, ps)
	if ds := nonZero(s.state().Deliveries[:], trace.DeliverNames); len(ds) > 0 && a.h >= 14 {
		y++
		a.pieces(0, y, a.w, counts("delivered", ds))
	}
	return y + 1
}

// kickCostCol is the column before which a kick's cost ends, where there is room,
// and kickByCol the one from which a wide line says who kicked.
const (
	kickStepsWidth = 48 // least width of a line that names the steps

	kickCostCol = 90
	kickByCol   = kickCostCol + 3
)

func kickHead(a area) {
	a.right(7, 0, label, "+cyc")
	a.text(9, 0, label, "waker   → tgt")
	a.text(23, 0, label, "mode")
	a.text(32, 0, label, "decided")
	if a.w >= kickStepsWidth {
		a.text(41, 0, label, "steps")
	}
	if a.w >= 60 {
		a.right(min(a.w, kickCostCol), 0, label, "≈ cycles")
	}
	a.text(kickByCol, 0, label, "who kicks")
}

func kickLine(s *scene, a area, n uint64) {
	r := &s.state().KickLedger
	k, before := r.Get(n), r.Get(n-1)
	if k == nil {
		return
	}
	by := wakerOf(s.state(), n)
	if before != nil {
		a.right(7, 0, dim, "+"+short(uint64(max(k.At.Sub(before.At), 0))))
	}
	a.cut(9, 0, 8, pick(by == wakerTimer, phaseFire, vcpuStyle(k.From)), wakerWord(by, k))
	a.text(17, 0, dim, "→")
	a.text(19, 0, vcpuStyle(k.Target), "v"+cpuWord(k.Target))
	a.text(23, 0, text, kickMode(k.Mode))
	a.text(32, 0, kickStyle(k.Decision), k.Decision.String())
	cost := ""
	if c, ok := kickCost(s.state(), k.Steps); ok && a.w >= 60 {
		cost = "≈ " + group3(uint64(c))
		a.right(min(a.w, kickCostCol), 0, value, cost)
	}
	if a.w >= kickStepsWidth {
		a.cut(41, 0, min(a.w, kickCostCol)-41-textWidth(cost)-1, dim, stepWords(k.Steps))
	}
	a.cut(kickByCol, 0, a.w-kickByCol, dim, wakerWords(by, k))
}

func kickMode(m trace.Mode) string { return trace.ModeNames[min(int(m), len(trace.ModeNames)-1)] }

func stepWords(steps trace.KickSteps) string {
	return strings.ReplaceAll(maskWords(uint64(steps), trace.KickStepNames), "|", " ")
}

// stepPhases are the phases that a kick's steps cost, by bit.
var stepPhases = [trace.NumKickSteps]trace.Phase{trace.PhaseKickRCU, trace.PhaseKickTask, trace.PhaseKickCmpxchg,
	trace.PhaseKickStore, trace.PhaseIPISend, trace.PhaseWake}

// kickCost is the sum of the steps' mean costs in this run. ok is false if the
// cost of a step is not known.
func kickCost(st *trace.State, steps trace.KickSteps) (c clock.Cycles, ok bool) {
	for i, p := range stepPhases {
		if steps>>i&1 == 0 {
			continue
		}
		if st.Costs[p].Count == 0 {
			return 0, false
		}
		c += st.Costs[p].Cycles / clock.Cycles(st.Costs[p].Count)
	}
	return c, true
}

func stripKicks(s *scene, a area) {
	k := &s.state().Kicks
	if s.state().KickLedger.N == 0 {
		a.text(0, 0, dim, "no kick yet")
		return
	}
	ps := []piece{{group3(s.state().KickLedger.N) + " ", value, 0}}
	for i, d := range kickDecisions {
		n := k.Decisions[d]
		ps = append(ps, piece{" " + d.String() + " ", pick(n > 0, kickStyle(d), dim), i}, piece{short(n), pick(n > 0, value, dim), i})
	}
	if l := s.state().KickLedger.Last(0); l != nil {
		ps = append(ps, piece{"  last ", label, 6}, piece{"v" + cpuWord(l.Target) + " " + kickMode(l.Mode) + " " +
			stepWords(l.Steps), dim, 6})
	}
	a.pieces(0, 0, a.w, ps)
}
