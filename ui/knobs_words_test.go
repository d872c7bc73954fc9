package ui

import (
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

func TestEveryKnobIsDescribedInFull(t *testing.T) {
	for _, r := range knobRows {
		words := knobTexts[r.knob]
		if words.about == "" || words.brief == "" || textWidth(words.brief) > 31 {
			t.Errorf("%s: brief %q has %d columns, want 1 to 31; about %q", r.knob, words.brief, textWidth(words.brief), words.about)
		}
		for v := range words.values {
			if s := trace.FormatKnob(r.knob, v); strings.HasPrefix(s, "?") || s == "unknown" {
				t.Errorf("%s: a value is described that it cannot have: %d", r.knob, v)
			}
		}
	}
	for _, sz := range []struct{ w, h int }{{80, 24}, {200, 60}} {
		r := newRig(t, sz.w, sz.h, 500)
		r.press("5")
		for _, row := range knobRows {
			r.wants(knobBrief(row.knob, r.m.frame.State.Knobs[row.knob]))
		}
		for _, l := range strings.Split(r.screen(), "\n") {
			if strings.Contains(l, knobRows[0].knob.String()) && strings.Contains(l, "…") {
				t.Errorf("at %d columns a description is cut: %s", sz.w, l)
			}
		}
	}
}

func TestSelectedKnobIsExplainedWithItsValues(t *testing.T) {
	r := newRig(t, 200, 60, 500)
	r.press("5,z,down,down,down,down,down,down")
	r.wants("key f F")
	r.wants("▶ 5.15     PIR sync, then the test")
	r.wants("6.18     0x6e0, HLT, INVD unconditional")
	r.s.Knobs[trace.KnobFastpath-1] = vmm.KnobState{Knob: trace.KnobFastpath, Value: 1, Tag: vmm.TagFixed, Why: "the kernel's"}
	r.frame()
	r.press("up,down")
	r.wants("fixed: the kernel's")
	r.wants("▶ off")
}

func TestKnobsOfARecordingSayWhatTheyAre(t *testing.T) {
	r := newRig(t, 120, 40, 500)
	r.s.Status.File = "a.tt"
	for i := range r.s.Knobs {
		r.s.Knobs[i].Tag, r.s.Knobs[i].Why = vmm.TagFixed, "this is a recording"
	}
	r.frame()
	r.press("5,z")
	r.wants("as recorded: not to be turned")
	r.wants("enable_preemption_timer")
	if n := strings.Count(r.screen(), "this is a recording"); n > 1 {
		t.Errorf("the reason is given %d times", n)
	}
}

func TestTaxCutKeyPaysTheTaxAndGoesBackToWhatWasLeft(t *testing.T) {
	r := newRig(t, 120, 40, 0)
	set := func(v vmm.KickRules) {
		r.s.Do(vmm.Command{Verb: vmm.DoKnob, Knob: trace.KnobKick, Value: uint64(v)})
		r.frame()
	}
	for _, cut := range []vmm.KickRules{vmm.KickKD, vmm.KickKC} {
		set(cut)
		r.s.Done = nil
		r.press("x,x")
		if len(r.s.Done) != 2 || r.s.Done[0].Value != uint64(vmm.KickKB) || r.s.Done[1].Value != uint64(cut) {
			t.Errorf("x twice from %d asks for %+v, want KB and back", cut, r.s.Done)
		}
	}
}
