package ui

import (
	"math"
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/diff"
)

// drawCompare draws the comparison over the body. What does not fit is scrolled.
func (m *Model) drawCompare(s *scene, body area) {
	c := m.comparing
	w := overlayWidth(body, 190)
	t := &compareTable{s: s, v: c.verdict}
	t.a, t.b = c.pair()
	t.nanos = s.nanos || t.a.h.Hz != t.b.h.Hz
	m.sheet.reset(w-2, 120)
	y := t.draw(m.sheet.all(), c.move)
	a := overlay(body, w, min(y+2, body.h))
	frame := area{a.c, a.x - 1, a.y - 1, a.w + 2, a.h + 2}
	frame.text(3, 0, titleFocus, " compare ")
	c.off = min(c.off, max(y-a.h, 0))
	for row := range min(a.h, y-c.off) {
		copy(a.c.cells[(a.y+row)*a.c.w+a.x:][:m.sheet.w], m.sheet.cells[(row+c.off)*m.sheet.w:])
	}
	if rest := y - c.off - a.h; rest > 0 {
		a.right(a.w-1, a.h-1, dim, moreLines(rest))
	}
}

// compareTable draws two stretches side by side.
type compareTable struct {
	s     *scene
	a, b  *stretch
	v     *diff.Diff // nil while it is computed
	nanos bool       // times in nanoseconds: asked for, or the TSC rates differ
}

// compareWide is the width from which the histogram and the exits stand beside
// the table, which then takes compareLeft columns.
const (
	compareWide = 168
	compareLeft = 112
)

// draw draws everything and returns the rows used.
func (t *compareTable) draw(a area, move int) (y int) {
	y = t.head(a, move)
	if a.w >= compareWide {
		right := a.sub(compareLeft, y, a.w-compareLeft-1, a.h)
		z := t.histogram(right.sub(0, 0, right.w, 17))
		z += t.mix(right.sub(0, z, right.w, 60))
		return max(y+z, y+t.table(a.sub(0, y, compareLeft, 100), 0))
	}
	y += t.table(a.sub(0, y, a.w, 100), 10)
	return y + t.mix(a.sub(0, y, a.w, 40))
}

// head draws the verdict and what the sides are, and returns the rows used.
func (t *compareTable) head(a area, move int) (y int) {
	verdict, warnings, look := "the verdict is being computed from the deadlines that are kept", []string(nil), dim
	if t.v != nil {
		verdict, warnings, look = figures(t.v.Headline), t.v.Warnings, value|strong
	}
	for _, l := range wrap(verdict, a.w-2) {
		a.text(1, y, look, l)
		y++
	}
	for _, w := range warnings {
		for i, l := range wrap(w, a.w-4) {
			a.text(1, y, warn, pickString(i == 0, "! ", "  ")+l)
			y++
		}
	}
	for i, x := range []*stretch{t.a, t.b} {
		st := []style{series0, series2}[i]
		ps := []piece{{pickString(i == move, "›", " "), keyHint, 0}, {string('A' + rune(i)), st | strong, 0}, {"  " + x.name, st, 0},
			{"  " + x.h.Provenance.String() + ", " + x.h.Engine, text, 1},
			{"  TSC " + group3(uint64(x.from)) + " to " + group3(uint64(x.to)), dim, 2}}
		if x.lost {
			ps = append(ps, piece{"  older deadlines are no longer kept one by one", dim, 3})
		}
		a.pieces(0, y, a.w, ps)
		y++
	}
	for i, l := range wrap(t.settings(), a.w-10) {
		a.text(1, y, label, pickString(i == 0, "knobs", ""))
		a.text(8, y, text, l)
		y++
	}
	return y + 1
}

// columns are the right ends of the columns of A, B and the difference, and the
// left one of the interval.
func (t *compareTable) columns(w int) (a, b, d, iv int) {
	if w < 76 {
		return w * 45 / 100, w * 65 / 100, w * 85 / 100, w*85/100 + 2
	}
	return 38, 57, 72, 74
}

