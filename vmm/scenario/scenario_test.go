package scenario_test

import (
	"os"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
	"codeberg.org/ticktrap/ticktrap/vmm/scenario"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// played is what a run of a scenario showed.
type played struct {
	state    *trace.State
	findings []explain.Finding
	worst    *explain.Explanation
	causes   []explain.CauseSum
}

func play(t testing.TB, s *scenario.Scenario, seed uint64) *played {
	t.Helper()
	prof, err := model.LoadProfile("generic")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := s.Config(prof, seed)
	if err != nil {
		t.Fatal(err)
	}
	r, err := session.NewRunner(func(sink trace.Sink) (vmm.Engine, error) { return s.Engine(cfg, sink) })
	if err != nil {
		t.Fatal(err)
	}
	defer r.Engine().Close()
	limits := session.Limits{Deadlines: s.Deadlines}
	if s.Time != 0 {
		limits.TSC, _ = r.Header().Hz.ToCycles(s.Time)
	}
	r.SetLimits(limits)
	w, f, tally := &explain.Watcher{}, explain.NewFinder(explain.Pick{}), explain.NewTally(r.Header())
	r.Tee(trace.SinkFunc(func(e trace.Event) {
		w.Look(&e, r.State())
		f.Look(r.State())
		tally.Look(r.State(), nil)
	}))
	if _, err := r.RunTo(clock.Never, nil); err != nil {
		t.Fatal(err)
	}
	f.Finish(r.State())
	p := &played{state: r.State(), findings: w.Findings(r.State()), causes: tally.Causes()}
	if c, st, ok := f.Found(); ok {
		p.worst = explain.Explain(r.Header(), st, c)
	}
	return p
}

func (p *played) has(id string) bool {
	for _, f := range p.findings {
		if f.ID == id {
			return true
		}
	}
	return false
}

// TestBugIsFoundAndItsRepairIsNot runs each scenario with its bug and without.
func TestBugIsFoundAndItsRepairIsNot(t *testing.T) {
	for _, name := range scenario.Names() {
		t.Run(name, func(t *testing.T) {
			s, err := scenario.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			bad := play(t, s, 1)
			if !bad.has(s.Finding) {
				t.Errorf("with the bug, %d deadlines: found %+v, want %s", bad.state.Deadlines.Count(), bad.findings, s.Finding)
			}
			if s.Cause != "" && !named(bad, s.Cause) {
				t.Errorf("explain gives %s %+v, want the cause %s", bad.worst.Verdict, bad.causes, s.Cause)
			}
			good := play(t, s.Repaired(), 1)
			for _, f := range good.findings {
				t.Errorf("repaired, still found: %+v", f)
			}
			if n := good.state.Deadlines.Count(); n < s.Deadlines {
				t.Errorf("repaired, %d of %d deadlines were handled; the run ended by %v", n, s.Deadlines, good.state.End.How)
			}
		})
	}
}

// named reports whether a cause is the first of the worst deadline, or makes a
// tenth of the lateness of the run.
func named(p *played, cause string) bool {
	if p.worst != nil && len(p.worst.Causes) > 0 && p.worst.Causes[0].ID == cause {
		return true
	}
	var sum int64
	for _, c := range p.causes {
		sum += c.Cycles
	}
	for _, c := range p.causes {
		if c.ID == cause && c.Cycles*10 >= sum {
			return true
		}
	}
	return false
}

func TestScenariosRepeatThemselves(t *testing.T) {
	for _, name := range []string{"lost-wakeup", "catch-up-storm", "zero-deadline"} {
		s, err := scenario.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		a, b := play(t, s, 1), play(t, s, 1)
		if a.state.Events != b.state.Events || a.state.Now != b.state.Now {
			t.Errorf("%s: %d events up to %d, then %d up to %d", name, a.state.Events, a.state.Now, b.state.Events, b.state.Now)
		}
	}
}

func TestEveryScenarioHasAPage(t *testing.T) {
	for _, name := range scenario.Names() {
		s, err := scenario.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile("../../docs/scenarios/" + name + ".md")
		if err != nil {
			t.Error(err)
			continue
		}
		for _, want := range []string{s.Text, s.Finding, s.Rule, "ticktrap run --scenario " + name, "## What it looks like",
			"## Which pane shows it", "## Which rule fixes it"} {
			if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), strings.Join(strings.Fields(want), " ")) {
				t.Errorf("docs/scenarios/%s.md lacks %q", name, want)
			}
		}
	}
}

func TestUnknownScenarioNamesThoseThereAre(t *testing.T) {
	if _, err := scenario.ByName("nonsense"); err == nil || !strings.Contains(err.Error(), "lost-wakeup") {
		t.Errorf("%v, want an error that lists the scenarios", err)
	}
}

// A target in the past makes KVM's own deadline absurd; the host timer was not
// programmed by it.
func TestCatchingUpIsNotProgrammedAbsurdly(t *testing.T) {
	s, err := scenario.ByName("catch-up-storm")
	if err != nil {
		t.Fatal(err)
	}
	p := play(t, s, 1)
	for i := range p.state.Chains.Len() {
		if c := p.state.Chains.At(i); c.Advance < -1<<40 || c.Advance > 1<<40 || c.FireAt != 0 && c.FireAt.Sub(c.Fire) < 0 {
			t.Fatalf("deadline %d: programmed %d cycles before its target, fired %d cycles after it was due", c.Num, c.Advance, c.FireAt.Sub(c.Fire))
		}
	}
}
