package scenario

import (
	"fmt"
	"slices"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
)

// Scenario is a bug as a run.
type Scenario struct {
	Name string
	Text string // what goes wrong, one line
	// Seen is where it is known from.
	Seen string

	Guest, Args string
	PCPUs       int
	Knobs       []Setting      // beside the defaults
	Kernel      kernel.Release // zero: the default
	Faults      vmm.Faults
	MSI         model.MSI
	// IdleExit is how long the host CPU takes to leave its idle state, in cycles;
	// 0 is what the profile says.
	IdleExit clock.Cycles
	// Deadlines and Time say when it has been shown long enough.
	Deadlines uint64
	Time      clock.Nanos
	acts      []act

	// Finding is what a Watcher must find, and Cause the cause that explain must
	// give for the deadline that Pick says; either may be empty.
	Finding string
	Cause   string
	// Rule is what repairs it, one line; repair does that to a copy.
	Rule   string
	repair func(*Scenario)
	label  string
}

// Setting is a knob with a value.
type Setting struct {
	Knob  trace.Knob
	Value uint64
}

// Names lists the scenarios in the order of the table.
func Names() []string {
	var names []string
	for i := range table {
		names = append(names, table[i].Name)
	}
	return names
}

// ByName returns a scenario. The error names those that there are.
func ByName(name string) (*Scenario, error) {
	for i := range table {
		if table[i].Name == name {
			s := table[i]
			return &s, nil
		}
	}
	return nil, fmt.Errorf("no scenario %q: there are %s", name, strings.Join(Names(), ", "))
}

// Repaired returns the scenario without its bug.
func (s *Scenario) Repaired() *Scenario {
	r := *s
	r.label = repaired
	r.Knobs = slices.Clone(s.Knobs)
	r.acts = slices.Clone(s.acts)
	s.repair(&r)
	return &r
}

// set changes a knob of a scenario.
func (s *Scenario) set(k trace.Knob, v uint64) {
	s.Knobs = slices.DeleteFunc(s.Knobs, func(x Setting) bool { return x.Knob == k })
	s.Knobs = append(s.Knobs, Setting{k, v})
}

// Host is the kernel that the scenario runs on.
func (s *Scenario) Host() kernel.Kernel {
	if (s.Kernel == kernel.Release{}) {
		return vmm.DefaultKernel()
	}
	return kernel.At(s.Kernel, kernel.Intel)
}

// Config is the model run of the scenario on a cost profile.
func (s *Scenario) Config(prof *model.Profile, seed uint64) (model.Config, error) {
	p, err := guest.ParseParams(s.Guest, s.Args, prof.Hz)
	if err != nil {
		return model.Config{}, err
	}
	img, err := guest.Builtin(s.Guest, p)
	if err != nil {
		return model.Config{}, err
	}
	host := s.Host()
	k := vmm.KnobsOf(&host)
	for _, x := range s.Knobs {
		if err := k.Set(x.Knob, x.Value); err != nil {
			return model.Config{}, err
		}
	}
	mine := *prof
	mine.Text = prefix + s.label + s.Name + "; " + prof.Text
	if s.IdleExit != 0 {
		c := &mine.Phases[trace.PhaseIdleExit]
		c.Base, c.Source = s.IdleExit, "scenario "+s.Name
	}
	return model.Config{Guest: img, VCPUs: img.MinVCPUs(), PCPUs: s.PCPUs, Profile: &mine, Knobs: k, Kernel: host,
		Seed: seed, Faults: s.Faults, MSI: s.MSI}, nil
}

// The sentence about the host in the header of a scenario's run begins with
// prefix, repaired if it is, and the name.
const (
	prefix   = "scenario "
	repaired = "repaired "
)

// Of returns the scenario that a run was of; ok is false if it was none. What it
// does beside the guest is in no recording: it comes with the scenario.
func Of(h *trace.Header) (s *Scenario, ok bool) {
	rest, ok := strings.CutPrefix(h.Host, prefix)
	if !ok {
		return nil, false
	}
	rest, mended := strings.CutPrefix(rest, repaired)
	name, _, _ := strings.Cut(rest, "; ")
	s, err := ByName(name)
	if err != nil {
		return nil, false
	}
	if mended {
		s = s.Repaired()
	}
	return s, true
}

// Again returns what makes the run of s that h describes once more: its cost
// profile, seed and knobs.
func (s *Scenario) Again(h *trace.Header) (func(trace.Sink) (*Engine, error), error) {
	prof, err := model.LoadProfile(h.Profile)
	if err != nil {
		return nil, err
	}
	cfg, err := s.Config(prof, h.Seed)
	if err != nil {
		return nil, err
	}
	if h.Kernel == "" { // an old recording, made before scenarios had kernels
		cfg.Kernel = kernel.At(kernel.Unrecorded, kernel.Intel)
	}
	for k := trace.BadKnob + 1; k < trace.NumKnobs; k++ {
		if err := cfg.Knobs.Set(k, h.Knobs[k]); err != nil {
			return nil, err
		}
	}
	return func(sink trace.Sink) (*Engine, error) { return s.Engine(cfg, sink) }, nil
}
