package ui

import (
	"math"
	"strconv"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// chainPhase is a stretch of a chain: from, to and how it looks.
type chainPhase struct {
	name   string
	letter string // in a narrow legend
	st     style
	fill   rune // where colours do not tell
}

var chainPhases = [...]chainPhase{
	{"fire", "f", phaseFire, '▒'}, {"expire", "x", phaseExpire, '▚'}, {"wait", "w", phaseWait, '░'}, {"entry", "e", phaseEntry, '▓'},
	{"handler", "h", phaseISR, '█'},
}

// chainCuts are the points between the phases, relative to the target: begin of
// fire, expire, wait, entry, handler, and the end. known is false for a chain
// without a handler.
func chainCuts(c *trace.Chain) (cuts [6]clock.Cycles, known bool) {
	if !c.Ran() || c.Target == 0 {
		return cuts, false
	}
	at := func(t, or clock.TSC) clock.TSC {
		if t == 0 {
			return or
		}
		return t
	}
	isr := c.ISRAt
	entry := at(c.EntryAt, isr)
	waitFrom := at(c.WaitAt, at(c.DeliverAt, entry))
	waitEnd := waitFrom.Add(c.Waited)
	if c.WaitAt == 0 {
		waitEnd = waitFrom
	}
	expire := at(c.ExpireAt, waitFrom)
	fire := at(c.FireAt, expire)
	points := [6]clock.TSC{fire, expire, waitFrom, waitEnd, isr, at(c.EOIAt, isr)}
	for i, p := range points {
		cuts[i] = p.Sub(c.Target)
		if i > 0 {
			cuts[i] = max(cuts[i], cuts[i-1])
		}
	}
	return cuts, true
}

// chainAxis is the range of cycles around the target that the rows span.
func chainAxis(st *trace.State, rows []uint64) (lo, hi float64) {
	lo, hi = -200, 400
	n, sum := 0.0, 0.0
	for _, r := range rows {
		if cuts, ok := chainCuts(st.Chains.Get(r)); ok {
			n++
			sum += float64(cuts[5])
		}
	}
	limit := math.Inf(1)
	if n > 0 {
		limit = max(4*sum/n, 4000)
	}
	for _, r := range rows {
		if cuts, ok := chainCuts(st.Chains.Get(r)); ok {
			lo = min(lo, max(float64(cuts[0])*1.05, -8*limit))
			hi = max(hi, min(float64(cuts[5])*1.02, limit))
		}
	}
	return lo, hi
}

const chainLead = 27 // columns before the bar

func presentChains(s *scene, a area, rows []uint64, sel uint64, showSel bool) {
	if a.h < 3 {
		return
	}
	lo, hi := chainAxis(s.state(), rows)
	w := a.w - chainLead
	if w < 12 {
		w = 0
	}
	chainHead(s, a, lo, hi, w)
	for i, r := range rows {
		if i+2 >= a.h {
			break
		}
		line := a.sub(0, 2+i, a.w, 1)
		chainLine(s, line, s.state().Chains.Get(r), lo, hi, w)
		if r == sel && showSel {
			a.mark(2+i, selected)
		}
	}
	if len(rows) == 0 && a.h > 3 && s.state().Chains.N == 0 {
		a.cut(0, 3, a.w, dim, "no chain has closed yet")
	}
}

// chainLegend names the colours of the phases: in full, or by their letters where
// there is no room for that.
func chainLegend(s *scene, w int) []piece {
	ps := []piece{{" ", text, 0}, {"─", phaseProgram, 5}, {" programmed ", dim, 5}}
	for _, p := range chainPhases {
		fill := blockFill
		if s.mono {
			fill = p.fill
		}
		name := " " + p.name + " "
		if w < 42 {
			name = p.letter + " "
		}
		ps = append(ps, piece{string(fill), p.st, 0}, piece{name, dim, 0})
	}
	return ps
}

// chainHead draws the legend and the axis.
func chainHead(s *scene, a area, lo, hi float64, w int) {
	ps := []piece{{"deadline  v     lateness  ", label, 0}}
	if w > 0 {
		ps = append(ps, chainLegend(s, w)...)
	}
	a.pieces(0, 0, a.w, ps)
	if w <= 0 {
		return
	}
	axis := a.sub(chainLead, 1, w, 1)
	axis.hline(0, 0, w, '─', faint)
	zero := int(math.Round(-lo / (hi - lo) * float64(w-1)))
	step := niceStep((hi - lo) / max(float64(w)/16, 1))
	for v := math.Ceil(lo/step) * step; v <= hi; v += step {
		if math.Abs(v) < step/2 {
			continue
		}
		x := int(math.Round((v - lo) / (hi - lo) * float64(w-1)))
		mark := tickLabel(s, v)
		if tw := textWidth(mark); x-tw/2 > 0 && x-tw/2+tw < w && (x+tw/2+2 < zero || x-tw/2-2 > zero) {
			axis.text(x-tw/2, 0, dim, mark)
		}
	}
	axis.put(zero, 0, '▼', value)
	unit := "cyc"
	if s.nanos {
		unit = "time"
	}
	a.right(chainLead-1, 1, dim, unit+" from deadline")
}

// tickLabel writes a value of an axis.
func tickLabel(s *scene, v float64) string {
	if s.nanos {
		n := cyclesToNanos(s.hz(), clock.Cycles(v))
		if n > 0 {
			return "+" + duration(n)
		}
		return duration(n)
	}
	if math.Abs(v) >= 10000 {
		sign := "+"
		if v < 0 {
			sign = "−"
		}
		return sign + short(uint64(math.Abs(v)))
	}
	return signed3(int64(v))
}

// lateStyle is how a lateness looks: plain where the user has not said what is
// late (--late, or late in the configuration).
func (s *scene) lateStyle(c clock.Cycles) style {
	switch {
	case c < -trace.OnTimeBand:
		return early
	case s.late > 0 && c > s.late:
		return late
	case c <= trace.OnTimeBand:
		return good
	}
	return value
}

func chainLine(s *scene, a area, c *trace.Chain, lo, hi float64, w int) {
	if c == nil {
		return
	}
	a.right(8, 0, dim, group3(uint64(c.Num)))
	a.text(10, 0, vcpuStyle(c.VCPU), "v"+cpuWord(c.VCPU))
	cuts, ok := chainCuts(c)
	if !ok {
		a.right(24, 0, warn, c.Outcome.String())
		a.cut(chainLead, 0, w, dim, outcomeWords(c))
		return
	}
	a.right(24, 0, s.lateStyle(c.Late), lateFigure(s, c.Late))
	if w <= 0 {
		return
	}
	bar := a.sub(chainLead, 0, w, 1)
	col := func(v clock.Cycles) int { return int(math.Round((float64(v) - lo) / (hi - lo) * float64(w-1))) }
	zero := col(0)
	bar.put(zero, 0, '┊', faint)
	start := col(cuts[0])
	for x := 0; x < min(start, w); x++ {
		if x != zero {
			bar.put(x, 0, '─', phaseProgram)
		}
	}
	at := max(start, 0)
	for i, p := range chainPhases {
		end := col(cuts[i+1])
		if cuts[i+1] > cuts[i] && end <= at && at < w {
			end = at + 1
		}
		fill := blockFill
		if s.mono {
			fill = p.fill
		}
		bar.hline(at, 0, end-at, fill, p.st)
		at = max(at, end)
	}
	if at > w {
		bar.put(w-1, 0, '›', bad)
	}
	if start < 0 {
		bar.put(0, 0, '‹', dim)
	}
}

func lateFigure(s *scene, c clock.Cycles) string {
	if s.nanos {
		return s.cyc(c)
	}
	return signed3(int64(c))
}

// outcomeWords says what became of a deadline whose handler did not run.
func outcomeWords(c *trace.Chain) string {
	switch c.Outcome {
	case trace.OutcomeRearmed:
		return "the guest set another deadline first"
	case trace.OutcomeCancelled:
		return "the guest disarmed it first"
	case trace.OutcomeMerged:
		return "an earlier expiry was still outstanding"
	case trace.OutcomeLost:
		return "lost: " + clauseShort(c.RouteClause)
	case trace.OutcomeDropped:
		return "expired, and the guest armed again before the injection"
	case trace.OutcomeUnknown:
		return "events are missing"
	case trace.OutcomeReset:
		return "INIT or the VMM reset the APIC first"
	case trace.OutcomeHeld:
		return "held by the debugger: not counted"
	case trace.OutcomeWithheld:
		return "its deadline cannot be true"
	}
	return c.Outcome.String()
}

// chainWords tells a chain step by step.
func chainWords(s *scene, a area, c *trace.Chain) {
	a.hline(0, 0, a.w, '─', faint)
	x := a.text(1, 0, heading, " deadline "+group3(uint64(c.Num))+" ")
	a.cut(x, 0, a.w-x, dim, "v"+cpuWord(c.VCPU)+" "+c.Mode.String()+" vector "+hex(uint64(c.Vector))+" target TSC "+
		group3(uint64(c.Target))+" ")
	y := 1
	step := func(name string, at clock.TSC, words string) {
		if y >= a.h {
			return
		}
		a.text(1, y, label, name)
		if at != 0 {
			a.right(26, y, value, s.cyc(at.Sub(c.Target)))
		} else {
			a.right(26, y, dim, "–")
		}
		a.cut(28, y, a.w-28, text, words)
		y++
	}
	hv := "backed by " + c.Backing.String()
	if c.Clause != trace.ClauseNone {
		hv += ", not hv: " + clauseShort(c.Clause)
	}
	step("arm", c.ArmAt, hv+"; advance "+group3(uint64(max(c.AdvanceNS, 0)))+" ns"+times(c.Switches, "; switched"))
	step("host fire", c.FireAt, "due "+s.cyc(c.Fire.Sub(c.Target)))
	route := ""
	if int(c.Route) < len(routeWords) {
		route = routeWords[c.Route]
	}
	step("expire", c.ExpireAt, route+because(c.RouteClause))
	step("deliver", c.DeliverAt, c.Deliver.String()+because(c.DeliverClause))
	if c.Place != trace.BadPlacement {
		step("wait", c.WaitAt, "delta "+s.cyc(c.Delta)+", waited "+s.span(c.Waited)+", "+c.Place.String()+", tuning "+verdictWord(c.Verdict))
	} else {
		step("wait", 0, "no wait")
	}
	step("entry", c.EntryAt, exitLink("entered after exit", c.EntryExit))
	step("handler", c.ISRAt, "first instruction: lateness "+s.both(c.Late)+virtualWord(c.Virtual))
	if c.EOIAt != 0 {
		step("EOI", c.EOIAt, "handler took "+s.both(c.EOIAt.Sub(c.ISRAt)))
	}
}

func times(n uint8, word string) string {
	if n == 0 {
		return ""
	}
	return word + " " + strconv.Itoa(int(n)) + "×"
}

func because(c trace.Clause) string {
	if c == trace.ClauseNone {
		return ""
	}
	return " because " + clauseShort(c)
}

func exitLink(words string, n trace.Num) string {
	if n == trace.NoNum {
		return ""
	}
	return words + " " + group3(uint64(n))
}

func verdictWord(v trace.TuneVerdict) string {
	if v == trace.BadTune {
		return "off"
	}
	return v.String()
}

func virtualWord(v bool) string {
	if v {
		return ", virtual-interrupt delivery"
	}
	return ""
}
