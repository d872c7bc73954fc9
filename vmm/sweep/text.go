package sweep

import (
	"fmt"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/prose"
)

// barWidth is the width of the longest bar of the chart.
const barWidth = 16

// Text returns the table, which is also the chart, and the verdict, for a
// terminal of 80 columns.
func (r *Result) Text(g Grid) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n(every figure %s; ns are the distance from the deadline, early or late)\n", r.Sweep, r.Provenance)
	axis := timeAxis(g)
	if axis < 0 {
		axis = len(g) - 1
	}
	top := 0.0
	for _, p := range r.Points {
		if p != nil {
			top = max(top, p.Goal(r.Goal))
		}
	}
	for _, row := range rows(g, r.Points, axis) {
		r.chart(&b, g, axis, row, top)
	}
	b.WriteByte('\n')
	for _, k := range r.Knees {
		prose.Write(&b, "", "", kneeText(&k, r.Goal))
	}
	prose.Write(&b, "", "", r.Verdict)
	prose.Write(&b, "", "", r.tooFew())
	return b.String()
}

// chart is one row of the grid along an axis.
func (r *Result) chart(b *strings.Builder, g Grid, axis int, row []*Point, top float64) {
	b.WriteByte('\n')
	if row[0] != nil {
		if w := where(g, axis, row[0]); w != "" {
			fmt.Fprintln(b, w)
		}
	}
	fmt.Fprintf(b, "%-16s%9s%9s%7s%8s%8s  %s\n", g[axis].Knob, "p50 ns", "p99 ns", "early", "exits", "waited", r.Goal)
	for i, p := range row {
		if p == nil {
			fmt.Fprintf(b, "%-16s not measured\n", formatValue(g, axis, i))
			continue
		}
		n := 0
		if top > 0 {
			n = int(p.Goal(r.Goal)/top*barWidth + 0.5)
		}
		mark := ""
		if p == r.Best {
			mark = " best"
		}
		if p.End != "" {
			mark = " " + p.End
		}
		fmt.Fprintf(b, "%-16s%9.0f%9.0f%6.0f%%%8.2f%8.0f  %s%s\n", p.Knobs[g[axis].Knob.String()], p.P50, p.P99, p.Early,
			p.Exits, p.Waited, strings.Repeat("█", n), mark)
	}
}

func formatValue(g Grid, axis, i int) string {
	one := Grid{g[axis]}
	_, v, _ := strings.Cut(one.Name([]uint64{g[axis].Values[i]}), "=")
	return v
}

func kneeText(k *Knee, goal string) string {
	at := ""
	if k.Where != "" {
		at = " with " + k.Where
	}
	if k.Flat {
		return fmt.Sprintf("%s does not matter%s: %s stays the same.", k.Knob, at, goal)
	}
	if k.Edge {
		return fmt.Sprintf("The knee%s is beyond the grid: %s still falls at %s=%s (%.0f ns), its last value.", at, goal, k.Knob, k.Value,
			k.Goal)
	}
	return fmt.Sprintf("The knee%s is %s=%s: from there on %s stays near its floor (%.0f ns).", at, k.Knob, k.Value, goal,
		k.Goal)
}

// leastFor is how many deadlines a percentile needs to be another figure than the
// maximum.
var leastFor = map[string]uint64{"p50": 2, "p90": 10, "p99": 100, "p999": 1000}

// tooFew says that the goal is no percentile for want of deadlines; empty if it is.
func (r *Result) tooFew() string {
	for _, p := range r.Points {
		if p != nil && p.Count > 0 && p.Count < leastFor[r.Goal] {
			return fmt.Sprintf("%s of %d deadlines is their maximum: give --deadlines %d or more.", r.Goal, p.Count, leastFor[r.Goal])
		}
	}
	return ""
}
