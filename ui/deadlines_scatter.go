package ui

import (
	"math"
	"unicode/utf8"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// axisCols is the width of the labels left of a chart.
const axisCols = 10

// presentScatter draws lateness over time with the on-time band and the turns of
// knobs, the brushed columns marked. It returns where the chart is.
func presentScatter(s *scene, a area, br *brush) area {
	r := &s.state().Scatter
	a.cut(0, 0, a.w, label, "lateness over time"+pickString(s.nanos, "", ", cyc"))
	if r.Len() == 0 {
		a.cut(0, 1, a.w, dim, "a dot per deadline, once a handler has run")
		return area{}
	}
	ch := a.sub(axisCols, 1, a.w-axisCols, a.h-1-axisRows(a))
	if ch.w < 8 || ch.h < 2 {
		return area{}
	}
	band := float64(trace.OnTimeBand)
	lo, hi := lateRange(r)
	slo, shi := symlog(lo, band), symlog(hi, band)
	k := newTimeScale(r, ch.w)
	timeAxis(s, a, ch, k.t0, k.dur)
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
		rank := uint8(2)
		if p.Late >= -trace.OnTimeBand && p.Late <= trace.OnTimeBand {
			rank = 1
		}
		s.dots.dot(k.dot(p.At), rowOf(float64(p.Late)), s.dotStyle(p.Late), rank)
	}
	s.dots.draw(ch)
	scatterLabels(s, a, rowOf, lo, hi)
	knobMarks(s, a, ch, k.t0, k.dur)
	if br.kind == brushTime {
		ch.markColumns(k.dot(br.from)/2, k.dot(br.to)/2)
	}
	return ch
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

// dotStyle is lateStyle for a dot: a plain one is of the chart.
func (s *scene) dotStyle(c clock.Cycles) style {
	if st := s.lateStyle(c); st != value {
		return st
	}
	return chart
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
		lo /= 1.05
	case hi < -3*band:
		hi /= 1.05
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
		a.knobSign(axisCols+x, 0, s, k)
	}
}

// knobSign puts a knob's key on the heading of a chart, or below it where words
// are in the way.
func (a area) knobSign(x, y int, s *scene, k *trace.KnobMark) {
	if x < 0 || x >= a.w || a.h < 2 {
		return
	}
	words := func(x int) bool {
		c := a.c.cells[(a.y+y)*a.c.w+a.x+min(max(x, 0), a.w-1)]
		return c.r != ' ' && c.s&roleMask != knobMark
	}
	if words(x) || words(x-1) && words(x+1) {
		y++
	}
	a.put(x, y, knobRune(s, k), knobMark|strong)
}

// knobRune is the first character of the key that turns a knob.
func knobRune(s *scene, k *trace.KnobMark) rune {
	r, _ := utf8.DecodeRuneInString(knobLetter(s, k))
	return r
}

// knobLetter is the key that turns a knob.
func knobLetter(s *scene, k *trace.KnobMark) string {
	row := knobRowOf(k.Knob)
	if row == nil {
		return "?"
	}
	act := row.action
	switch {
	case k.Knob == trace.KnobAdvance && (k.Value == trace.AdvanceAdaptive || k.Old == trace.AdvanceAdaptive):
		act = keymap.Adaptive
	case k.Knob == trace.KnobAdvance && k.Value < k.Old:
		act = keymap.AdvanceDown
	case k.Knob == trace.KnobFastpath && (k.Value == uint64(vmm.RulesOff) || k.Old == uint64(vmm.RulesOff)):
		act = keymap.Fastpath
	case k.Knob == trace.KnobKick && min(k.Value, k.Old) == uint64(vmm.KickKB) && max(k.Value, k.Old) >= uint64(vmm.KickKC):
		act = keymap.KickTaxCut
	}
	return s.keys.Key(act)
}
