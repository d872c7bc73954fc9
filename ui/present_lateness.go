package ui

import (
	"math"
	"strings"

	"ticktrap/internal/clock"
	"ticktrap/trace"
)

// axisCols is the width of the labels left of a chart.
const axisCols = 10

// presentScatter draws lateness over time with the on-time band and the turns of
// knobs.
func presentScatter(s *scene, a area) {
	r := &s.state().Scatter
	a.cut(0, 0, a.w, label, "lateness over time")
	if r.Len() == 0 {
		a.cut(0, 1, a.w, dim, "a dot per deadline, once a handler has run")
		return
	}
	ch := a.sub(axisCols, 1, a.w-axisCols, a.h-1)
	if ch.w < 8 || ch.h < 2 {
		return
	}
	band := float64(trace.OnTimeBand)
	lo, hi := lateRange(r)
	slo, shi := symlog(lo, band), symlog(hi, band)
	t0, t1 := r.At(0).At, r.Last(0).At
	dur := max(float64(t1.Sub(t0)), 1)
	rowOf := func(v float64) int {
		return int(math.Round((shi - symlog(v, band)) / (shi - slo) * float64(4*ch.h-1)))
	}
	for _, v := range []float64{band, 0, -band} {
		y := rowOf(v) / 4
		if v > lo && v < hi {
			ch.hline(0, y, ch.w, map[bool]rune{true: '─', false: '┈'}[v == 0], faint)
		}
	}
	s.dots.reset(ch.w, ch.h)
	for i := range r.Len() {
		p := r.At(i)
		x := int(float64(p.At.Sub(t0)) / dur * float64(2*ch.w-1))
		rank := uint8(2)
		if p.Late >= -trace.OnTimeBand && p.Late <= trace.OnTimeBand {
			rank = 1
		}
		s.dots.dot(x, rowOf(float64(p.Late)), lateStyle(p.Late), rank)
	}
	s.dots.draw(ch)
	scatterLabels(s, a, rowOf, lo, hi)
	knobMarks(s, a, ch, t0, dur)
}

func scatterLabels(s *scene, a area, rowOf func(float64) int, lo, hi float64) {
	used := map[int]bool{}
	put := func(v float64) {
		if y := 1 + rowOf(v)/4; !used[y] {
			used[y] = true
			a.right(axisCols-1, y, dim, tickLabel(s, v))
		}
	}
	put(hi)
	put(lo)
	if lo <= 0 && hi >= 0 {
		put(0)
	}
	for _, m := range []float64{1, 3} { // decades first, then what fits between
		for e := 100.0; e < 1e12; e *= 10 {
			for _, v := range []float64{m * e, -m * e} {
				if v > lo && v < hi {
					put(v)
				}
			}
		}
	}
}

// lateRange is the range of the scatter's axis: what the points span, and the
// deadline itself unless all lie far from it.
func lateRange(r *trace.Ring[trace.LatePoint]) (lo, hi float64) {
	band := float64(trace.OnTimeBand)
	lo, hi = float64(r.At(0).Late), float64(r.At(0).Late)
	for i := range r.Len() {
		v := float64(r.At(i).Late)
		lo, hi = min(lo, v), max(hi, v)
	}
	switch {
	case lo > 3*band:
		lo /= 1.2
	case hi < -3*band:
		hi /= 1.2
	default:
		lo, hi = min(lo, -band), max(hi, band)
	}
	if hi <= lo*1.1 && lo > 0 {
		hi = lo * 2
	}
	return lo, hi
}

// knobMarks draws a line and the key of each knob turned in the chart's time.
func knobMarks(s *scene, a, ch area, t0 clock.TSC, dur float64) {
	marks := &s.state().KnobTurns
	for i := range marks.Len() {
		k := marks.At(i)
		x := int(float64(k.At.Sub(t0)) / dur * float64(ch.w-1))
		if x < 0 || x >= ch.w {
			continue
		}
		for y := 0; y < ch.h; y++ {
			if cur := ch.c.cells[(ch.y+y)*ch.c.w+ch.x+x].r; cur == ' ' || cur == '─' || cur == '┈' {
				ch.put(x, y, '┆', knobMark)
			}
		}
		a.put(axisCols+x, 0, rune(knobLetter(s, k)[0]), knobMark|strong)
	}
}

// knobLetter is the key that turns a knob.
func knobLetter(s *scene, k *trace.KnobMark) string {
	row := knobRowOf(k.Knob)
	if row == nil {
		return "?"
	}
	switch {
	case k.Knob == trace.KnobAdvance && (k.Value == trace.AdvanceAdaptive || k.Old == trace.AdvanceAdaptive):
		return "A"
	case k.Knob == trace.KnobAdvance && k.Value < k.Old:
		return "-"
	case k.Knob == trace.KnobFastpath:
		return "f"
	case k.Knob == trace.KnobKick:
		return "x"
	}
	return s.keys.Key(row.action)
}

