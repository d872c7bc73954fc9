package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"codeberg.org/ticktrap/ticktrap/internal/prose"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
	"codeberg.org/ticktrap/ticktrap/vmm/scenario"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

func newScenarios(env *Env) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "scenarios",
		Short: "list the library of real bugs that run --scenario shows",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return scenariosDocument(env.Out)
			}
			var b strings.Builder
			for _, n := range scenario.Names() {
				s, err := scenario.ByName(n)
				if err != nil {
					return err
				}
				fmt.Fprintf(&b, "%s\n", n)
				prose.Indented(&b, 4, s.Text)
				prose.Indented(&b, 4, "rule: "+s.Rule)
			}
			b.WriteString("\nRun one with: ticktrap run --scenario NAME [--headless] [--repaired]\n")
			_, err := io.WriteString(env.Out, b.String())
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}

// scenarioRow is what scenarios --json says of one.
type scenarioRow struct {
	Name    string `json:"name"`
	Text    string `json:"text"`
	Rule    string `json:"rule"`
	Finding string `json:"finding"`
}

func scenariosDocument(w io.Writer) error {
	var t struct {
		Scenarios []scenarioRow `json:"scenarios"`
	}
	for _, n := range scenario.Names() {
		s, err := scenario.ByName(n)
		if err != nil {
			return err
		}
		t.Scenarios = append(t.Scenarios, scenarioRow{n, s.Text, s.Rule, s.Finding})
	}
	return document(w, "ticktrap.scenarios", t)
}

// scenarioRun is the scenario that the flags ask for with its run.
func (o *runOptions) scenarioRun() (*scenario.Scenario, model.Config, error) {
	s, err := scenario.ByName(o.scenario)
	if err != nil {
		return nil, model.Config{}, with(ExitUsage, err)
	}
	if o.repaired {
		s = s.Repaired()
	}
	prof, err := model.LoadProfile(o.profile)
	if err != nil {
		return nil, model.Config{}, with(ExitUsage, err)
	}
	cfg, err := s.Config(prof, o.seed)
	if err != nil {
		return nil, cfg, err
	}
	for _, text := range o.knobs {
		k, v, err := parseSetting(text)
		if err == nil {
			err = cfg.Knobs.Set(k, v)
		}
		if err != nil {
			return nil, cfg, fail(ExitUsage, "--knob %s: %w", text, err)
		}
	}
	return s, cfg, nil
}

// scenarioFactory makes the engine of a scenario.
func (o *runOptions) scenarioFactory() (session.Factory, error) {
	s, cfg, err := o.scenarioRun()
	if err != nil {
		return nil, err
	}
	if o.headless && o.deadlines == 0 && o.exits == 0 && o.guestTime == 0 {
		o.deadlines = s.Deadlines
		o.scenarioTime = s.Time
	}
	return func(sink trace.Sink) (vmm.Engine, error) { return s.Engine(cfg, sink) }, nil
}

// watch looks for known bugs while r runs.
func watch(r *session.Runner) *explain.Watcher {
	w := &explain.Watcher{}
	r.Tee(trace.SinkFunc(func(e trace.Event) { w.Look(&e, r.State()) }))
	return w
}

// scenarioVerdict prints what a scenario was to show and what was found. It fails
// if that is not the same.
func (o *runOptions) scenarioVerdict(w io.Writer, found []explain.Finding) error {
	s, _, err := o.scenarioRun()
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nscenario %s\n", s.Name)
	prose.Indented(&b, 4, s.Text)
	ok := false
	for _, f := range found {
		ok = ok || f.ID == s.Finding
		fmt.Fprintf(&b, "  found %s, %d times, first at %d\n", f.ID, f.Count, f.TSC)
		prose.Indented(&b, 4, f.Words)
		prose.Indented(&b, 4, "rule: "+f.Rule)
	}
	if len(found) == 0 {
		b.WriteString("  found nothing\n")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	switch {
	case o.repaired && len(found) > 0:
		return fail(ExitAssert, "scenario %s is repaired, and %s was found", s.Name, found[0].ID)
	case !o.repaired && !ok:
		return fail(ExitAssert, "scenario %s: expected %s, which was not found", s.Name, s.Finding)
	}
	return nil
}
