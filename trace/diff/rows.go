package diff

import (
	"maps"
	"math"
	"slices"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
)

// perDeadline divides a count by the deadlines handled.
func perDeadline(n float64, r *trace.Report) float64 {
	return n / float64(max(1, r.Deadlines.Count))
}

// row makes a row, rounded to three decimals.
func row(name string, a, b float64) Row {
	r := func(x float64) float64 { return math.Round(x*1000) / 1000 }
	return Row{name, r(a), r(b), r(b - a)}
}

func (d *Diff) exits(a, b *trace.Report) {
	names := map[string]bool{}
	for n := range a.Exits {
		names[n] = true
	}
	for n := range b.Exits {
		names[n] = true
	}
	count := func(r *trace.Report, n string) float64 {
		if x := r.Exits[n]; x != nil {
			return perDeadline(float64(x.Count), r)
		}
		return 0
	}
	for _, n := range slices.Sorted(maps.Keys(names)) {
		d.Exits = append(d.Exits, row(n, count(a, n), count(b, n)))
	}
	slices.SortStableFunc(d.Exits, func(x, y Row) int { return compare(max(y.A, y.B), max(x.A, x.B)) })
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// rates are shares in percent, and counts per deadline.
func (d *Diff) rates(a, b *trace.Report) {
	for _, f := range rateTable {
		x, y := f.of(a), f.of(b)
		if x != 0 || y != 0 {
			d.Rates = append(d.Rates, row(f.name, x, y))
		}
	}
}

// rateTable is the table of rates.
var rateTable = []struct {
	name string
	of   func(*trace.Report) float64
}{
	{"exits / deadline", func(r *trace.Report) float64 { return perDeadline(exitCount(r, countOf), r) }},
	{"fastpath, % of exits", func(r *trace.Report) float64 {
		return percentOf(exitCount(r, fastOf), exitCount(r, countOf))
	}},
	{"re-entered, % of exits", func(r *trace.Report) float64 {
		return percentOf(exitCount(r, reenterOf), exitCount(r, countOf))
	}},
	{"kicks / deadline", func(r *trace.Report) float64 { return perDeadline(total(r.Kicks), r) }},
	{"kick IPIs / deadline", func(r *trace.Report) float64 { return perDeadline(float64(r.Kicks["ipi"]), r) }},
	{"kick wake-ups / deadline", func(r *trace.Report) float64 { return perDeadline(float64(r.Kicks["wake"]), r) }},
	{"expired directly, % of expiries", func(r *trace.Report) float64 {
		return percentOf(float64(r.Expiries["direct"]), total(r.Expiries))
	}},
	{"posted, % of expiries", func(r *trace.Report) float64 {
		return percentOf(float64(r.Expiries["posted"]), total(r.Expiries))
	}},
	{"on the preemption timer, %", func(r *trace.Report) float64 {
		return percentOf(float64(r.HostFires["hv"]), total(r.HostFires))
	}},
	{"cycles waited / deadline", func(r *trace.Report) float64 { return perDeadline(float64(r.Waits.Waited.Sum), r) }},
	{"blocked halts / deadline", func(r *trace.Report) float64 { return perDeadline(float64(r.Halts.Blocked), r) }},
	{"lost, merged or dropped, % of deadlines", func(r *trace.Report) float64 {
		x := &r.Deadlines
		return percentOf(float64(x.Lost+x.Merged+x.Dropped), float64(x.Opened))
	}},
}

func countOf(x *trace.ReportExit) uint64   { return x.Count }
func fastOf(x *trace.ReportExit) uint64    { return x.Fastpath }
func reenterOf(x *trace.ReportExit) uint64 { return x.Reenter }

func exitCount(r *trace.Report, of func(*trace.ReportExit) uint64) float64 {
	var n uint64
	for _, x := range r.Exits {
		n += of(x)
	}
	return float64(n)
}

func total(m map[string]uint64) float64 {
	var n uint64
	for _, v := range m {
		n += v
	}
	return float64(n)
}

func percentOf(n, of float64) float64 {
	if of == 0 {
		return 0
	}
	return 100 * n / of
}

// causes are the mean cycles of each cause per deadline.
func (d *Diff) causes(a, b *Side) {
	if a.Causes == nil || b.Causes == nil {
		return
	}
	mean := func(s *Side, id string) float64 {
		for _, c := range s.Causes {
			if c.ID == id {
				return float64(c.Cycles) * d.scale(s.Report) / float64(max(1, c.Of))
			}
		}
		return 0
	}
	seen := map[string]bool{}
	for _, c := range append(append([]explain.CauseSum(nil), a.Causes...), b.Causes...) {
		if !seen[c.ID] {
			seen[c.ID] = true
			d.Causes = append(d.Causes, row(c.ID, mean(a, c.ID), mean(b, c.ID)))
		}
	}
	slices.SortStableFunc(d.Causes, func(x, y Row) int { return compare(math.Abs(y.Delta), math.Abs(x.Delta)) })
}
