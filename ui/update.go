package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Update routes a message, and paints what it has changed. A panic is kept for Run
// and ends the program.
func (m *Model) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	defer func() {
		if v := recover(); v != nil {
			m.failure, cmd = newPanicError(v), tea.Quit
		}
	}()
	if m.failure != nil { // of View, which cannot end the program itself
		return m, tea.Quit
	}
	if _, ok := msg.(paintedMsg); ok {
		m.painter.busy = false
	} else {
		_, cmd = m.route(msg)
	}
	if paint := m.paintCmd(); paint != nil {
		cmd = tea.Batch(cmd, paint)
	}
	return m, cmd
}

// route hands a message to whom it concerns.
func (m *Model) route(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	switch msg := msg.(type) {
	case frameMsg:
		m.takeFrame(msg.frame)
		next := m.link.frameCmd(m.ready, m.period())
		m.history.take(m.frame)
		if look := m.history.look(m.frame); look != nil {
			next = tea.Batch(look, next)
		}
		if m.away = false; m.more {
			m.more = false
			return m, tea.Batch(m.seek(m.next), next)
		}
		return m, next
	case tea.WindowSizeMsg:
		m.w, m.h, m.dirty = msg.Width, msg.Height, true
	case tea.KeyMsg:
		m.dirty = true
		return m, m.typed(msg)
	case tea.MouseMsg:
		return m, m.mouse(msg)
	case doneMsg:
		m.done(msg)
	case compareMsg:
		m.judged(msg)
	case lookedMsg:
		m.looked(msg)
	case triedMsg:
		m.tried(msg)
	case savedMsg:
		m.saved(msg)
	case panicMsg:
		m.failure = msg.err
		return m, tea.Quit
	}
	return m, nil
}

// done notes what became of an action.
func (m *Model) done(msg doneMsg) {
	m.dirty, m.same = true, 0
	switch msg.cmd.Verb {
	case vmm.DoKnob:
		m.wanted[msg.cmd.Knob].done(msg.err)
	case vmm.DoSpeed:
		m.pace.done(msg.err)
	}
	if msg.err != nil {
		m.refuse(msg.err.Error())
	}
}

// scope is where keys are looked up now.
func (m *Model) scope() keymap.Scope {
	switch {
	case m.question != nil:
		return keymap.Question
	case m.prompt != nil:
		return keymap.Prompt
	}
	return keymap.Global
}

// typed splits what arrived at once into keys: keys pressed quickly come in one
// message. Outside of a prompt, pasted text is no row of keys.
func (m *Model) typed(msg tea.KeyMsg) tea.Cmd {
	if msg.Type != tea.KeyRunes || len(msg.Runes) < 2 {
		return m.key(msg)
	}
	if m.scope() == keymap.Prompt { // one by one: "end" is a word here, not a key
		for _, r := range msg.Runes[:min(len(msg.Runes), promptLimit)] {
			m.typeKey(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}, keymap.BadAction, false)
		}
		return nil
	}
	if msg.Paste {
		m.refuse("pasted text has a use only in a prompt")
		return nil
	}
	var cmds []tea.Cmd
	for _, r := range msg.Runes {
		if c := m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: msg.Alt}); c != nil {
			cmds = append(cmds, c)
		}
	}
	return tea.Sequence(cmds...)
}

// key handles a key press.
func (m *Model) key(msg tea.KeyMsg) tea.Cmd {
	if m.tooSmall() || m.frame == nil {
		if a, _ := m.keys.Lookup(keymap.Global, msg.String()); a == keymap.Quit {
			return tea.Quit
		}
		return nil
	}
	scope := m.scope()
	act, ok := m.keys.Lookup(scope, msg.String())
	switch {
	case scope == keymap.Question:
		return m.answer(act, ok)
	case scope == keymap.Prompt:
		return m.typeKey(msg, act, ok)
	case !ok:
		m.refuse("key " + keymap.KeyName(msg.String()) + " has no action; ? lists the keys")
		return nil
	}
	m.said = "" // it was about what was done before
	return m.act(act)
}

// mouse focuses, selects, opens, scrolls and drags.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	if m.tooSmall() || m.frame == nil || m.prompt != nil || m.question != nil {
		return nil
	}
	wheel := keymap.BadAction
	switch {
	case msg.Button == tea.MouseButtonWheelUp:
		wheel = keymap.Up
	case msg.Button == tea.MouseButtonWheelDown:
		wheel = keymap.Down
	case msg.Action == tea.MouseActionRelease:
		m.held = holdNothing
		return nil
	case msg.Button != tea.MouseButtonLeft:
		return nil
	case msg.Action == tea.MouseActionMotion:
		return m.drag(msg)
	}
	m.dirty = true
	if wheel == keymap.BadAction && m.barRows() > 0 && msg.Y == m.h-footerRows-1 {
		m.held = holdBar
		return m.seek(barTSC(m.frame, msg.X, m.w))
	}
	if m.overlaid() {
		if wheel != keymap.BadAction {
			return m.act(wheel)
		}
		return nil
	}
	return m.press(msg, wheel)
}

// press handles the pointer over a pane.
func (m *Model) press(msg tea.MouseMsg, wheel keymap.Action) tea.Cmd {
	for p, s := range m.arrange() {
		if !s.has(msg.X, msg.Y) {
			continue
		}
		id := paneID(p)
		if wheel != keymap.BadAction {
			if s.open {
				m.panes[id].act(m.scene(), wheel, s.h-2)
			}
			return nil
		}
		was := m.focus == id
		m.focus, m.held = id, holdPane
		if s.open && m.panes[id].click(m.scene(), msg.X-s.x-1, msg.Y-s.y-1) && was {
			return m.act(keymap.Open)
		}
	}
	return nil
}

// hold is what the mouse button was pressed on.
type hold uint8

const (
	holdNothing hold = iota
	holdBar          // the seek bar
	holdPane         // the focused pane
)

// drag follows the pointer while its button is held.
func (m *Model) drag(msg tea.MouseMsg) tea.Cmd {
	switch m.held {
	case holdBar:
		return m.seek(barTSC(m.frame, msg.X, m.w))
	case holdPane:
		s := m.arrange()[m.focus]
		if p, ok := m.panes[m.focus].(dragger); ok && s.open {
			p.drag(m.scene(), msg.X-s.x-1, msg.Y-s.y-1)
			m.dirty = true
		}
	}
	return nil
}

// seek asks for a time. While one is on its way only the latest wish is kept, so
// that a drag does not queue up.
func (m *Model) seek(t clock.TSC) tea.Cmd {
	if m.away {
		m.next, m.more = t, true
		return nil
	}
	m.away = true
	return m.do(vmm.Command{Verb: vmm.DoSeek, At: t})
}

// usesTimers reports whether the guest has armed a timer, or may still.
func (m *Model) usesTimers() bool {
	st := &m.frame.State
	return st.Deadlines.Opened > 0 || st.Samples.Count() > 0 || st.Exits.N < 1000
}

func (m *Model) arrange() arrangement {
	return arrange(m.w, m.h-m.barRows()-m.verdictRows(), m.focus, m.zoom, len(m.frame.State.VCPUs), m.usesTimers(), m.layout())
}