func (t *compareTable) row(a area, y int, name, x, z, d string, st style) {
	ca, cb, cd, _ := t.columns(a.w)
	a.cut(1, y, 18, label, name)
	a.right(ca, y, value, x)
	a.right(cb, y, value, z)
	a.right(cd, y, st, d)
}

func (t *compareTable) title(a area, y int, name, d string) {
	ca, cb, cd, _ := t.columns(a.w)
	a.text(1, y, heading, name)
	a.right(ca, y, series0|strong, "A")
	a.right(cb, y, series2|strong, "B")
	a.right(cd, y, label, d)
}

// table draws lateness, a histogram of that height below it and rates, and returns the rows used.
func (t *compareTable) table(a area, histogram int) (y int) {
	_, _, _, iv := t.columns(a.w)
	t.title(a, 0, "lateness", "B − A")
	if a.w-iv >= 20 && t.v != nil && t.v.Level > 0 {
		a.text(iv, 0, label, strconv.FormatFloat(100*t.v.Level, 'g', 3, 64)+" % interval")
	}
	x, z := t.a.late, t.b.late
	t.row(a, 1, "deadlines", group3(x.Count()), group3(z.Count()), "", dim)
	t.row(a, 2, "early", percent(x.Early.N, x.Count()), percent(z.Early.N, z.Count()), "", dim)
	t.row(a, 3, "on time", percent(x.OnTime, x.Count()), percent(z.OnTime, z.Count()), "", dim)
	y = 4
	if st := t.stat("typical"); st != nil {
		t.row(a, y, "typical", t.figure(&t.a.h, st.A), t.figure(&t.b.h, st.B), "", dim)
		t.delta(a, y, "typical", t.stated(&t.a.h, st.A), t.stated(&t.b.h, st.B))
		y++
	}
	for _, p := range percentileRows {
		u, v := float64(p.f(x)), float64(p.f(z))
		t.row(a, y, p.name, t.cyc(&t.a.h, u), t.cyc(&t.b.h, v), "", dim)
		t.delta(a, y, p.name, t.scale(&t.a.h, u), t.scale(&t.b.h, v))
		y++
	}
	y++
	y += t.cost(a.sub(0, y, a.w, a.h-y))
	y += t.causes(a.sub(0, y, a.w, a.h-y))
	y += t.histogram(a.sub(1, y, a.w-2, histogram))
	return y + t.rates(a.sub(0, y, a.w, a.h-y)) + 1
}

// stat is a statistic of the verdict by name, nil if it has none.
func (t *compareTable) stat(name string) *diff.Stat {
	if t.v == nil {
		return nil
	}
	for i := range t.v.Stats {
		if t.v.Stats[i].Name == name {
			return &t.v.Stats[i]
		}
	}
	return nil
}

// scale gives cycles in the unit of differences.
func (t *compareTable) scale(h *trace.Header, cycles float64) float64 {
	if t.nanos {
		return cycles * 1e9 / float64(max(h.Hz, 1))
	}
	return cycles
}

// figure writes a value of the verdict, which is in cycles, or in ns where the
// TSC rates differ.
func (t *compareTable) figure(h *trace.Header, v float64) string { return t.amount(t.stated(h, v)) }

// stated gives a value of the verdict in the unit of differences.
func (t *compareTable) stated(h *trace.Header, v float64) float64 {
	if t.v.Unit == "ns" {
		return v
	}
	return t.scale(h, v)
}

// cyc writes cycles of a run.
func (t *compareTable) cyc(h *trace.Header, cycles float64) string {
	return t.amount(t.scale(h, cycles))
}

// amount writes a value in the unit of differences.
func (t *compareTable) amount(v float64) string {
	if !t.nanos {
		return signed3(int64(math.Round(v))) + " cyc"
	}
	return pickString(v > 0, "+", "") + duration(clock.Nanos(math.Round(v)))
}

