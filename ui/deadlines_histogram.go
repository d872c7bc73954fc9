package ui

import (
	"math"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// presentHistogram draws the distribution of lateness on a symmetric log axis;
// columns are logarithmic too, so that a single late one is seen. It returns where
// the chart is.
func presentHistogram(s *scene, a area, br *brush) area {
	d := &s.state().Deadlines
	head := []piece{{"histogram", label, 0}, {"  log·log", dim, 2}}
	split := d.KnobAt != 0 && d.SinceKnob.Count() > 0
	if split {
		head = append(head, piece{"  █", chart, 1}, piece{" since the last knob ", dim, 1}, piece{"░", dim, 1}, piece{" all", dim, 1})
	}
	a.pieces(0, 0, a.w, head)
	n := d.Late.Count()
	if n == 0 || a.h < 4 || a.w < 1 {
		return area{}
	}
	ch := a.sub(0, 1, a.w, a.h-3)
	k := newLateScale(d.Late.Min, d.Late.Max, ch.w)
	all, since := histColumns(&d.Late, k), histColumns(&d.SinceKnob, k)
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
	if br.kind == brushLate {
		ch.markColumns(k.col(float64(br.lo)), k.col(float64(br.hi)))
	}
	histAxis(s, a, ch, k, d)
	return ch
}

func histColumns(l *trace.Lateness, k lateScale) []float64 {
	out := make([]float64, k.w)
	l.Each(func(low, high clock.Cycles, count uint64) {
		out[k.col((float64(low)+float64(high))/2)] += float64(count)
	})
	return out
}

// histAxis draws the axis with its decades, and below it the percentiles.
func histAxis(s *scene, a, ch area, k lateScale, d *trace.DeadlineStats) {
	y := a.h - 2
	a.hline(0, y, ch.w, '─', faint)
	lateTicks(s, a.sub(0, 0, ch.w, a.h), y, k, d.Late.Min, d.Late.Max)
	taken := -1
	for _, m := range []struct {
		name string
		v    clock.Cycles
	}{{"p50", d.Late.Percentile(50)}, {"p99", d.Late.Percentile(99)}, {"max", d.Late.Max}} {
		x := k.col(float64(m.v))
		words := "▲" + m.name
		if m.name == "max" || x+textWidth(words) > ch.w {
			words = m.name + "▲"
			x -= textWidth(m.name)
		}
		if x > taken && x >= 0 {
			taken = a.cut(x, y+1, ch.w-x, s.lateStyle(m.v), words)
		}
	}
}

// lateTicks labels the decades of a symmetric log axis, the outer ones first.
func lateTicks(s *scene, a area, y int, k lateScale, least, most clock.Cycles) {
	used := make([]bool, a.w+1)
	marks := 0
	put := func(v float64) {
		mark := tickLabel(s, v)
		if v == 0 {
			mark = "0"
		}
		w := textWidth(mark)
		from := min(max(k.col(v)-w/2, 0), a.w-w)
		if v < float64(least) || v > float64(most) || from < 0 {
			return
		}
		for x := max(from-1, 0); x <= min(from+w, a.w); x++ {
			if used[x] {
				return
			}
		}
		for x := from; x < from+w; x++ {
			used[x] = true
		}
		a.text(from, y, dim, mark)
		marks++
	}
	put(0)
	for _, m := range []float64{1, 3, 2, 5} { // decades first, then what fits between
		for e := 100.0; e < 1e9; e *= 10 {
			put(m * e)
			put(-m * e)
		}
	}
	if marks == 0 { // no round value in so narrow a range
		lo, hi := tickLabel(s, float64(least)), tickLabel(s, float64(most))
		a.right(max(k.col(float64(least)), textWidth(lo)), y, dim, lo)
		if x := k.col(float64(most)) + 1; most > least && x+textWidth(hi) <= a.w {
			a.text(x, y, dim, hi)
		}
	}
}
