package explain

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// Explanation is what is known of one deadline, as plain data.
type Explanation struct {
	Provenance string `json:"provenance"`
	Engine     string `json:"engine"`
	Hz         uint64 `json:"hz"` // 0 if not known

	Deadline uint64 `json:"deadline"` // its ordinal in the run
	VCPU     int    `json:"vcpu"`
	Mode     string `json:"mode"`
	Vector   int    `json:"vector"`
	Outcome  string `json:"outcome"`
	Target   uint64 `json:"target"` // common TSC line
	// At is the TSC at which its handler began; of a deadline that never ran,
	// the last TSC of the run.
	At uint64 `json:"at"`
	// Late is At minus Target in cycles; negative is early.
	Late int64 `json:"late"`
	// LateNS is Late in nanoseconds; null, like every time here, where the TSC
	// rate is not known.
	LateNS *int64 `json:"late_ns"`

	// Verdict is the answer in one sentence.
	Verdict string  `json:"verdict"`
	Steps   []Step  `json:"steps"`
	Causes  []Cause `json:"causes"`
	// Withheld is what this trace cannot prove, one sentence each.
	Withheld []string `json:"withheld"`
	// Findings are what is wrong with the run as a whole; a Watcher finds them.
	Findings []Finding `json:"findings"`
	// Checks are re-runs of the same deadline with a knob turned.
	Checks []Check `json:"checks"`
}

// Step is one step of the chain.
type Step struct {
	Name string `json:"name"`
	TSC  uint64 `json:"tsc"`
	// FromTarget is the step's distance from the deadline, FromLast that from the
	// step before; both in cycles.
	FromTarget int64  `json:"from_target"`
	FromLast   int64  `json:"from_last"`
	LastNS     *int64 `json:"from_last_ns"`
	Words      string `json:"words"`
}

// Cause is one part of the lateness or earliness.
type Cause struct {
	ID     string `json:"id"`
	Words  string `json:"words"`
	Cycles int64  `json:"cycles"`
	NS     *int64 `json:"ns"`
	// Tenths is the share in tenths of a percent. The shares of an explanation
	// add up to 1000.
	Tenths int `json:"share_tenths"`
	// Why is the decision that led here, with the clause that failed; empty if
	// there was none.
	Why    string `json:"why"`
	Clause string `json:"clause,omitempty"`
	// Knob and Value are the setting that would change it; empty if none would.
	Knob  string `json:"knob,omitempty"`
	Value string `json:"value,omitempty"`
	// Cure is what can be done about it outside the knobs; empty if nothing is known.
	Cure string `json:"cure,omitempty"`
	// Inferred marks a cause that the events do not state.
	Inferred bool `json:"inferred,omitempty"`
}

// Check is the outcome of running the same deadline again with one knob turned
// just before it was armed.
type Check struct {
	Knob   string `json:"knob"`
	Value  string `json:"value"`
	Before int64  `json:"before"` // lateness in cycles
	After  int64  `json:"after"`
	// Note says why there is no After, or why it is not the same deadline.
	Note string `json:"note,omitempty"`
}

// Setting is a knob with a value that Explain proposes.
type Setting struct {
	Knob  trace.Knob
	Value uint64
}

// Settings are the proposals of the causes in order of rank, each once.
func (x *Explanation) Settings() []Setting {
	var out []Setting
	seen := map[Setting]bool{}
	for i := range x.Causes {
		k, v, err := trace.ParseKnob(x.Causes[i].Knob, x.Causes[i].Value)
		if s := (Setting{k, v}); err == nil && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// Nothing is the explanation of a run none of whose deadlines can be explained:
// the findings are all there is to say.
func Nothing(h *trace.Header, findings []Finding) *Explanation {
	return &Explanation{Provenance: h.Provenance.String(), Engine: h.Engine, Hz: uint64(h.Hz),
		Verdict: "No deadline of this run reached its handler.", Steps: []Step{}, Causes: []Cause{}, Withheld: []string{},
		Findings: findings, Checks: []Check{}}
}

// Explain explains chain c of the state s of the run that h describes. The
// state should be one soon after the handler ran: older exits have left its ring.
func Explain(h *trace.Header, s *trace.State, c *trace.Chain) *Explanation {
	b := newBuilder(h, s, c, leastVectoring(s))
	x := &Explanation{Provenance: h.Provenance.String(), Engine: h.Engine, Hz: uint64(s.Hz), Deadline: uint64(c.Num),
		VCPU: int(c.VCPU), Mode: c.Mode.String(), Vector: int(c.Vector), Outcome: c.Outcome.String(),
		Target: uint64(c.Target), At: uint64(b.end), Late: int64(b.end.Sub(c.Target)), Steps: []Step{}, Causes: []Cause{},
		Withheld: []string{}, Findings: []Finding{}, Checks: []Check{}}
	if c.Inferred && h.Provenance != trace.Modelled {
		x.Provenance = trace.Inferred.String()
	}
	x.LateNS = b.told(clock.Cycles(x.Late))
	x.Steps = b.steps()
	switch {
	case !c.Ran() && !b.overdue():
		x.Verdict = b.fate()
		return x
	case x.Late < 0:
		b.early()
	default:
		b.late()
	}
	x.Causes = b.rank()
	x.Verdict = b.verdict(x)
	x.Withheld = append(x.Withheld, b.withheld()...)
	return x
}
