package trace

import (
	"math"
	"slices"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

func TestBucketsHoldTheirValues(t *testing.T) {
	tests := []struct{ v, low, high uint64 }{
		{0, 0, 0}, {1, 1, 1}, {2047, 2047, 2047}, {2048, 2048, 2049}, {2049, 2048, 2049}, {4095, 4094, 4095},
		{4096, 4096, 4099}, {1 << 20, 1 << 20, 1<<20 + 1023}, {1<<63 - 1, 1<<63 - 1<<52, 1<<63 - 1},
		{math.MaxUint64, 1<<64 - 1<<53, math.MaxUint64},
	}
	for _, tt := range tests {
		i := histIndex(tt.v)
		if histLow(i) != tt.low || histHigh(i) != tt.high {
			t.Errorf("%d lies in %d–%d, want %d–%d", tt.v, histLow(i), histHigh(i), tt.low, tt.high)
		}
	}
}

func TestBucketsAreNarrow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := rapid.Uint64().Draw(rt, "v") >> rapid.IntRange(0, 63).Draw(rt, "shift")
		low, high := histLow(histIndex(v)), histHigh(histIndex(v))
		if v < low || v > high || high-low > v/1024 {
			rt.Fatalf("%d lies in %d–%d", v, low, high)
		}
		if v > 0 && histIndex(v) < histIndex(v-1) {
			rt.Fatalf("the buckets of %d and %d are out of order", v-1, v)
		}
	})
}

// TestPercentilesAgreeWithTheLibrary compares with HdrHistogram itself.
func TestPercentilesAgreeWithTheLibrary(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 1<<40), 1, 200).Draw(rt, "values")
		var l Lateness
		lib := hdrhistogram.New(1, 1<<41, 3)
		for _, v := range values {
			l.Add(clock.Cycles(v))
			if err := lib.RecordValue(v); err != nil {
				rt.Fatal(err)
			}
		}
		for _, p := range []float64{1, 25, 50, 90, 99, 99.9, 100} {
			// The library rounds the rank half up; ask for what it rounds to ours.
			k := float64(percentileRank(p, uint64(len(values))))
			want := min(lib.ValueAtPercentile(100*(k-0.25)/float64(len(values))), slices.Max(values))
			if got := int64(l.Percentile(p)); got != want {
				rt.Fatalf("p%v = %d, the library says %d", p, got, want)
			}
		}
		if h := l.Late.HDR(); h.TotalCount() != int64(len(values)) || h.ValueAtPercentile(50) != lib.ValueAtPercentile(50) {
			rt.Fatalf("exported histogram has %d values, p50 %d", h.TotalCount(), h.ValueAtPercentile(50))
		}
	})
}

// TestPercentilesOfSignedValues compares with the sorted values themselves.
func TestPercentilesOfSignedValues(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(-1<<30, 1<<30), 1, 100).Draw(rt, "values")
		var l Lateness
		var sum float64
		for _, v := range values {
			l.Add(clock.Cycles(v))
			sum += float64(v)
		}
		slices.Sort(values)
		for _, p := range []float64{0, 10, 50, 90, 99, 100} {
			k := max(int(math.Ceil(p/100*float64(len(values))-1e-9)), 1)
			want, got := values[k-1], int64(l.Percentile(p))
			if got < want || float64(got-want) > math.Abs(float64(want))/1024 {
				rt.Fatalf("p%v = %d, want %d or up to 0.1 %% more", p, got, want)
			}
		}
		if int64(l.Min) != values[0] || int64(l.Max) != values[len(values)-1] {
			rt.Fatalf("range %d–%d, want %d–%d", l.Min, l.Max, values[0], values[len(values)-1])
		}
		if mean := sum / float64(len(values)); math.Abs(l.Mean()-mean) > 1e-6*math.Max(1, math.Abs(mean)) {
			rt.Fatalf("mean %v, want %v", l.Mean(), mean)
		}
		var n uint64
		last := clock.Cycles(math.MinInt64)
		l.Each(func(low, high clock.Cycles, count uint64) {
			if low > high || low <= last {
				rt.Fatalf("bucket %d–%d after %d", low, high, last)
			}
			last = high
			n += count
		})
		if n != l.Count() {
			rt.Fatalf("buckets hold %d of %d", n, l.Count())
		}
	})
}

