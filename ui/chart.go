package ui

import (
	"math"
	"strconv"

	"github.com/NimbleMarkets/ntcharts/canvas/runes"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// plot collects dots at braille resolution: two by four to a cell. The style of
// a cell is that of the most important dot in it. Its memory is reused.
type plot struct {
	w, h int // cells
	dots []runes.PatternDots
	st   []style
	rank []uint8
}

func (p *plot) reset(w, h int) {
	p.w, p.h = max(w, 0), max(h, 0)
	n := p.w * p.h
	if cap(p.dots) < n {
		p.dots, p.st, p.rank = make([]runes.PatternDots, n), make([]style, n), make([]uint8, n)
	}
	p.dots, p.st, p.rank = p.dots[:n], p.st[:n], p.rank[:n]
	clear(p.dots)
	clear(p.rank)
}

// dot sets the dot at (x, y), 0 ≤ x < 2w, 0 ≤ y < 4h from the top; others are
// left out. A higher rank decides the cell's style.
func (p *plot) dot(x, y int, s style, rank uint8) {
	if x < 0 || y < 0 || x >= 2*p.w || y >= 4*p.h {
		return
	}
	i := y/4*p.w + x/2
	p.dots[i][y%4*2+x%2] = true
	if rank >= p.rank[i] {
		p.rank[i], p.st[i] = rank, s
	}
}

// draw writes the cells that have dots.
func (p *plot) draw(a area) {
	for y := 0; y < p.h; y++ {
		for x := 0; x < p.w; x++ {
			i := y*p.w + x
			if p.dots[i] != (runes.PatternDots{}) {
				a.put(x, y, runes.BraillePatternFromPatternDots(p.dots[i]), p.st[i])
			}
		}
	}
}

// blockFill is the rune of coloured bars: it leaves a gap to the line above, so
// that bars below each other stay apart.
const blockFill = '▆'

// bar draws a horizontal bar of frac of w columns at (x, y) on a track of dots.
// What is not nothing gets at least a column.
func (a area) bar(x, y, w int, frac float64, s style) {
	n := 0
	if frac > 0 {
		n = min(max(int(math.Round(frac*float64(w))), 1), w)
	}
	a.hline(x, y, n, blockFill, s)
	a.hline(x+n, y, w-n, '·', faint)
}

// column draws a vertical bar of frac of h rows whose foot is at (x, y).
func (a area) column(x, y, h int, frac float64, s style) {
	eighths := int(math.Round(min(max(frac, 0), 1) * float64(h*8)))
	for i := 0; i < h && eighths > 0; i++ {
		a.put(x, y-i, runes.LowerBlockElementFromFloat64(float64(min(eighths, 8))/8), s)
		eighths -= 8
	}
}

// spark draws a line of columns one row high, newest value last at the right
// end of w columns. Values are fractions of 1; NaN leaves a gap.
func (a area) spark(x, y, w int, vs []float64, s style) {
	if len(vs) > w {
		vs = vs[len(vs)-w:]
	}
	x += w - len(vs)
	for i, v := range vs {
		switch {
		case math.IsNaN(v):
			a.put(x+i, y, ' ', s)
		case v < 1.0/16:
			a.put(x+i, y, '▁', faint)
		default:
			a.put(x+i, y, runes.LowerBlockElementFromFloat64(max(math.Round(min(v, 1)*8), 1)/8), s)
		}
	}
}

// segment is a part of a stacked bar.
type segment struct {
	n    float64
	s    style
	fill rune
}

// stack draws parts side by side over w columns; total is what w stands for.
// Each part that is not nothing gets at least the column in which it begins.
func (a area) stack(x, y, w int, total float64, parts []segment) {
	if total <= 0 || w <= 0 {
		return
	}
	sum := 0.0
	at := 0
	for _, p := range parts {
		if p.n <= 0 {
			continue
		}
		sum += p.n
		end := min(int(math.Round(sum/total*float64(w))), w)
		if end == at && at < w {
			end = at + 1
		}
		a.hline(x+at, y, end-at, p.fill, p.s)
		at = end
	}
}

// niceStep is the smallest 1, 2 or 5 × 10^n that is at least v.
func niceStep(v float64) float64 {
	if v <= 0 {
		return 1
	}
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5, 10} {
		if p*m >= v*(1-1e-9) {
			return p * m
		}
	}
	return 10 * p
}

// symlog maps v to a scale that is linear within ±lin and logarithmic outside.
func symlog(v, lin float64) float64 {
	if a := math.Abs(v); a > lin {
		return math.Copysign(1+math.Log10(a/lin), v)
	}
	return v / lin
}

// axisRows is the height of a chart's time axis, 0 where the chart itself needs
// the row.
func axisRows(a area) int {
	if a.h >= 10 {
		return 1
	}
	return 0
}

// timeAxis labels the columns of chart ch on the last row of a, with the run's time
// as the header shows it. dur is what the width stands for, from t0, in cycles.
func timeAxis(s *scene, a, ch area, t0 clock.TSC, dur float64) {
	if axisRows(a) == 0 || s.hz() == 0 || ch.w < 20 {
		return
	}
	ns := 1e9 / float64(s.hz())
	from, span := float64(t0)*ns, max(dur*ns, 1)
	y, x0 := a.h-1, ch.x-a.x
	a.hline(x0, y, ch.w, '─', faint)
	step := niceStep(span / max(float64(ch.w)/11, 1))
	free := 0
	for v := math.Ceil(from/step) * step; v <= from+span; v += step {
		x := int(math.Round((v - from) / span * float64(ch.w-1)))
		words := stepTime(v, step, from+span)
		at := x - textWidth(words)/2
		if at >= free && at+textWidth(words) <= ch.w {
			a.text(x0+at, y, dim, words)
			free = at + textWidth(words) + 2
		}
	}
}

// stepTime writes a time in ns in the unit of the greatest one, with as many digits
// as tell it from the next tick.
func stepTime(v, step, most float64) string {
	for _, u := range timeUnits {
		if most < u.ns && u.ns > 1 || step < u.ns/10000 {
			continue
		}
		prec := max(int(math.Ceil(-math.Log10(step/u.ns)-1e-9)), 0)
		return strconv.FormatFloat(v/u.ns, 'f', prec, 64) + " " + u.name
	}
	return strconv.FormatFloat(v, 'f', 0, 64) + " ns"
}

var timeUnits = []struct {
	name string
	ns   float64
}{{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}}
