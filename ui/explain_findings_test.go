package ui

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace/explain"
)

func TestFindingsAreToldAndListed(t *testing.T) {
	r := newRig(t, 140, 60, 11_500)
	var fs []explain.Finding
	r.m.opts.Findings = func() []explain.Finding { return fs }
	r.press("2,up")
	fs = []explain.Finding{{ID: "catch-up-storm", TSC: 269_039_072, Count: 247, Words: "it expired 4 times within 5578 cycles", Rule: "another kernel"}}
	r.frame()
	r.wants("catch-up-storm: it expired 4 times within 5,578 cycles (8 lists the suspects)")
	r.wants("✗ 1 suspect 8")
	r.press("8")
	r.wants("another kernel")
	r.frame()
	if r.m.unseen {
		t.Error("the suspect is new in the header though its pane is in front")
	}
	r.press("esc")
	r.press("2,up")
	r.press("e,end")
	r.wants("found in the run as a whole")
	r.wants("247×, first at TSC 269,039,072")
	r.wants("rule: another kernel")
	r.press("esc")
	r.frame()
	if r.m.said != "" {
		t.Errorf("the finding is told again: %q", r.m.said)
	}
}