// delta draws the difference of two figures and how sure it is.
func (t *compareTable) delta(a area, y int, name string, u, v float64) {
	_, _, cd, iv := t.columns(a.w)
	d := math.Round(v) - math.Round(u)
	look := dim
	st := t.stat(name)
	if st != nil { // as the verdict has it, which rounds the difference alone
		d = math.Round(v - u)
	}
	sure := st != nil && st.HasInterval && st.Significant
	switch {
	case st != nil && st.HasInterval && !sure: // nothing to go by
	case d > 0:
		look = late
	case d < 0:
		look = good
	}
	a.right(cd, y, look, t.amount(d))
	if st == nil || !st.HasInterval {
		return
	}
	low, high := t.stated(&t.a.h, st.Low), t.stated(&t.a.h, st.High)
	words := t.amount(low) + " … " + t.amount(high)
	if a.w-iv < 20 {
		words = ""
	}
	if !sure {
		words = pickString(words == "", "n.s.", words+"  n.s.")
	}
	a.cut(iv, y, a.w-iv, pick(sure, text, dim), words)
}

// rates draws what happened per deadline, and returns the rows used.
func (t *compareTable) rates(a area) int {
	near := pickString(t.a.near || t.b.near, "per deadline ≈", "per deadline")
	t.title(a, 0, near, "B − A")
	per := func(n uint64, x *stretch) float64 { return float64(n) / float64(max(x.late.Count(), 1)) }
	y := 1
	ratio := func(name string, u, v float64) {
		t.row(a, y, name, decimals(u), decimals(v), pickString(v > u, "+", "")+decimals(v-u), dim)
		y++
	}
	share := func(name string, u, uAll, v, vAll uint64) {
		d := ""
		if uAll > 0 && vAll > 0 {
			x := 100 * (float64(v)/float64(vAll) - float64(u)/float64(uAll))
			d = pickString(x >= 0.05, "+", "") + minus(strconv.FormatFloat(math.Round(10*x)/10+0, 'f', 1, 64)) + " pt"
		}
		t.row(a, y, name, percent(u, uAll), percent(v, vAll), d, dim)
		y++
	}
	if t.v == nil || len(t.v.Costs) == 0 {
		ratio("exits", per(t.a.exits, t.a), per(t.b.exits, t.b))
		ratio("kick IPIs", per(t.a.ipis, t.a), per(t.b.ipis, t.b))
	}
	ratio("kicks", per(t.a.kicks, t.a), per(t.b.kicks, t.b))
	share("fastpath, of exits", t.a.fast, t.a.exits, t.b.fast, t.b.exits)
	share("re-entered", t.a.reentered, t.a.exits, t.b.reentered, t.b.exits)
	return y
}

func decimals(v float64) string { return minus(strconv.FormatFloat(v, 'f', 3, 64)) }

// minus writes the sign as the screen does.
func minus(s string) string {
	if s != "" && s[0] == '-' {
		return "−" + s[1:]
	}
	return s
}

// settings are the knobs in which the sides differ, in words.
func (t *compareTable) settings() string {
	var out []string
	for i := range knobRows {
		k := knobRows[i].knob
		if u, v := t.a.knobs[k], t.b.knobs[k]; u != v {
			out = append(out, k.String()+" "+showKnob(k, u)+" → "+showKnob(k, v))
		}
	}
	return strings.Join(out, " · ")
}

