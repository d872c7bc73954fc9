package model

import (
	"embed"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm/interp"
)

//go:embed profiles/*.tsv
var profiles embed.FS

// Profile is a cost per phase of host work, and the costs of guest code.
type Profile struct {
	Name string
	Text string // one sentence about the machine
	Hz   clock.Hz
	// MultiShift is the preemption timer's rate: it ticks once in 2^MultiShift
	// host TSC cycles (IA32_VMX_MISC bits 4:0).
	MultiShift uint8
	Phases     [trace.NumPhases]Cost
	Guest      map[string]clock.Cycles
	// GuestSources says where the guest's costs come from.
	GuestSources map[string]string
	// Calibrates are the published rows that costs were fitted to, Predicts those
	// that they were not. No row is both.
	Calibrates, Predicts []RowRef
}

// RowRef names a published row (package bench) in a profile.
type RowRef struct {
	ID, Text string
}

// Cost is the distribution of a phase's cost: Base, plus a uniform 0..Jitter,
// plus, once in TailOneIn (0: never), a uniform 0..Tail.
type Cost struct {
	Base, Jitter, Tail clock.Cycles
	TailOneIn          uint64
	Source             string
}

// Mean is the mean cost, cycles.
func (c *Cost) Mean() float64 {
	m := float64(c.Base) + float64(c.Jitter)/2
	if c.TailOneIn != 0 {
		m += float64(c.Tail) / 2 / float64(c.TailOneIn)
	}
	return m
}

// Profiles lists the names of the built-in profiles.
func Profiles() []string {
	entries, err := profiles.ReadDir("profiles")
	if err != nil {
		panic("BUG: embedded profiles: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".tsv"))
	}
	sort.Strings(names)
	return names
}

// LoadProfile reads a built-in profile.
func LoadProfile(name string) (*Profile, error) {
	text, err := profiles.ReadFile("profiles/" + name + ".tsv")
	if err != nil {
		return nil, fmt.Errorf("no profile %q: there are %s", name, strings.Join(Profiles(), ", "))
	}
	return ParseProfile(name, string(text))
}

// ParseProfile reads a profile. The format is described in docs/model.md: one
// row a line, columns separated by tabs, # begins a comment.
//
//	host   NAME  VALUE                                          (hz, multi-shift, about)
//	guest  NAME  CYCLES  SOURCE                                 (interpreter costs)
//	phase  NAME  BASE    JITTER  TAIL  TAIL-ONE-IN  SOURCE
//	calibrates  ROW  WHAT IT FIXES                             (published rows)
//	predicts    ROW  WHAT IT IS
//
// Every phase has one row; no published row is named twice.
func ParseProfile(name, text string) (*Profile, error) {
	p := &Profile{Name: name, Guest: map[string]clock.Cycles{}, GuestSources: map[string]string{}}
	seen := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Split(strings.TrimRight(line, " \t"), "\t")
		if f[0] == "" {
			continue
		}
		if len(f) < 3 {
			return nil, fmt.Errorf("profile %s:%d: want at least 3 columns, have %d", name, i+1, len(f))
		}
		key := f[0] + " " + f[1]
		if f[0] == "calibrates" || f[0] == "predicts" {
			key = "row " + f[1]
		}
		if seen[key] {
			return nil, fmt.Errorf("profile %s:%d: second row for %s %s", name, i+1, f[0], f[1])
		}
		seen[key] = true
		if err := p.row(f); err != nil {
			return nil, fmt.Errorf("profile %s:%d: %w", name, i+1, err)
		}
	}
	for ph := trace.BadPhase + 1; ph < trace.NumPhases; ph++ {
		if !seen["phase "+ph.String()] && ph != trace.PhaseWait && ph != trace.PhaseGuest {
			return nil, fmt.Errorf("profile %s: no row for phase %s", name, ph)
		}
	}
	if p.Hz == 0 {
		return nil, fmt.Errorf("profile %s: no row for host hz", name)
	}
	return p, nil
}

