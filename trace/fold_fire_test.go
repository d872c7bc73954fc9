package trace

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// A period's host timer is an estimate until it fires: the fire says what it was
// programmed for.
func TestFireTellsWhatAPeriodWasProgrammedFor(t *testing.T) {
	for _, tt := range []struct {
		name   string
		backed bool
		want   clock.TSC
	}{{"an estimate", false, 8_500}, {"told by a backing event", true, 9_000}} {
		var s State
		s.Reset(&Header{VCPUs: 1, Hz: 2_500_000_000})
		es := []Event{{Kind: KindArm, TSC: 100, A: 10_000}}
		if tt.backed {
			es = append(es, Event{Kind: KindBacking, TSC: 110, A: uint64(BackSW), C: 9_000, D: 1000})
		}
		for _, e := range append(es, Event{Kind: KindHostFire, TSC: 50_000, A: uint64(BackSW), B: 8_500}) {
			s.Apply(&e)
		}
		if c := &s.VCPUs[0].Chain; c.Fire != tt.want || c.FireAt != 50_000 {
			t.Errorf("%s: programmed for %d, fired at %d, want %d and 50000", tt.name, c.Fire, c.FireAt, tt.want)
		}
	}
}