func TestLatenessOfFewValues(t *testing.T) {
	tests := []struct {
		name     string
		values   []clock.Cycles
		p50, p99 clock.Cycles
		mean     float64
		onTime   uint64
	}{
		{"empty", nil, 0, 0, 0, 0},
		{"one", []clock.Cycles{250}, 250, 250, 250, 0},
		{"early and late", []clock.Cycles{-100, 100}, -100, 100, 0, 0},
		{"around the deadline", []clock.Cycles{-99, -1, 0, 1, 99}, 0, 99, 0, 5},
		{"extremes", []clock.Cycles{math.MinInt64, math.MaxInt64}, math.MinInt64, math.MaxInt64, -0.5, 0},
		{"all early", []clock.Cycles{-3, -2, -1}, -2, -1, -2, 3},
		{"sum beyond 64 bits", []clock.Cycles{math.MaxInt64, math.MaxInt64, math.MaxInt64}, math.MaxInt64, math.MaxInt64,
			math.MaxInt64, 0},
	}
	for _, tt := range tests {
		var l Lateness
		for _, v := range tt.values {
			l.Add(v)
		}
		if l.Percentile(50) != tt.p50 || l.Percentile(99) != tt.p99 || l.Mean() != tt.mean || l.OnTime != tt.onTime {
			t.Errorf("%s: p50 %d p99 %d mean %v on time %d, want %d %d %v %d", tt.name, l.Percentile(50), l.Percentile(99),
				l.Mean(), l.OnTime, tt.p50, tt.p99, tt.mean, tt.onTime)
		}
	}
}

func TestPercentileRank(t *testing.T) {
	tests := []struct {
		p    float64
		n    uint64
		want uint64
	}{{0, 10, 1}, {50, 10, 5}, {99, 100, 99}, {99.9, 1000, 999}, {99.9, 10, 10}, {99.99, 10000, 9999}, {100, 7, 7},
		{29, 100, 29}, {150, 7, 7}, {-1, 7, 1}}
	for _, tt := range tests {
		if got := percentileRank(tt.p, tt.n); got != tt.want {
			t.Errorf("percentileRank(%v, %d) = %d, want %d", tt.p, tt.n, got, tt.want)
		}
	}
}

func TestResetLatenessIsEmpty(t *testing.T) {
	var l Lateness
	for _, v := range []clock.Cycles{-70000, 5, 1 << 30} {
		l.Add(v)
	}
	l.Reset()
	if l.Count() != 0 || l.Percentile(50) != 0 || l.Min != 0 || l.Mean() != 0 {
		t.Errorf("after Reset: %d values, p50 %d", l.Count(), l.Percentile(50))
	}
	l.Add(5)
	if l.Percentile(100) != 5 || l.Count() != 1 || l.Max != 5 {
		t.Errorf("one value after Reset: p100 %d, max %d of %d", l.Percentile(100), l.Max, l.Count())
	}
}

func TestCopiedHistogramsDoNotKeepOldCounts(t *testing.T) {
	fill := func(values ...clock.Cycles) *Lateness {
		l := new(Lateness)
		for _, v := range values {
			l.Add(v)
		}
		return l
	}
	sources := []*Lateness{fill(), fill(3), fill(1<<40, -1<<40), fill(70000), fill(-5, 5), fill(1 << 20), fill()}
	var dst Lateness
	for i, src := range append(sources, sources...) {
		src.copyTo(&dst)
		if dst.Count() != src.Count() || dst.Percentile(50) != src.Percentile(50) || !dst.check() {
			t.Fatalf("copy %d: %d values, p50 %d, want %d, %d", i, dst.Count(), dst.Percentile(50), src.Count(), src.Percentile(50))
		}
		dst.Add(12345)
		if src.Count() == dst.Count() {
			t.Fatal("the copy shares memory")
		}
	}
}

func TestRankBeyondTheCountIsABug(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	var h Hist
	h.Add(1)
	h.Rank(2)
}
