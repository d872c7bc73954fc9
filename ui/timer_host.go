package ui

import (
	"math"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// presentHost tells what the host's side did over the whole run: where expiries
// went, what backed timers, waits, deliveries and halts.
func presentHost(s *scene, a area) {
	st := s.state()
	a.hline(0, 0, a.w, '─', faint)
	a.text(1, 0, label, " host side, whole run ")
	rows := [][]piece{
		counts("expiries", nonZero(st.Expiries[:], trace.ExpireNames)),
		backingRow(st),
		waitPieces(s, &st.Waits),
		append(counts("tuning", nonZero(st.Tunes[:], trace.TuneNames)), piece{}),
		append(counts("deliver", nonZero(st.Deliveries[:], trace.DeliverNames)), clauses("  because:", st.DeliverClauses[:])...),
		injectPieces(&st.Injections),
		haltPieces(st),
	}
	y := 1
	for _, ps := range rows {
		if len(ps) > 1 && y < a.h {
			a.pieces(1, y, a.w-1, ps)
			y++
		}
	}
}

// backingRow counts host timers. A halt moves a timer from the preemption timer,
// which counts in the guest only, to an hrtimer.
func backingRow(st *trace.State) []piece {
	ps := counts("backing", nonZero(st.Backings[:], trace.BackingNames))
	why := st.BackClauses
	if n := why[trace.ClauseBlocked]; n > 0 {
		ps = append(ps, piece{"  hv → sw at a halt ", text, 4}, piece{group3(n) + "  ", value, 4})
		why[trace.ClauseBlocked] = 0
	}
	return append(ps, clauses("  not hv:", why[:])...)
}

// named is a count with its name.
type named struct {
	name string
	n    uint64
}

func nonZero(ns []uint64, names []string) (out []named) {
	for i, n := range ns {
		if n > 0 && i < len(names) {
			out = append(out, named{names[i], n})
		}
	}
	return out
}

func counts(name string, ns []named) []piece {
	for len(name) < 10 {
		name += " "
	}
	ps := []piece{{name, label, 0}}
	for i, n := range ns {
		ps = append(ps, piece{n.name + " ", text, i}, piece{group3(n.n) + "  ", value, i})
	}
	return ps
}

func clauses(lead string, ns []uint64) []piece {
	var ps []piece
	for i, n := range nonZero(ns, trace.ClauseNames) {
		if n.name == trace.ClauseNone.String() {
			continue
		}
		if len(ps) == 0 {
			ps = append(ps, piece{lead + " ", label, 4})
		}
		ps = append(ps, piece{n.name + " ", dim, 5 + i}, piece{group3(n.n) + "  ", value, 5 + i})
	}
	return ps
}

func waitPieces(s *scene, w *trace.WaitStats) []piece {
	if w.Count == 0 {
		return nil
	}
	return []piece{{"waits     ", label, 0}, {group3(w.Count), value, 0}, {"  early on arrival ", text, 1}, {percent(w.Early, w.Count), early, 1},
		{"  cut short by the advance ", text, 3}, {group3(w.Capped), value, 3}, {"  mean wait ", text, 2},
		{s.span(w.Waited.Mean()), value, 2}, {"  mean delta ", text, 4}, {s.cyc(w.Delta.Mean()), value, 4}}
}

func injectPieces(i *trace.InjectStats) []piece {
	if i.Handlers == 0 && i.Injected == 0 {
		return nil
	}
	return []piece{{"handlers  ", label, 0}, {group3(i.Handlers), value, 0}, {"  by virtual delivery ", text, 1}, {group3(i.Virtual), value, 1},
		{"  injected ", text, 2}, {group3(i.Injected), value, 2}, {"  windows ", text, 3}, {group3(i.Windows), value, 3},
		{"  EOI ", text, 4}, {group3(i.EOIs), value, 4}, {" virtual ", text, 4}, {group3(i.VirtualEOIs), value, 4},
		{"  PIR syncs ", text, 5}, {group3(i.Syncs), value, 5}}
}

func haltPieces(st *trace.State) []piece {
	h := &st.Halts
	steps := nonZero(h.Steps[:], trace.HaltNames)
	if len(steps) == 0 {
		return nil
	}
	ps := counts("halts", steps)
	ps = append(ps, piece{" woken by ", label, 3})
	for i, n := range nonZero(h.Wakes[:], trace.WakeNames) {
		ps = append(ps, piece{n.name + " ", text, 4 + i}, piece{group3(n.n) + "  ", value, 4 + i})
	}
	return append(ps, piece{"while polling ", text, 3}, piece{group3(h.Polled), value, 3})
}

// presentAdvance draws timer_advance_ns over the run: a dot per tuning step.
func presentAdvance(s *scene, a area) {
	adv := &s.state().Advances
	a.cut(0, 0, a.w, label, "timer advance over the run, ns")
	if len(adv.Points) == 0 {
		a.cut(0, 1, a.w, dim, "a dot per tuning step; A turns adaptive tuning on")
		return
	}
	ch := a.sub(axisCols, 1, a.w-axisCols, a.h-1-axisRows(a))
	if ch.w < 8 || ch.h < 2 {
		return
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range adv.Points {
		v := float64(adv.Points[i].NS)
		lo, hi = min(lo, v), max(hi, v)
	}
	pad := max((hi-lo)*0.1, 20)
	lo, hi = max(lo-pad, 0), hi+pad
	t0, t1 := s.state().First, s.state().Now
	dur := max(float64(t1.Sub(t0)), 1)
	timeAxis(s, a, ch, t0, dur)
	s.dots.reset(ch.w, ch.h)
	for i := range adv.Points {
		p := &adv.Points[i]
		x := int(float64(p.At.Sub(t0)) / dur * float64(2*ch.w-1))
		y := int(math.Round((hi - float64(p.NS)) / (hi - lo) * float64(4*ch.h-1)))
		s.dots.dot(x, y, tuneStyle(p.Verdict), 1)
	}
	for _, y := range []int{0, ch.h - 1} {
		v := hi - (hi-lo)*float64(y)/float64(max(ch.h-1, 1))
		a.right(axisCols-1, 1+y, dim, group3(uint64(v)))
	}
	s.dots.draw(ch)
	knobMarks(s, a, ch, t0, dur)
}

func tuneStyle(v trace.TuneVerdict) style {
	switch v {
	case trace.TuneLater:
		return late
	case trace.TuneEarlier:
		return early
	case trace.TuneReset, trace.TuneOff:
		return bad
	}
	return good
}

// kicksDuring are the numbers of the kicks between an exit and the entry after it, that its
// vCPU sent or that reached it.
func kicksDuring(st *trace.State, x *trace.ExitRecord, most int) (out []uint64) {
	end := x.EntryAt
	if end == 0 {
		end = clock.Never
	}
	r := &st.KickLedger
	for i := 0; i < r.Len() && len(out) < most; i++ {
		k := r.Last(i)
		if k.At < x.At {
			break
		}
		if k.At <= end && (k.From == x.VCPU || k.Target == x.VCPU) {
			out = append(out, r.N-1-uint64(i))
		}
	}
	return out
}
