package ui

import (
	"math"
	"slices"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

func presentFastpath(s *scene, a area, rs []trace.ExitReason, sel int) {
	fastTrend(s, a.sub(0, 0, a.w, 1))
	bailRows := min(max(a.h-2-len(rs), min(a.h/3, 4)), 1+max(len(bails(&s.state().ExitStats[rs[sel]])), 1))
	rows := max(min(len(rs), a.h-2-bailRows), 1)
	if spare := a.h - 2 - rows - bailRows; spare >= 5 {
		chart := spare - 1
		if spare >= 24 { // room for the predicate too
			chart = spare - 14
		}
		fastOverTime(s, a.sub(0, a.h-chart, a.w, chart))
		a = a.sub(0, 0, a.w, a.h-chart-1)
	}
	cost := meansOf(s.state())
	fastHead(s, a.sub(0, 1, a.w, 1), cost.known)
	from := max(min(sel-rows/2, len(rs)-rows), 0)
	for i := 0; i < rows && from+i < len(rs); i++ {
		fastLine(s, a.sub(0, 2+i, a.w, 1), rs[from+i], &cost)
		if from+i == sel && s.focused {
			a.mark(2+i, selected)
		}
	}
	used := fastBails(s, a.sub(0, 2+rows, a.w, a.h-2-rows), rs[sel])
	fastPredicate(s, a.sub(0, 3+rows+used, a.w, a.h-3-rows-used), rs[sel])
}

// fastPredicate lists the terms that the rule set looks at for a reason, with how
// often each was the first that failed. It needs a few rows to say anything.
func fastPredicate(s *scene, a area, r trace.ExitReason) {
	if a.h < 4 {
		return
	}
	rules := vmm.RuleSet(s.knob(trace.KnobFastpath).Value)
	x := &s.state().ExitStats[r]
	a.cut(0, 0, a.w, label, "what "+showKnob(trace.KnobFastpath, uint64(rules))+" looks at, in order, and how often it failed first")
	y, shown := 1, map[trace.Clause]bool{}
	f := s.fastpathOf(rules)
	ts := predicateOf(&f, r)
	for _, c := range slices.Concat(beyondPredicate(ts, x), ts) {
		if y >= a.h {
			return
		}
		if shown[c] {
			continue
		}
		shown[c] = true
		n := x.Clauses[c]
		a.right(10, y, pick(n > 0, warn, dim), group3(n))
		a.cut(12, y, a.w-12, pick(n > 0, value, text), termWords(c))
		y++
	}
}

// beyondPredicate are the clauses that exits of a reason failed at and that the
// predicate's list lacks: what was counted is shown whatever the list holds.
func beyondPredicate(ts []trace.Clause, x *trace.ExitStats) (out []trace.Clause) {
	for c := range trace.Clause(trace.NumClauses) {
		if c != trace.ClauseNone && x.Clauses[c] > 0 && !slices.Contains(ts, c) {
			out = append(out, c)
		}
	}
	return out
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

// fastFills are the parts of a reason's bar: re-entered, handled, not taken.
func fastFills(s *scene) [3]rune {
	if s.mono {
		return [3]rune{'█', '▒', '·'}
	}
	return [3]rune{blockFill, blockFill, '·'}
}

func blockString(s *scene, i int) string { return string(fastFills(s)[i]) }

// fastBar is the column from which a reason's bar is drawn on a line of width w:
// behind one column of costs, or two.
func fastBar(w int) int {
	if w >= 68 {
		return 60
	}
	return 48
}

func fastHead(s *scene, a area, split bool) {
	a.text(0, 0, label, "reason")
	a.right(28, 0, label, "exits")
	a.right(36, 0, label, "hit")
	bar := fastBar(a.w)
	switch {
	case bar > 48:
		a.right(46, 0, label, "host cyc")
		a.right(58, 0, label, "exit→entry")
	case a.w >= 48:
		a.right(47, 0, label, pickString(split, "host cyc", "exit→entry"))
	}
	a.pieces(bar, 0, a.w-bar, []piece{{blockString(s, 0) + " re-entered ", good, 1}, {blockString(s, 1) + " handled ", warn, 2},
		{"· not taken", dim, 3}})
}

func fastLine(s *scene, a area, r trace.ExitReason, cost *exitMeans) {
	x := &s.state().ExitStats[r]
	hit := x.Fastpath()
	a.cut(0, 0, 20, pick(hit > 0, value, text), r.String())
	a.right(28, 0, value, group3(x.Count))
	a.right(36, 0, pick(hit > 0, good, dim), percent(hit, x.Count))
	host, whole := meanWord(cost.host[r], cost.nHost[r]), meanWord(cost.whole[r], cost.nWhole[r])
	if cost.nWhole[r] == 0 { // none is kept: the mean of the whole run
		whole = group3(uint64(max(x.Cycles.Mean(), 0)))
	}
	bar := fastBar(a.w)
	switch {
	case bar > 48:
		a.right(46, 0, value, host)
		a.right(58, 0, dim, whole)
	case a.w >= 48:
		a.right(46, 0, dim, pickString(cost.known, host, whole))
	}
	w := min(a.w-bar, 100)
	if w < 4 {
		return
	}
	re := float64(min(x.Reentries, hit))
	fills := fastFills(s)
	a.stack(bar, 0, w, float64(x.Count), []segment{{re, good, fills[0]}, {float64(hit) - re, warn, fills[1]},
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
		if c == int(trace.ClauseNone) { // re-entered; what is left was finished by design
			n -= min(n, x.Reentries)
		}
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

// fastBails lists why a reason did not re-enter and returns the rows used.
func fastBails(s *scene, a area, r trace.ExitReason) int {
	if a.h <= 0 {
		return 0
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
		if b.clause == trace.ClauseNone {
			a.cut(19, y, a.w-19, dim, "no clause failed: the handler itself ends with EXIT_HANDLED")
			continue
		}
		end := a.cut(19, y, a.w-19, value, b.clause.String())
		a.cut(end+2, y, a.w-end-2, dim, clauseShort(b.clause))
	}
	return min(1+len(bs), a.h)
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
			if b.n > top.n && b.clause != trace.ClauseNoHandler && b.clause != trace.ClauseNone {
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
