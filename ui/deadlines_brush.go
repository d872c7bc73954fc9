package ui

import (
	"math"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// brushKind says in which chart deadlines are brushed.
type brushKind uint8

const (
	brushNone brushKind = iota
	brushLate           // a range of lateness: columns of the histogram
	brushTime           // a range of time: columns of the scatter
)

// brush is a range in a chart that selects deadlines. It is kept in cycles, not
// in columns, so that it stays while the axis grows.
type brush struct {
	kind     brushKind
	lo, hi   clock.Cycles // brushLate, both included
	from, to clock.TSC    // brushTime, both included; handler times
}

// keeps reports whether a deadline is in the brush.
func (b *brush) keeps(c *trace.Chain) bool {
	switch b.kind {
	case brushLate:
		return c.Ran() && c.Late >= b.lo && c.Late <= b.hi
	case brushTime:
		return c.Ran() && c.ISRAt >= b.from && c.ISRAt <= b.to
	}
	return true
}

// words says what the brush holds.
func (b *brush) words(s *scene) string {
	switch b.kind {
	case brushLate:
		if b.lo == b.hi {
			return s.cyc(b.lo)
		}
		return tickLabel(s, float64(b.lo)) + " … " + s.cyc(b.hi)
	case brushTime:
		return "TSC " + group3(uint64(b.from)) + " … " + group3(uint64(b.to))
	}
	return ""
}

// grow extends the brush to another one of its kind.
func (b *brush) grow(o brush) {
	if b.kind != o.kind {
		*b = o
		return
	}
	b.lo, b.hi = min(b.lo, o.lo), max(b.hi, o.hi)
	b.from, b.to = min(b.from, o.from), max(b.to, o.to)
}

// lateScale is the axis of the histogram over w columns: symmetric logarithmic.
type lateScale struct {
	lo, hi float64 // of the mapped values
	w      int
}

const lateLinear = float64(trace.OnTimeBand) // up to here the axis is linear

func newLateScale(least, most clock.Cycles, w int) lateScale {
	lo, hi := symlog(float64(least), lateLinear), symlog(float64(most), lateLinear)
	if hi-lo < 0.4 {
		mid := (lo + hi) / 2
		lo, hi = mid-0.2, mid+0.2
	}
	return lateScale{lo, hi, max(w, 1)}
}

func (k lateScale) col(v float64) int {
	return min(max(int((symlog(v, lateLinear)-k.lo)/(k.hi-k.lo)*float64(k.w-1)+0.5), 0), k.w-1)
}

// brushAt is the brush of column x: the buckets of the histogram that are drawn
// there. n is how many deadlines they hold.
func (k lateScale) brushAt(l *trace.Lateness, x int) (b brush, n uint64) {
	b.kind = brushLate
	l.Each(func(low, high clock.Cycles, count uint64) {
		if k.col((float64(low)+float64(high))/2) != x {
			return
		}
		if n == 0 {
			b.lo = low
		}
		b.hi, n = high, n+count
	})
	if n == 0 {
		b.lo, b.hi = clock.Cycles(k.value(float64(x)-0.5)), clock.Cycles(k.value(float64(x)+0.5))
	}
	return b, n
}

// value is the lateness at a column.
func (k lateScale) value(x float64) float64 {
	return symexp(k.lo+x/float64(max(k.w-1, 1))*(k.hi-k.lo), lateLinear)
}

// symexp is the inverse of symlog.
func symexp(v, lin float64) float64 {
	if a := math.Abs(v); a > 1 {
		return math.Copysign(lin*math.Pow(10, a-1), v)
	}
	return v * lin
}

// timeScale is the axis of the scatter over w columns, two dots to each.
type timeScale struct {
	t0  clock.TSC
	dur float64
	w   int
}

func newTimeScale(r *trace.Ring[trace.LatePoint], w int) timeScale {
	t0, t1 := r.At(0).At, r.Last(0).At
	return timeScale{t0, max(float64(t1.Sub(t0)), 1), max(w, 1)}
}

// dot is the dot column of a time.
func (k timeScale) dot(t clock.TSC) int { return int(float64(t.Sub(k.t0)) / k.dur * float64(2*k.w-1)) }

// brushAt is the brush of column x; n is how many deadlines it holds.
func (k timeScale) brushAt(r *trace.Ring[trace.LatePoint], x int) (b brush, n uint64) {
	b.kind = brushTime
	at := func(dot int) clock.TSC {
		return k.t0.Add(clock.Cycles(math.Ceil(float64(dot) * k.dur / float64(2*k.w-1))))
	}
	b.from, b.to = at(2*x), at(2*x+2)-1
	for i := range r.Len() {
		if t := r.At(i).At; t >= b.from && t <= b.to {
			n++
		}
	}
	return b, n
}

// setBrush takes a brush; the cursor goes to the newest deadline in it.
func (p *deadlinesPane) setBrush(b brush) {
	p.brush = b
	p.seen.forget()
	p.list.follow = true
}

// brushUnder is the brush of the chart column at (x, y) of the pane's inside.
func (p *deadlinesPane) brushUnder(s *scene, x, y int) (b brush) {
	st := s.state()
	x, y = x+p.at.x, y+p.at.y
	switch {
	case p.hist.has(x, y) && st.Deadlines.Late.Count() > 0:
		b, _ = p.lateScale(s).brushAt(&st.Deadlines.Late, x-p.hist.x)
	case p.dots.has(x, y) && st.Scatter.Len() > 0:
		b, _ = newTimeScale(&st.Scatter, p.dots.w).brushAt(&st.Scatter, x-p.dots.x)
	}
	return b
}

// drag extends the brush to the column at (x, y).
func (p *deadlinesPane) drag(s *scene, x, y int) {
	if b := p.brushUnder(s, x, y); b.kind != brushNone && b.kind == p.brush.kind {
		p.brush.grow(b)
		p.seen.forget()
	}
}

// brushCols is the width of a chart's axis where the chart is not drawn.
const brushCols = 60

func (p *deadlinesPane) lateScale(s *scene) lateScale {
	l, w := &s.state().Deadlines.Late, p.hist.w
	if w == 0 {
		w = brushCols
	}
	return newLateScale(l.Min, l.Max, w)
}

func (p *deadlinesPane) timeScale(s *scene) timeScale {
	w := p.dots.w
	if w == 0 {
		w = brushCols
	}
	return newTimeScale(&s.state().Scatter, w)
}

// brushChart is the chart that the brush keys move in: that of the brush, else
// that of the view, else the histogram.
func (p *deadlinesPane) brushChart() brushKind {
	switch {
	case p.brush.kind != brushNone:
		return p.brush.kind
	case p.view == viewScatter:
		return brushTime
	}
	return brushLate
}

// moveBrush moves the brush to the next column that holds deadlines; from no
// brush it begins with the last column.
func (p *deadlinesPane) moveBrush(s *scene, dir int) bool {
	st := s.state()
	if st.Deadlines.Late.Count() == 0 || st.Scatter.Len() == 0 {
		return false
	}
	var at func(x int) (brush, uint64)
	var from, w int
	if p.brushChart() == brushLate {
		k := p.lateScale(s)
		at, w = func(x int) (brush, uint64) { return k.brushAt(&st.Deadlines.Late, x) }, k.w
		from = k.col((float64(p.brush.lo) + float64(p.brush.hi)) / 2)
	} else {
		k := p.timeScale(s)
		at, w = func(x int) (brush, uint64) { return k.brushAt(&st.Scatter, x) }, k.w
		from = k.dot(p.brush.from+(p.brush.to-p.brush.from)/2) / 2
	}
	if p.brush.kind == brushNone {
		from, dir = w, -1
	}
	for x := min(max(from, -1), w) + dir; x >= 0 && x < w; x += dir {
		if b, n := at(x); n > 0 {
			p.setBrush(b)
			break
		}
	}
	return true
}

// nextBrush moves the brush to the other chart.
func (p *deadlinesPane) nextBrush(s *scene) bool {
	kind := brushTime
	if p.brushChart() == brushTime {
		kind = brushLate
	}
	was := p.view
	p.brush = brush{}
	if p.view = viewHistogram; kind == brushTime {
		p.view = viewScatter
	}
	ok := p.moveBrush(s, -1)
	p.view = was
	if ok && (was == viewScatter || was == viewHistogram) {
		p.view = map[brushKind]int{brushLate: viewHistogram, brushTime: viewScatter}[kind]
	}
	return ok
}