func (p *Profile) row(f []string) error {
	switch f[0] {
	case "host":
		return p.hostRow(f[1], f[2])
	case "guest":
		v, err := cycles(f[2])
		if _, ok := guestCosts(new(interp.Costs))[f[1]]; !ok {
			return fmt.Errorf("unknown guest cost %q", f[1])
		}
		if err == nil && v == 0 {
			return fmt.Errorf("guest cost %s is 0: a guest could loop without time passing", f[1])
		}
		p.Guest[f[1]] = v
		if len(f) > 3 {
			p.GuestSources[f[1]] = f[3]
		}
		return err
	case "phase":
		return p.phaseRow(f)
	case "calibrates":
		p.Calibrates = append(p.Calibrates, RowRef{f[1], f[2]})
		return nil
	case "predicts":
		p.Predicts = append(p.Predicts, RowRef{f[1], f[2]})
		return nil
	}
	return fmt.Errorf("unknown row %q: want host, guest, phase, calibrates or predicts", f[0])
}

func (p *Profile) hostRow(key, value string) error {
	switch key {
	case "about":
		p.Text = value
		return nil
	case "hz", "multi-shift":
		n, err := strconv.ParseUint(value, 10, 63)
		if err != nil {
			return fmt.Errorf("%s: want a number, have %q", key, value)
		}
		if key == "hz" {
			if n < 1_000_000 || n > 100_000_000_000 {
				return fmt.Errorf("hz: want 10^6 to 10^11, have %d", n)
			}
			p.Hz = clock.Hz(n)
		} else {
			if n > 31 {
				return fmt.Errorf("multi-shift: want 0 to 31, have %d", n)
			}
			p.MultiShift = uint8(n)
		}
		return nil
	}
	return fmt.Errorf("unknown host row %q: want hz, multi-shift or about", key)
}

func (p *Profile) phaseRow(f []string) error {
	if len(f) != 7 {
		return fmt.Errorf("phase %s: want 7 columns, have %d", f[1], len(f))
	}
	ph := trace.BadPhase
	for i, n := range trace.PhaseNames {
		if n == f[1] {
			ph = trace.Phase(i)
		}
	}
	if ph == trace.BadPhase {
		return fmt.Errorf("unknown phase %q", f[1])
	}
	var c [4]clock.Cycles
	for i := range c {
		var err error
		if c[i], err = cycles(f[2+i]); err != nil {
			return fmt.Errorf("phase %s: %w", f[1], err)
		}
	}
	p.Phases[ph] = Cost{Base: c[0], Jitter: c[1], Tail: c[2], TailOneIn: uint64(c[3]), Source: f[6]}
	return nil
}

// costs are the interpreter's costs: the defaults with the guest rows.
func (p *Profile) costs() interp.Costs {
	c := interp.DefaultCosts()
	for name, field := range guestCosts(&c) {
		if v, ok := p.Guest[name]; ok {
			*field = uint32(v)
		}
	}
	return c
}

// guestCosts names the fields of interp.Costs as profiles do.
func guestCosts(c *interp.Costs) map[string]*uint32 {
	return map[string]*uint32{"insn": &c.Insn, "mul": &c.Mul, "div": &c.Div, "locked": &c.Locked, "string": &c.String,
		"rdtsc": &c.RDTSC, "pause": &c.Pause, "fence": &c.Fence, "system": &c.System, "msr": &c.MSR, "far": &c.Far,
		"iret": &c.IRET, "vectoring": &c.Vectoring, "float": &c.Float}
}

// GuestCostNames lists the names of guest costs, sorted.
func GuestCostNames() []string {
	var names []string
	for n := range guestCosts(new(interp.Costs)) {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

func cycles(s string) (clock.Cycles, error) {
	n, err := strconv.ParseUint(s, 10, 24)
	if err != nil {
		return 0, fmt.Errorf("want cycles from 0 to 16777215, have %q", s)
	}
	return clock.Cycles(n), nil
}
