package diff

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/prose"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// Limit is a bound on how far one figure of B may be from that of A:
//
//	delta(p99) > 5%
//	delta(lost) > 0
//	delta(host cycles) > 200
//
// It names what must not be. A percentage is of the value of A.
type Limit struct {
	Text   string
	Figure string // a name of a Stat, or of a Row of Rates
	// Below: the figure must not fall below the bound, instead of rising above it.
	Below    bool
	Bound    float64
	Relative bool   // Bound is in percent of A
	Unit     string // "cycles" or "ns" where Bound has one
}

// Outcome is what a comparison says about a limit.
type Outcome uint8

// The outcomes. BadOutcome is the invalid zero value.
const (
	BadOutcome Outcome = iota
	Holds              // nothing says that the limit is exceeded
	Exceeded           // all of the interval is beyond it
	Undecided          // it looks exceeded, and there is too little data to say so
	Absent             // the runs do not tell the figure
)

// OutcomeNames names the outcomes.
var OutcomeNames = []string{"bad", "holds", "exceeded", "undecided", "absent"}

// String returns the name.
func (o Outcome) String() string { return OutcomeNames[min(int(o), len(OutcomeNames)-1)] }

// MarshalText writes the name.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Check is a limit held against a comparison.
type Check struct {
	Limit   string  `json:"limit"`
	Outcome Outcome `json:"outcome"`
	// Words say it in one sentence, with the figures.
	Words string `json:"words"`
}

var limitForm = regexp.MustCompile(`^\s*delta\(\s*([^()]+?)\s*\)\s*([<>])\s*([-+]?[0-9]+(?:\.[0-9]+)?)\s*(%|cycles|ns|us|µs|ms)?\s*$`)

// ParseLimit reads a limit. The error is one sentence.
func ParseLimit(text string) (Limit, error) {
	m := limitForm.FindStringSubmatch(text)
	if m == nil {
		return Limit{}, fmt.Errorf("%q: want delta(FIGURE) > NUMBER[%%|cycles|ns|us], such as delta(p99) > 5%%", text)
	}
	l := Limit{Text: strings.TrimSpace(text), Figure: figureName(m[1]), Below: m[2] == "<"}
	if !slices.Contains(FigureNames(), l.Figure) {
		return Limit{}, fmt.Errorf("%q: there is no figure %q: the figures are %s%s", text, m[1],
			strings.Join(FigureNames(), ", "), prose.DidYouMean(l.Figure, FigureNames()))
	}
	var err error
	if l.Bound, err = strconv.ParseFloat(m[3], 64); err != nil {
		return Limit{}, fmt.Errorf("%q: %q is no number", text, m[3])
	}
	switch m[4] {
	case "%":
		l.Relative = true
	case "us", "µs":
		l.Bound, l.Unit = l.Bound*1e3, "ns"
	case "ms":
		l.Bound, l.Unit = l.Bound*1e6, "ns"
	default:
		l.Unit = m[4]
	}
	return l, nil
}

// figureName is a figure's name as rows have it: "host-cycles" is "host cycles".
func figureName(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '-' || r == '_' }), " ")
	for _, n := range FigureNames() {
		if strings.EqualFold(n, s) {
			return n
		}
	}
	return s
}

// FigureNames are the figures that a limit can name: the statistics of the
// lateness, the costs of a deadline, and kicks.
func FigureNames() []string {
	names := slices.Clone(statNames[:])
	for f := range NumFigures {
		names = append(names, f.String())
	}
	return append(names, kicksFigure)
}

// kicksFigure is a count that has no interval.
const kicksFigure = "kicks"

