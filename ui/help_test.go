package ui

import (
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace/query"
)

func TestHelpDocumentsEveryConditionName(t *testing.T) {
	r := newRig(t, 120, 40, 3000)
	var words strings.Builder
	for _, l := range r.m.helpLines(100) {
		words.WriteString(l.key + " " + l.words + "\n")
	}
	for _, d := range query.Conditions().Docs() {
		if !strings.Contains(words.String(), first(d.Name, 16)) {
			t.Errorf("the help does not name %s", d.Name)
		}
	}
	for _, e := range conditionExamples {
		if _, err := query.ParseCondition(e); err != nil {
			t.Errorf("the example %q is none: %v", e, err)
		}
	}
}

func TestConditionsThatCannotHoldAreRefused(t *testing.T) {
	r := newRig(t, 120, 40, 3000)
	r.press(`>,"vcpu == 99",enter`)
	r.wants("the run has vcpu 0 to 1")
	if len(r.s.Done) != 0 {
		t.Errorf("the session was asked for %+v", r.s.Done)
	}
}
