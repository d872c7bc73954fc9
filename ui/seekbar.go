package ui

import (
	"math"

	"github.com/NimbleMarkets/ntcharts/canvas/runes"
	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// hasBar reports whether the frame has a time line: a recording, or a run that can
// go back.
func hasBar(f *vmm.Frame) bool {
	return f != nil && (len(f.Timeline.Buckets) > 0 || f.Status.Replaying && f.Status.Now < f.Status.Head)
}

// barSpan is the stretch of time that the seek bar stands for.
func barSpan(f *vmm.Frame) (from, to clock.TSC) {
	if len(f.Timeline.Buckets) > 0 {
		return f.Timeline.From, f.Timeline.To
	}
	return f.State.First, max(f.Status.Head, f.Status.Now)
}

const barLead = 12 // columns before the bar

// barTail is the columns behind the bar on a screen of width w: on a wide one they
// say where it ends.
func barTail(w int) int {
	if w >= 100 {
		return 12
	}
	return 2
}

// barTSC is the time under a column of the seek bar on a screen of width w.
func barTSC(f *vmm.Frame, x, w int) clock.TSC {
	from, to := barSpan(f)
	n := max(w-barLead-barTail(w), 1)
	frac := min(max(float64(x-barLead)/float64(max(n-1, 1)), 0), 1)
	return from.Add(clock.Cycles(frac * float64(to.Sub(from))))
}

// seekEnd goes to an end of the timeline where one is shown, else to an end of
// the focused pane's lines.
func (m *Model) seekEnd(end keymap.Action) tea.Cmd {
	if !hasBar(m.frame) || !m.frame.Status.Replaying {
		cmd, _ := m.moves(end)
		return cmd
	}
	at, to := barSpan(m.frame)
	if end == keymap.Bottom {
		at = to
	}
	return m.seek(at)
}

// presentBar draws the seek bar: how many deadlines of each stretch were late as
// a column, turned knobs, bookmarks and the position. In the past of a run what it
// has come to since stands dimmed behind the position.
func presentBar(s *scene, a area) {
	from, to := barSpan(s.f)
	bar := a.sub(barLead, 0, a.w-barLead-barTail(a.w), 1)
	if ns, ok := s.hz().ToNanos(to); ok && barTail(a.w) > 2 {
		a.right(a.w-1, 0, dim, duration(ns))
	}
	span := max(float64(to.Sub(from)), 1)
	col := func(t clock.TSC) int { return int(float64(t.Sub(from)) / span * float64(bar.w-1)) }
	bar.hline(0, 0, bar.w, '·', faint)
	bs := s.f.Timeline.Buckets
	if len(bs) == 0 {
		bs = pastBuckets(&s.f.State, bar.w, col)
	}
	i := barLimit(s, bs)
	a.text(1, 0, label, "late>"+short(uint64(vmm.OverLimit(i))))
	now := col(s.f.Status.Now)
	barColumns(bar, bs, i, now)
	marks := &s.state().KnobTurns
	for i := range marks.Len() {
		k := marks.At(i)
		bar.put(col(k.At), 0, knobRune(s, k), knobMark|strong)
	}
	eachMark(s.f, func(_ string, at clock.TSC) { bar.put(col(at), 0, '◆', notice) })
	if s.f.Status.File == "" {
		bar.restyle(now+1, bar.w-1, faint)
	}
	bar.put(now, 0, '┃', value|strong|selected)
}

// pastBuckets is a time line of the deadlines that are kept, for a run that has
// none of its own.
func pastBuckets(st *trace.State, w int, col func(clock.TSC) int) []vmm.Bucket {
	bs := make([]vmm.Bucket, w)
	for i := range st.Scatter.Len() {
		p := st.Scatter.At(i)
		if x := col(p.At); x >= 0 && x < w {
			bs[x].Add(p.Late)
		}
	}
	return bs
}

// barLimit is the limit from which the bar counts a deadline as late: the least
// that is not below Options.Late, or that at most a fiftieth is over.
func barLimit(s *scene, bs []vmm.Bucket) (limit int) {
	var all uint64
	var over [vmm.OverLimits]uint64
	for i := range bs {
		all += uint64(bs[i].Deadlines)
		for j, n := range bs[i].Over {
			over[j] += uint64(n)
		}
	}
	for i := range over {
		if s.late > 0 && vmm.OverLimit(i) >= s.late {
			return i
		}
		if over[i] == 0 {
			break
		}
		if limit = i; s.late == 0 && over[i] <= all/50 {
			break
		}
	}
	return limit
}

// barColumns draws the columns; a knob turned behind now stands there with its key
// already.
func barColumns(bar area, bs []vmm.Bucket, limit, now int) {
	cols := make([]vmm.Bucket, bar.w)
	most := 1.0
	for x := range cols {
		c := &cols[x]
		i := x * len(bs) / bar.w
		for _, b := range bs[i:max((x+1)*len(bs)/bar.w, i+1)] {
			c.Deadlines += b.Deadlines
			c.Over[limit] += b.Over[limit]
			c.Knob = c.Knob || b.Knob
		}
		most = max(most, float64(c.Over[limit]))
	}
	for x, c := range cols {
		switch n := float64(c.Over[limit]); {
		case c.Knob && x > now:
			bar.put(x, 0, '┆', knobMark)
		case n > 0:
			bar.put(x, 0, runes.LowerBlockElementFromFloat64(max(math.Round(n/most*8), 2)/8), late)
		case c.Deadlines > 0:
			bar.put(x, 0, '▁', good)
		}
	}
}
