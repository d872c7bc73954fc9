package model

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// halves runs 2n deadlines of a guest and turns knobs after the first n. It
// returns the states of the two halves: the second is folded from nothing.
func halves(t *testing.T, name, args string, n uint64, start func(*vmm.Knobs), turn func(*Engine) error) (before, after *trace.State) {
	t.Helper()
	before, after = new(trace.State), new(trace.State)
	cur := before
	e := engineWith(t, name, args, start, trace.SinkFunc(func(ev trace.Event) { cur.Apply(&ev) }))
	h := e.Header()
	before.Reset(&h)
	after.Reset(&h)
	e.Run(clock.Never, func() bool { return before.Deadlines.Count() >= n })
	if err := turn(e); err != nil {
		t.Fatal(err)
	}
	cur = after
	e.Run(clock.Never, func() bool { return after.Deadlines.Count() >= n })
	return before, after
}

func engineWith(t testing.TB, name, args string, turn func(*vmm.Knobs), sink trace.Sink) *Engine {
	t.Helper()
	k := vmm.DefaultKnobs()
	if turn != nil {
		turn(&k)
	}
	return engineKnobs(t, name, args, 1, k, sink)
}

func set(k trace.Knob, v uint64) func(*Engine) error {
	return func(e *Engine) error { return e.SetKnob(k, v) }
}

func p50(s *trace.State) clock.Cycles { return s.Deadlines.Late.Percentile(50) }

