package explain_test

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
)

// TestHealthyRunsHaveNoFindings runs every built-in guest under several settings:
// nothing must be found, and every deadline's causes must add up.
func TestHealthyRunsHaveNoFindings(t *testing.T) {
	for _, c := range []struct {
		name  string
		knobs map[trace.Knob]uint64
	}{
		{"defaults", nil},
		{"no advance, APICv off", map[trace.Knob]uint64{trace.KnobAdvance: 0, trace.KnobAPICv: 0}},
		{"hrtimers, sleeping", map[trace.Knob]uint64{trace.KnobPreemptionTimer: 0, trace.KnobHaltPoll: 0}},
		{"posted timers", map[trace.Knob]uint64{trace.KnobPostedTimer: 1, trace.KnobExitsDisabled: 3}},
		{"old rules", map[trace.Knob]uint64{trace.KnobFastpath: 3, trace.KnobKick: 1, trace.KnobRunningShort: 1,
			trace.KnobWaitPlacement: uint64(trace.WaitEarly)}},
	} {
		for _, name := range guest.Names() {
			if name == "vmexit" {
				continue // its rounds are long
			}
			t.Run(c.name+"/"+name, func(t *testing.T) {
				r := runner(t, name, "", c.knobs)
				w := &explain.Watcher{}
				r.Tee(trace.SinkFunc(func(e trace.Event) { w.Look(&e, r.State()) }))
				each(t, r, 60, func(ch *trace.Chain, st *trace.State) {
					if ch.Ran() {
						addsUp(t, explain.Explain(r.Header(), st, ch), ch)
					}
				})
				for _, f := range w.Findings(r.State()) {
					t.Errorf("found %s: %s", f.ID, f.Words)
				}
			})
		}
	}
}
