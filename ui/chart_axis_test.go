package ui

import (
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

func TestTicksTellNeighboursApart(t *testing.T) {
	for _, tt := range []struct {
		v, step, most float64
		want          string
	}{
		{0, 5e6, 2e7, "0 ms"}, {5e6, 5e6, 2e7, "5 ms"}, {1.5e9, 5e8, 2e9, "1.5 s"}, {1e9, 5e8, 2e9, "1.0 s"}, {2e9, 1e9, 5e9, "2 s"},
		{1_000_200, 200, 1_001_000, "1.0002 ms"}, {300, 100, 900, "300 ns"},
	} {
		if got := stepTime(tt.v, tt.step, tt.most); got != tt.want {
			t.Errorf("stepTime(%v, %v, %v) = %q, want %q", tt.v, tt.step, tt.most, got, tt.want)
		}
	}
}

func TestChartsHaveATimeAxis(t *testing.T) {
	r := newRig(t, 200, 60, 11_500)
	for _, keys := range []string{"2,z,right,right", "right,right,right", "z,1,z", "z,3,z"} {
		r.press(keys)
		if r.wants(" ms─"); t.Failed() {
			t.Fatalf("after %s", keys)
		}
	}
}

func TestNarrowHistogramIsLabelledAtItsEnds(t *testing.T) {
	r := newRig(t, 120, 40, 500)
	l := &r.m.frame.State.Deadlines.Late
	l.Reset()
	for i := range 40 {
		l.Add(clock.Cycles(854 + i))
	}
	c := newCanvasFor(t, 60, 12)
	presentHistogram(r.m.scene(), c.all(), &brush{})
	if s := c.text(); !strings.Contains(s, "+854") || !strings.Contains(s, "+893") {
		t.Errorf("the axis has no label:\n%s", s)
	}
}

func TestWideHelpHasTwoColumns(t *testing.T) {
	narrow, wide := newRig(t, 120, 60, 500), newRig(t, 200, 60, 500)
	for _, r := range []*rig{narrow, wide} {
		r.press("?")
		r.wants("Run and step")
	}
	wide.wants("Find and explain")
	if strings.Contains(narrow.screen(), "Find and explain") {
		t.Error("120 columns show as much of the help as 200")
	}
	wide.press("end")
	wide.wants("Questions and prompts")
}

func TestLongNoticesTakeTheRowOfKeysToo(t *testing.T) {
	r := newRig(t, 64, 20, 500)
	r.m.refuse("no deadline that is still kept belongs to this exit; 2 lists the deadlines")
	r.m.dirty = true
	r.wants("   the deadlines")
	r.press("1")
	r.wants("space run")
}

func TestBarOffersNoKnobsOfARecording(t *testing.T) {
	r := newRig(t, 160, 40, 500)
	r.wants("a APICv")
	r.s.Status.File = "x.tt"
	for i := range r.s.Knobs {
		r.s.Knobs[i].Tag = 4 // fixed
	}
	r.frame()
	r.press("1")
	if s := r.screen(); strings.Contains(s, "a APICv") || strings.Contains(s, "r record") {
		t.Error("the key bar of a recording offers knobs or a recording")
	}
}

func TestCompareNamesItsSidesBeforeTheVerdict(t *testing.T) {
	r := newRig(t, 200, 60, 11_500)
	r.m.Update(KeyMsg("c"))
	r.wants("the verdict is being computed")
	r.wants("A  ")
	r.wants("since ")
}

func TestWideListOfExitsNamesDeadlineAndVector(t *testing.T) {
	r := newRig(t, 200, 60, 11_500)
	r.press("6,z")
	r.wants("deadline  injects")
	x := r.m.frame.State.Exits.Last(1)
	if x.Deadline == trace.NoNum {
		t.Fatal("the fixture's last exits have no deadline")
	}
	r.wants(group3(uint64(x.Deadline)))
}

func TestIntroIsTheFirstNoticeAndInTheHelp(t *testing.T) {
	r := newRig(t, 120, 40, 500)
	m := New(r.s, Options{Theme: "mono", Intro: "scenario x: what goes wrong"})
	r2 := &rig{t, m, r.s}
	r2.m.w, r2.m.h = 120, 40
	r2.frame()
	r2.wants("· scenario x: what goes wrong")
	r2.press("s,?")
	r2.wants("scenario x: what goes wrong")
}
