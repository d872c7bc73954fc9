package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace/diff"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// lookedMsg brings what a look has found.
type lookedMsg struct {
	t      *turned
	after  *diff.Side
	d      *diff.Diff
	looked int
}

// look compares what is after the latest turn with what was before it, when there
// is enough more to see; nil if there is not.
func (h *history) look(f *vmm.Frame) tea.Cmd {
	for i, t := range h.turns {
		latest := i == len(h.turns)-1
		if t.busy || len(t.before.Late) < diff.MinSamples {
			continue
		}
		switch {
		case latest && t.count >= diff.NextLook(t.looked):
			return t.lookCmd(sideBetween(f, t.at(), clock.Never-1, scatterKept))
		case !latest && t.count != t.looked && t.after != nil && len(t.after.Late) >= diff.MinSamples:
			return t.lookCmd(t.after)
		}
	}
	return nil
}

// scatterKept is more than the deadlines that a state keeps one by one.
const scatterKept = 1 << 20

func (t *turned) lookCmd(after *diff.Side) tea.Cmd {
	t.busy = true
	before, looked := t.before, t.count
	return guarded(func() tea.Msg {
		return lookedMsg{t, after, diff.Compare(before, after, diff.LookOptions), looked}
	})
}

// Settle gives the verdicts that are due at once, for scripted scenes that carry
// out no commands of frames.
func (m *Model) Settle() {
	for _, t := range m.history.turns {
		t.busy = false
	}
	for cmd := m.history.look(m.frame); cmd != nil; cmd = m.history.look(m.frame) {
		m.Update(cmd())
	}
}

// looked takes what a look has found.
func (m *Model) looked(msg lookedMsg) {
	t := msg.t
	t.busy = false
	t.after, t.d, t.looked = msg.after, msg.d, msg.looked
	m.dirty = true
}
