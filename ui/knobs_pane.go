package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"strconv"

	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

var knobsRoom = room{
	focus: keymap.PaneKnobs,
	footer: []keymap.Action{keymap.Open, keymap.RunPause, keymap.APICv, keymap.PostedTimer, keymap.PreemptionTimer,
		keymap.Fastpath, keymap.KickTaxCut, keymap.AdvanceUp, keymap.Adaptive, keymap.Help, keymap.Palette,
		keymap.Quit},
	claim: func(c claiming) share {
		if c.h >= 52 { // room for what the selected one is, too
			return share{want: 22, need: 9}
		}
		return share{want: 14, need: 9}
	},
	make: func() pane { return newKnobsPane() },
}

// knobsPane lists the knobs.
type knobsPane struct{ sel int }

func newKnobsPane() *knobsPane { return &knobsPane{} }

func (p *knobsPane) status(s *scene) string {
	if s.f.Status.File != "" {
		return "as recorded: not to be turned"
	}
	live := 0
	for i := range knobRows {
		if s.knob(knobRows[i].knob).Tag == vmm.TagLive {
			live++
		}
	}
	return strconv.Itoa(live) + " of " + strconv.Itoa(len(knobRows)) + " live"
}

func (p *knobsPane) draw(s *scene, a area) { presentKnobs(s, a, p.sel) }

func (p *knobsPane) strip(s *scene, a area) { stripKnobs(s, a) }

func (p *knobsPane) act(s *scene, act keymap.Action, rows int) bool {
	n, ok := scrolled(p.sel, act, rows)
	p.sel = min(n, len(knobRows)-1)
	return ok
}

func (p *knobsPane) click(_ *scene, _, y int) bool {
	if y < 0 || y >= len(knobRows) {
		return false
	}
	p.sel = y
	return false
}

func (p *knobsPane) open(m *Model) tea.Cmd { return m.turn(knobRows[p.sel].knob, false) }

func (p *knobsPane) help() []string {
	return []string{
		"Every setting that changes a decision of the loop: its key, its value, and what this engine can do about it.",
		"Knobs without a tag are live — a turn takes effect at the next exit. rebuild — the guest moves into a new VM. host-wide — a setting of the host, restored at the end. fixed, gone — cannot be turned; the reason stands beside it.",
		"Enter gives the selected knob its next value, backspace the one before; every knob has a key of its own. No key that moves and no click turns one. u takes the last turn back. Each turn is an event: charts mark it, recordings keep it.",
	}
}
