package diff

import (
	"math"
	"math/bits"
	"sort"
)

// random is a small seeded generator (SplitMix64).
type random struct{ state uint64 }

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 to n−1.
func (r *random) below(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

// unit returns a number in 0 … 1.
func (r *random) unit() float64 { return float64(r.next()>>11) / (1 << 53) }

// sample is one run's lateness prepared for resampling.
type sample struct {
	// values are in the order in which they happened, each with a dither of up to
	// half a unit: whole cycles have ties, which a quantile of resamples would
	// make steps of.
	values []float64
	order  []int32 // indexes of values, ascending
	block  int
	// scratch
	count []int32
}

func newSample(values []float64, rnd *random) *sample {
	s := &sample{values: make([]float64, len(values)), order: make([]int32, len(values)), count: make([]int32, len(values)+1)}
	for i, v := range values {
		s.values[i] = v + rnd.unit() - 0.5
		s.order[i] = int32(i)
	}
	sort.Slice(s.order, func(i, j int) bool { return s.values[s.order[i]] < s.values[s.order[j]] })
	s.block = blockLength(s.values)
	return s
}

// blockLength is twice the integrated autocorrelation time of the values' ranks
// around the median, at least the cube root of their number, at most a
// twentieth of it.
func blockLength(v []float64) int {
	n := len(v)
	floor := int(math.Ceil(math.Cbrt(float64(n))))
	limit := max(1, n/20)
	sorted := append([]float64(nil), v...)
	sort.Float64s(sorted)
	mid := sorted[n/2]
	sign := make([]float64, n)
	var mean float64
	for i, x := range v {
		if x > mid {
			sign[i] = 1
		}
		mean += sign[i]
	}
	mean /= float64(n)
	tau := 1.0
	for lag := 1; lag <= limit; lag++ {
		rho := correlation(sign, mean, lag)
		if rho < 2/math.Sqrt(float64(n)) {
			break
		}
		tau += 2 * rho
	}
	return min(max(floor, int(math.Ceil(2*tau))), limit)
}

// correlation is the autocorrelation of v at a lag, 0 for a constant.
func correlation(v []float64, mean float64, lag int) float64 {
	var num, den float64
	for i := range v {
		d := v[i] - mean
		den += d * d
		if i+lag < len(v) {
			num += d * (v[i+lag] - mean)
		}
	}
	if den == 0 {
		return 0
	}
	return num / den
}

// blocks draws the beginnings of the blocks of one resample of n values.
func blocks(rnd *random, n, block int, at []int) []int {
	at = at[:0]
	for left := n; left > 0; left -= block {
		at = append(at, rnd.below(n))
	}
	return at
}

// draw resamples the values in blocks (circular) that begin at the given places,
// and returns the statistics of the resample.
func (s *sample) draw(at []int, block int) stats {
	n := len(s.values)
	clear(s.count)
	left := n
	for _, begin := range at {
		l := min(block, left)
		left -= l
		end := begin + l
		s.count[begin]++
		if end <= n {
			s.count[end]--
			continue
		}
		s.count[0]++ // the block goes round
		s.count[end-n]--
	}
	var run int32
	for i := range n {
		run += s.count[i]
		s.count[i] = run
	}
	return s.stats(s.count[:n])
}

// stats are the statistics of a sample, in the order of statNames.
type stats [numStats]float64

const (
	statTypical = iota
	statP50
	statP90
	statP99
	statMean
	numStats
)

// statNames names the statistics; the first is the one that the verdict rests
// on.
var statNames = [numStats]string{"typical", "p50", "p90", "p99", "mean"}

// statQuantiles are the quantiles from statP50 on.
var statQuantiles = [...]float64{0.5, 0.9, 0.99}

// trim is the part of the values that "typical" leaves out at either end.
const trim = 0.05

// stats returns the statistics of the values, each taken count times.
func (s *sample) stats(count []int32) (out stats) {
	n := len(s.values)
	cut := int(trim * float64(n))
	next, seen := 0, 0
	var sum, inner float64
	for _, i := range s.order {
		c := int(count[i])
		if c == 0 {
			continue
		}
		sum += float64(c) * s.values[i]
		inner += float64(max(0, min(seen+c, n-cut)-max(seen, cut))) * s.values[i]
		seen += c
		for next < len(statQuantiles) && float64(seen) >= statQuantiles[next]*float64(n) {
			out[statP50+next] = s.values[i]
			next++
		}
	}
	out[statMean] = sum / float64(n)
	out[statTypical] = inner / float64(n-2*cut)
	return out
}

// interval is where a difference lies, at some level.
type interval struct{ low, high float64 }

// intervals returns, for each statistic, the interval of its difference, b minus
// a: the percentile interval of the bootstrap. Where the runs are paired (the
// same deadlines of the same guest) both sides draw the same blocks, so that what
// a deadline asks for (its distance, spinning or halting) cancels out.
func intervals(a, b *sample, paired bool, o Options, rnd *random) [numStats]interval {
	diffs := make([][]float64, numStats)
	la, lb := a.block, b.block
	if paired {
		la = max(la, lb)
		lb = la
	}
	var atA, atB []int
	for range o.Draws {
		atA = blocks(rnd, len(a.values), la, atA)
		atB = append(atB[:0], atA...)
		if !paired {
			atB = blocks(rnd, len(b.values), lb, atB)
		}
		x, y := a.draw(atA, la), b.draw(atB, lb)
		for i := range diffs {
			diffs[i] = append(diffs[i], y[i]-x[i])
		}
	}
	var out [numStats]interval
	tail := (1 - o.Level) / 2
	for i, d := range diffs {
		sort.Float64s(d)
		lo := int(tail * float64(len(d)))
		out[i] = interval{d[lo], d[len(d)-1-lo]}
	}
	return out
}
