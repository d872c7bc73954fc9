package ui

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"ticktrap/internal/clock"
	"ticktrap/keymap"
	"ticktrap/vmm"
)

// asking is what a prompt is for.
type asking int

const (
	askPalette asking = iota
	askFilter
	askBreak
	askMark
	askJump
	askRecord
	askRunTo
	askBackTo
	numAsking
)

// prompts says what each prompt shows before and inside the empty line.
var prompts = map[asking]struct{ label, hint string }{
	askPalette: {":", "an action or knob=value"},
	askFilter:  {"filter /", "text that lines must contain, !text for those that must not"},
	askBreak:   {"break when ", "late > 20us && vcpu == 1 (empty removes the condition)"},
	askMark:    {"bookmark ", "a name"},
	askJump:    {"jump to ", "a bookmark's name, or a TSC"},
	askRecord:  {"record to ", "a file"},
	askRunTo:   {"run to ", "exit == MSR_WRITE && fastpath == bail"},
	askBackTo:  {"back to ", "late > 20us && vcpu == 1"},
}

// prompt is a line of text being typed. The palette is one with choices.
type prompt struct {
	kind    asking
	input   textinput.Model
	choices []choice
	sel     int
}

// question is a yes-or-no question; yes is what happens then.
type question struct {
	text string
	yes  tea.Cmd
}

func (m *Model) ask(kind asking) tea.Cmd {
	in := textinput.New()
	in.Prompt = ""
	in.CharLimit = 400
	in.Focus()
	switch kind {
	case askRecord:
		in.SetValue(m.opts.RecordTo)
	case askBreak:
		in.SetValue(m.frame.Status.Break)
	case askRunTo, askBackTo:
		in.SetValue(m.lastText[kind])
	}
	in.CursorEnd()
	m.prompt = &prompt{kind: kind, input: in}
	m.refreshChoices()
	return nil
}

// typeKey handles a key while a prompt is open.
func (m *Model) typeKey(msg tea.KeyMsg, act keymap.Action, bound bool) tea.Cmd {
	p := m.prompt
	if bound && act == keymap.Cancel {
		m.prompt = nil
		if p.kind == askFilter {
			m.panes[m.focus].filter("")
		}
		return nil
	}
	if bound && act == keymap.Accept {
		m.prompt = nil
		return m.accept(p)
	}
	if p.kind == askPalette && p.moves(msg.Type) {
		return nil
	}
	p.input, _ = p.input.Update(msg)
	m.refreshChoices()
	if p.kind == askFilter {
		m.panes[m.focus].filter(p.input.Value())
	}
	return nil
}

// moves selects another choice of the palette.
func (p *prompt) moves(k tea.KeyType) bool {
	step := map[tea.KeyType]int{tea.KeyUp: -1, tea.KeyDown: 1, tea.KeyShiftTab: -1, tea.KeyTab: 1, tea.KeyPgUp: -8, tea.KeyPgDown: 8}[k]
	if step == 0 {
		return false
	}
	p.sel = min(max(p.sel+step, 0), max(len(p.choices)-1, 0))
	return true
}

// accept carries out what was typed.
func (m *Model) accept(p *prompt) tea.Cmd {
	text := strings.TrimSpace(p.input.Value())
	m.lastText[p.kind] = text
	switch p.kind {
	case askPalette:
		return m.acceptPalette(p, text)
	case askFilter:
		m.panes[m.focus].filter(text)
	case askBreak:
		return m.do(vmm.Command{Verb: vmm.DoBreak, Text: text})
	case askRunTo, askBackTo:
		if text == "" {
			m.refuse("a condition is needed, such as " + prompts[p.kind].hint)
			return nil
		}
		return m.do(vmm.Command{Verb: map[asking]vmm.Verb{askRunTo: vmm.DoRunTo, askBackTo: vmm.DoBackTo}[p.kind], Text: text})
	case askMark:
		if text == "" {
			text = "mark" + strconv.FormatUint(m.frame.State.Bookmarks.N+1, 10)
		}
		return m.do(vmm.Command{Verb: vmm.DoMark, Text: text})
	case askJump:
		return m.jump(text)
	case askRecord:
		if text == "" {
			m.refuse("a recording needs the name of a file")
			return nil
		}
		return m.do(vmm.Command{Verb: vmm.DoRecord, Path: text})
	}
	return nil
}

// jump goes to a bookmark or to a TSC.
func (m *Model) jump(text string) tea.Cmd {
	marks := &m.frame.State.Bookmarks
	for i := range marks.Len() {
		if b := marks.Last(i); strings.TrimRight(string(b.Name[:]), "\x00") == first(text, len(b.Name)) && text != "" {
			return m.do(vmm.Command{Verb: vmm.DoSeek, At: b.At})
		}
	}
	at, err := strconv.ParseUint(strings.ReplaceAll(text, ",", ""), 10, 64)
	if err != nil {
		m.refuse("no bookmark is named " + strconv.Quote(text) + ", and it is not a TSC")
		return nil
	}
	return m.do(vmm.Command{Verb: vmm.DoSeek, At: clock.TSC(at)})
}

func first(s string, n int) string { return s[:min(n, len(s))] }

// answer handles a key while a question is open.
func (m *Model) answer(act keymap.Action, ok bool) tea.Cmd {
	q := m.question
	switch {
	case !ok:
		return nil
	case act == keymap.Confirm:
		m.question = nil
		return q.yes
	}
	m.question = nil
	return nil
}
