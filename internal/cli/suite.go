package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"codeberg.org/ticktrap/ticktrap/trace/diff"
)

// suite is a file of gate: runs, and the limits that each is held to against its
// stored base.
type suite struct {
	// Base is the folder of the recordings to compare with, relative to the file.
	Base string `toml:"base"`
	// FailOn are the limits of every run, Deadlines its length.
	FailOn    []string   `toml:"fail-on"`
	Deadlines uint64     `toml:"deadlines"`
	Level     float64    `toml:"level"`
	Runs      []suiteRun `toml:"run"`
}

// suiteRun is one run, or one for each of its settings.
type suiteRun struct {
	Name      string   `toml:"name"`
	Guest     string   `toml:"guest"`
	Append    string   `toml:"append"`
	Engine    string   `toml:"engine"`
	LAPIC     string   `toml:"lapic"`
	Profile   string   `toml:"profile"`
	VCPUs     int      `toml:"vcpus"`
	Knobs     []string `toml:"knobs"`
	Settings  []string `toml:"settings"` // a run for each: NAME=VALUE, or "" for none
	Deadlines uint64   `toml:"deadlines"`
	FailOn    []string `toml:"fail-on"`
}

// gateRun is a run of a suite as it is carried out.
type gateRun struct {
	name   string
	opt    runOptions
	limits []diff.Limit
}

var runName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// readSuite reads a file of gate. The errors name the file and, where the syntax is
// wrong, the line.
func readSuite(name string) (*suite, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, with(ExitInput, err)
	}
	s := &suite{Base: "base", Deadlines: 2000, Level: diff.DefaultOptions.Level * 100}
	dec := toml.NewDecoder(strings.NewReader(string(data))).DisallowUnknownFields()
	if err := dec.Decode(s); err != nil {
		var strict *toml.StrictMissingError
		var syntax *toml.DecodeError
		switch {
		case errors.As(err, &strict) && len(strict.Errors) > 0:
			row, _ := strict.Errors[0].Position()
			return nil, fail(ExitInput, "%s:%d: there is no setting %s", name, row, strings.Join(strict.Errors[0].Key(), "."))
		case errors.As(err, &syntax):
			row, _ := syntax.Position()
			return nil, fail(ExitInput, "%s:%d: %s", name, row, strings.TrimPrefix(syntax.Error(), "toml: "))
		}
		return nil, fail(ExitInput, "%s: %w", name, err)
	}
	if len(s.Runs) == 0 {
		return nil, fail(ExitInput, "%s: it has no [[run]]", name)
	}
	if !filepath.IsAbs(s.Base) {
		s.Base = filepath.Join(filepath.Dir(name), s.Base)
	}
	return s, nil
}

// plan is the runs of a suite, one for each setting.
func (s *suite) plan(file string, seed uint64) ([]gateRun, error) {
	var runs []gateRun
	seen := map[string]bool{}
	for i, r := range s.Runs {
		where := fmt.Sprintf("%s: run %d", file, i+1)
		if !runName.MatchString(r.Name) {
			return nil, fail(ExitInput, "%s: name %q: want letters, digits, dots and hyphens: it names a file", where, r.Name)
		}
		where += " (" + r.Name + ")"
		limits, err := parseLimits(ExitInput, where+": fail-on", append(s.FailOn[:len(s.FailOn):len(s.FailOn)], r.FailOn...))
		if err != nil {
			return nil, with(ExitInput, err)
		}
		if len(limits) == 0 {
			return nil, fail(ExitInput, "%s: no limit: give fail-on", where)
		}
		settings := r.Settings
		if len(settings) == 0 {
			settings = []string{""}
		}
		for _, set := range settings {
			g := gateRun{name: r.Name, limits: limits, opt: s.options(&r, seed)}
			if set != "" {
				g.name += "." + strings.NewReplacer("=", "-", "|", "+").Replace(set)
				g.opt.knobs = append(g.opt.knobs[:len(g.opt.knobs):len(g.opt.knobs)], set)
			}
			if seen[g.name] {
				return nil, fail(ExitInput, "%s: there are two runs of the name %s", where, g.name)
			}
			seen[g.name] = true
			if err := g.opt.settleEngine(); err != nil {
				return nil, fail(ExitInput, "%s: %w", where, err)
			}
			if _, err := g.opt.startKnobs(); err != nil {
				return nil, fail(ExitInput, "%s: %w", where, err)
			}
			runs = append(runs, g)
		}
	}
	return runs, nil
}

// options are the flags of run that a row of the suite stands for.
func (s *suite) options(r *suiteRun, seed uint64) runOptions {
	o := runOptions{headless: true, quiet: true, seed: seed, memMiB: 128, engine: or(r.Engine, "model"), lapic: or(r.LAPIC, "vmm"),
		profile: or(r.Profile, defaultProfile), guest: or(r.Guest, "deadline"), args: r.Append, vcpus: r.VCPUs, knobs: r.Knobs,
		deadlines: s.Deadlines}
	if r.Deadlines != 0 {
		o.deadlines = r.Deadlines
	}
	return o
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
