package trace

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

func TestRingKeepsTheLastEntries(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size, n := rapid.IntRange(1, 9).Draw(rt, "size"), rapid.IntRange(0, 40).Draw(rt, "n")
		var r Ring[int]
		r.Reset(size)
		for i := range n {
			if got := r.Push(i); got != uint64(i) {
				rt.Fatalf("push %d has number %d", i, got)
			}
		}
		if r.Len() != min(n, size) {
			rt.Fatalf("%d entries, want %d", r.Len(), min(n, size))
		}
		for i := range n + 2 {
			p, kept := r.Get(uint64(i)), i < n && i >= n-size
			if (p != nil) != kept || kept && *p != i {
				rt.Fatalf("entry %d is %v", i, p)
			}
		}
		for i := range r.Len() {
			if *r.At(i) != n-r.Len()+i || *r.Last(i) != n-1-i {
				rt.Fatalf("At(%d) = %d, Last(%d) = %d", i, *r.At(i), i, *r.Last(i))
			}
		}
		if r.Last(-1) != nil || r.Last(r.Len()) != nil {
			rt.Fatal("Last gives what there is not")
		}
	})
}

func TestCopiedRingsAreEqualAndApart(t *testing.T) {
	var long, short, dst Ring[int]
	long.Reset(4)
	short.Reset(4)
	for i := range 11 {
		long.Push(i)
	}
	short.Push(99)
	for _, src := range []*Ring[int]{&long, &short, &long, &short} {
		src.copyTo(&dst)
		if !reflect.DeepEqual(&dst, src) {
			t.Fatalf("copy %v of %v", dst, src)
		}
		dst.Buf[0]--
		if dst.Buf[0] == src.Buf[0] {
			t.Fatal("the copy shares memory")
		}
		dst.Buf[0]++
	}
	long.Reset(4)
	if long.Len() != 0 || long.Buf[2] != 0 {
		t.Errorf("after Reset: %v", long)
	}
}

func TestConsoleKeepsTheLastBytes(t *testing.T) {
	var r ByteRing
	r.Reset(5)
	for _, tt := range []struct{ write, want string }{{"", ""}, {"abc", "abc"}, {"de", "abcde"}, {"f", "bcdef"}, {"0123456789", "56789"}} {
		r.write([]byte(tt.write))
		if got := string(r.Bytes(nil)); got != tt.want {
			t.Errorf("after %q: %q, want %q", tt.write, got, tt.want)
		}
	}
}

func TestVectorSets(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOfDistinct(rapid.Byte(), func(b byte) byte { return b }).Draw(rt, "vectors")
		var s Vectors
		for _, v := range list {
			s.Add(v)
		}
		slices.Sort(list)
		if got := s.List(nil); !slices.Equal(got, list) {
			rt.Fatalf("list %v, want %v", got, list)
		}
		high, ok := s.Highest()
		if ok != (len(list) > 0) || ok && high != list[len(list)-1] {
			rt.Fatalf("highest %d, %v of %v", high, ok, list)
		}
		if s.Len() != len(list) || s.Empty() != (len(list) == 0) {
			rt.Fatalf("length %d of %v", s.Len(), list)
		}
		for _, v := range list {
			if !s.Has(v) {
				rt.Fatalf("%d is missing", v)
			}
			if s.Remove(v); s.Has(v) {
				rt.Fatalf("%d is still there", v)
			}
		}
		if !s.Empty() {
			rt.Fatalf("left over: %v", s)
		}
	})
}

func TestVectorSetsPrintInHex(t *testing.T) {
	var s Vectors
	if s.String() != "-" {
		t.Errorf("empty set is %q", s)
	}
	s.Add(0x31)
	s.Add(0xec)
	s.Add(2)
	if got := s.String(); got != "0xec 0x31 0x02" {
		t.Errorf("set is %q", got)
	}
}

func TestCostsPackWithoutLoss(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(n string) PhaseCost {
			return PhaseCost{Phase(rapid.Byte().Draw(rt, n)), clock.Cycles(rapid.Int64Range(0, int64(MaxPhaseCost)).Draw(rt, n))}
		}
		a, b := draw("a"), draw("b")
		if x, y := UnpackCosts(PackCosts(a, b)); x != a || y != b {
			rt.Fatalf("%v %v come back as %v %v", a, b, x, y)
		}
	})
}

func TestCostSplitTellsPhasesApart(t *testing.T) {
	var c CostSplit
	for _, p := range []PhaseCost{{3, 1}, {3 + 64, 2}, {3, 4}, {3 + 128, 8}, {3 + 64, 16}} {
		c.Add(p)
	}
	if c.N != 3 || [3]Phase(c.Phases[:3]) != [3]Phase{3, 67, 131} || [3]uint32(c.Cycles[:3]) != [3]uint32{5, 18, 8} {
		t.Errorf("split is %+v", c)
	}
}