// mix draws the exits by reason and the kicks by decision, and returns the rows
// used.
func (t *compareTable) mix(a area) int {
	note := pickString(t.a.part || t.b.part, "exits, part", "exits")
	t.title(a, 0, note, "B − A")
	if ca, _, _, _ := t.columns(a.w); a.w >= 76 {
		a.text(min(1+len(note), ca), 0, label, ": share, mean exit→entry")
	}
	y := 1
	var na, nb uint64
	for r := range t.a.mix {
		na += t.a.mix[r].n
		nb += t.b.mix[r].n
	}
	cell := func(h *trace.Header, m mixCount, all uint64) string {
		if m.n == 0 {
			return "–"
		}
		return percent(m.n, all) + pickString(a.w >= 76, " "+padLeft(t.span(h, float64(m.mean())), 11), "")
	}
	for r := range trace.ExitReason(trace.NumExits) {
		u, v := t.a.mix[r], t.b.mix[r]
		if u.n+v.n == 0 {
			continue
		}
		d, st := "", dim
		if u.n > 0 && v.n > 0 {
			x := math.Round(t.scale(&t.b.h, float64(v.mean()))) - math.Round(t.scale(&t.a.h, float64(u.mean())))
			d, st = t.amount(x), pick(x < 0, good, pick(x > 0, late, dim))
		}
		t.row(a, y, r.String(), cell(&t.a.h, u, na), cell(&t.b.h, v, nb), d, st)
		y++
	}
	na, nb = 0, 0
	for _, k := range kickDecisions {
		na += t.a.kinds[k]
		nb += t.b.kinds[k]
	}
	if na+nb == 0 {
		return y + 1
	}
	y++
	t.title(a, y, pickString(t.a.part || t.b.part, "kicks, part", "kicks"), "")
	for _, k := range kickDecisions {
		if u, v := t.a.kinds[k], t.b.kinds[k]; u+v > 0 {
			y++
			t.row(a, y, k.String(), percent(u, na), percent(v, nb), "", dim)
		}
	}
	return y + 2
}

// span writes an unsigned time of a run.
func (t *compareTable) span(h *trace.Header, cycles float64) string {
	if t.nanos {
		return duration(clock.Nanos(math.Round(t.scale(h, cycles))))
	}
	return plain3(int64(math.Round(cycles))) + " cyc"
}

// histogram draws both distributions over each other as shares, and returns the
// rows used.
func (t *compareTable) histogram(a area) int {
	x, y := t.a.late, t.b.late
	if x.Count() == 0 || y.Count() == 0 || a.w < 20 || a.h < 4 {
		return 0
	}
	if t.a.h.Hz != t.b.h.Hz {
		a.cut(0, 0, a.w, dim, "the TSC rates differ: histograms in cycles cannot be laid over each other")
		return 2
	}
	k := newLateScale(min(x.Min, y.Min), max(x.Max, y.Max), a.w)
	cx, cy := columnShares(x, k), columnShares(y, k)
	most := 0.0
	for i := range cx {
		most = max(most, cx[i], cy[i])
	}
	a.pieces(0, 0, a.w, []piece{{"█", series0, 0}, {" A only  ", dim, 0}, {"▒", series2, 0}, {" B only  ", dim, 0},
		{"▓", series7, 0}, {" both", dim, 0}, {"  share of deadlines, lateness on a log axis", dim, 1}})
	h := a.h - 3
	for i := range a.w {
		hx, hy := shareRows(cx[i], most, h), shareRows(cy[i], most, h)
		for r := range max(hx, hy) {
			st, fill := series7, '▓'
			if r >= hy {
				st, fill = series0, '█'
			} else if r >= hx {
				st, fill = series2, '▒'
			}
			a.put(i, h-r, fill, st)
		}
	}
	a.hline(0, h+1, a.w, '─', faint)
	lateTicks(t.s, a, h+1, k, min(x.Min, y.Min), max(x.Max, y.Max))
	return a.h
}

// columnShares is the share of deadlines in each column.
func columnShares(l *trace.Lateness, k lateScale) []float64 {
	cs := histColumns(l, k)
	for i := range cs {
		cs[i] /= float64(l.Count())
	}
	return cs
}

// shareRows is the height of a share on a scale by square root.
func shareRows(v, most float64, h int) int {
	if v <= 0 {
		return 0
	}
	return max(int(math.Sqrt(v/most)*float64(h)+0.5), 1)
}
