package ui

import (
	"strings"

	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace/query"
)

// helpLine is a line of the help page: a key and words, or a heading.
type helpLine struct {
	key, words, why string
	heading         bool
}

// helpLines is the help of the focused pane and all keys, for a width.
func (m *Model) helpLines(w int) []helpLine {
	var out []helpLine
	if m.opts.Intro != "" {
		for _, l := range wrap(m.opts.Intro, w-4) {
			out = append(out, helpLine{words: l})
		}
		out = append(out, helpLine{})
	}
	out = append(out, helpLine{words: paneTitles[m.focus], heading: true})
	about := m.panes[m.focus].help()
	if m.open != nil {
		about = inspectorHelp
	}
	if m.why != nil {
		about = explainHelp
	}
	if m.comparing != nil {
		about = compareHelp
	}
	for _, p := range append(about, knownHelp(m.frame, rooms[m.focus].topic)...) {
		for i, l := range wrap(p, w-4) {
			out = append(out, helpLine{words: pickString(i == 0, "· ", "  ") + l})
		}
	}
	if m.comparing == nil && m.history.chosen() != nil {
		out = append(out, helpLine{}, helpLine{words: "Verdict bar", heading: true})
		for _, p := range verdictHelp {
			for i, l := range wrap(p, w-4) {
				out = append(out, helpLine{words: pickString(i == 0, "· ", "  ") + l})
			}
		}
	}
	for g := keymap.BadGroup + 1; g < keymap.NumGroups; g++ {
		out = append(out, helpLine{}, helpLine{words: g.String(), heading: true})
		for _, b := range m.keys.Rows() {
			if b.Group != g {
				continue
			}
			why := ""
			if b.Scope == keymap.Global {
				why = m.whyNot(b.Action)
			}
			for i, l := range wrap(b.Help, w-20) {
				out = append(out, helpLine{key: pickString(i == 0, b.KeyNames(" "), " "), words: l})
			}
			for i, l := range wrap(why, w-22) {
				out = append(out, helpLine{key: " ", why: pickString(i == 0, "✗ ", "  ") + l})
			}
		}
	}
	return append(out, conditionLines(w)...)
}

// conditionExamples are conditions as people need them.
var conditionExamples = []string{"late > 20us && vcpu == 1", "exit == MSR_WRITE && fastpath == bail", "exit == HLT && cycles > 50us", "clause == request-pending",
	"knob changed", "wake == timer", "deadline == 600"}

// conditionLines document what filters, breaks and searches compare.
func conditionLines(w int) (out []helpLine) {
	out = append(out, helpLine{}, helpLine{words: "Conditions of filters, breaks, run-to and back-to", heading: true})
	for _, l := range wrap("A name, == != < <= > >=, and a value; && || ! and parentheses join them. Times take ns, us, ms, s; without a unit they are TSC cycles. Other numbers are decimal or 0x-prefixed.", w-4) {
		out = append(out, helpLine{words: l})
	}
	for _, e := range conditionExamples {
		out = append(out, helpLine{key: " ", words: e})
	}
	for _, d := range query.Conditions().Docs() {
		for i, l := range wrap(d.Doc, w-20) {
			out = append(out, helpLine{key: pickString(i == 0, first(d.Name, 16), " "), words: l})
		}
		for _, l := range wrap(strings.Join(d.Values, " "), w-22) {
			out = append(out, helpLine{key: " ", words: "  " + l})
		}
	}
	return out
}

func pickString(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}

// drawHelp draws the help over the body.
func (m *Model) drawHelp(body area) {
	cols := 1
	if body.w >= 160 {
		cols = 2
	}
	a := overlay(body, min(100*cols, body.w), body.h)
	w := a.w / cols
	lines := m.helpLines(w)
	m.helpOff = min(m.helpOff, max(len(lines)-cols*a.h, 0))
	for c := range cols {
		drawHelpColumn(a.sub(c*w, 0, w, a.h), lines[min(m.helpOff+c*a.h, len(lines)):])
	}
	if rest := len(lines) - m.helpOff - cols*a.h; rest > 0 {
		a.right(a.w-1, a.h-1, dim, moreLines(rest))
	}
}

func drawHelpColumn(a area, lines []helpLine) {
	for i := 0; i < a.h && i < len(lines); i++ {
		l := lines[i]
		switch {
		case l.heading:
			a.text(1, i, heading, l.words)
		case l.key != "":
			a.text(2, i, keyHint, l.key)
			a.text(19, i, text, l.words)
			if l.why != "" {
				a.text(19, i, warn, l.why)
			}
		default:
			a.text(1, i, text, l.words)
		}
	}
}

// drawPalette draws the line of the palette, or of the list of places, and its
// choices.
func (m *Model) drawPalette(body area) {
	p := m.prompt
	w := min(110, body.w-4)
	a := overlay(body, w, min(body.h-1, 20))
	x := a.text(1, 0, keyHint, prompts[p.kind].label)
	if p.input.Value() == "" {
		a.cut(x+2, 0, a.w-x-2, dim, prompts[p.kind].hint)
	}
	drawInput(a.sub(x+1, 0, a.w-x-2, 1), p)
	a.hline(0, 1, a.w, '─', faint)
	rows := a.h - 2
	from := max(min(p.sel-rows/2, len(p.choices)-rows), 0)
	for i := 0; i < rows && from+i < len(p.choices); i++ {
		c, y := p.choices[from+i], 2+i
		a.cut(1, y, 24, pick(c.why == "", value, dim), c.name)
		if c.why != "" {
			a.cut(26, y, a.w-36, warn, "✗ "+c.why)
		} else {
			a.cut(26, y, a.w-36, dim, c.help)
		}
		a.right(a.w-1, y, keyHint, c.key)
		if from+i == p.sel {
			a.mark(y, selected)
		}
	}
	if len(p.choices) == 0 {
		a.text(1, 2, dim, pickString(p.kind == askJump, "no bookmark and no turned knob matches; enter takes a TSC",
			"nothing matches; enter takes knob=value"))
	}
}
