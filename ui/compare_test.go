package ui

import (
	"testing"

	"ticktrap/internal/clock"
	"ticktrap/trace"
	"ticktrap/vmm"
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
	if r.m.verdict == nil || r.m.verdict.Verdict == "" {
		t.Fatal("no verdict arrived")
	}
	r.wants(first(r.m.verdict.Verdict, 40))
	a, b := diffSides(r.m.scene(), "a", "b")
	if n := len(a.Late) + len(b.Late); n != r.m.frame.State.Scatter.Len() || len(b.Late) == 0 || len(a.Nums) != len(a.Late) {
		t.Errorf("the sides have %d and %d deadlines of %d", len(a.Late), len(b.Late), r.m.frame.State.Scatter.Len())
	}
	r.press("c")
	if r.m.comparing {
		t.Error("c leaves the comparison open")
	}
}

func TestSeekBarMapsColumnsToTimes(t *testing.T) {
	f := &vmm.Frame{}
	if hasBar(f) {
		t.Error("a live run has a seek bar")
	}
	f.Timeline = vmm.Timeline{From: 1000, To: 2000, Buckets: make([]vmm.Bucket, 10)}
	for x, want := range map[int]clock.TSC{0: 1000, barLead: 1000, 200: 2000} {
		if got := barTSC(f, x, barLead+2+101); got != want {
			t.Errorf("column %d is TSC %d, want %d", x, got, want)
		}
	}
	if got := barTSC(f, barLead+50, barLead+2+101); got != 1500 {
		t.Errorf("the middle is TSC %d, want 1500", got)
	}
}
