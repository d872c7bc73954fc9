package ui

import (
	"math"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

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
			a.right(10, y, s.lateStyle(v), duration(cyclesToNanos(s.hz(), v)))
			return
		}
		a.right(10, y, s.lateStyle(v), signedIn(10, int64(v)))
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
					ps = append(ps, piece{" " + name + " ", label, i}, piece{lateFigure(s, v), s.lateStyle(v), i})
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
	cols := histColumns(l, newLateScale(l.Min, l.Max, a.w))
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