func TestCostSplitAddsUpPhases(t *testing.T) {
	var c CostSplit
	c.Add(PhaseCost{PhaseExit, 10})
	c.Add(PhaseCost{PhaseEntry, 5})
	c.Add(PhaseCost{PhaseExit, 7})
	if c.N != 2 || c.Phases[0] != PhaseExit || c.Cycles[0] != 17 || c.Total() != 22 {
		t.Errorf("split is %+v, total %d", c, c.Total())
	}
	for p := range Phase(MaxExitCosts + 2) {
		c.Add(PhaseCost{PhaseMSR + p, 1})
	}
	if c.N != MaxExitCosts || c.Rest == 0 || c.Total() != 22+MaxExitCosts+2 {
		t.Errorf("more phases than room: %+v, total %d", c, c.Total())
	}
	c.Add(PhaseCost{PhaseExit, 1 << 40})
	if c.Cycles[0] != 1<<32-1 {
		t.Errorf("a sum beyond 32 bits is %d", c.Cycles[0])
	}
}

func TestDist(t *testing.T) {
	var d Dist
	if d.Mean() != 0 {
		t.Errorf("mean of nothing is %d", d.Mean())
	}
	for _, c := range []clock.Cycles{5, -3, 10} {
		d.Add(c)
	}
	if d != (Dist{N: 3, Sum: 12, Min: -3, Max: 10}) || d.Mean() != 4 {
		t.Errorf("dist %+v, mean %d", d, d.Mean())
	}
}

func TestRatesCoverTheWholeRun(t *testing.T) {
	var r Rates
	r.reset()
	const n = 100_000
	for i := range n {
		b := r.at(clock.TSC(5_000_000 + i*1000))
		b.Exits++
		b.Kicks += 2
		if i == 0 {
			r.at(4_999_999).Deadlines++ // a vCPU that lags
		}
	}
	var exits, kicks, deadlines uint32
	for _, b := range r.Buckets[:r.Used] {
		exits, kicks, deadlines = exits+b.Exits, kicks+b.Kicks, deadlines+b.Deadlines
	}
	if exits != n || kicks != 2*n || deadlines != 1 {
		t.Errorf("%d exits, %d kicks, %d deadlines", exits, kicks, deadlines)
	}
	if end := r.Start.Add(r.Width * clock.Cycles(r.Used)); r.Start != 5_000_000 || end < 5_000_000+(n-1)*1000 || r.Used < RateBuckets/2 {
		t.Errorf("%d buckets of %d from %d", r.Used, r.Width, r.Start)
	}
	for i, b := range r.Buckets[1 : r.Used-1] {
		if diff := int(b.Exits) - int(r.Width)/1000; diff < -1 || diff > 1 {
			t.Errorf("bucket %d has %d exits, its neighbours %d", i+1, b.Exits, int(r.Width)/1000)
		}
	}
}

func TestAdvanceSeriesThinsOut(t *testing.T) {
	var a AdvanceSeries
	a.reset()
	const n = 10 * AdvancePoints
	for i := range n {
		a.add(AdvancePoint{At: clock.TSC(i)})
	}
	if len(a.Points) < AdvancePoints/2 || len(a.Points) > AdvancePoints || a.Seen != n {
		t.Fatalf("%d points of %d", len(a.Points), a.Seen)
	}
	for i, p := range a.Points {
		if p.At != clock.TSC(uint64(i)*a.Stride) {
			t.Fatalf("point %d is step %d, stride %d", i, p.At, a.Stride)
		}
	}
	var b AdvanceSeries
	a.copyTo(&b)
	if !slices.Equal(a.Points, b.Points) || &a.Points[0] == &b.Points[0] {
		t.Error("the copy differs or shares memory")
	}
}

func TestKnownChainAndVCPUHelpers(t *testing.T) {
	var v VCPU
	v.APIC.TPR = 0x25
	v.ISR.Add(0x31)
	if got := v.Priority(); got != 0x30 {
		t.Errorf("priority %#x, want 0x30: 0x31 is in service", got)
	}
	v.APIC.TPR = 0x3f
	if got := v.Priority(); got != 0x3f {
		t.Errorf("priority %#x, want TPR's 0x3f", got)
	}
	v.APIC.LVTT = 1<<16 | 0xec
	if v.TimerVector() != 0xec || !v.TimerMasked() {
		t.Errorf("LVTT %#x: vector %#x, masked %v", v.APIC.LVTT, v.TimerVector(), v.TimerMasked())
	}
	if x := (ExitRecord{At: 5}); x.Cycles() != 0 {
		t.Errorf("an open exit took %d", x.Cycles())
	}
	if c := (Chain{Outcome: OutcomeDone}); !c.Ran() || (&Chain{Outcome: OutcomeLost}).Ran() {
		t.Error("Ran is wrong")
	}
}
