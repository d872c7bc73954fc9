package ui

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace/query"
	"codeberg.org/ticktrap/ticktrap/vmm"
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
	askFilter:  {"filter /", "late > 20us && vcpu == 1, or a text; ! in front inverts either"},
	askBreak:   {"break when ", "late > 20us && vcpu == 1 (empty removes the condition)"},
	askMark:    {"bookmark ", "a name"},
	askJump:    {"'", "a bookmark, a turned knob, what is selected, or a TSC"},
	askRecord:  {"record to ", "a file"},
	askRunTo:   {"run to ", "exit == MSR_WRITE && fastpath == bail"},
	askBackTo:  {"back to ", "late > 20us && vcpu == 1"},
}

// promptLimit is the most characters that a prompt takes.
const promptLimit = 400

// prompt is a line of text being typed. The palette is one with choices.
type prompt struct {
	kind    asking
	input   textinput.Model
	choices []choice
	sel     int
	err     *query.Error // what is wrong with the condition being typed
	before  string       // the filter before this one
}

// lists reports whether the prompt offers choices to select from.
func (p *prompt) lists() bool { return p.kind == askPalette || p.kind == askJump }

// question is a yes-or-no question; yes is what happens then.
type question struct {
	text string
	yes  tea.Cmd
}

func (m *Model) ask(kind asking) tea.Cmd {
	in := textinput.New()
	in.Prompt = ""
	in.CharLimit = promptLimit
	in.Focus()
	switch kind {
	case askRecord:
		in.SetValue(m.recordTo())
	case askBreak:
		in.SetValue(m.frame.Status.Break)
	case askRunTo, askBackTo:
		in.SetValue(m.lastText[kind])
	}
	before := ""
	if p, ok := m.panes[m.focus].(filterer); ok && kind == askFilter {
		before = p.filtered()
	}
	in.CursorEnd()
	m.prompt = &prompt{kind: kind, input: in, before: before}
	m.refreshChoices()
	return nil
}

// recordTo is the suggested name of a recording: a new one for each moment of a
// run.
func (m *Model) recordTo() string {
	if m.opts.RecordTo != "" {
		return m.opts.RecordTo
	}
	name := strings.TrimSuffix(filepath.Base(m.frame.Header.Guest), filepath.Ext(m.frame.Header.Guest))
	if name == "" || name == "." || name == "/" {
		name = "guest"
	}
	return name + "-" + strconv.FormatUint(uint64(m.frame.Status.Now), 10) + ".tt"
}

// typeKey handles a key while a prompt is open.
func (m *Model) typeKey(msg tea.KeyMsg, act keymap.Action, bound bool) tea.Cmd {
	p := m.prompt
	if bound && act == keymap.Cancel {
		m.prompt = nil
		if p.kind == askFilter {
			m.setFilter(p.before)
		}
		return nil
	}
	if bound && act == keymap.Accept {
		if p.err != nil { // shown below the line
			return nil
		}
		m.prompt = nil
		return m.accept(p)
	}
	if p.lists() && p.moves(msg.Type) {
		return nil
	}
	if !p.lists() && msg.Type == tea.KeyUp { // what was typed last
		p.input.SetValue(m.lastText[p.kind])
		p.input.CursorEnd()
		m.checkPrompt()
		return nil
	}
	p.input, _ = p.input.Update(msg)
	m.refreshChoices()
	m.checkPrompt()
	return nil
}

// checkPrompt says while a condition is being typed what is wrong with it, and
// shows what a filter leaves.
func (m *Model) checkPrompt() {
	p := m.prompt
	p.err = nil
	text := p.input.Value()
	switch p.kind {
	case askFilter:
		p.err = m.setFilter(text)
		if p.err == nil {
			p.err = m.impossible(text)
		}
	case askBreak, askRunTo, askBackTo:
		if _, err := query.ParseCondition(text); strings.TrimSpace(text) != "" {
			errors.As(err, &p.err)
			if err == nil {
				p.err = m.impossible(text)
			}
		}
	}
}

// impossible says what a condition asks for that this run never has.
func (m *Model) impossible(text string) *query.Error {
	n := len(m.frame.State.VCPUs)
	if n == 0 {
		return nil
	}
	return query.Beyond(text, map[string]int{"vcpu": n})
}

// setFilter filters the focused pane; err is what is wrong with a condition.
func (m *Model) setFilter(text string) *query.Error {
	if p, ok := m.panes[m.focus].(filterer); ok {
		return p.filter(text)
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
		m.setFilter(text)
	case askBreak:
		return m.do(vmm.Command{Verb: vmm.DoBreak, Text: text})
	case askRunTo, askBackTo:
		if text == "" {
			m.refuse("a condition is needed, such as " + prompts[p.kind].hint)
			return nil
		}
		m.places.pattern = text
		return m.do(vmm.Command{Verb: map[asking]vmm.Verb{askRunTo: vmm.DoRunTo, askBackTo: vmm.DoBackTo}[p.kind], Text: text})
	case askMark:
		if text == "" {
			text = "mark" + strconv.FormatUint(numMarks(m.frame)+1, 10)
		}
		if m.frame.Status.File == "" { // a recording's session says it itself
			kept := first(text, markBytes)
			m.say("bookmark %s at TSC %s%s", kept, group3(uint64(m.frame.Status.Now)),
				pickString(kept != text, ": a run keeps the first "+strconv.Itoa(markBytes)+" bytes of a name", ""))
		}
		return m.do(vmm.Command{Verb: vmm.DoMark, Text: text})
	case askJump:
		return m.jump(p, text)
	case askRecord:
		if text == "" {
			m.refuse("a recording needs the name of a file")
			return nil
		}
		return m.do(vmm.Command{Verb: vmm.DoRecord, Path: text})
	}
	return nil
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
