package main

import (
	"math"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
)

func load(t *testing.T, name string) *model.Profile {
	t.Helper()
	p, err := model.LoadProfile(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The committed profiles are what the program writes, but for a few cycles that a
// change in a guest's code or the interpreter's costs moves.
func TestFitGivesTheCommittedProfiles(t *testing.T) {
	files, err := profiles()
	if err != nil {
		t.Fatal(err)
	}
	near := func(a, b clock.Cycles) bool { return math.Abs(float64(a-b)) <= max(6, 0.1*float64(b)) }
	for _, f := range files {
		got, err := model.ParseProfile(f.name, f.text)
		if err != nil {
			t.Fatal(err)
		}
		want := load(t, f.name)
		if got.Hz != want.Hz || got.Text != want.Text || len(got.Calibrates) != len(want.Calibrates) {
			t.Errorf("%s: the head differs: run go run ./vmm/model/fit", f.name)
		}
		for ph := range got.Phases {
			if a, b := got.Phases[ph].Base, want.Phases[ph].Base; !near(a, b) {
				t.Errorf("%s: %s is fitted to %d, the profile has %d: run go run ./vmm/model/fit", f.name, trace.Phase(ph), a, b)
			}
		}
		for n, b := range want.Guest {
			if a := got.Guest[n]; !near(a, b) {
				t.Errorf("%s: guest cost %s is fitted to %d, the profile has %d", f.name, n, a, b)
			}
		}
	}
}

func TestEveryCostNamesItsSource(t *testing.T) {
	for _, name := range model.Profiles() {
		p := load(t, name)
		for ph := trace.BadPhase + 1; ph < trace.NumPhases; ph++ {
			if p.Phases[ph].Source == "" && ph != trace.PhaseWait && ph != trace.PhaseGuest {
				t.Errorf("profile %s: phase %s has no source", name, ph)
			}
		}
		for n := range p.Guest {
			if p.GuestSources[n] == "" {
				t.Errorf("profile %s: guest cost %s has no source", name, n)
			}
		}
	}
}

func TestOnlyFreeCostsMove(t *testing.T) {
	for i := range specs {
		s := &specs[i]
		p := load(t, s.name)
		free := " " + strings.Join(s.free, " ") + " "
		for ph := trace.BadPhase + 1; ph < trace.NumPhases; ph++ {
			if strings.HasPrefix(p.Phases[ph].Source, "fit") && !strings.Contains(free, " "+ph.String()+" ") {
				t.Errorf("profile %s: phase %s was fitted and is not free", s.name, ph)
			}
		}
	}
}

func TestSolve(t *testing.T) {
	tests := []struct {
		name string
		a    [][]float64
		want []float64
	}{
		{"two equations", [][]float64{{2, 1, 5}, {1, 3, 10}}, []float64{1, 3}},
		{"a zero on the diagonal", [][]float64{{0, 1, 4}, {2, 0, 6}}, []float64{3, 4}},
		{"three equations", [][]float64{{1, 1, 1, 6}, {0, 2, 5, -4}, {2, 5, -1, 27}}, []float64{5, 3, -2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i, x := range solve(tt.a) {
				if math.Abs(x-tt.want[i]) > 1e-9 {
					t.Errorf("unknown %d is %v, want %v", i, x, tt.want[i])
				}
			}
		})
	}
}

func TestStepMovesOnlyWhatTheRowsNeed(t *testing.T) {
	// One row, off by +10 %, that depends on costs 0 and 1 and not on cost 2.
	next := step([][]float64{{0.5}, {0.25}, {0}}, []float64{0.1}, []float64{0, 0, 0})
	if left := 0.1 + 0.5*next[0] + 0.25*next[1]; math.Abs(left) > 0.001 {
		t.Errorf("after the step the row is off by %v", left)
	}
	if math.Abs(next[0]-2*next[1]) > 1e-9 {
		t.Errorf("steps %v and %v: want the ratio of their slopes, 2", next[0], next[1])
	}
	if next[2] != 0 {
		t.Errorf("a cost that no row depends on moved by %v", next[2])
	}
}

func TestApplyKeepsTheShareOfJitter(t *testing.T) {
	base := load(t, "generic")
	ps := []param{{name: "exit", phase: trace.PhaseExit, prior: float64(base.Phases[trace.PhaseExit].Base)},
		{name: "iret", prior: float64(base.Guest["iret"])}}
	p := apply(base, ps, []float64{math.Log(2), math.Log(3)})
	old, now := base.Phases[trace.PhaseExit], p.Phases[trace.PhaseExit]
	if now.Base != 2*old.Base || now.Jitter != 2*old.Jitter {
		t.Errorf("twice exit %d+%d is %d+%d", old.Base, old.Jitter, now.Base, now.Jitter)
	}
	if p.Guest["iret"] != 3*base.Guest["iret"] {
		t.Errorf("three times iret %d is %d", base.Guest["iret"], p.Guest["iret"])
	}
	if base.Phases[trace.PhaseExit] != old {
		t.Error("apply changed the profile that it starts from")
	}
}
