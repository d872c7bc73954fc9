package ftrace

import (
	"math"
	"slices"
)

// points are pairs of readings of two clocks, thinned out evenly once there are
// too many: their number is bounded however long the trace is.
type points struct {
	p      []pair
	stride uint64 // every stride-th pair is kept; 0 before the first
	n      uint64
}

type pair struct{ x, y uint64 }

const maxPoints = 1 << 12

func (s *points) add(x, y uint64) {
	s.stride = max(s.stride, 1)
	if s.n%s.stride == 0 {
		if len(s.p) == maxPoints {
			for i := range maxPoints / 2 {
				s.p[i] = s.p[2*i]
			}
			s.p = s.p[:maxPoints/2]
			s.stride *= 2
		}
		if s.n%s.stride == 0 {
			s.p = append(s.p, pair{x, y})
		}
	}
	s.n++
}

// line is y = y0 + slope × (x − x0), with the median distance of the points from
// it and how many there are.
type line struct {
	x0, y0   uint64
	slope    float64
	residual float64 // in units of y
	n        int
	span     float64 // of y over all points
}

// at is y at x; ok is false if it is no clock's value.
func (l *line) at(x uint64) (y uint64, ok bool) {
	d := float64(int64(x-l.x0)) * l.slope
	if math.Abs(d) > 1<<62 {
		return 0, false
	}
	return l.y0 + uint64(int64(math.Round(d))), true
}

// exact reports whether the slope is known to better than one in 10,000.
func (l *line) exact() bool {
	return l.n >= minPairs && l.span > 0 && l.residual <= l.span*1e-4 && l.slope > 0
}

// minPairs is how many pairs a fit needs.
const minPairs = 4

// fit lays a straight line through pairs, whatever a few of them say: the slope
// is the median of slopes between far points, refined by least squares over the
// points near it.
func fit(ps []pair) (line, bool) {
	l, ok := rough(ps)
	if !ok {
		return l, false
	}
	for range 2 {
		near := 5*l.residual + 2
		var n, sx, sy, sxx, sxy float64
		for _, p := range ps {
			x, y := l.distance(p)
			if math.Abs(y-l.slope*x) > near {
				continue
			}
			n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
		}
		if det := n*sxx - sx*sx; n >= minPairs && det > 0 {
			slope := (n*sxy - sx*sy) / det
			l.shift((sy - slope*sx) / n)
			l.slope = slope
		}
		l.measure(ps, false)
	}
	return l, true
}

// distance is how far p lies from the line's origin.
func (l *line) distance(p pair) (x, y float64) {
	return float64(int64(p.x - l.x0)), float64(int64(p.y - l.y0))
}

func (l *line) shift(dy float64) { l.y0 += uint64(int64(math.Round(dy))) }

// rough is the line through the middle with the median slope.
func rough(ps []pair) (line, bool) {
	if len(ps) < minPairs {
		return line{}, false
	}
	s := slices.Clone(ps)
	slices.SortFunc(s, func(a, b pair) int {
		if d := int64(a.x - b.x); d != 0 {
			return int(min(max(d, -1), 1))
		}
		return 0
	})
	var slopes []float64
	for i, half := 0, len(s)/2; i+half < len(s); i++ {
		a, b := s[i], s[i+half]
		if dx := float64(int64(b.x - a.x)); dx > 0 {
			slopes = append(slopes, float64(int64(b.y-a.y))/dx)
		}
	}
	if len(slopes) == 0 {
		return line{}, false
	}
	mid := s[len(s)/2]
	l := line{x0: mid.x, y0: mid.y, slope: median(slopes), n: len(s)}
	if l.slope <= 0 {
		return line{}, false
	}
	l.span = l.slope * float64(int64(s[len(s)-1].x-s[0].x))
	l.measure(s, true)
	return l, true
}

// measure sets the residual, and with centre lays the line through the median.
func (l *line) measure(ps []pair, centre bool) {
	r := make([]float64, len(ps))
	for i, p := range ps {
		x, y := l.distance(p)
		r[i] = y - l.slope*x
	}
	if centre {
		m := median(slices.Clone(r))
		l.shift(m)
		for i := range r {
			r[i] -= m
		}
	}
	for i := range r {
		r[i] = math.Abs(r[i])
	}
	l.residual = median(r)
}

// under lays a line under pairs (x, y) of which y comes late by a varying time:
// the edge of the lower hull below their middle. Its residual is the distance of
// the tenth part of the points that lie nearest.
func under(ps []pair) (line, bool) {
	l, ok := rough(ps)
	if !ok {
		return l, false
	}
	s := make([][2]float64, 0, len(ps))
	mean := 0.0
	for _, p := range ps {
		x, y := l.distance(p)
		s = append(s, [2]float64{x, y})
		mean += x / float64(len(ps))
	}
	slices.SortFunc(s, func(a, b [2]float64) int {
		if a[0] != b[0] {
			return cmpFloat(a[0], b[0])
		}
		return cmpFloat(a[1], b[1])
	})
	var hull [][2]float64
	for _, p := range s {
		for len(hull) >= 2 && cross(hull[len(hull)-2], hull[len(hull)-1], p) <= 0 {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, p)
	}
	for i := 1; i < len(hull); i++ {
		a, b := hull[i-1], hull[i]
		if (a[0] <= mean && mean <= b[0] || i == len(hull)-1) && b[0] > a[0] {
			l.slope = (b[1] - a[1]) / (b[0] - a[0])
			l.shift(a[1] - l.slope*a[0])
			break
		}
	}
	l.residual = l.nearest(ps)
	return l, l.slope > 0
}

// lower is the line of a known slope under pairs.
func lower(ps []pair, slope float64) (line, bool) {
	if len(ps) == 0 {
		return line{}, false
	}
	l := line{x0: ps[len(ps)/2].x, y0: ps[len(ps)/2].y, slope: slope, n: len(ps)}
	least := math.Inf(1)
	for _, p := range ps {
		x, y := l.distance(p)
		least = min(least, y-slope*x)
	}
	l.shift(least)
	l.residual = l.nearest(ps)
	return l, true
}

// nearest is how far above the line the lowest tenth of the points reaches.
func (l *line) nearest(ps []pair) float64 {
	r := make([]float64, len(ps))
	for i, p := range ps {
		x, y := l.distance(p)
		r[i] = y - l.slope*x
	}
	slices.Sort(r)
	return max(0, r[len(r)/10])
}

func cross(a, b, c [2]float64) float64 { return (b[0]-a[0])*(c[1]-a[1]) - (b[1]-a[1])*(c[0]-a[0]) }

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[len(v)/2]
}
