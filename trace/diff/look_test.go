package diff_test

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace/diff"
)

// cutSide are deadlines from … to−1 of a side.
func cutSide(s *diff.Side, from, to int) *diff.Side {
	return &diff.Side{Report: s.Report, Known: s.Known, Late: s.Late[from:to], Costs: s.Costs[from:to]}
}

// One run without a turn of a knob is cut in two, and the second part is looked at
// again and again while it grows: in 95 of 100 runs no look finds any figure of
// the verdict better.
func TestLooksAtTheSameSettingsSeldomSayBetter(t *testing.T) {
	trials, allowed := 100, 5
	if testing.Short() {
		trials, allowed = 8, 1
	}
	wrong := 0
	for seed := range uint64(trials) {
		run := side(t, []string{"mode=mixed", "mode=spin", "mode=hlt"}[seed%3], seed+1, 2200, nil)
		n := min(len(run.Late), len(run.Costs))
		const turn = 1300
		before := cutSide(run, turn-1024, turn)
		found := ""
		for look := diff.NextLook(0); turn+look <= n; look = diff.NextLook(look) {
			d := diff.Compare(before, cutSide(run, turn, turn+look), diff.LookOptions)
			for _, s := range append([]diff.Stat{d.Stats[0]}, d.Costs...) {
				if s.Better() {
					found = s.Name
					t.Logf("seed %d: after %d deadlines %+v", seed+1, look, s)
				}
			}
		}
		if found != "" {
			wrong++
		}
	}
	if wrong > allowed {
		t.Errorf("%d of %d runs without a turn got better, want at most %d", wrong, trials, allowed)
	}
}

func TestLooksBecomeFewer(t *testing.T) {
	looks := 0
	for n := diff.NextLook(0); n < 4096; n = diff.NextLook(n) {
		looks++
	}
	if diff.NextLook(0) < diff.MinSamples || looks > 12 {
		t.Errorf("the first look is at %d deadlines, and up to 4096 there are %d", diff.NextLook(0), looks)
	}
}
