package ui

import (
	"slices"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/diff"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

func lateness(vs ...clock.Cycles) *trace.Lateness {
	l := &trace.Lateness{}
	for _, v := range vs {
		l.Add(v)
	}
	return l
}

func TestSubtractedDistributionIsTheRest(t *testing.T) {
	got := subtract(lateness(-500, -20, 30, 700, 700, 1500), lateness(-20, 700))
	want := lateness(-500, 30, 700, 1500)
	if got.Count() != 4 || got.Min != -500 || got.Max != 1500 || got.OnTime != 1 || got.Mean() != want.Mean() {
		t.Errorf("subtract = count %d, %d to %d, on time %d, mean %v; want 4, −500 to 1500, 1, %v", got.Count(), got.Min, got.Max,
			got.OnTime, got.Mean(), want.Mean())
	}
	for _, p := range []float64{1, 50, 75, 99} {
		if a, b := got.Percentile(p), want.Percentile(p); a != b {
			t.Errorf("p%v = %d, want %d", p, a, b)
		}
	}
	if got := subtract(want, want); got.Count() != 0 || got.Percentile(50) != 0 {
		t.Errorf("a distribution less itself has %d values", got.Count())
	}
}

func TestComparisonGetsTheVerdictOfDiff(t *testing.T) {
	r := newRig(t, 120, 40, 11_500)
	_, cmd := r.m.Update(KeyMsg("c"))
	r.wants("being computed")
	r.m.Update(cmd())
	c := r.m.comparing
	if c.verdict == nil || c.verdict.Verdict == "" {
		t.Fatal("no verdict arrived")
	}
	r.wants(first(c.verdict.Headline, 40))
	if c.verdict.Warnings != nil {
		t.Errorf("stretches of one run get the warnings of whole runs: %q", c.verdict.Warnings)
	}
	a, b := c.pair()
	if n, m := len(a.points), len(b.points); n == 0 || m == 0 || len(a.nums) != n || n+m > r.m.frame.State.Scatter.Len() {
		t.Errorf("the sides have %d and %d deadlines of %d", n, m, r.m.frame.State.Scatter.Len())
	}
	r.m.Update(compareMsg{nil, c.asked - 1})
	if c.verdict == nil {
		t.Error("an answer to an older question is taken")
	}
	r.press("c")
	if r.m.comparing != nil {
		t.Error("c leaves the comparison open")
	}
}

func TestStretchesDivideTheRunAtKnobsAndBookmarks(t *testing.T) {
	r := newRig(t, 120, 40, 9_000)
	r.s.Marks = []vmm.Mark{{At: r.m.frame.Status.Now / 3, Name: "here"}}
	r.frame()
	st := &r.m.frame.State
	sum, exits, last := 0, uint64(0), clock.TSC(0)
	var names []string
	for _, x := range stretches(r.m.frame) {
		sum += len(x.points)
		exits += x.exits
		names = append(names, x.name)
		if x.from <= last || x.to < x.from {
			t.Errorf("%s is from %d to %d, the one before ends at %d", x.name, x.from, x.to, last)
		}
		last = x.to
		if got := x.late.Count(); got != uint64(len(x.points)) {
			t.Errorf("%s has %d deadlines and %d points", x.name, got, len(x.points))
		}
	}
	want := []string{"from the start", "since ◆ here", "since apicv off", "since timer-advance 2,000 ns"}
	if !slices.Equal(names, want) {
		t.Errorf("the stretches are %q, want %q", names, want)
	}
	if n := st.Scatter.Len(); sum > n || sum < n-4 { // those in flight at a cut belong to neither side
		t.Errorf("the stretches have %d deadlines of %d", sum, n)
	}
	all, _, _ := fastTotals(st)
	if exits != all {
		t.Errorf("the stretches have %d exits, the run %d", exits, all)
	}
}

func TestStretchCountsWhatTheWholeRunCounts(t *testing.T) {
	r := newRig(t, 120, 40, 3_000) // all is kept
	f := r.m.frame
	a, b := wholeRun("a", &f.Header, &f.State), part("b", &f.Header, &f.State, nil, 0, clock.Never-1)
	if a.exits != b.exits || a.fast != b.fast || a.reentered != b.reentered || a.kicks != b.kicks || a.ipis != b.ipis || b.near || b.part {
		t.Errorf("the whole counts %d %d %d %d %d, as a stretch %d %d %d %d %d", a.exits, a.fast, a.reentered, a.kicks, a.ipis,
			b.exits, b.fast, b.reentered, b.kicks, b.ipis)
	}
	if a.late.Count() != b.late.Count() || a.late.Mean() != b.late.Mean() || a.knobs != b.knobs || a.kinds != b.kinds {
		t.Error("lateness, knobs or kicks differ")
	}
	for r := range a.mix {
		if a.mix[r].n != b.mix[r].n {
			t.Errorf("%d exits of reason %d, as a stretch %d", a.mix[r].n, r, b.mix[r].n)
		}
	}
}

func TestSidesOfAComparisonAreChosen(t *testing.T) {
	r := newRig(t, 120, 40, 10_500)
	r.press("c")
	c := r.m.comparing
	was := c.at
	r.press("left")
	if c.at[0] != was[0] || c.at[1] == was[1] {
		t.Errorf("← moves %v to %v, want the second side moved", was, c.at)
	}
	r.press("tab,right")
	if c.at[0] == was[0] {
		t.Errorf("tab and → move %v to %v, want the first side moved", was, c.at)
	}
	c.at = [2]int{1, 1}
	c.judgeCmd()
	r.m.dirty = true
	r.wants("Both sides are the same")
}

func TestFilesAreComparedWhole(t *testing.T) {
	r := newRig(t, 120, 40, 2_000)
	other := &vmm.OtherRun{Name: "before.tt", Header: r.s.Header}
	r.m.frame.State.CopyTo(&other.State)
	other.Header.Hz = 2_000_000_000
	r.s.Play(4_000)
	whole := &vmm.OtherRun{Name: "after.tt", Header: r.s.Header, Whole: true}
	r.frame()
	r.m.frame.State.CopyTo(&whole.State)
	r.s.Others = []*vmm.OtherRun{other, whole}
	r.frame()
	r.press("c")
	if a, b := r.m.comparing.pair(); a.name != "before.tt" || b.name != "after.tt" {
		t.Errorf("%q is compared with %q", a.name, b.name)
	}
	r.wants("the TSC rates differ")
	r.wants(" ns ") // so times are not in cycles
}

func TestBranchesArePairedUpToWhereBothHaveCome(t *testing.T) {
	mk := func(nums ...trace.Num) *diff.Side {
		s := &diff.Side{Nums: nums, Late: make([]clock.Cycles, len(nums))}
		return s
	}
	long, short := make([]trace.Num, 80), make([]trace.Num, 60)
	for i := range long {
		long[i] = trace.Num(i + 5)
	}
	copy(short, long)
	a, b := mk(long...), mk(short...)
	if pairUp(a, b); len(a.Nums) != 60 || len(b.Late) != 60 {
		t.Errorf("%d and %d deadlines are left, want 60", len(a.Nums), len(b.Late))
	}
	short[3]++
	a, b = mk(long...), mk(short...)
	if pairUp(a, b); len(a.Nums) != 80 {
		t.Error("deadlines that differ are paired")
	}
}

func TestSeekBarMapsColumnsToTimes(t *testing.T) {
	f := &vmm.Frame{}
	if hasBar(f) {
		t.Error("a live run has a seek bar")
	}
	f.Timeline = vmm.Timeline{From: 1000, To: 2000, Buckets: make([]vmm.Bucket, 10)}
	for x, want := range map[int]clock.TSC{0: 1000, barLead: 1000, 200: 2000} {
		if got := barTSC(f, x, barLead+barTail(200)+101); got != want {
			t.Errorf("column %d is TSC %d, want %d", x, got, want)
		}
	}
	if got := barTSC(f, barLead+50, barLead+barTail(200)+101); got != 1500 {
		t.Errorf("the middle is TSC %d, want 1500", got)
	}
}

func TestCompareSaysWhatItsSidesRestOn(t *testing.T) {
	r := newRig(t, 160, 48, 11_500)
	other := &vmm.OtherRun{Name: "host.tt", Header: r.s.Header}
	other.Header.Provenance, other.Header.Engine = trace.Measured, "kvm"
	r.m.frame.State.CopyTo(&other.State)
	r.s.Others = []*vmm.OtherRun{other}
	r.frame()
	r.press("c")
	r.wants("host.tt  measured, kvm")
	r.wants("this run  modelled, model")
}
