package diff

import (
	"fmt"
	"math"
	"sort"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// Figure is a figure of the cost of a deadline, in the order of Diff.Costs.
type Figure int

// The figures.
const (
	HostCycles Figure = iota // cycles of host work
	Burnt                    // of them those of busy waits and halt polling
	Exits                    // VM-exits
	IPIs                     // of kicks and posted interrupts
	LostTimers               // deadlines that expired without a handler of their own
	NumFigures
)

// costSpecs describes the figures. The verdict on the cost rests on the first
// that both sides know.
var costSpecs = [NumFigures]struct {
	name, unit string
	words      string // in a sentence: "B takes 15 % more ..."
	of         func(*trace.DeadlineCost) float64
	cycles     bool
	floor      float64 // the least change that is called one, where before is 0
}{
	HostCycles: {"host cycles", "cycles", "host cycles per deadline", func(c *trace.DeadlineCost) float64 { return float64(c.Host) }, true, 1},
	Burnt:      {"burnt cycles", "cycles", "cycles burnt in waits and polling per deadline", func(c *trace.DeadlineCost) float64 { return float64(c.Burnt) }, true, 25},
	Exits:      {"exits", "", "exits per deadline", func(c *trace.DeadlineCost) float64 { return float64(c.Exits) }, false, 0.002},
	IPIs:       {"IPIs", "", "IPIs per deadline", func(c *trace.DeadlineCost) float64 { return float64(c.IPIs) }, false, 0.002},
	LostTimers: {"lost", "", "lost deadlines per handled one", func(c *trace.DeadlineCost) float64 { return float64(c.Lost) }, false, 0.0005},
}

// String returns the name of the figure's row.
func (f Figure) String() string { return costSpecs[f].name }

// series are the values of a figure per deadline. The first is left out: what
// stands there is all that was spent before.
func (f Figure) series(cs []trace.DeadlineCost, scale float64) []float64 {
	if !costSpecs[f].cycles {
		scale = 1
	}
	out := make([]float64, 0, len(cs))
	for i := range cs[min(1, len(cs)):] {
		out = append(out, costSpecs[f].of(&cs[i+1])*scale)
	}
	return out
}

// costs fills in the figures of the cost.
func (d *Diff) costs(a, b *Side, o Options) {
	if len(a.Costs) <= MinSamples || len(b.Costs) <= MinSamples {
		return
	}
	for f := range NumFigures {
		if !knows(a.Known, f) || !knows(b.Known, f) {
			continue
		}
		d.known[f] = true
		x, y := f.series(a.Costs, d.scale(a.Report)), f.series(b.Costs, d.scale(b.Report))
		s := Stat{Name: f.String(), Unit: d.unitOf(f)}
		s.A, s.B = mean(x), mean(y)
		iv := meanInterval(x, y, d.Paired, o, &random{state: o.Seed + uint64(f) + 1})
		floor := costSpecs[f].floor
		if f == Burnt && len(d.Costs) > 0 { // a part of the host cycles, by whose size it is judged
			floor = max(floor, Margin*d.Costs[0].A)
		}
		s.judge(iv, floor, min(len(x), len(y)))
		d.Costs = append(d.Costs, s)
	}
}

// knows reports whether a side tells a figure.
func knows(k trace.SpentKnown, f Figure) bool {
	return [NumFigures]bool{HostCycles: k.Host, Burnt: k.Burnt, Exits: k.Exits, IPIs: k.IPIs, LostTimers: true}[f]
}

func (d *Diff) unitOf(f Figure) string {
	if costSpecs[f].cycles {
		return d.Unit
	}
	return ""
}

// judge fills in what follows from both means and the interval of their
// difference, which n values on the smaller side give.
func (s *Stat) judge(iv interval, floor float64, n int) {
	digits := round
	if s.Unit == "" {
		digits = thousandth
	}
	margin := max(floor, Margin*math.Abs(s.A))
	delta := s.B - s.A
	s.HasInterval = true
	s.Significant = iv.low > margin || iv.high < -margin
	if !s.Significant {
		s.More = more(delta, iv, margin, n)
	}
	s.A, s.B, s.Delta, s.Low, s.High = digits(s.A), digits(s.B), digits(delta), digits(iv.low), digits(iv.high)
}

// mostMore is beyond what anybody waits for.
const mostMore = 1_000_000

// more is how many more values it takes, about, until the interval tells whether
// there is a change: its width falls with the square root of their number. 0 is
// none: the interval leaves no room for a change worth the name.
func more(delta float64, iv interval, margin float64, n int) int {
	half := (iv.high - iv.low) / 2
	room := math.Abs(math.Abs(delta) - margin) // from the difference to where the answer changes
	if iv.low >= -margin && iv.high <= margin {
		return 0
	}
	if room == 0 {
		return mostMore
	}
	want := float64(n) * (half / room) * (half / room)
	return int(min(max(want-float64(n), float64(n)/4), mostMore))
}

func thousandth(x float64) float64 { return math.Round(x*1000) / 1000 }

func mean(v []float64) float64 {
	var sum float64
	for _, x := range v {
		sum += x
	}
	return sum / float64(max(len(v), 1))
}

// meanInterval is where the difference of two means lies: the percentile interval
// of a moving-block bootstrap. Sums of blocks come from running sums, so that a
// draw costs as much as it has blocks.
func meanInterval(a, b []float64, paired bool, o Options, rnd *random) interval {
	x, y := newSums(a), newSums(b)
	if paired { // both draw the same blocks
		x.block = max(x.block, y.block)
		y.block = x.block
	}
	diffs := make([]float64, o.Draws)
	var at []int
	for i := range diffs {
		at = blocks(rnd, x.n, x.block, at)
		mean := x.draw(at)
		if !paired {
			at = blocks(rnd, y.n, y.block, at)
		}
		diffs[i] = y.draw(at) - mean
	}
	sort.Float64s(diffs)
	lo := int((1 - o.Level) / 2 * float64(len(diffs)))
	return interval{diffs[lo], diffs[len(diffs)-1-lo]}
}

// sums are the running sums of a series, once round and once more.
type sums struct {
	upTo  []float64 // upTo[i] is the sum of the first i values of the doubled series
	n     int
	block int
}

func newSums(v []float64) *sums {
	s := &sums{upTo: make([]float64, 2*len(v)+1), n: len(v), block: blockLength(v)}
	for i := range 2 * len(v) {
		s.upTo[i+1] = s.upTo[i] + v[i%len(v)]
	}
	return s
}

// draw is the mean of a resample in blocks that begin at the given places.
func (s *sums) draw(at []int) float64 {
	var sum float64
	left := s.n
	for _, from := range at {
		l := min(s.block, left)
		left -= l
		sum += s.upTo[from+l] - s.upTo[from]
	}
	return sum / float64(s.n)
}

// costVerdict says what changed in the cost: in the first figure that is known,
// which is host cycles where they are, and in the others if that did not.
func (d *Diff) costVerdict() {
	if len(d.Costs) == 0 {
		d.Cost, d.CostVerdict = "unknown", "No verdict on the cost: the single deadlines are not known, or too few."
		return
	}
	for i := range d.Costs {
		s := &d.Costs[i]
		if !s.Significant {
			continue
		}
		d.Cost = direction(s.Delta)
		d.CostVerdict = "It costs " + d.difference(s) + "."
		return
	}
	d.Cost = "none"
	d.CostVerdict = fmt.Sprintf("No significant change of the cost: %s %s.", plainNumber(d.Costs[0].B), costWords(d.Costs[0].Name))
}

// difference is a significant difference in words: "15.0 % more host cycles per
// deadline (563.2, interval +510 to +601)".
func (d *Diff) difference(s *Stat) string {
	word := map[string]string{"higher": "more", "lower": "fewer"}[direction(s.Delta)]
	amount, unit := "", ""
	if s.Unit != "" {
		unit = " " + s.Unit
	}
	if s.A != 0 {
		amount = fmt.Sprintf("%.1f %% ", 100*math.Abs(s.Delta/s.A))
	}
	return fmt.Sprintf("%s%s %s (%s; the %g %% interval is %+g to %+g%s)", amount, word, costWords(s.Name), plainNumber(math.Abs(s.Delta)),
		100*d.Level, s.Low, s.High, unit)
}

func costWords(name string) string {
	for f := range NumFigures {
		if f.String() == name {
			return costSpecs[f].words
		}
	}
	return name
}

func direction(delta float64) string {
	if delta > 0 {
		return "higher"
	}
	return "lower"
}

func plainNumber(x float64) string { return fmt.Sprintf("%g", x) }
