package ui

import (
	"math"
	"math/bits"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"ticktrap/internal/clock"
	"ticktrap/trace"
	"ticktrap/trace/diff"
)

// side is one of two things compared.
type side struct {
	name string
	late *trace.Lateness
	st   *trace.State // nil where only latenesses can be told apart
}

// comparison is the two sides of a frame: this run and the other one, or the
// deadlines before and after the last knob.
func comparison(s *scene) (a, b side) {
	st := s.state()
	if s.f.OtherName != "" {
		return side{s.f.OtherName, &s.f.Other.Deadlines.Late, &s.f.Other}, side{"this run", &st.Deadlines.Late, st}
	}
	before := subtract(&st.Deadlines.Late, &st.Deadlines.SinceKnob)
	name := "last knob"
	if k := st.KnobTurns.Last(0); k != nil {
		name = k.Knob.String() + " " + showKnob(k.Knob, k.Old) + " → " + showKnob(k.Knob, k.Value)
	}
	return side{"before " + name, before, nil}, side{"after", &st.Deadlines.SinceKnob, nil}
}

// subtract is the distribution of what is in all but not in part, which all
// contains. Its extremes are those of its buckets.
func subtract(all, part *trace.Lateness) *trace.Lateness {
	out := &trace.Lateness{Early: without(&all.Early, &part.Early), Late: without(&all.Late, &part.Late)}
	out.OnTime = all.OnTime - part.OnTime
	lo, borrow := bits.Sub64(all.SumLo, part.SumLo, 0)
	out.SumLo, out.SumHi = lo, all.SumHi-part.SumHi-int64(borrow)
	first := true
	out.Each(func(low, high clock.Cycles, _ uint64) {
		if first {
			out.Min, first = max(low, all.Min), false
		}
		out.Max = min(high, all.Max)
	})
	return out
}

// without is a histogram less the counts of a part of it.
func without(all, part *trace.Hist) trace.Hist {
	out := trace.Hist{Counts: slices.Clone(all.Counts), N: all.N - part.N}
	for i := part.Lo; i < part.Hi; i++ {
		out.Counts[i] -= part.Counts[i]
	}
	for i := all.Lo; i < all.Hi; i++ {
		if out.Counts[i] != 0 {
			if out.Hi == 0 {
				out.Lo = i
			}
			out.Hi = i + 1
		}
	}
	return out
}

// compareMsg brings the verdict of a comparison.
type compareMsg struct{ d *diff.Diff }

// startCompare opens the comparison. The verdict is a bootstrap over thousands
// of draws, so a command computes it, from the latest deadlines of both sides.
func (m *Model) startCompare() tea.Cmd {
	if m.comparing = !m.comparing; !m.comparing {
		return nil
	}
	s := m.scene()
	m.compareOff, m.verdict = 0, nil
	a, b := comparison(s)
	x, y := diffSides(s, a.name, b.name)
	split := s.f.OtherName == "" // the deadlines of one run, before and after a knob
	if n := min(len(x.Late), len(y.Late)); split && n < diff.MinSamples {
		m.verdict = &diff.Diff{Verdict: "No verdict yet: it takes " + group3(diff.MinSamples) + " deadlines before and after the knob, and one side has " +
			group3(uint64(n)) + "."}
		return nil
	}
	return guarded(func() tea.Msg {
		d := diff.Compare(x, y, diff.DefaultOptions)
		if split {
			d.Warnings = nil // they are about whole runs
		}
		return compareMsg{d}
	})
}

// diffSides are the two sides as package diff takes them.
func diffSides(s *scene, nameA, nameB string) (a, b *diff.Side) {
	st := s.state()
	report := trace.NewReport(&s.f.Header, st)
	b = &diff.Side{Name: nameB, Report: report}
	if s.f.OtherName != "" {
		a = &diff.Side{Name: nameA, Report: trace.NewReport(&s.f.Header, &s.f.Other)}
		addPoints(a, &s.f.Other.Scatter, 0, clock.Never)
		addPoints(b, &st.Scatter, 0, clock.Never)
		return a, b
	}
	a = &diff.Side{Name: nameA, Report: report}
	addPoints(a, &st.Scatter, 0, st.Deadlines.KnobAt)
	addPoints(b, &st.Scatter, st.Deadlines.KnobAt, clock.Never)
	return a, b
}

// addPoints adds the deadlines from a time up to another.
func addPoints(d *diff.Side, r *trace.Ring[trace.LatePoint], from, to clock.TSC) {
	for i := range r.Len() {
		if p := r.At(i); p.At >= from && p.At < to {
			d.Late = append(d.Late, p.Late)
			d.Nums = append(d.Nums, p.Deadline)
		}
	}
}

// drawCompare draws the comparison over the body.
func (m *Model) drawCompare(s *scene, body area) {
	a, b := comparison(s)
	out := overlay(body, min(body.w, 120), body.h)
	frame := area{out.c, out.x - 1, out.y - 1, out.w + 2, out.h + 2}
	frame.text(3, 0, titleFocus, " compare ")
	y := -m.compareOff
	if v := m.verdict; v != nil {
		for _, l := range wrap(v.Verdict, out.w-2) {
			out.text(1, y, value|strong, l)
			y++
		}
		for _, w := range v.Warnings {
			for i, l := range wrap(w, out.w-4) {
				out.text(1, y, warn, pickString(i == 0, "! ", "  ")+l)
				y++
			}
		}
	} else {
		out.text(1, y, dim, "the verdict is being computed from the deadlines that are kept")
		y++
	}
	y++
	ca, cb, cd := min(40, out.w*45/100), min(62, out.w*72/100), min(82, out.w-2)
	out.text(1, y, label, "lateness")
	out.right(ca, y, series0|strong, cutString(a.name, ca-12))
	out.right(cb, y, series2|strong, cutString(b.name, cb-ca-2))
	out.right(cd, y, label, "difference")
	y++
	for _, r := range compareRows(s, a, b) {
		out.text(1, y, label, r.name)
		out.right(ca, y, value, r.a)
		out.right(cb, y, value, r.b)
		out.right(cd, y, r.st, r.diff)
		y++
	}
	if h := out.h - y - 1; h >= 5 && m.compareOff == 0 {
		overlayHistogram(s, out.sub(1, y+1, out.w-2, min(h, 16)), a.late, b.late)
	} else if over := y - out.h; over > 0 {
		out.right(out.w-1, out.h-1, dim, " ↓ more ")
	} else {
		m.compareOff = min(m.compareOff, max(y+m.compareOff-out.h, 0))
	}
}

