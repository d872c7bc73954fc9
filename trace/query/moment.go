package query

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// Moment is what a condition looks at: one event and what it completed. At a
// VM-entry that is the exit before it, at the first instruction of a timer's
// handler the deadline. A deadline's own figures (backing, waited, …) can be asked
// there too, together with its lateness.
type Moment struct {
	Event trace.Event
	// Exit and Chain are nil where the event completed none.
	Exit  *trace.ExitRecord
	Chain *trace.Chain
}

// MomentOf returns the moment of e, which s has just applied. The pointers are
// valid until the next event is applied.
func MomentOf(e *trace.Event, s *trace.State) Moment {
	m := Moment{Event: *e}
	switch e.Kind {
	case trace.KindEntry:
		if int(e.VCPU) < len(s.VCPUs) {
			if v := &s.VCPUs[e.VCPU]; v.Exit != trace.NoNum {
				if x := s.Exits.Get(uint64(v.Exit) - 1); x != nil && x.EntryAt == e.TSC {
					m.Exit = x
				}
			}
		}
	case trace.KindGuestIRQ:
		if c := s.Chains.Last(0); c != nil && c.Ran() && c.VCPU == e.VCPU && c.ISRAt == e.TSC {
			m.Chain = c
		}
	}
	return m
}

// Conditions is the vocabulary of break conditions and filters.
func Conditions() *Vocabulary[Moment] { return &Vocabulary[Moment]{Vars: momentVars} }

// Condition is a compiled condition.
type Condition = Program[Moment]

// ParseCondition compiles a condition. The error is an *Error.
func ParseCondition(src string) (*Condition, error) { return Compile(src, Conditions()) }

// bail is the fastpath's word for an exit that a failed clause kept from it.
const bail = "bail"

// fastWords are the values of fastpath: the results that need no clause, and
// bail.
var fastWords = append([]string{bail}, trace.FastpathNames[1:]...)

