package trace

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// lapicTwin drives one vCPU's timer as the loop does and keeps its own book of
// what became of each deadline, so that the fold can be checked against it. It
// knows one deadline armed, one pending, any number in PIR or IRR under one
// vector, and handlers that run to their EOI.
type lapicTwin struct {
	s    State
	now  clock.TSC
	want []twinChain // by Num − 1

	armed, pending int // index into want, −1 if none
	raised         int
	serving        []int
}

type twinChain struct {
	outcome Outcome
	target  clock.TSC
	isr     clock.TSC
	eoi     clock.TSC
}

const twinVector = 0xec

func newTwin() *lapicTwin {
	t := &lapicTwin{now: 1, armed: -1, pending: -1, raised: -1}
	t.s.Reset(&Header{VCPUs: 1, Hz: 1_000_000_000})
	t.emit(KindAPIC, 0x320, 2<<17|twinVector, 1, 0)
	return t
}

func (t *lapicTwin) emit(k Kind, a, b, c, d uint64) {
	t.now++
	e := Event{TSC: t.now, Kind: k, A: a, B: b, C: c, D: d}
	if err := Validate(&e); err != nil {
		panic(err)
	}
	t.s.Apply(&e)
}

// end sets the outcome of chain i, unless it has one.
func (t *lapicTwin) end(i *int, o Outcome) {
	if *i >= 0 {
		t.want[*i].outcome = o
	}
	*i = -1
}

func (t *lapicTwin) arm(rt *rapid.T) {
	target := t.now + clock.TSC(rapid.IntRange(-5, 50).Draw(rt, "distance")) + 10
	t.end(&t.armed, OutcomeRearmed)
	t.end(&t.pending, OutcomeDropped)
	t.emit(KindExit, uint64(ExitMSRWrite), 0, 0x6e0, 0)
	t.emit(KindArm, uint64(target), uint64(TSCDeadline), uint64(target), 0)
	t.want = append(t.want, twinChain{outcome: OutcomeOpen, target: target})
	t.armed = len(t.want) - 1
}

func (t *lapicTwin) disarm(*rapid.T) {
	t.end(&t.armed, OutcomeCancelled)
	t.end(&t.pending, OutcomeDropped)
	t.emit(KindArm, 0, uint64(TSCDeadline), 0, 0)
}

func (t *lapicTwin) expire(rt *rapid.T) {
	if t.armed < 0 {
		return
	}
	target := uint64(t.want[t.armed].target)
	route := rapid.SampledFrom([]ExpireRoute{RouteDirect, RoutePosted, RoutePending, RoutePendKick, RouteLost}).Draw(rt, "route")
	if t.pending >= 0 {
		route = RouteMerged
	}
	t.emit(KindExpire, target, uint64(route), 0, 0)
	switch route {
	case RouteMerged:
		t.end(&t.armed, OutcomeMerged)
	case RouteLost:
		t.end(&t.armed, OutcomeLost)
	case RoutePending, RoutePendKick:
		t.pending, t.armed = t.armed, -1
	default:
		i := t.armed
		t.armed = -1
		t.deliver(i)
	}
}

// inject is the outer loop's delivery of a pending expiry.
func (t *lapicTwin) inject(*rapid.T) {
	if t.pending >= 0 {
		i := t.pending
		t.pending = -1
		t.deliver(i)
	}
}

func (t *lapicTwin) deliver(i int) {
	if t.raised >= 0 {
		t.emit(KindDeliver, twinVector, uint64(DeliverMerged), uint64(ClausePIRSet), uint64(SourceTimer))
		t.end(&i, OutcomeMerged)
		return
	}
	t.emit(KindDeliver, twinVector, uint64(DeliverSelf), uint64(ClauseRunning), uint64(SourceTimer))
	t.raised = i
}

// sync moves PIR to IRR: no new vector can merge from then on until it is taken,
// since this twin delivers by PIR only.
func (t *lapicTwin) sync(*rapid.T) {
	t.emit(KindPIRSync, 1, twinVector, 0, 0)
}

func (t *lapicTwin) handler(*rapid.T) {
	if t.raised < 0 || len(t.serving) == MaxServing {
		return
	}
	t.emit(KindGuestIRQ, twinVector, 1, 0, 0)
	t.want[t.raised].isr = t.now
	t.serving = append(t.serving, t.raised)
	t.end(&t.raised, OutcomeDone)
}

func (t *lapicTwin) eoi(*rapid.T) {
	if len(t.serving) == 0 {
		return
	}
	t.emit(KindEOI, twinVector, 1, 0, 0)
	last := len(t.serving) - 1
	t.want[t.serving[last]].eoi = t.now
	t.serving = t.serving[:last]
}

func (t *lapicTwin) lose(*rapid.T) {
	t.emit(KindLost, 5, 0, 0, 0)
	t.end(&t.armed, OutcomeUnknown)
	t.end(&t.pending, OutcomeUnknown)
	t.end(&t.raised, OutcomeUnknown)
	t.serving = nil
}

