package ui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/keymap"
)

// choice is a line of the palette: an action, or a knob set to a value.
type choice struct {
	name, help, key string
	why             string // why it is not possible now, empty if it is
	act             keymap.Action
	at              clock.TSC // for a place in time
	score           int
}

// refreshChoices finds what matches the palette's text, best first.
func (m *Model) refreshChoices() {
	p := m.prompt
	if p.kind == askJump {
		m.refreshPlaces()
		return
	}
	if p.kind != askPalette {
		return
	}
	text := strings.ToLower(strings.TrimSpace(p.input.Value()))
	p.choices, p.sel = p.choices[:0], 0
	for _, b := range m.keys.Rows() {
		if b.Scope != keymap.Global || b.Action == keymap.Palette {
			continue
		}
		if n := fuzzy(b.Name, text); n >= 0 {
			p.choices = append(p.choices, choice{name: b.Name, help: b.Help, key: b.KeyNames(" "), why: m.whyNot(b.Action), act: b.Action, score: n})
		} else if n := fuzzy(b.Help, text); n >= 0 && len(text) > 2 && strings.Contains(strings.ToLower(b.Help), text) {
			p.choices = append(p.choices, choice{name: b.Name, help: b.Help, key: b.KeyNames(" "), why: m.whyNot(b.Action), act: b.Action, score: n + 1000})
		}
	}
	for i := range knobRows {
		r := &knobRows[i]
		for _, v := range r.values {
			name := r.knob.String() + "=" + v
			if n := fuzzy(name, text); n >= 0 && text != "" {
				p.choices = append(p.choices, choice{name: name, help: "turn the knob", why: m.whyNotKnob(r.knob), score: n + 10})
			}
		}
	}
	slices.SortStableFunc(p.choices, func(a, b choice) int { return a.score - b.score })
}

// fuzzy scores how well the runes of text occur in s in order: 0 is best, −1 is
// not at all. Gaps cost, a match at the start of a word costs least.
func fuzzy(s, text string) int {
	s = strings.ToLower(s)
	if s == text {
		return 0
	}
	if i := strings.Index(s, text); i >= 0 {
		return 1 + min(i, 20) + (len(s)-len(text))/4
	}
	score, at := 40, 0
	for _, r := range text {
		i := strings.IndexRune(s[at:], r)
		if i < 0 {
			return -1
		}
		score += 4 * i
		at += i + 1
	}
	return score
}

// acceptPalette carries out the selected choice. A knob=value that was typed in
// full goes before the selection.
func (m *Model) acceptPalette(p *prompt, text string) tea.Cmd {
	if strings.Contains(text, "=") {
		k, v, err := parseKnob(text)
		if err == nil {
			return m.set(k, v)
		}
		if p.sel == 0 && (len(p.choices) == 0 || p.choices[0].score > 20) {
			m.refuse(err.Error())
			return nil
		}
	}
	if p.sel >= len(p.choices) {
		m.refuse("nothing matches " + text)
		return nil
	}
	c := p.choices[p.sel]
	if c.act != keymap.BadAction {
		return m.act(c.act)
	}
	k, v, err := parseKnob(c.name)
	if err != nil {
		m.refuse(err.Error())
		return nil
	}
	return m.set(k, v)
}
