package ui

import (
	"math"
	"slices"

	"ticktrap/trace"
)

func presentFastpath(s *scene, a area, rs []trace.ExitReason, sel int) {
	fastTrend(s, a.sub(0, 0, a.w, 1))
	bailRows := min(max(a.h-2-len(rs), min(a.h/3, 4)), 10)
	rows := max(min(len(rs), a.h-2-bailRows), 1)
	fastHead(a.sub(0, 1, a.w, 1))
	from := max(min(sel-rows/2, len(rs)-rows), 0)
	for i := 0; i < rows && from+i < len(rs); i++ {
		fastLine(s, a.sub(0, 2+i, a.w, 1), rs[from+i])
		if from+i == sel && s.focused {
			a.mark(2+i, selected)
		}
	}
	fastBails(s, a.sub(0, 2+rows, a.w, a.h-2-rows), rs[sel])
}

// fastTotals sums over all reasons.
func fastTotals(st *trace.State) (exits, hit, reentered uint64) {
	for i := range st.ExitStats {
		x := &st.ExitStats[i]
		exits += x.Count
		hit += x.Fastpath()
		reentered += x.Reentries
	}
	return exits, hit, reentered
}

// rates turns the run's time buckets into fractions, merged to at most n.
func rates(r *trace.Rates, n int, f func(b trace.RateBucket) (part, whole uint32)) []float64 {
	if n <= 0 || r.Used == 0 {
		return nil
	}
	per := (r.Used + n - 1) / n
	var out []float64
	for i := 0; i < r.Used; i += per {
		var part, whole uint32
		for _, b := range r.Buckets[i:min(i+per, r.Used)] {
			p, w := f(b)
			part, whole = part+p, whole+w
		}
		if whole == 0 {
			out = append(out, math.NaN())
		} else {
			out = append(out, float64(part)/float64(whole))
		}
	}
	return out
}

func fastTrend(s *scene, a area) {
	exits, hit, re := fastTotals(s.state())
	x := a.pieces(0, 0, a.w, []piece{{"hit ", label, 0}, {percent(hit, exits), good, 0}, {"  re-entered ", label, 1},
		{percent(re, exits), value, 1}, {"  of ", label, 2}, {group3(exits), value, 2}, {"  ", text, 0}})
	if w := a.w - x; w >= 6 {
		vs := rates(&s.state().Rates, w, func(b trace.RateBucket) (uint32, uint32) { return b.Fastpath, b.Exits })
		a.spark(x, 0, min(w, len(vs)), vs, good)
	}
}

func fastHead(a area) {
	a.text(0, 0, label, "reason")
	a.right(28, 0, label, "exits")
	a.right(35, 0, label, "hit")
	a.right(43, 0, label, "mean cyc")
	if a.w > 50 {
		a.text(45, 0, label, "re-entered·handled·not taken")
	}
}

func fastLine(s *scene, a area, r trace.ExitReason) {
	x := &s.state().ExitStats[r]
	hit := x.Fastpath()
	a.cut(0, 0, 20, pick(hit > 0, value, text), r.String())
	a.right(28, 0, value, group3(x.Count))
	a.right(35, 0, pick(hit > 0, good, dim), percent(hit, x.Count))
	a.right(43, 0, dim, group3(uint64(max(x.Cycles.Mean(), 0))))
	w := a.w - 45
	if w < 4 {
		return
	}
	re := float64(min(x.Reentries, hit))
	fills := [3]rune{'█', '█', '·'}
	if s.mono {
		fills[1] = '▒'
	}
	a.stack(45, 0, w, float64(x.Count), []segment{{re, good, fills[0]}, {float64(hit) - re, warn, fills[1]},
		{float64(x.Count - hit), faint, fills[2]}})
}

// bail is a clause and how often it was the first that failed.
type bail struct {
	clause trace.Clause
	n      uint64
}

// bails lists why a reason did not re-enter, most frequent first.
func bails(x *trace.ExitStats) []bail {
	var out []bail
	for c, n := range x.Clauses {
		if n > 0 {
			out = append(out, bail{trace.Clause(c), n})
		}
	}
	slices.SortStableFunc(out, func(a, b bail) int {
		switch {
		case a.n > b.n:
			return -1
		case a.n < b.n:
			return 1
		}
		return 0
	})
	return out
}

func fastBails(s *scene, a area, r trace.ExitReason) {
	if a.h <= 0 {
		return
	}
	x := &s.state().ExitStats[r]
	bs := bails(x)
	ps := []piece{{"not re-entered: ", label, 0}, {r.String(), value, 0}}
	if len(bs) == 0 {
		ps = append(ps, piece{"  no bail-out", dim, 0})
	}
	a.pieces(0, 0, a.w, ps)
	for i, b := range bs {
		if i+1 >= a.h {
			break
		}
		y := i + 1
		a.right(10, y, warn, group3(b.n))
		a.right(17, y, dim, percent(b.n, x.Count))
		end := a.cut(19, y, a.w-19, value, b.clause.String())
		a.cut(end+2, y, a.w-end-2, dim, clauseShort(b.clause))
	}
}

func stripFastpath(s *scene, a area) {
	exits, hit, re := fastTotals(s.state())
	if exits == 0 {
		a.text(0, 0, dim, "no VM-exit yet")
		return
	}
	ps := []piece{{"hit ", label, 0}, {percent(hit, exits), good, 0}, {" re-entered ", label, 2}, {percent(re, exits), value, 2}}
	msr, pt := &s.state().ExitStats[trace.ExitMSRWrite], &s.state().ExitStats[trace.ExitPreemptionTimer]
	ps = append(ps, piece{"  MSR_WRITE ", label, 3}, piece{percent(msr.Fastpath(), msr.Count), value, 3},
		piece{"  PREEMPTION_TIMER ", label, 4}, piece{percent(pt.Fastpath(), pt.Count), value, 4})
	var top bail
	for i := range s.state().ExitStats {
		for _, b := range bails(&s.state().ExitStats[i]) {
			if b.n > top.n && b.clause != trace.ClauseNoHandler {
				top = b
			}
		}
	}
	if top.n > 0 {
		ps = append(ps, piece{"  bail ", label, 1}, piece{top.clause.String() + " " + short(top.n), warn, 1})
	}
	x := a.pieces(0, 0, a.w, append(ps, piece{"  ", text, 0}))
	if w := a.w - x; w >= 6 {
		vs := rates(&s.state().Rates, w, func(b trace.RateBucket) (uint32, uint32) { return b.Fastpath, b.Exits })
		a.spark(x, 0, min(w, len(vs)), vs, good)
	}
}
