package query

import (
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// Run is what an assertion is about: a run and the state at its end.
type Run struct {
	Header *trace.Header
	State  *trace.State
}

// Assertion is a compiled assertion about a run.
type Assertion struct{ prog *Program[Run] }

// ParseAssertion compiles an assertion in the words of RunVocabulary. The error
// is an *Error, one sentence with the column.
func ParseAssertion(src string) (*Assertion, error) {
	p, err := Compile(src, RunVocabulary())
	if err != nil {
		return nil, err
	}
	return &Assertion{p}, nil
}

// String returns the source.
func (a *Assertion) String() string { return a.prog.String() }

// NeedsRate reports whether the assertion compares cycles with seconds.
func (a *Assertion) NeedsRate() bool { return a.prog.NeedsRate() }

// Check reports whether the assertion holds for the run. If not, why is a
// sentence with the figures: "p99(late) is 6.2us, not < 5us".
func (a *Assertion) Check(h *trace.Header, s *trace.State) (holds bool, why string) {
	r := Run{h, s}
	return a.prog.Eval(r, h.Hz), a.prog.Explain(r, h.Hz)
}

// latenessKeys are the distributions that p99, min and so on are taken of.
var latenessKeys = []string{"late", "since-knob", "samples"}

func lateness(s *trace.State, key int) *trace.Lateness {
	switch key {
	case 1:
		return &s.Deadlines.SinceKnob
	case 2:
		return &s.Samples
	}
	return &s.Deadlines.Late
}

// RunVocabulary is what assertions and report --where can name.
func RunVocabulary() *Vocabulary[Run] {
	return &Vocabulary[Run]{Find: percentile, Vars: append([]Var[Run]{
		ofLateness("min", Cycles, "earliest lateness", func(l *trace.Lateness) float64 { return float64(l.Min) }),
		ofLateness("max", Cycles, "latest lateness", func(l *trace.Lateness) float64 { return float64(l.Max) }),
		ofLateness("mean", Cycles, "mean lateness", (*trace.Lateness).Mean),
		{Word: "count", Keys: latenessKeys, Unit: Plain, Doc: "number of latenesses", Number: func(r Run, k int) (float64, bool) {
			return float64(lateness(r.State, k).Count()), true
		}},
		{Word: "deadlines", Keys: trace.OutcomeNames[1:], NoKey: true, Unit: Plain,
			Doc: "deadlines whose handler ran, or those of one outcome", Number: deadlines},
		{Word: "end", Values: trace.EndNames[1:], Doc: "how the guest stopped", Name: func(r Run, _ int) (string, bool) {
			return r.State.End.How.String(), r.State.End.How != trace.BadEnd
		}},
		{Word: "knobs", Keys: trace.KnobNames[1:], Doc: "value of a knob in words", Name: func(r Run, k int) (string, bool) {
			return trace.FormatKnob(trace.Knob(k+1), r.State.Knobs[k+1]), true
		}},
		plain("status", "exit status of the guest", func(s *trace.State) uint64 { return s.End.Code }),
		plain("lost", "events that are missing", func(s *trace.State) uint64 { return s.Lost.Events }),
		plain("gaps", "places where events are missing", func(s *trace.State) uint64 { return s.Lost.Gaps }),
		plain("knob-turns", "turns of knobs", func(s *trace.State) uint64 { return s.KnobTurns.N }),
		plain("waits", "waits for an expired deadline", func(s *trace.State) uint64 { return s.Waits.Count }),
		plain("handlers", "interrupt handlers begun", func(s *trace.State) uint64 { return s.Injections.Handlers }),
		plain("halts", "times that a vCPU blocked", func(s *trace.State) uint64 { return s.Halts.Steps[trace.HaltBlocked] }),
		{Word: "advance", Unit: Nanos, Doc: "greatest timer_advance_ns of a vCPU", Number: advance},
	}, families()...)}
}

// percentile resolves p50, p99.9 and, as people write it, p999.
func percentile(word string) *Var[Run] {
	digits, ok := strings.CutPrefix(word, "p")
	if !ok || digits == "" || strings.Trim(digits, "0123456789.") != "" {
		return nil
	}
	p, err := strconv.ParseFloat(digits, 64)
	if len(digits) > 2 && digits[0] == '9' && !strings.Contains(digits, ".") {
		p, err = strconv.ParseFloat(digits[:2]+"."+digits[2:], 64)
	}
	if err != nil || p > 100 {
		return nil
	}
	v := ofLateness(word, Cycles, "percentile", func(l *trace.Lateness) float64 { return float64(l.Percentile(p)) })
	return &v
}

func ofLateness(word string, u Unit, doc string, f func(*trace.Lateness) float64) Var[Run] {
	return Var[Run]{Word: word, Keys: latenessKeys, Unit: u, Doc: doc, Number: func(r Run, k int) (float64, bool) {
		l := lateness(r.State, k)
		return f(l), l.Count() > 0
	}}
}

func plain(word, doc string, f func(*trace.State) uint64) Var[Run] {
	return Var[Run]{Word: word, Unit: Plain, Doc: doc, Number: func(r Run, _ int) (float64, bool) {
		return float64(f(r.State)), true
	}}
}

func deadlines(r Run, key int) (float64, bool) {
	d := &r.State.Deadlines
	switch o := trace.Outcome(key + 1); {
	case key < 0:
		return float64(d.Count()), true
	case o == trace.OutcomeOpen:
		return float64(d.Open()), true
	default:
		return float64(d.Outcomes[o]), true
	}
}

func advance(r Run, _ int) (float64, bool) {
	var most clock.Nanos
	for i := range r.State.VCPUs {
		most = max(most, r.State.VCPUs[i].AdvanceNS)
	}
	return float64(most), len(r.State.VCPUs) > 0
}

// families are the counters of enumerations and the rates of exit reasons.
func families() []Var[Run] {
	return []Var[Run]{
		counters("kicks", "kicks, or those of one decision", trace.KickNames, func(s *trace.State) []uint64 { return s.Kicks.Decisions[:] }),
		counters("expiries", "expiries, or those of one route", trace.ExpireNames, func(s *trace.State) []uint64 { return s.Expiries[:] }),
		counters("deliveries", "deliveries, or those of one route", trace.DeliverNames, func(s *trace.State) []uint64 { return s.Deliveries[:] }),
		counters("tuning", "tuning steps, or those of one verdict", trace.TuneNames, func(s *trace.State) []uint64 { return s.Tunes[:] }),
		counters("wakes", "ends of halts, or those of one reason", trace.WakeNames, func(s *trace.State) []uint64 { return s.Halts.Wakes[:] }),
		counters("backings", "host timers programmed, or those of one kind", trace.BackingNames, func(s *trace.State) []uint64 { return s.Backings[:] }),
		ofExits("exits", Plain, "exits, or those of one reason", func(x *trace.ExitStats) (uint64, uint64) { return x.Count, 1 }),
		ofExits("fastpath", Percent, "share of exits that a fastpath handled", func(x *trace.ExitStats) (uint64, uint64) { return x.Fastpath(), x.Count }),
		ofExits("reenter", Percent, "share of exits that went straight back", func(x *trace.ExitStats) (uint64, uint64) { return x.Results[trace.FastReenter], x.Count }),
		{Word: "bails", Keys: trace.ClauseNames[1:], Unit: Plain, Doc: "exits that a clause kept from the fastpath", Number: bails},
	}
}

func counters(word, doc string, names []string, f func(*trace.State) []uint64) Var[Run] {
	return Var[Run]{Word: word, Keys: names[1:], NoKey: true, Unit: Plain, Doc: doc, Number: func(r Run, k int) (v float64, ok bool) {
		c := f(r.State)
		if k >= 0 {
			return float64(c[k+1]), true
		}
		for _, n := range c {
			v += float64(n)
		}
		return v, true
	}}
}

// ofExits sums what f returns over one or all exit reasons: a count, or as a
// percentage of the second sum.
func ofExits(word string, u Unit, doc string, f func(*trace.ExitStats) (n, of uint64)) Var[Run] {
	return Var[Run]{Word: word, Keys: trace.ExitNames[1:], NoKey: true, Unit: u, Doc: doc, Number: func(r Run, k int) (float64, bool) {
		var n, of uint64
		for i := range r.State.ExitStats {
			if k < 0 || i == k+1 {
				a, b := f(&r.State.ExitStats[i])
				n, of = n+a, of+b
			}
		}
		if u == Percent {
			return 100 * float64(n) / float64(max(of, 1)), of > 0
		}
		return float64(n), true
	}}
}

func bails(r Run, key int) (float64, bool) {
	var n uint64
	for i := range r.State.ExitStats {
		n += r.State.ExitStats[i].Clauses[key+1]
	}
	return float64(n), true
}
