package ui

import (
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// An imported trace tells neither the number of vCPUs nor how the guest stopped,
// nor what its knobs were.
func TestImportedTraceIsNotMisnamed(t *testing.T) {
	r := newRig(t, 140, 40, 3000)
	r.s.Header.VCPUs, r.s.Header.PCPUs = 0, 0
	r.s.Status.Run, r.s.Status.End = vmm.Ended, trace.BadEnd
	r.frame()
	r.wants("2 vCPUs")
	r.wants("■ at the end of the trace")
	if s := r.screen(); strings.Contains(s, "0 vCPUs") || strings.Contains(s, "bad") {
		t.Errorf("the header says 0 vCPUs or a bad end:\n%s", s)
	}
	if got := showKnob(trace.KnobKick, trace.UnknownKnob); got != "unknown" {
		t.Errorf("an unknown kick is %q", got)
	}
}
