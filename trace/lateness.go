package trace

import (
	"math"
	"math/bits"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// OnTimeBand is the error, in cycles, below which a deadline counts as on time:
// the least delta that adaptive tuning acts on (arch/x86/kvm/lapic.c,
// LAPIC_TIMER_ADVANCE_ADJUST_MIN).
const OnTimeBand clock.Cycles = 100

// Lateness is the distribution of signed distances from a deadline: negative is
// early. Count, Min, Max and the mean are exact; percentiles have the error of
// Hist. Its zero value is empty.
type Lateness struct {
	Early Hist // magnitudes of the negative distances
	Late  Hist // distances of 0 and more
	// OnTime is the number of distances closer to 0 than OnTimeBand.
	OnTime   uint64
	Min, Max clock.Cycles
	// SumHi and SumLo are the sum of all distances in 128 bits.
	SumHi int64
	SumLo uint64
}

// Add counts c.
func (l *Lateness) Add(c clock.Cycles) {
	if l.Count() == 0 {
		l.Min, l.Max = c, c
	}
	l.Min, l.Max = min(l.Min, c), max(l.Max, c)
	lo, carry := bits.Add64(l.SumLo, uint64(c), 0)
	l.SumLo, l.SumHi = lo, l.SumHi+int64(c>>63)+int64(carry)
	if -OnTimeBand < c && c < OnTimeBand {
		l.OnTime++
	}
	if c < 0 {
		l.Early.Add(-uint64(c))
		return
	}
	l.Late.Add(uint64(c))
}

// Count is the number of distances.
func (l *Lateness) Count() uint64 { return l.Early.N + l.Late.N }

// Mean is the arithmetic mean in cycles, 0 if empty.
func (l *Lateness) Mean() float64 {
	if l.Count() == 0 {
		return 0
	}
	hi, lo, sign := l.SumHi, l.SumLo, 1.0
	if hi < 0 {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, sign = -hi-int64(borrow), -1
	}
	return sign * (float64(hi)*(1<<64) + float64(lo)) / float64(l.Count())
}

// Percentile returns the smallest value that at least p percent of the distances
// do not exceed, p in 0 … 100: with N values in ascending order the one of rank
// ceil(p/100 × N), at least 1 (the nearest-rank rule). It is the upper bound of its bucket, so never too
// small, and lies within Min and Max. The empty distribution gives 0.
func (l *Lateness) Percentile(p float64) clock.Cycles {
	n := l.Count()
	if n == 0 {
		return 0
	}
	k := percentileRank(p, n)
	if k <= l.Early.N {
		low, _ := l.Early.Rank(l.Early.N + 1 - k)
		return min(max(-clock.Cycles(low), l.Min), l.Max)
	}
	_, high := l.Late.Rank(k - l.Early.N)
	return clock.Cycles(min(high, uint64(l.Max)))
}

// percentileRank is ceil(p/100 × n) within 1 … n. A product that differs from
// an integer only by rounding counts as that integer.
func percentileRank(p float64, n uint64) uint64 {
	x := p / 100 * float64(n)
	r := math.Round(x)
	if math.Abs(x-r) > 1e-9*max(r, 1) {
		r = math.Ceil(x)
	}
	return min(max(uint64(max(r, 0)), 1), n)
}

// Each calls f for every bucket in use, from the earliest to the latest, with
// its signed bounds.
func (l *Lateness) Each(f func(low, high clock.Cycles, count uint64)) {
	for i := l.Early.Hi - 1; i >= l.Early.Lo; i-- {
		if c := l.Early.Counts[i]; c != 0 {
			f(-clock.Cycles(histHigh(int(i))), -clock.Cycles(histLow(int(i))), c)
		}
	}
	l.Late.Each(func(low, high, count uint64) { f(clock.Cycles(low), clock.Cycles(high), count) })
}

// Reset empties l and keeps its memory.
func (l *Lateness) Reset() {
	l.Early.Reset()
	l.Late.Reset()
	*l = Lateness{Early: l.Early, Late: l.Late}
}

func (l *Lateness) copyTo(dst *Lateness) {
	early, late := dst.Early, dst.Late
	*dst = *l
	dst.Early, dst.Late = early, late
	l.Early.copyTo(&dst.Early)
	l.Late.copyTo(&dst.Late)
}
