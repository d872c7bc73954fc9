package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// places is where the user was, and what was searched for last.
type places struct {
	last    clock.TSC // before the last jump, 0 if there was none
	pattern string    // last condition of run-to and back-to
}

// leaps are the actions that leave a place for another that may be far away.
var leaps = map[vmm.Verb]bool{vmm.DoSeek: true, vmm.DoRunTo: true, vmm.DoBackTo: true, vmm.DoBackExit: true, vmm.DoBackDeadline: true}

// leave notes the place that an action leaves.
func (m *Model) leave(c vmm.Command) {
	if leaps[c.Verb] && m.frame != nil {
		m.places.last = m.frame.Status.Now
	}
}

// lastPlace goes to where the user was before the last jump.
func (m *Model) lastPlace() tea.Cmd {
	if m.places.last == 0 {
		m.refuse("no jump has been made yet")
		return nil
	}
	to := m.places.last
	m.say("back at TSC %s; %s goes there and back", group3(uint64(to)), m.keys.Key(keymap.LastPlace))
	return m.seek(to)
}

// again repeats the last search, in either direction.
func (m *Model) again(verb vmm.Verb) tea.Cmd {
	if m.places.pattern == "" {
		return m.seekLate(verb)
	}
	m.say("%s: %s", pickString(verb == vmm.DoRunTo, "runs to the next", "goes back to the last"), m.places.pattern)
	return m.do(vmm.Command{Verb: verb, Text: m.places.pattern})
}
