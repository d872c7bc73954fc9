package trace

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// The cost of a deadline is what was spent since the handler of the one before.
func TestSpentIsCountedFromHandlerToHandler(t *testing.T) {
	var s State
	s.Reset(&Header{Hz: 1_000_000_000, VCPUs: 2})
	tsc := clock.TSC(1000)
	do := func(k Kind, vcpu uint8, a, b, c, d uint64) {
		tsc += 10
		s.Apply(&Event{Kind: k, VCPU: vcpu, TSC: tsc, A: a, B: b, C: c, D: d})
	}
	deadline := func() {
		target := uint64(tsc) + 100
		do(KindArm, 0, target, uint64(TSCDeadline), target, 0)
		do(KindExpire, 0, target, uint64(RouteDirect), 0, 0)
		do(KindDeliver, 0, 0xec, uint64(DeliverRequest), 0, uint64(SourceTimer))
		do(KindGuestIRQ, 0, 0xec, 0, 0, 0)
		do(KindEOI, 0, 0xec, 0, 0, 0)
	}
	deadline()
	do(KindExit, 0, uint64(ExitMSRWrite), 0, 0, 0)
	do(KindCost, 0, PackCosts(PhaseCost{PhaseExit, 700}, PhaseCost{PhaseGuest, 5000}), PackCosts(PhaseCost{PhasePoll, 40}, PhaseCost{PhaseIPIFlight, 900}), 0, 0)
	do(KindWait, 0, 0, 60, 0, 0)
	do(KindExit, 1, uint64(ExitHLT), 0, 0, 0)
	do(KindKick, 1, uint64(KickIPI), uint64(InGuestMode), 0, uint64(NoCPU))
	do(KindKick, 1, uint64(KickWake), uint64(OutsideGuestMode), 0, uint64(NoCPU))
	deadline()
	if n := s.Scatter.Len(); n != 2 {
		t.Fatalf("%d deadlines ran, want 2: %+v", n, s.Deadlines)
	}
	want := DeadlineCost{Host: 740, Burnt: 100, Exits: 2, IPIs: 1}
	if got := s.Scatter.At(1).Cost; got != want {
		t.Errorf("the second deadline cost %+v, want %+v: guest code and an IPI's flight are no host work", got, want)
	}
	r := NewReport(&Header{Hz: 1_000_000_000}, &s).Cost
	if r == nil || r.HostCycles == nil || *r.HostCycles != 370 || *r.Burnt != 50 || *r.Exits != 1 || *r.IPIs != 0.5 {
		t.Errorf("the report's cost per deadline is %+v, want 370 host cycles, 50 burnt, 1 exit, 0.5 IPIs", r)
	}
}

func TestSourceWithoutCostsHasNoHostCycles(t *testing.T) {
	var s State
	s.Reset(&Header{Hz: 1_000_000_000, VCPUs: 1})
	if r := s.reportSpent(); r != nil {
		t.Errorf("a run without a handler has a cost per deadline: %+v", r)
	}
	s.Deadlines.Outcomes[OutcomeDone] = 2
	s.Exits.N = 6
	if r := s.reportSpent(); r == nil || r.HostCycles != nil || r.IPIs != nil || *r.Exits != 3 {
		t.Errorf("report %+v, want 3 exits and no host cycles", r)
	}
}

func TestCostsOfADeadlineSaturate(t *testing.T) {
	s := State{HostCycles: 1 << 40}
	s.Exits.N = 1 << 20
	if c := s.sinceLast(); c.Host != 1<<32-1 || c.Exits != 1<<16-1 {
		t.Errorf("2^40 cycles and 2^20 exits are %+v, want the greatest values", c)
	}
}
