package trace

import "testing"

// A period's host timer is an estimate until it fires: the fire says what it was
// programmed for.
func TestFireTellsWhatItWasProgrammedFor(t *testing.T) {
	var s State
	s.Reset(&Header{VCPUs: 1, Hz: 2_500_000_000})
	for _, e := range []Event{
		{Kind: KindArm, TSC: 100, A: 10_000},
		{Kind: KindBacking, TSC: 110, A: uint64(BackSW), C: 9_000, D: 1000},
		{Kind: KindHostFire, TSC: 50_000, A: uint64(BackSW), B: 8_500},
	} {
		s.Apply(&e)
	}
	if c := &s.VCPUs[0].Chain; c.Fire != 8_500 || c.FireAt != 50_000 {
		t.Errorf("programmed for %d, fired at %d, want 8500 and 50000", c.Fire, c.FireAt)
	}
}