// counts are the figures that are counted over the whole run, not sampled: one
// lost deadline is one too many, whatever an interval says.
func (d *Diff) setCounts(a, b *trace.Report) {
	lost := func(r *trace.Report) float64 {
		return float64(r.Deadlines.Lost + r.Deadlines.Merged + r.Deadlines.Dropped)
	}
	d.counts = map[string]Stat{
		LostTimers.String(): {A: lost(a), B: lost(b)},
		kicksFigure:         {A: thousandth(perDeadline(total(a.Kicks), a)), B: thousandth(perDeadline(total(b.Kicks), b))},
	}
	for name, s := range d.counts {
		s.Name, s.Delta = name, thousandth(s.B-s.A)
		d.counts[name] = s
	}
}

// Check holds limits against the comparison.
func (d *Diff) Check(limits []Limit) []Check {
	checks := make([]Check, len(limits))
	for i, l := range limits {
		checks[i] = d.check(l)
	}
	return checks
}

func (d *Diff) check(l Limit) Check {
	s, ok := d.stat(l.Figure)
	_, counted := d.counts[l.Figure]
	if !ok {
		return Check{l.Text, Absent, l.Figure + " is not known of both runs."}
	}
	bound, low, high, delta := l.Bound, s.Low, s.High, s.Delta
	unit := s.Unit
	switch {
	case l.Relative && s.A == 0 && s.B == 0:
		low, high, delta, unit = 0, 0, 0, "%"
	case l.Relative && s.A == 0:
		low, high, delta, unit = math.Copysign(math.Inf(1), s.Low), math.Copysign(math.Inf(1), s.High), math.Copysign(math.Inf(1), s.Delta), "%"
	case l.Relative:
		k := 100 / math.Abs(s.A)
		low, high, delta, unit = low*k, high*k, delta*k, "%"
	case l.Unit != "" && l.Unit != s.Unit:
		return Check{l.Text, Absent, fmt.Sprintf("%s is compared in %s here; give the limit in %s or in %%.", l.Figure,
			unitWord(s.Unit), unitWord(s.Unit))}
	}
	beyond := func(x float64) bool { return x > bound }
	near := low
	if l.Below {
		beyond, near = func(x float64) bool { return x < bound }, high
	}
	words := fmt.Sprintf("%s went from %g to %g", l.Figure, s.A, s.B)
	if unit != "" {
		words += fmt.Sprintf(", %+.4g %s", delta, unit)
	}
	if s.HasInterval {
		words += fmt.Sprintf(", interval %+.4g to %+.4g at %g %%", low, high, d.Level*100)
	}
	switch {
	case !s.HasInterval && !counted:
		return Check{l.Text, Undecided, words + fmt.Sprintf(": fewer than %d deadlines on a side give no interval.", MinSamples)}
	case !s.HasInterval && beyond(delta), s.HasInterval && beyond(near):
		return Check{l.Text, Exceeded, words + "."}
	case s.HasInterval && beyond(delta):
		return Check{l.Text, Undecided, words + ": too few deadlines to tell."}
	}
	return Check{l.Text, Holds, words + "."}
}

// stat finds a figure by its name.
func (d *Diff) stat(name string) (Stat, bool) {
	if s, ok := d.counts[name]; ok {
		return s, true
	}
	for _, list := range [][]Stat{d.Stats, d.Costs} {
		for _, s := range list {
			if s.Name == name {
				return s, true
			}
		}
	}
	for f := range NumFigures { // one that both sides know and that is 0 on both has no row
		if f.String() == name && d.known[f] {
			return Stat{Name: name, Unit: d.unitOf(f), HasInterval: true}, true
		}
	}
	return Stat{}, false
}

func unitWord(u string) string {
	if u == "" {
		return "plain numbers"
	}
	return u
}

// Worst is the outcome of all checks together: exceeded before undecided before
// absent before holds.
func Worst(checks []Check) Outcome {
	worst := Holds
	rank := map[Outcome]int{Holds: 0, Absent: 1, Undecided: 2, Exceeded: 3}
	for _, c := range checks {
		if rank[c.Outcome] > rank[worst] {
			worst = c.Outcome
		}
	}
	return worst
}
