package ui

import (
	"cmp"
	"math/bits"
	"slices"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/diff"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// stretch is one side of a comparison: a run, or a part of it. Its figures are
// its own, so it stays as it is while the run goes on.
type stretch struct {
	name     string
	h        trace.Header
	from, to clock.TSC
	late     *trace.Lateness
	// points are the deadlines that are kept, in the order of their handlers.
	points []clock.Cycles
	nums   []trace.Num
	costs  []trace.DeadlineCost
	known  trace.SpentKnown
	causes []explain.CauseSum // of those whose exits are kept
	// lost is true if deadlines of the stretch are no longer kept one by one.
	lost bool

	exits, fast, reentered uint64
	kicks, ipis            uint64
	near                   bool // those are from buckets of time: not exact at the ends
	mix                    [trace.NumExits]mixCount
	kinds                  [trace.NumKicks]uint64
	part                   bool // mix and kinds are of those that are kept
	knobs                  [trace.NumKnobs]uint64
	report                 *trace.Report
	whole                  bool // of a run up to a moment
	fork                   bool // it begins where two branches part
}

// mixCount is the exits of one reason.
type mixCount struct{ n, cycles uint64 }

func (m mixCount) mean() clock.Cycles { return clock.Cycles(m.cycles / max(m.n, 1)) }

// wholeRun is a run from its beginning up to a state.
func wholeRun(name string, h *trace.Header, st *trace.State) *stretch {
	x := &stretch{name: name, h: *h, from: st.First, to: st.Now, late: cloneLateness(&st.Deadlines.Late), knobs: st.Knobs,
		report: trace.NewReport(h, st), whole: true}
	x.addPoints(st)
	for r := range x.mix {
		e := &st.ExitStats[r]
		x.mix[r] = mixCount{e.Count, uint64(max(e.Cycles.Sum, 0))}
		x.exits += e.Count
		x.fast += e.Fastpath()
		x.reentered += e.Reentries
	}
	for d, n := range st.Kicks.Decisions {
		x.kinds[d] = n
		x.kicks += n
	}
	x.ipis = st.Kicks.Decisions[trace.KickIPI]
	return x
}

// part is the stretch of a run between two times, as far as it is kept. report is
// the whole run's.
func part(name string, h *trace.Header, st *trace.State, report *trace.Report, from, to clock.TSC) *stretch {
	x := &stretch{name: name, h: *h, from: from, to: min(to, st.Now), late: &trace.Lateness{}, knobs: knobsAt(h, st, to), report: report}
	x.addPoints(st)
	for _, l := range x.points {
		x.late.Add(l)
	}
	if !x.addExits(st) {
		x.near = true
		x.addRates(&st.Rates)
	}
	if !x.addKicks(st) {
		x.part = true
	}
	return x
}

// knobsAt are the knobs before a time, as far as their turns are kept.
func knobsAt(h *trace.Header, st *trace.State, t clock.TSC) [trace.NumKnobs]uint64 {
	ks := h.Knobs
	for i := range st.KnobTurns.Len() {
		if k := st.KnobTurns.At(i); k.At < t {
			ks[k.Knob] = k.Value
		}
	}
	return ks
}

func cloneLateness(l *trace.Lateness) *trace.Lateness {
	c := *l
	c.Early.Counts, c.Late.Counts = slices.Clone(l.Early.Counts), slices.Clone(l.Late.Counts)
	return &c
}

// addPoints adds the deadlines of the stretch. One that was armed before it, and
// so under the settings before, is left out where that is known.
func (x *stretch) addPoints(st *trace.State) {
	x.known = st.SpentKnown()
	x.causes = explain.CausesBetween(&x.h, st, x.from, x.to)
	r := &st.Scatter
	x.lost = r.First() > 0 && r.At(0).At > x.from
	early := map[trace.Num]bool{}
	for i := range st.Chains.Len() {
		if c := st.Chains.At(i); c.ISRAt >= x.from && c.ArmAt < x.from && c.ArmAt != 0 && x.from > st.First {
			early[c.Num] = true
		}
	}
	for i := range r.Len() {
		if p := r.At(i); p.At >= x.from && p.At <= x.to && !early[p.Deadline] {
			x.points = append(x.points, p.Late)
			x.nums = append(x.nums, p.Deadline)
			x.costs = append(x.costs, p.Cost)
		}
	}
}

// addExits counts the exits that are kept; all is true if none of the stretch is
// missing.
func (x *stretch) addExits(st *trace.State) (all bool) {
	r := &st.Exits
	for i := range r.Len() {
		e := r.At(i)
		if e.At < x.from || e.At > x.to {
			continue
		}
		m := &x.mix[e.Reason]
		m.n++
		m.cycles += uint64(max(e.Cycles(), 0))
		x.exits++
		switch e.Result {
		case trace.FastSkip, trace.FastReenter, trace.FastHandled, trace.FastUserspace:
			if e.HasFast {
				x.fast++
			}
		}
		if e.Reentry {
			x.reentered++
		}
	}
	all = r.First() == 0 || r.At(0).At <= x.from
	x.part = !all
	return all
}

// addKicks is addExits for kicks.
func (x *stretch) addKicks(st *trace.State) (all bool) {
	r := &st.KickLedger
	var n, ipis uint64
	for i := range r.Len() {
		if k := r.At(i); k.At >= x.from && k.At <= x.to {
			x.kinds[k.Decision]++
			n++
		}
	}
	ipis = x.kinds[trace.KickIPI]
	if all = r.First() == 0 || r.At(0).At <= x.from; all {
		x.kicks, x.ipis = n, ipis
	} else {
		x.near = true
		b := rateSum(&st.Rates, x.from, x.to)
		x.kicks, x.ipis = uint64(b.Kicks), uint64(b.IPIs)
	}
	return all
}

func (x *stretch) addRates(r *trace.Rates) {
	b := rateSum(r, x.from, x.to)
	x.exits, x.fast, x.reentered = uint64(b.Exits), uint64(b.Fastpath), uint64(b.Reentered)
}

// rateSum adds up the buckets whose middle is between two times.
func rateSum(r *trace.Rates, from, to clock.TSC) (sum trace.RateBucket) {
	for i := range r.Used {
		mid := r.Start.Add(r.Width*clock.Cycles(i) + r.Width/2)
		if b := &r.Buckets[i]; mid >= from && mid <= to {
			sum.Exits += b.Exits
			sum.Fastpath += b.Fastpath
			sum.Reentered += b.Reentered
			sum.Kicks += b.Kicks
			sum.IPIs += b.IPIs
			sum.Deadlines += b.Deadlines
			sum.Late += b.Late
		}
	}
	return sum
}

// cut is a moment that divides a run into stretches: a turned knob or a bookmark.
type cut struct {
	at   clock.TSC
	name string
}

func cuts(f *vmm.Frame) (out []cut) {
	turns := &f.State.KnobTurns
	for i := range turns.Len() {
		k := turns.At(i)
		out = append(out, cut{k.At, "since " + k.Knob.String() + " " + showKnob(k.Knob, k.Value)})
	}
	eachMark(f, func(name string, at clock.TSC) { out = append(out, cut{at, "since ◆ " + name}) })
	slices.SortStableFunc(out, func(a, b cut) int { return cmp.Compare(a.at, b.at) })
	return out
}

// stretches are the parts of the present run between its cuts, but for those
// without a deadline.
func stretches(f *vmm.Frame) (out []*stretch) {
	st := &f.State
	report := trace.NewReport(&f.Header, st)
	cs := append([]cut{{st.First, "from the start"}}, cuts(f)...)
	for i, c := range cs {
		to := st.Now
		if i+1 < len(cs) {
			to = cs[i+1].at - 1
		}
		if c.at > to {
			continue
		}
		if x := part(c.name, &f.Header, st, report, c.at, to); x.late.Count() > 0 {
			out = append(out, x)
		}
	}
	if len(out) > 0 && out[0].from < st.Deadlines.KnobAt {
		return out
	}
	if before := beforeKnob(f, report); before != nil { // no longer kept one by one
		out = append([]*stretch{before}, out...)
	}
	return out
}

// beforeKnob is what histograms tell of all deadlines before the last turned
// knob, nil if there were none.
func beforeKnob(f *vmm.Frame, report *trace.Report) *stretch {
	d := &f.State.Deadlines
	if d.KnobAt == 0 {
		return nil
	}
	late := subtract(&d.Late, &d.SinceKnob)
	if late.Count() == 0 {
		return nil
	}
	x := part("before the last knob", &f.Header, &f.State, report, f.State.First, d.KnobAt-1)
	x.late, x.lost = late, true
	return x
}

// side is the stretch as package diff takes it.
func (x *stretch) side() *diff.Side {
	return &diff.Side{Name: x.name, Report: x.report, Late: x.points, Nums: x.nums, Costs: x.costs, Known: x.known, Causes: x.causes}
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
