package ui

import (
	"slices"

	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
)

// tellFindings says of a finding that is new: of each bug once.
func (m *Model) tellFindings() {
	m.found = m.suspects()
	m.unseen = m.unseen && m.focus != paneSuspects && len(m.found) > 0
	for _, f := range m.found {
		if slices.Contains(m.told, f.ID) {
			continue
		}
		m.told = append(m.told, f.ID)
		m.unseen, m.dirty = m.focus != paneSuspects, true
		m.say("%s: %s (%s lists the suspects)", f.ID, figures(f.Words), m.keys.Key(keymap.PaneSuspects))
	}
}

// findingLines is the part of an explanation about the run as a whole.
func findingLines(fs []explain.Finding, w int) (out []explainLine) {
	for i := range fs {
		f := &fs[i]
		if i == 0 {
			out = append(out, explainLine{nil, -1}, explainLine{[]piece{{"found in the run as a whole", heading, 0}}, -1})
		}
		out = append(out, explainLine{[]piece{{f.ID, warn, 0}, {"  " + group3(f.Count) + "×, first at TSC " + group3(f.TSC), dim, 0}}, -1})
		for _, l := range append(wrap(figures(f.Words), w-6), wrap("rule: "+figures(f.Rule), w-6)...) {
			out = append(out, explainLine{[]piece{{"    " + l, text, 0}}, -1})
		}
	}
	return out
}