func cutString(s string, w int) string {
	if textWidth(s) <= w {
		return s
	}
	return string([]rune(s)[:w-1]) + "…"
}

// compareRow is a line of the table.
type compareRow struct {
	name, a, b, diff string
	st               style
}

func compareRows(s *scene, a, b side) (rows []compareRow) {
	row := func(name, x, y, diff string, st style) { rows = append(rows, compareRow{name, x, y, diff, st}) }
	row("deadlines", group3(a.late.Count()), group3(b.late.Count()), "", dim)
	row("early", percent(a.late.Early.N, a.late.Count()), percent(b.late.Early.N, b.late.Count()), "", dim)
	row("on time", percent(a.late.OnTime, a.late.Count()), percent(b.late.OnTime, b.late.Count()), "", dim)
	for _, p := range percentileRows {
		x, y := p.f(a.late), p.f(b.late)
		st := dim
		if d := y - x; d > 0 {
			st = late
		} else if d < 0 {
			st = good
		}
		row(p.name, s.cyc(x), s.cyc(y), s.cyc(y-x), st)
	}
	if a.st == nil || b.st == nil {
		return rows
	}
	return append(rows, compareRuns(s, a.st, b.st)...)
}

// compareRuns compares what two runs did besides being late.
func compareRuns(s *scene, a, b *trace.State) (rows []compareRow) {
	ea, ha, ra := fastTotals(a)
	eb, hb, rb := fastTotals(b)
	rows = append(rows, compareRow{"", "", "", "", dim},
		compareRow{"exits", group3(ea), group3(eb), "", dim},
		compareRow{"fastpath hit", percent(ha, ea), percent(hb, eb), "", dim},
		compareRow{"re-entered", percent(ra, ea), percent(rb, eb), "", dim})
	for r := range trace.ExitReason(trace.NumExits) {
		x, y := &a.ExitStats[r], &b.ExitStats[r]
		if x.Count+y.Count == 0 {
			continue
		}
		d := y.Cycles.Mean() - x.Cycles.Mean()
		rows = append(rows, compareRow{r.String(), group3(x.Count) + " × " + s.span(x.Cycles.Mean()),
			group3(y.Count) + " × " + s.span(y.Cycles.Mean()), s.cyc(d) + " each", pick(d < 0, good, pick(d > 0, late, dim))})
	}
	for _, d := range kickDecisions {
		if x, y := a.Kicks.Decisions[d], b.Kicks.Decisions[d]; x+y > 0 {
			rows = append(rows, compareRow{"kick " + d.String(), group3(x), group3(y), "", dim})
		}
	}
	return rows
}

// overlayHistogram draws two distributions over each other as shares.
func overlayHistogram(s *scene, a area, x, y *trace.Lateness) {
	if x.Count() == 0 || y.Count() == 0 {
		return
	}
	k := newLateScale(min(x.Min, y.Min), max(x.Max, y.Max), a.w)
	cx, cy := histColumns(x, k), histColumns(y, k)
	share := func(cs []float64, n uint64) (most float64) {
		for i := range cs {
			cs[i] /= float64(n)
			most = max(most, cs[i])
		}
		return most
	}
	most := max(share(cx, x.Count()), share(cy, y.Count()))
	a.pieces(0, 0, a.w, []piece{{"█", series0, 0}, {" only the first  ", dim, 0}, {"▒", series2, 0}, {" only the second  ", dim, 0},
		{"▓", series7, 0}, {" both  share of deadlines, lateness on a log axis", dim, 1}})
	h := a.h - 2
	for i := range a.w {
		hx, hy := rows(cx[i], most, h), rows(cy[i], most, h)
		for r := range max(hx, hy) {
			st, fill := series7, '▓'
			if r >= hy {
				st, fill = series0, '█'
			} else if r >= hx {
				st, fill = series2, '▒'
			}
			a.put(i, h-r, fill, st)
		}
	}
	a.hline(0, h+1, a.w, '─', faint)
	for _, v := range []float64{-1e5, -1e4, -1e3, 0, 1e3, 1e4, 1e5} {
		if v >= float64(min(x.Min, y.Min)) && v <= float64(max(x.Max, y.Max)) {
			mark := tickLabel(s, v)
			a.text(min(max(k.col(v)-textWidth(mark)/2, 0), a.w-textWidth(mark)), h+1, dim, mark)
		}
	}
}

// rows is the height of a share on a scale by square root.
func rows(v, most float64, h int) int {
	if v <= 0 {
		return 0
	}
	return max(int(math.Sqrt(v/most)*float64(h)+0.5), 1)
}

var compareHelp = []string{
	"Two runs side by side: the branch that was left against this one, or, where there is none, the deadlines armed before the last turned knob against those after it.",
	"The sentence on top says whether the difference means anything: typical lateness (the mean without the lowest and highest 5 %) with an interval by a moving-block bootstrap over the deadlines that are kept, as \"ticktrap diff\" does it.",
}