// check compares the fold's chains with the book.
func (t *lapicTwin) check() error {
	have := make(map[Num]*Chain)
	for i := range t.s.Chains.Len() {
		c := t.s.Chains.At(i)
		have[c.Num] = c
	}
	t.s.VCPUs[0].Open(func(c *Chain) { have[c.Num] = c })
	if len(have) != len(t.want) {
		return fmt.Errorf("%d deadlines, want %d", len(have), len(t.want))
	}
	for i, w := range t.want {
		c := have[Num(i+1)]
		if c == nil {
			return fmt.Errorf("deadline %d is missing", i+1)
		}
		if got := (twinChain{c.Outcome, c.Target, c.ISRAt, c.EOIAt}); got != w {
			return fmt.Errorf("deadline %d: %+v, want %+v", i+1, got, w)
		}
		if c.Ran() && c.Late != c.ISRAt.Sub(c.Target) {
			return fmt.Errorf("deadline %d: late by %d", i+1, c.Late)
		}
	}
	v := &t.s.VCPUs[0]
	if v.Armed != (t.armed >= 0) || v.Pending != (t.pending >= 0) {
		return fmt.Errorf("armed %v pending %v, want %v %v", v.Armed, v.Pending, t.armed >= 0, t.pending >= 0)
	}
	if raised := v.PIR.Has(twinVector) || v.IRR.Has(twinVector); raised != (t.raised >= 0) && t.s.Lost.Gaps == 0 {
		return fmt.Errorf("raised %v, want %v", raised, t.raised >= 0)
	}
	return nil
}

// TestChainsFollowAnyCourse: whatever the guest and the loop do, each deadline
// ends as it did.
func TestChainsFollowAnyCourse(t *testing.T) {
	steps := []func(*lapicTwin, *rapid.T){(*lapicTwin).arm, (*lapicTwin).arm, (*lapicTwin).expire, (*lapicTwin).expire,
		(*lapicTwin).inject, (*lapicTwin).sync, (*lapicTwin).handler, (*lapicTwin).handler, (*lapicTwin).eoi,
		(*lapicTwin).eoi, (*lapicTwin).disarm, (*lapicTwin).lose}
	rapid.Check(t, func(rt *rapid.T) {
		twin := newTwin()
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, len(steps)-1), 1, 80).Draw(rt, "steps") {
			steps[n](twin, rt)
			if err := twin.check(); err != nil {
				rt.Fatalf("after step %d: %v", n, err)
			}
		}
		checkInvariants(t, &twin.s)
	})
}

func TestChainsOfAPeriodicTimerFollowEachOther(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var s State
		s.Reset(&Header{VCPUs: 1, Hz: 1_000_000_000})
		apply := func(at clock.TSC, k Kind, a, b, c, d uint64) {
			s.Apply(&Event{TSC: at, Kind: k, A: a, B: b, C: c, D: d})
		}
		period := rapid.Uint64Range(100, 1000).Draw(rt, "period")
		target := clock.TSC(1000)
		apply(1, KindAPIC, 0x320, 1<<17|twinVector, 1, 0)
		apply(2, KindArm, uint64(target), uint64(Periodic), period, period)
		n := rapid.IntRange(1, 20).Draw(rt, "periods")
		for range n {
			late := clock.TSC(rapid.Uint64Range(0, 50).Draw(rt, "late"))
			apply(target, KindExpire, uint64(target), uint64(RouteDirect), 0, 0)
			apply(target, KindDeliver, twinVector, uint64(DeliverSelf), 0, uint64(SourceTimer))
			next := target + clock.TSC(period)
			if rapid.Bool().Draw(rt, "exact") {
				next += clock.TSC(rapid.Uint64Range(0, 1).Draw(rt, "rounding"))
				apply(target, KindArm, uint64(next), uint64(Periodic), period, period)
			}
			apply(target+late, KindGuestIRQ, twinVector, 1, 0, 0)
			apply(target+late, KindEOI, twinVector, 1, 0, 0)
			if c := s.Chains.Last(0); c.Target != target || c.Late != clock.Cycles(late) || c.EOIAt != target+late {
				rt.Fatalf("chain %+v, want target %d late by %d", c, target, late)
			}
			if v := &s.VCPUs[0]; !v.Armed || v.Target != next || v.Chain.Num != Num(s.Deadlines.Count()+1) {
				rt.Fatalf("next: armed %v at %d, want %d", v.Armed, v.Target, next)
			}
			target = next
		}
		if d := &s.Deadlines; d.Arms != 1 || d.Count() != uint64(n) || d.Open() != 1 {
			rt.Fatalf("%d arms, %d ran, %d open", d.Arms, d.Count(), d.Open())
		}
	})
}
