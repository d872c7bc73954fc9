package ui

import (
	"math"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// fastOverTime draws what became of exits over the whole run as stacked columns.
func fastOverTime(s *scene, a area) {
	a.pieces(0, 0, a.w, []piece{{"share of exits over the run", label, 0}, {"  █", good, 1}, {" re-entered", dim, 1},
		{"  " + string(pickRune(s.mono, '▒', '█')), warn, 2}, {" handled", dim, 2}, {"  " + string(fastFills(s)[2]), faint, 3}, {" not taken", dim, 3}})
	ch := a.sub(5, 1, a.w-5, a.h-1-axisRows(a))
	if r := &s.state().Rates; r.Used > 0 {
		timeAxis(s, a, ch, r.Start, float64(r.Width)*float64(r.Used))
	}
	vs := rateColumns(&s.state().Rates, ch.w)
	fills := fastFills(s)
	for x, v := range vs {
		if v.exits == 0 {
			continue
		}
		re := int(math.Round(v.reentered / v.exits * float64(ch.h)))
		hit := int(math.Round(v.hit / v.exits * float64(ch.h)))
		for y := range ch.h {
			st, r := faint, fills[2]
			switch up := ch.h - y; {
			case up <= re:
				st, r = good, '█'
			case up <= hit:
				st, r = warn, pickRune(s.mono, '▒', '█')
			}
			ch.put(x, y, r, st)
		}
	}
	a.right(4, 1, dim, "100%")
	a.right(4, ch.h, dim, "0%")
	knobColumns(s, a, ch, len(vs))
}

func pickRune(cond bool, yes, no rune) rune {
	if cond {
		return yes
	}
	return no
}

type rateColumn struct{ exits, hit, reentered float64 }

// rateColumns spreads the run's time buckets over n columns.
func rateColumns(r *trace.Rates, n int) []rateColumn {
	if n <= 0 || r.Used == 0 {
		return nil
	}
	out := make([]rateColumn, n)
	for x := range out {
		from := x * r.Used / n
		to := max((x+1)*r.Used/n, from+1)
		for _, b := range r.Buckets[from:to] {
			out[x].exits += float64(b.Exits)
			out[x].hit += float64(b.Fastpath)
			out[x].reentered += float64(b.Reentered)
		}
	}
	return out
}

// knobColumns marks turned knobs above a chart of the whole run.
func knobColumns(s *scene, a, ch area, n int) {
	r := &s.state().Rates
	span := float64(r.Width) * float64(r.Used)
	marks := &s.state().KnobTurns
	for i := range marks.Len() {
		k := marks.At(i)
		if x := int(float64(k.At.Sub(r.Start)) / span * float64(n)); x >= 0 && x < n {
			a.knobSign(ch.x-a.x+x, 0, s, k)
		}
	}
}