// Each knob, turned in the middle of one run, moves the figures in the direction
// that the series behind it claims, and the decisions by exactly what it decides.
func TestKnobsTurnedMidRunMoveTheFigures(t *testing.T) {
	const n = 500
	spin := "mode=spin"
	noHV := func(k *vmm.Knobs) { k.PreemptionTimer = false }
	fixed := func(ns uint64) func(*vmm.Knobs) { return func(k *vmm.Knobs) { k.Advance = ns } }
	tests := []struct {
		name, guest, args string
		start             func(*vmm.Knobs)
		turn              func(*Engine) error
		check             func(t *testing.T, a, b *trace.State)
	}{
		{"APICv off: pending route, injection by the entry field, EOI exits", "deadline", spin, nil,
			set(trace.KnobAPICv, 0), func(t *testing.T, a, b *trace.State) {
				equal(t, "direct expiries before", a.Expiries[trace.RouteDirect], n)
				equal(t, "direct expiries after", b.Expiries[trace.RouteDirect], 0)
				near(t, "pending expiries after", b.Expiries[trace.RoutePending], n)
				near(t, "injections after", b.Injections.Injected, n)
				equal(t, "injections before", a.Injections.Injected, 0)
				near(t, "EOIs with an exit after", b.Injections.EOIs-b.Injections.VirtualEOIs, n)
				equal(t, "preemption-timer exits re-entered after", b.ExitStats[trace.ExitPreemptionTimer].Results[trace.FastReenter], 0)
				less(t, "p50 of lateness", p50(a), p50(b))
			}},
		{"fastpath off: every exit takes the slow path and costs more", "deadline", spin, nil,
			set(trace.KnobFastpath, uint64(vmm.RulesOff)), func(t *testing.T, a, b *trace.State) {
				near(t, "fast exits before", a.ExitStats[trace.ExitMSRWrite].Results[trace.FastReenter], n)
				equal(t, "fast exits after", b.ExitStats[trace.ExitMSRWrite].Fastpath(), 0)
				near(t, "clause knob-off", b.ExitStats[trace.ExitMSRWrite].Clauses[trace.ClauseKnobOff], n)
				less(t, "mean cycles of a TSC-deadline write", mean(a, trace.ExitMSRWrite), mean(b, trace.ExitMSRWrite))
			}},
		{"S004's gate: without APICv its fastpath takes nothing", "deadline", spin,
			func(k *vmm.Knobs) { k.Fastpath = vmm.RulesS004 }, set(trace.KnobAPICv, 0), func(t *testing.T, a, b *trace.State) {
				near(t, "fast exits before", a.ExitStats[trace.ExitMSRWrite].Fastpath(), n)
				near(t, "clause apicv-inactive after", b.ExitStats[trace.ExitMSRWrite].Clauses[trace.ClauseAPICvOff], 2*n) // EOI exits too
			}},
		{"advance off: nothing waits, deadlines are later", "deadline", spin, nil, set(trace.KnobAdvance, 0),
			func(t *testing.T, a, b *trace.State) {
				near(t, "waits before", a.Waits.Count, n)
				atMost(t, "waits after", b.Waits.Count, 1)
				less(t, "p50 of lateness", p50(a), p50(b))
			}},
		{"advance adaptive: it tunes, deadlines are met closer", "deadline", spin, fixed(0),
			set(trace.KnobAdvance, trace.AdvanceAdaptive), func(t *testing.T, a, b *trace.State) {
				equal(t, "waits before", a.Waits.Count, 0)
				near(t, "adjustments after", tunes(b), n)
				less(t, "p50 of lateness", p50(b), p50(a))
			}},
		{"advance fixed, large: every expiry waits, none tunes", "deadline", spin, nil, set(trace.KnobAdvance, 4000),
			func(t *testing.T, a, b *trace.State) {
				near(t, "adjustments before", tunes(a), n)
				atMost(t, "adjustments after", tunes(b), 1)
				near(t, "early arrivals after", b.Waits.Early, n)
			}},
		{"vmentry advance 300 ns: the wait ends 750 cycles sooner", "deadline", spin, fixed(4000),
			set(trace.KnobVMEntryAdvance, 300), func(t *testing.T, a, b *trace.State) {
				between(t, "gain of p50", p50(a)-p50(b), 650, 850)
			}},
		{"vmentry advance leaves the tuned advance alone", "deadline", spin, nil, set(trace.KnobVMEntryAdvance, 300),
			func(t *testing.T, a, b *trace.State) {
				between(t, "first delta after the turn", b.Waits.Delta.Max, -2000, 3000)
				near(t, "adjustments after", tunes(b), n)
			}},
		{"wait early: the way from the wait to the guest is longer", "deadline", spin, fixed(4000),
			set(trace.KnobWaitPlacement, uint64(trace.WaitEarly)), func(t *testing.T, a, b *trace.State) {
				near(t, "late waits before", a.Waits.Places[trace.WaitLate], n)
				near(t, "early waits after", b.Waits.Places[trace.WaitEarly], n-1)
				less(t, "p50 of lateness", p50(a), p50(b))
			}},
		{"preemption timer off: hrtimer, kick, external interrupt", "deadline", spin, nil,
			set(trace.KnobPreemptionTimer, 0), func(t *testing.T, a, b *trace.State) {
				near(t, "hv backings before", a.Backings[trace.BackHV], n)
				near(t, "sw backings after", b.Backings[trace.BackSW], n)
				near(t, "expiries from the callback with a kick after", b.Expiries[trace.RoutePendKick], n)
				equal(t, "kicks before", a.Kinds[trace.KindKick], 0)
				less(t, "p50 of lateness", p50(a), p50(b)+1)
			}},
		{"posted timer: expiries leave the vCPU's CPU and cause no exit", "deadline", spin,
			func(k *vmm.Knobs) { noHV(k); k.ExitsDisabled = vmm.DisableHLT }, set(trace.KnobPostedTimer, 1),
			func(t *testing.T, a, b *trace.State) {
				near(t, "external interrupts before", a.ExitStats[trace.ExitExternalInterrupt].Count, n)
				atMost(t, "external interrupts after", b.ExitStats[trace.ExitExternalInterrupt].Count, 2)
				near(t, "posted expiries after", b.Expiries[trace.RoutePosted], n-1)
			}},
		{"posted timer without disabled exits: still not posted, and it says why", "deadline", spin, noHV,
			set(trace.KnobPostedTimer, 1), func(t *testing.T, a, b *trace.State) {
				near(t, "clause before", a.ExpireClauses[trace.ClausePIOff], n)
				near(t, "clause after", b.ExpireClauses[trace.ClauseExitsOn], n-1)
				equal(t, "posted expiries after", b.Expiries[trace.RoutePosted], 0)
			}},
		{"halt polling off: a halt blocks at once", "deadline", "mode=hlt", nil, set(trace.KnobHaltPoll, 0),
			func(t *testing.T, a, b *trace.State) {
				atMost(t, "blocked before", a.Halts.Steps[trace.HaltBlocked], 10)
				near(t, "blocked after", b.Halts.Steps[trace.HaltBlocked], n)
				less(t, "p50 of lateness", p50(a), p50(b))
			}},
		{"HLT in the guest: no HLT exits", "deadline", "mode=hlt", nil, set(trace.KnobExitsDisabled, uint64(vmm.DisableHLT)),
			func(t *testing.T, a, b *trace.State) {
				near(t, "HLT exits before", a.ExitStats[trace.ExitHLT].Count, n)
				atMost(t, "HLT exits after", b.ExitStats[trace.ExitHLT].Count, 1)
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := halves(t, tt.guest, tt.args, n, tt.start, tt.turn)
			tt.check(t, a, b)
		})
	}
}

