package trace

import "testing"

// What is paid after the VM-entry, such as a posted interrupt that arrives in the
// guest, is no work of the host for the exit before.
func TestCostsAfterTheEntryAreNotTheExits(t *testing.T) {
	s := &State{}
	s.Reset(&Header{Hz: 1e9, VCPUs: 1})
	for _, e := range []Event{
		{TSC: 1000, Kind: KindExit, A: uint64(ExitMSRWrite)},
		{TSC: 1100, Kind: KindCost, A: PackCosts(PhaseCost{Phase: PhaseExit, Cycles: 60}, PhaseCost{Phase: PhaseEntry, Cycles: 40})},
		{TSC: 1100, Kind: KindEntry},
		{TSC: 1200, Kind: KindCost, A: PackCosts(PhaseCost{Phase: PhaseEntry, Cycles: 50}, PhaseCost{})},
	} {
		s.Apply(&e)
	}
	x := s.Exits.At(0)
	if got := x.Costs.Total(); got != 100 || x.Cycles() != 100 {
		t.Errorf("host work %d of %d cycles from exit to entry, want 100 of 100", got, x.Cycles())
	}
	if got := s.Costs[PhaseEntry].Cycles; got != 90 {
		t.Errorf("%d cycles of VM-entry in the run, want 90", got)
	}
}
