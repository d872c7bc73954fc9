package ui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/internal/golden"
	"codeberg.org/ticktrap/ticktrap/trace/diff"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// TestPanesLookAsTheyDid compares whole screens as text: every pane focused at
// 80×24 and zoomed at 200×60, the overview, and what is opened over them.
func TestPanesLookAsTheyDid(t *testing.T) {
	type shot struct {
		name   string
		w, h   int
		events int
		keys   string
	}
	shots := []shot{
		{"overview-200x60", 200, 60, 11_500, "2"},
		{"overview-110x34", 110, 34, 11_500, "1"},
		{"start-80x24", 80, 24, 0, "2"},
		{"start-200x60", 200, 60, 0, "1"},
		{"inspector-80x24", 80, 24, 11_000, "6,enter"},
		{"inspector-200x60", 200, 60, 11_000, "6,enter"},
		{"inspector-past-120x40", 120, 40, 11_500, "6,up,up,up,enter"},
		{"compare-80x24", 80, 24, 10_500, "c"},
		{"compare-80x24-end", 80, 24, 10_500, "c,end"},
		{"compare-120x40", 120, 40, 10_500, "c"},
		{"compare-200x60", 200, 60, 10_500, "c"},
		{"compare-ns-120x40", 120, 40, 10_500, "u,c"},
		{"help-80x24", 80, 24, 11_500, "4,?"},
		{"palette-80x24", 80, 24, 11_500, ":,h,a,l,t"},
		{"nanoseconds-120x40", 120, 40, 11_500, "2,u"},
	}
	for p := range numPanes {
		key := fmt.Sprint(int(p) + 1)
		name := strings.ToLower(paneTitles[p])
		shots = append(shots, shot{name + "-80x24", 80, 24, 11_500, key}, shot{name + "-zoom-200x60", 200, 60, 11_500, key + ",z"})
	}
	for _, sh := range shots {
		t.Run(sh.name, func(t *testing.T) {
			r := newRig(t, sh.w, sh.h, sh.events)
			if strings.HasPrefix(sh.name, "suspects") {
				r.m.opts.Findings = sampleFindings
				r.frame()
			}
			r.press(sh.keys)
			if x := r.m.history.chosen(); x != nil && strings.HasPrefix(sh.name, "overview") {
				x.d, x.after = sampleVerdict(), x.before
			}
			if c := r.m.comparing; c != nil {
				c.verdict = sampleVerdict()
			}
			golden.Equal(t, "testdata/screens/"+sh.name+".txt", []byte(r.screen()))
		})
	}
}

func sampleFindings() []explain.Finding {
	return []explain.Finding{
		{ID: "catch-up-storm", VCPU: 0, TSC: 269_039_072, Count: 247, Words: "a periodic timer expired 4 times within 5578 cycles: every period of a pause is made up for",
			Rule: "a kernel that advances a missed target to now (6.19, 6.1.176, 6.12.117)"},
		{ID: "posted-timer-not-eligible", VCPU: -1, Count: 500, Words: "pi_inject_timer is on, but none of 500 expiries was posted: the timer is not eligible, because of exits-not-disabled",
			Rule: "exits-disabled=mwait or hlt"}}
}

func sampleVerdict() *diff.Diff {
	return &diff.Diff{Headline: "The verdict of package diff stands here.", Level: 0.99, Unit: "cycles", Stats: []diff.Stat{
		{Name: "typical", Unit: "cycles", A: 1400.2, B: 1300.4, Delta: -99.8, Low: -140.5, High: -60.2, HasInterval: true, Significant: true},
		{Name: "p50", Unit: "cycles", A: 837, B: 820, Delta: -17, Low: -30, High: 4, More: 437, HasInterval: true},
		{Name: "p99", Unit: "cycles", A: 9447, B: 3186, Delta: -6261, More: 2100, Low: -8000, High: 1200, HasInterval: true}},
		Costs: []diff.Stat{
			{Name: "host cycles", Unit: "cycles", A: 3702, B: 4265.1, Delta: 563.1, Low: 510.2, High: 601.9, HasInterval: true, Significant: true},
			{Name: "exits", A: 2, B: 2.001, Delta: 0.001, Low: -0.004, High: 0.006, HasInterval: true}},
		Causes: []diff.Row{{Name: "early-gap", A: 26.2, B: 0.8, Delta: -25.4}, {Name: "vm-entry", A: 585, B: 586.1, Delta: 1.1}}}
}

