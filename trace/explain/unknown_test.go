package explain_test

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
)

// TestNothingIsClaimedOfUnknownKnobs: what a trace does not tell is neither on nor
// off.
func TestNothingIsClaimedOfUnknownKnobs(t *testing.T) {
	for _, tt := range []struct {
		name  string
		knobs map[trace.Knob]uint64
		want  bool
	}{
		{"none is known", nil, false},
		{"only that it is on", map[trace.Knob]uint64{trace.KnobPostedTimer: 1}, false},
		{"on, APICv off", map[trace.Knob]uint64{trace.KnobPostedTimer: 1, trace.KnobAPICv: 0, trace.KnobExitsDisabled: 0}, true},
		{"off", map[trace.Knob]uint64{trace.KnobPostedTimer: 0, trace.KnobAPICv: 0, trace.KnobExitsDisabled: 0}, false},
	} {
		h := trace.Header{VCPUs: 1, Hz: 1e9, Knobs: trace.UnknownKnobs()}
		for k, v := range tt.knobs {
			h.Knobs[k] = v
		}
		var s trace.State
		s.Reset(&h)
		s.Expiries[trace.RoutePending] = 20
		if got := len((&explain.Watcher{}).Findings(&s)) != 0; got != tt.want {
			t.Errorf("%s: findings %v, want %v", tt.name, got, tt.want)
		}
	}
}
