package sweep

import (
	"fmt"
	"math"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Result is a finished sweep with its judgement, as plain data.
type Result struct {
	Sweep      string   `json:"sweep"` // what was run, in words
	Provenance string   `json:"provenance"`
	Goal       string   `json:"goal"` // what was to be small
	Axes       []string `json:"axes"`
	Points     []*Point `json:"points"`
	// Base is the run without any change, Best the best point, Checked both again
	// with another seed.
	Base    *Point  `json:"base"`
	Best    *Point  `json:"best"`
	Checked [2]Pair `json:"checked"`
	Knees   []Knee  `json:"knees"`
	// Worth is true if Best is better than Base by enough; Verdict says it in
	// words.
	Worth   bool   `json:"worth"`
	Verdict string `json:"verdict"`
}

// Pair is a figure of the unchanged run and of the best point.
type Pair struct {
	Seed uint64  `json:"seed"`
	Base float64 `json:"base"`
	Best float64 `json:"best"`
}

// Knee is the value of a time knob from which on more of it does not help.
type Knee struct {
	Knob  string `json:"knob"`
	Value string `json:"value"`
	// Where names the other axes' values; empty if there are none.
	Where string  `json:"where"`
	Goal  float64 `json:"goal"`
	// Flat is true if no value of the knob matters.
	Flat bool `json:"flat"`
	// Edge is true if the goal still falls at the last value: the knee, if there
	// is one, is beyond the grid.
	Edge bool `json:"edge,omitempty"`
}

// The least gain that is worth a setting: both must be reached. The first is
// what a sweep of a few points finds by chance on noisy hosts, the second is
// below what a guest can notice.
const (
	worthShare = 0.10
	worthNanos = 50
)

// kneeShare is how near, of the whole range, the knee comes to the floor.
const kneeShare = 0.02

// Judge names the best point, the knees and the verdict. The unchanged run and
// the best point are run once more with another seed.
func Judge(g Grid, r *Run, points []*Point, goal string, stop func() bool) (*Result, error) {
	res := &Result{Goal: goal, Points: points, Provenance: trace.Modelled.String()}
	for _, a := range g {
		res.Axes = append(res.Axes, a.Knob.String())
	}
	res.Best = cheapest(points, goal)
	if res.Best == nil {
		res.Verdict = "No point of the grid handled a deadline to the end."
		return res, nil
	}
	best, err := g.knobsOf(r.Base, res.Best)
	if err != nil {
		return nil, err
	}
	for i := range res.Checked {
		c := &res.Checked[i]
		c.Seed = r.Seed + uint64(i)
		a, err := r.measure(r.Base, c.Seed, stop)
		if err != nil || a == nil {
			return nil, err
		}
		b, err := r.measure(best, c.Seed, stop)
		if err != nil || b == nil {
			return nil, err
		}
		c.Base, c.Best = a.Goal(goal), b.Goal(goal)
		if i == 0 {
			res.Base = a
		}
	}
	res.Knees = knees(g, points, goal)
	res.verdict(g)
	if r.Kernel != nil {
		for _, a := range g {
			if why := vmm.Cannot(r.Kernel, a.Knob, best.Get(a.Knob)); why != "" {
				res.Verdict += " But " + why + "."
			}
		}
	}
	return res, nil
}

// cheapest is the point with the least host work among those whose goal is as
// good as the best, to one percent or a nanosecond; nil if no point counts.
func cheapest(points []*Point, goal string) (best *Point) {
	floor := math.Inf(1)
	for _, p := range points {
		if p.counts() {
			floor = min(floor, p.Goal(goal))
		}
	}
	for _, p := range points {
		if p.counts() && p.Goal(goal) <= floor*1.01+1 && (best == nil || p.Host < best.Host) {
			best = p
		}
	}
	return best
}

// counts reports whether a point was measured and its guest did not crash.
func (p *Point) counts() bool { return p != nil && p.Count > 0 && p.End == "" }

// knobsOf returns base with a point's settings.
func (g Grid) knobsOf(base vmm.Knobs, p *Point) (vmm.Knobs, error) {
	values := make([]uint64, len(g))
	for i, a := range g {
		_, v, err := trace.ParseKnob(a.Knob.String(), p.Knobs[a.Knob.String()])
		if err != nil {
			return base, err
		}
		values[i] = v
	}
	return g.Turned(base, values)
}

// verdict goes by the run with the other seed, in which the best point had no
// chance to be the luckiest.
func (r *Result) verdict(g Grid) {
	c := &r.Checked[1]
	gain := c.Base - c.Best
	share := 0.0
	if c.Base > 0 {
		share = gain / c.Base
	}
	r.Worth = gain >= worthNanos && share >= worthShare
	if r.Base.End != "" || r.Base.Count == 0 {
		r.Worth = true
		r.Verdict = fmt.Sprintf("Worth it: the unchanged run ended by %s, %s does not.", r.Base.End, r.Best.Key(g))
		return
	}
	figures := fmt.Sprintf("%s of the distance from the deadline is %.0f ns with %s and %.0f ns unchanged (seed %d)", r.Goal,
		c.Best, r.Best.Key(g), c.Base, c.Seed)
	cost := fmt.Sprintf("host work goes from %.0f to %.0f cycles a deadline", r.Base.Host, r.Best.Host)
	switch {
	case r.Worth:
		r.Verdict = fmt.Sprintf("Worth it: %s, %.0f %% less; %s.", figures, 100*share, cost)
	case gain <= 0:
		r.Verdict = fmt.Sprintf("Not worth it: %s, so nothing in this grid is better than the setting you have.", figures)
	default:
		r.Verdict = fmt.Sprintf("Not worth it: %s, a gain of %.0f ns (%.1f %%); %s.", figures, gain, 100*share, cost)
	}
}

// knees looks along the first axis that is a time, for every combination of the
// others' values.
func knees(g Grid, points []*Point, goal string) []Knee {
	axis := timeAxis(g)
	if axis < 0 {
		return []Knee{}
	}
	out := []Knee{}
	for _, row := range rows(g, points, axis) {
		if k, ok := kneeOf(g, axis, row, goal); ok {
			out = append(out, k)
		}
	}
	return out
}

// timeAxis is the first axis whose knob is a time with at least four values, −1
// if there is none.
func timeAxis(g Grid) int {
	for i, a := range g {
		if len(a.Values) >= 4 && trace.FormatKnob(a.Knob, 1) == "1ns" {
			return i
		}
	}
	return -1
}

// rows groups the points by the values of all axes but one, in the grid's order.
func rows(g Grid, points []*Point, axis int) [][]*Point {
	inner := 1
	for _, a := range g[axis+1:] {
		inner *= len(a.Values)
	}
	n := len(g[axis].Values)
	var out [][]*Point
	for base := range points {
		if base/inner%n != 0 {
			continue
		}
		row := make([]*Point, n)
		for i := range row {
			row[i] = points[base+i*inner]
		}
		out = append(out, row)
	}
	return out
}

// kneeOf finds the first value from which on the goal stays near its floor.
func kneeOf(g Grid, axis int, row []*Point, goal string) (Knee, bool) {
	floor, top := math.Inf(1), math.Inf(-1)
	for _, p := range row {
		if p == nil || p.Count == 0 {
			return Knee{}, false
		}
		floor, top = min(floor, p.Goal(goal)), max(top, p.Goal(goal))
	}
	k := Knee{Knob: g[axis].Knob.String(), Where: where(g, axis, row[0])}
	near := floor + kneeShare*(top-floor)
	if top-floor < worthNanos || top-floor < worthShare*top {
		k.Flat, near = true, top
	}
	for i, p := range row {
		if p.Goal(goal) <= near {
			k.Value, k.Goal = p.Knobs[k.Knob], p.Goal(goal)
			k.Edge = !k.Flat && i == len(row)-1
			return k, true
		}
	}
	return k, false
}

// where names the values of the axes but one.
func where(g Grid, axis int, p *Point) string {
	var rest Grid
	for i, a := range g {
		if i != axis {
			rest = append(rest, a)
		}
	}
	return p.Key(rest)
}
