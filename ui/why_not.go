package ui

import (
	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// whyNot says in one sentence why an action is not possible now; empty if it is.
func (m *Model) whyNot(a keymap.Action) string {
	st := &m.frame.Status
	ended := st.Run == vmm.Ended
	switch a {
	case keymap.RunPause, keymap.StepExit, keymap.StepDeadline, keymap.NextLate, keymap.RunTo, keymap.Again:
		if ended {
			return "the guest has ended (" + endWords(st) + "); there is nothing to run"
		}
	case keymap.BackExit, keymap.BackDeadline, keymap.PrevLate, keymap.BackTo, keymap.AgainBack, keymap.LastPlace:
		if !st.CanBack {
			return "this session cannot go back: it keeps no snapshots to return to"
		}
	case keymap.Filter:
		if _, ok := m.panes[m.focus].(filterer); !ok {
			return paneTitles[m.focus] + " has no lines to filter: Deadlines, Kicks, Exits and Console have"
		}
	case keymap.BrushLeft, keymap.BrushRight, keymap.BrushChart:
		if m.frame.State.Deadlines.Late.Count() == 0 {
			return "there is no deadline to brush yet"
		}
	case keymap.Jump:
		if !st.CanBack {
			return "this session cannot go to another time: its bookmarks are for the recording"
		}
	case keymap.Record:
		if st.File != "" {
			return "this is a recording already: " + st.File
		}
	case keymap.Explain:
		if m.why != nil {
			return m.whyNoTrial()
		}
	case keymap.Compare:
		if len(m.frame.Others) == 0 && m.frame.State.Deadlines.KnobAt == 0 && numMarks(m.frame) == 0 {
			return "there is nothing to compare yet: turn a knob, set a bookmark, or step back and run another branch"
		}
	}
	if k := knobOfAction(a); k != trace.BadKnob {
		return m.whyNotKnob(k)
	}
	return ""
}

// whyNotKnob says why a knob cannot be turned; empty if it can.
func (m *Model) whyNotKnob(k trace.Knob) string {
	ks := knobOf(m.frame, k)
	if ks.Tag == vmm.TagLive || ks.Tag == vmm.TagRebuild || ks.Tag == vmm.TagHostWide {
		return ""
	}
	why := ks.Why
	if why == "" {
		why = "this engine does not offer it"
	}
	return k.String() + " is " + vmm.TagNames[ks.Tag] + ": " + why
}

// knobOfAction is the knob that an action turns, BadKnob if none.
func knobOfAction(a keymap.Action) trace.Knob {
	switch a {
	case keymap.Fastpath, keymap.FastpathEra:
		return trace.KnobFastpath
	case keymap.KickTaxCut:
		return trace.KnobKick
	case keymap.AdvanceDown, keymap.Adaptive:
		return trace.KnobAdvance
	}
	for i := range knobRows {
		if knobRows[i].action == a {
			return knobRows[i].knob
		}
	}
	return trace.BadKnob
}