// presentHistogram draws the distribution of lateness on a symmetric log axis;
// columns are logarithmic too, so that a single late one is seen.
func presentHistogram(s *scene, a area) {
	d := &s.state().Deadlines
	head := []piece{{"histogram", label, 0}, {"  log·log", dim, 2}}
	split := d.KnobAt != 0 && d.SinceKnob.Count() > 0
	if split {
		head = append(head, piece{"  █", chart, 1}, piece{" since the last knob ", dim, 1}, piece{"░", dim, 1}, piece{" all", dim, 1})
	}
	a.pieces(0, 0, a.w, head)
	n := d.Late.Count()
	if n == 0 || a.h < 4 {
		return
	}
	ch := a.sub(0, 1, a.w, a.h-3)
	band := float64(trace.OnTimeBand)
	lo, hi := symlog(float64(d.Late.Min), band), symlog(float64(d.Late.Max), band)
	if hi-lo < 0.4 {
		mid := (lo + hi) / 2
		lo, hi = mid-0.2, mid+0.2
	}
	col := func(v float64) int {
		return min(max(int((symlog(v, band)-lo)/(hi-lo)*float64(ch.w-1)+0.5), 0), ch.w-1)
	}
	all, since := histColumns(&d.Late, ch.w, col), histColumns(&d.SinceKnob, ch.w, col)
	most := 1.0
	for _, c := range all {
		most = max(most, c)
	}
	frac := func(c float64) float64 {
		if c == 0 {
			return 0
		}
		return max(math.Log1p(c)/math.Log1p(most), 1/float64(8*ch.h))
	}
	for x := range all {
		if split {
			for y := 0; y < int(math.Ceil(frac(all[x])*float64(ch.h)-0.01)); y++ {
				ch.put(x, ch.h-1-y, '░', dim)
			}
			ch.column(x, ch.h-1, ch.h, frac(since[x]), chart)
			continue
		}
		ch.column(x, ch.h-1, ch.h, frac(all[x]), chart)
	}
	histAxis(s, a, ch, col, d)
}

func histColumns(l *trace.Lateness, w int, col func(float64) int) []float64 {
	out := make([]float64, w)
	l.Each(func(low, high clock.Cycles, count uint64) {
		out[col((float64(low)+float64(high))/2)] += float64(count)
	})
	return out
}

// histAxis draws the axis with its decades, and below it the percentiles.
func histAxis(s *scene, a, ch area, col func(float64) int, d *trace.DeadlineStats) {
	y := a.h - 2
	a.hline(0, y, ch.w, '─', faint)
	taken := -1
	for _, v := range []float64{-1e6, -1e5, -1e4, -1e3, -100, 0, 100, 1e3, 1e4, 1e5, 1e6} {
		if v < float64(d.Late.Min) || v > float64(d.Late.Max) {
			continue
		}
		x, mark := col(v), tickLabel(s, v)
		if v == 0 {
			mark = "0"
		}
		from := max(x-textWidth(mark)/2, 0)
		if from > taken && from+textWidth(mark) <= ch.w {
			taken = a.text(from, y, dim, mark)
		}
	}
	taken = -1
	for _, m := range []struct {
		name string
		v    clock.Cycles
	}{{"p50", d.Late.Percentile(50)}, {"p99", d.Late.Percentile(99)}, {"max", d.Late.Max}} {
		x := col(float64(m.v))
		words := "▲" + m.name
		if m.name == "max" || x+textWidth(words) > ch.w {
			words = m.name + "▲"
			x -= textWidth(m.name)
		}
		if x > taken && x >= 0 {
			taken = a.cut(x, y+1, ch.w-x, lateStyle(m.v), words)
		}
	}
}

// percentileRows are the rows of the percentiles table.
var percentileRows = []struct {
	name string
	f    func(l *trace.Lateness) clock.Cycles
}{
	{"min", func(l *trace.Lateness) clock.Cycles { return l.Min }},
	{"p50", func(l *trace.Lateness) clock.Cycles { return l.Percentile(50) }},
	{"p90", func(l *trace.Lateness) clock.Cycles { return l.Percentile(90) }},
	{"p99", func(l *trace.Lateness) clock.Cycles { return l.Percentile(99) }},
	{"p99.9", func(l *trace.Lateness) clock.Cycles { return l.Percentile(99.9) }},
	{"max", func(l *trace.Lateness) clock.Cycles { return l.Max }},
	{"mean", func(l *trace.Lateness) clock.Cycles { return clock.Cycles(math.Round(l.Mean())) }},
}

// lateColumn is a column of the percentiles table.
type lateColumn struct {
	name string
	l    *trace.Lateness
}