var momentVars = []Var[Moment]{
	{Word: "late", Unit: Cycles, Doc: "lateness of a handled deadline, negative if early", Number: ofChain(trace.BadKind, nil,
		func(c *trace.Chain) (float64, bool) { return float64(c.Late), c.Ran() })},
	{Word: "deadline", Unit: Plain, Doc: "number of a handled deadline", Number: ofChain(trace.BadKind, nil,
		func(c *trace.Chain) (float64, bool) { return float64(c.Num), c.Num != trace.NoNum })},
	{Word: "vcpu", Unit: Plain, Doc: "vCPU concerned", Number: func(m Moment, _ int) (float64, bool) {
		return float64(m.Event.VCPU), m.Event.VCPU != trace.NoCPU
	}},
	{Word: "vector", Unit: Plain, Doc: "vector that arrives in the guest", Number: ofChain(trace.KindGuestIRQ,
		func(e *trace.Event) float64 { return float64(e.A) },
		func(c *trace.Chain) (float64, bool) { return float64(c.Vector), c.Vector != 0 })},
	{Word: "exit", Values: trace.ExitNames[1:], Doc: "reason of an exit, once it has been handled", Name: ofExit(
		func(x *trace.ExitRecord) (string, bool) { return x.Reason.String(), true })},
	{Word: "fastpath", Values: fastWords, Doc: "what the fastpath made of an exit; bail if a clause failed", Name: ofExit(
		func(x *trace.ExitRecord) (string, bool) {
			if x.Clause != trace.ClauseNone {
				return bail, x.HasFast
			}
			return x.Result.String(), x.HasFast
		})},
	{Word: "clause", Values: trace.ClauseNames, Doc: "first clause that failed in the fastpath", Name: ofExit(
		func(x *trace.ExitRecord) (string, bool) { return x.Clause.String(), x.HasFast })},
	{Word: "cycles", Unit: Cycles, Doc: "time from an exit to the next entry", Number: func(m Moment, _ int) (float64, bool) {
		if m.Exit == nil || m.Exit.EntryAt == 0 {
			return 0, false
		}
		return float64(m.Exit.EntryAt.Sub(m.Exit.At)), true
	}},
	{Word: "kick", Values: trace.KickNames[1:], Doc: "decision of a kick", Name: nameOf(trace.KindKick,
		func(e *trace.Event) string { return trace.KickDecision(e.A).String() })},
	{Word: "deliver", Values: trace.DeliverNames[1:], Doc: "route of a delivery, or of a handled deadline's", Name: wordOf(trace.KindDeliver,
		func(e *trace.Event) string { return trace.DeliverRoute(e.B).String() },
		func(c *trace.Chain) (string, bool) { return c.Deliver.String(), c.DeliverAt != 0 })},
	{Word: "expire", Values: trace.ExpireNames[1:], Doc: "route of an expiry, or of a handled deadline's", Name: wordOf(trace.KindExpire,
		func(e *trace.Event) string { return trace.ExpireRoute(e.B).String() },
		func(c *trace.Chain) (string, bool) { return c.Route.String(), c.ExpireAt != 0 })},
	{Word: "backing", Values: trace.BackingNames, Doc: "host timer chosen, or that of a handled deadline", Name: wordOf(trace.KindBacking,
		func(e *trace.Event) string { return trace.Backing(e.A).String() },
		func(c *trace.Chain) (string, bool) { return c.Backing.String(), c.BackedAt != 0 })},
	{Word: "delta", Unit: Cycles, Doc: "guest TSC minus deadline on arrival at the wait", Number: ofChain(trace.KindWait,
		func(e *trace.Event) float64 { return float64(clock.Cycles(e.A)) },
		func(c *trace.Chain) (float64, bool) { return float64(c.Delta), c.Place != trace.BadPlacement })},
	{Word: "waited", Unit: Cycles, Doc: "cycles waited", Number: ofChain(trace.KindWait,
		func(e *trace.Event) float64 { return float64(clock.Cycles(e.B)) },
		func(c *trace.Chain) (float64, bool) { return float64(c.Waited), c.Place != trace.BadPlacement })},
	{Word: "advance", Unit: Nanos, Doc: "timer_advance_ns after tuning, or when a handled deadline was armed", Number: ofChain(trace.KindTune,
		func(e *trace.Event) float64 { return float64(clock.Nanos(e.B)) },
		func(c *trace.Chain) (float64, bool) { return float64(c.AdvanceNS), c.ArmAt != 0 })},
	{Word: "wake", Values: trace.WakeNames[1:], Doc: "what ended a halt", Name: nameOf(trace.KindWake,
		func(e *trace.Event) string { return trace.WakeReason(e.A).String() })},
	{Word: "knob", Values: trace.KnobNames[1:], Doc: "knob that was turned", States: []string{"changed"},
		Name:  nameOf(trace.KindKnob, func(e *trace.Event) string { return trace.Knob(e.A).String() }),
		State: func(m Moment, _ int, _ string) bool { return m.Event.Kind == trace.KindKnob }},
	{Word: "end", Values: trace.EndNames[1:], Doc: "how the guest stopped", Name: nameOf(trace.KindEnd,
		func(e *trace.Event) string { return trace.EndKind(e.A).String() })},
}

// ofChain is a number that an event of kind k tells and that a deadline keeps: so
// "late > 20us && waited == 0" can be asked of one moment.
func ofChain(k trace.Kind, e func(*trace.Event) float64, c func(*trace.Chain) (float64, bool)) func(Moment, int) (float64, bool) {
	return func(m Moment, _ int) (float64, bool) {
		switch {
		case e != nil && m.Event.Kind == k:
			return e(&m.Event), true
		case m.Chain != nil:
			return c(m.Chain)
		}
		return 0, false
	}
}

// wordOf is ofChain for a word.
func wordOf(k trace.Kind, e func(*trace.Event) string, c func(*trace.Chain) (string, bool)) func(Moment, int) (string, bool) {
	return func(m Moment, _ int) (string, bool) {
		switch {
		case m.Event.Kind == k:
			return e(&m.Event), true
		case m.Chain != nil:
			return c(m.Chain)
		}
		return "", false
	}
}

func ofExit(f func(*trace.ExitRecord) (string, bool)) func(Moment, int) (string, bool) {
	return func(m Moment, _ int) (string, bool) {
		if m.Exit == nil {
			return "", false
		}
		return f(m.Exit)
	}
}

func nameOf(k trace.Kind, f func(*trace.Event) string) func(Moment, int) (string, bool) {
	return func(m Moment, _ int) (string, bool) {
		if m.Event.Kind != k {
			return "", false
		}
		return f(&m.Event), true
	}
}
