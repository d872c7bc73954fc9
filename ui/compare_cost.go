package ui

import (
	"math"
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/trace/diff"
)

// cost draws what a deadline cost the host, and returns the rows used.
func (t *compareTable) cost(a area) (y int) {
	if t.v == nil || len(t.v.Costs) == 0 {
		return 0
	}
	t.title(a, 0, "cost per deadline", "B − A")
	for i := range t.v.Costs {
		y++
		t.costRow(a, y, &t.v.Costs[i])
	}
	return y + 2
}

func (t *compareTable) costRow(a area, y int, st *diff.Stat) {
	_, _, _, iv := t.columns(a.w)
	show, value := decimals, decimals
	if st.Unit != "" {
		show = func(v float64) string { return t.amount(t.stated(&t.a.h, v)) }
		value = func(v float64) string { return strings.TrimPrefix(show(v), "+") }
	}
	look := dim
	if st.Significant {
		look = pick(st.Delta > 0, late, good)
	}
	t.row(a, y, st.Name, value(st.A), value(st.B), pickString(st.Delta > 0 && st.Unit == "", "+", "")+show(st.Delta), look)
	words := changeWord(st)
	if a.w-iv >= 24 {
		words += "  " + pickString(st.Low > 0 && st.Unit == "", "+", "") + show(st.Low) + " … " + pickString(st.High > 0 && st.Unit == "", "+", "") + show(st.High)
	}
	if !st.Significant {
		words += "  n.s."
	}
	a.cut(iv, y, a.w-iv, pick(st.Significant, text, dim), words)
}

// changeWord is a change in percent of what was before, empty where that is 0.
func changeWord(st *diff.Stat) string {
	if st.A == 0 {
		return ""
	}
	p := 100 * st.Delta / math.Abs(st.A)
	if p >= 1000 {
		return "×" + strconv.FormatFloat(st.B/st.A, 'f', 0, 64)
	}
	return pickString(p >= 0.05, "+", "") + minus(strconv.FormatFloat(math.Round(10*p)/10+0, 'f', 1, 64)) + " %"
}

// mostCauses is how many causes a comparison shows.
const mostCauses = 6

// causes draws what the lateness was made of, the greatest change first, and
// returns the rows used.
func (t *compareTable) causes(a area) int {
	if t.v == nil || len(t.v.Causes) == 0 {
		return 0
	}
	t.title(a, 0, "lateness by cause", "B − A")
	y := 1
	for _, c := range t.v.Causes[:min(len(t.v.Causes), mostCauses)] {
		show := func(v float64) string { return t.amount(t.stated(&t.a.h, v)) }
		t.row(a, y, c.Name, show(c.A), show(c.B), show(c.Delta), pick(c.Delta > 0.5, late, pick(c.Delta < -0.5, good, dim)))
		y++
	}
	return y + 1
}