// presentPercentiles draws the table: all deadlines, those since the last knob,
// and each vCPU where there is room.
func presentPercentiles(s *scene, a area) {
	st := s.state()
	cols := []lateColumn{{"all", &st.Deadlines.Late}}
	if st.Deadlines.KnobAt != 0 {
		cols = append(cols, lateColumn{"since knob", &st.Deadlines.SinceKnob})
	}
	if st.Samples.Count() > 0 {
		cols = append(cols, lateColumn{"guest saw", &st.Samples})
	}
	wide := 22
	if a.w < 7+wide*len(cols) {
		wide = 11
	}
	if len(st.VCPUs) > 1 {
		for i := range st.VCPUs {
			if 7+wide*(len(cols)+1) <= a.w {
				cols = append(cols, lateColumn{"v" + cpuWord(uint8(i)), &st.VCPUs[i].Late})
			}
		}
	}
	a.text(0, 0, label, strings.ToLower("lateness"))
	x := 7
	for _, c := range cols {
		lateColumnDraw(s, a.sub(x, 0, wide, a.h), c, wide >= 22)
		x += wide
	}
	rows := append([]string{"n"}, percentileOrder(a.h)...)
	for i, n := range rows {
		if i+1 < a.h {
			a.text(0, 1+i, label, n)
		}
	}
}

// percentileOrder are the rows that fit in h, counts first.
func percentileOrder(h int) []string {
	switch {
	case h >= 11:
		return []string{"early", "on time", "min", "p50", "p90", "p99", "p99.9", "max", "mean"}
	case h >= 9:
		return []string{"early", "on time", "min", "p50", "p99", "p99.9", "max"}
	case h >= 6:
		return []string{"p50", "p99", "p99.9", "max"}
	}
	return []string{"p50", "p99", "max"}
}

func lateColumnDraw(s *scene, a area, c lateColumn, both bool) {
	a.right(10, 0, label, c.name)
	n := c.l.Count()
	a.right(10, 1, value, group3(n))
	for i, name := range percentileOrder(a.h) {
		y := 2 + i
		switch name {
		case "early":
			a.right(10, y, early, percent(c.l.Early.N, n))
		case "on time":
			a.right(10, y, good, percent(c.l.OnTime, n))
		default:
			if n > 0 {
				latePercentile(s, a, y, name, c.l, both)
			}
		}
	}
}

func latePercentile(s *scene, a area, y int, name string, l *trace.Lateness, both bool) {
	for _, r := range percentileRows {
		if r.name != name {
			continue
		}
		v := r.f(l)
		if s.nanos && !both {
			a.right(10, y, lateStyle(v), duration(cyclesToNanos(s.hz(), v)))
			return
		}
		a.right(10, y, lateStyle(v), signed3(int64(v)))
		if both {
			a.right(21, y, dim, duration(cyclesToNanos(s.hz(), v)))
		}
	}
}

func stripDeadlines(s *scene, a area) {
	d := &s.state().Deadlines
	if d.Opened == 0 {
		a.text(0, 0, dim, "no deadline yet")
		return
	}
	l := &d.Late
	ps := []piece{{group3(d.Count()) + " ", value, 0}}
	if l.Count() > 0 {
		for i, name := range []string{"p50", "p99", "max"} {
			for _, r := range percentileRows {
				if r.name == name {
					v := r.f(l)
					ps = append(ps, piece{" " + name + " ", label, i}, piece{lateFigure(s, v), lateStyle(v), i})
				}
			}
		}
		if !s.nanos {
			ps = append(ps, piece{" cyc", dim, 0})
		}
		ps = append(ps, piece{"  early " + percent(l.Early.N, l.Count()), dim, 4})
	}
	ps = append(ps, piece{"  open " + group3(d.Open()), dim, 5}, piece{"  ", text, 0})
	x := a.pieces(0, 0, a.w, ps)
	if w := min(a.w-x, 60); w >= 8 && l.Count() > 0 {
		stripHistogram(a.sub(x, 0, w, 1), l)
	}
}

// stripHistogram is the distribution as one line of columns.
func stripHistogram(a area, l *trace.Lateness) {
	band := float64(trace.OnTimeBand)
	lo, hi := symlog(float64(l.Min), band), symlog(float64(l.Max), band)
	hi = max(hi, lo+0.4)
	cols := histColumns(l, a.w, func(v float64) int {
		return min(max(int((symlog(v, band)-lo)/(hi-lo)*float64(a.w-1)+0.5), 0), a.w-1)
	})
	most := 1.0
	for _, c := range cols {
		most = max(most, c)
	}
	for x, c := range cols {
		if c > 0 {
			a.column(x, 0, 1, max(math.Log1p(c)/math.Log1p(most), 0.125), chart)
		}
	}
}