// S002's tax cut, KB against KC: a kick of the running vCPU loses its cmpxchg and
// its RCU section, and nothing else changes.
func TestKickTaxCutSavesOnKicksOfTheRunningVCPU(t *testing.T) {
	run := func(rules vmm.KickRules) *trace.State {
		st := new(trace.State)
		e := engineWith(t, "self-ipi", "count=2000", func(k *vmm.Knobs) { k.APICv, k.Kick = false, rules },
			trace.SinkFunc(func(ev trace.Event) { st.Apply(&ev) }))
		h := e.Header()
		st.Reset(&h)
		e.Run(clock.Never, func() bool { return false })
		return st
	}
	before, after := run(vmm.KickKB), run(vmm.KickKC)
	equal(t, "kicks", after.Kinds[trace.KindKick], before.Kinds[trace.KindKick])
	if before.Kinds[trace.KindKick] < 1000 {
		t.Fatalf("%d kicks only: the guest does not kick itself", before.Kinds[trace.KindKick])
	}
	equal(t, "cmpxchg steps after", after.Kicks.Steps[stepBit(trace.StepCmpxchg)], 0)
	equal(t, "RCU steps after", after.Kicks.Steps[stepBit(trace.StepRCU)], 0)
	equal(t, "cmpxchg steps before", before.Kicks.Steps[stepBit(trace.StepCmpxchg)], before.Kinds[trace.KindKick])
	less(t, "guest time", clock.Cycles(after.Now), clock.Cycles(before.Now))
}

func stepBit(s trace.KickSteps) (n int) {
	for s > 1 {
		s >>= 1
		n++
	}
	return n
}

func tunes(s *trace.State) (n uint64) {
	for _, c := range s.Tunes {
		n += c
	}
	return n
}

func mean(s *trace.State, r trace.ExitReason) clock.Cycles {
	x := &s.ExitStats[r].Cycles
	return clock.Cycles(x.Mean())
}

func equal(t *testing.T, what string, got, want uint64) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d, want %d", what, got, want)
	}
}

// near allows for the deadline in flight when the knob was turned.
func near(t *testing.T, what string, got, want uint64) {
	t.Helper()
	if got+2 < want || got > want+2 {
		t.Errorf("%s: %d, want %d or so", what, got, want)
	}
}

func atMost(t *testing.T, what string, got, limit uint64) {
	t.Helper()
	if got > limit {
		t.Errorf("%s: %d, want at most %d", what, got, limit)
	}
}

func less(t *testing.T, what string, a, b clock.Cycles) {
	t.Helper()
	if a >= b {
		t.Errorf("%s: %d and %d, want the first to be less", what, a, b)
	}
}

func between(t *testing.T, what string, got, lo, hi clock.Cycles) {
	t.Helper()
	if got < lo || got > hi {
		t.Errorf("%s: %d, want %d to %d", what, got, lo, hi)
	}
}