func TestReplayAndBranchesAreShown(t *testing.T) {
	r := newRig(t, 120, 40, 9_000)
	left := &vmm.OtherRun{Name: "branch 0", Header: r.s.Header, Fork: 20_000_000}
	r.m.frame.State.CopyTo(&left.State)
	r.s.Others = []*vmm.OtherRun{left}
	r.s.Status.Branch, r.s.Status.Break, r.s.Status.CanBack = 1, "late > 20us", true
	r.s.Status.Replaying, r.s.Status.Head, r.s.Status.File = true, r.s.Status.Now*2, "runs/session.tt"
	tl := vmm.Timeline{From: 0, To: r.s.Status.Now * 2, Complete: true}
	for i := range 60 {
		b := vmm.Bucket{Knob: i == 31}
		for j := range i % 7 * 40 {
			b.Add(clock.Cycles(300 + i*j)) // up to 14 400
		}
		tl.Buckets = append(tl.Buckets, b)
	}
	r.s.Timeline = tl
	r.s.Do(vmm.Command{Verb: vmm.DoMark, Text: "x"})
	r.s.Play(2000)
	r.frame()
	golden.Equal(t, "testdata/screens/replay-120x40.txt", []byte(r.screen()))
	r.press("c")
	r.m.comparing.verdict = sampleVerdict()
	r.m.comparing.verdict.Warnings = []string{"a warning"}
	golden.Equal(t, "testdata/screens/compare-branches-120x40.txt", []byte(r.screen()))
	r.press("esc")
	r.s.Done = nil
	r.send(tea.MouseMsg{X: 60, Y: 40 - footerRows - 1, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
	if len(r.s.Done) != 1 || r.s.Done[0].Verb != vmm.DoSeek || r.s.Done[0].At == 0 {
		t.Errorf("a click on the seek bar asks for %+v", r.s.Done)
	}
	r.press("r")
	r.wants("✗ this is a recording already: runs/session.tt")
	for key, want := range map[string]clock.TSC{"g": tl.From, "G": tl.To} {
		r.s.Done = nil
		if r.press(key); len(r.s.Done) != 1 || r.s.Done[0] != (vmm.Command{Verb: vmm.DoSeek, At: want}) {
			t.Errorf("%s asks for %+v, want a seek to %d", key, r.s.Done, want)
		}
	}
}

func TestDraggingTheSeekBarAsksForOnePlaceAtATime(t *testing.T) {
	r := newRig(t, 120, 40, 3000)
	r.s.Timeline = vmm.Timeline{To: 1_000_000, Buckets: make([]vmm.Bucket, 8), Complete: true}
	r.frame()
	at := func(x, y int, a tea.MouseAction) {
		if _, cmd := r.m.Update(tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: a}); cmd != nil {
			cmd()
		}
	}
	bar := 40 - footerRows - 1
	at(barLead+10, bar, tea.MouseActionPress)
	for x := range 50 { // the pointer leaves the bar's line
		at(barLead+11+x, bar-x%3, tea.MouseActionMotion)
	}
	if len(r.s.Done) != 1 {
		t.Fatalf("before the next frame %d seeks are asked for, want 1", len(r.s.Done))
	}
	_, cmd := r.m.Update(r.m.Init()())
	for _, c := range cmd().(tea.BatchMsg)[:1] {
		c()
	}
	if want := barTSC(r.m.frame, barLead+60, 120); len(r.s.Done) != 2 || r.s.Done[1].At != want {
		t.Errorf("after it %+v are asked for, want the last place %d", r.s.Done, want)
	}
	at(0, 0, tea.MouseActionRelease)
	r.frame()
	at(barLead+20, bar, tea.MouseActionMotion)
	if len(r.s.Done) != 2 {
		t.Error("moving without the button seeks")
	}
}

func TestPlacesAreListedAndJumpedTo(t *testing.T) {
	r := newRig(t, 120, 40, 11_500)
	r.s.Status.CanBack = true
	r.s.Marks = []vmm.Mark{{At: 40_000_000, Name: "later"}, {At: 1_000_000, Name: "calibration done"}}
	r.frame()
	r.press("'")
	r.wants("calibration done")
	r.wants("apicv on → off") // turned knobs are places too
	r.wants("from now")
	r.press(`"calib",enter`)
	r.press(`',"12,345",enter`)
	r.press(`',"no such place",enter`)
	r.wants("no bookmark is named")
	want := []vmm.Command{{Verb: vmm.DoSeek, At: 1_000_000}, {Verb: vmm.DoSeek, At: 12_345}}
	if !slices.Equal(r.s.Done, want) {
		t.Errorf("the session was asked for %+v, want %+v", r.s.Done, want)
	}
}

func TestExplanationShowsVerdictCausesAndSteps(t *testing.T) {
	for _, sz := range []struct{ w, h int }{{80, 24}, {200, 60}} {
		r := newRig(t, sz.w, sz.h, 11_500)
		r.press("2,up,e")
		x := r.m.why.x
		r.wants("deadline " + group3(x.Deadline))
		r.wants("modelled")
		r.wants(x.Verdict[:40])
		r.wants("shares add up to the lateness")
		r.wants(strconv.FormatFloat(float64(x.Causes[0].Tenths)/10, 'f', 1, 64) + "%")
		r.press("G")
		r.wants(x.Steps[len(x.Steps)-1].Name)
		r.press("esc")
		if r.m.why != nil {
			t.Error("esc leaves the explanation open")
		}
	}
	r := newRig(t, 120, 40, 11_500)
	r.press("6,enter,e")
	if want := exitByNum(&r.m.frame.State, r.m.open.num).Deadline; uint64(want) != r.m.why.x.Deadline {
		t.Errorf("the opened exit explains deadline %d, want %d", r.m.why.x.Deadline, want)
	}
}

func TestNoLineIsWiderThanTheScreen(t *testing.T) {
	for _, w := range []int{64, 80, 99, 110, 133, 200} {
		r := newRig(t, w, 40, 11_500)
		for p := range numPanes {
			r.m.focus = p
			for i, l := range strings.Split(r.screen(), "\n") {
				if n := textWidth(l); n > w {
					t.Errorf("%s at %d columns: line %d has %d", paneTitles[p], w, i, n)
				}
			}
		}
	}
}
