package ui

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// markBytes is how much of a bookmark's name an event holds.
const markBytes = 8

// eachMark calls f with every bookmark, the latest last: those that events tell
// of, then those beside a recording.
func eachMark(fr *vmm.Frame, f func(name string, at clock.TSC)) {
	books := &fr.State.Bookmarks
	for i := range books.Len() {
		b := books.At(i)
		f(string(bytes.TrimRight(b.Name[:], "\x00")), b.At)
	}
	for _, m := range fr.Marks {
		f(m.Name, m.At)
	}
}

// numMarks is the number of bookmarks that there are or were.
func numMarks(fr *vmm.Frame) uint64 { return fr.State.Bookmarks.N + uint64(len(fr.Marks)) }

// findMark is the latest bookmark with a name. Those in events keep its first
// bytes only.
func findMark(fr *vmm.Frame, name string) (at clock.TSC, ok bool) {
	eachMark(fr, func(n string, t clock.TSC) {
		if n == name || len(n) == markBytes && n == first(name, markBytes) {
			at, ok = t, true
		}
	})
	return at, ok && name != ""
}

// refreshPlaces lists the bookmarks, the turned knobs and what the panes point at
// that match the text, in the order of time. The selection begins at the first after now.
func (m *Model) refreshPlaces() {
	p, s := m.prompt, m.scene()
	text := strings.ToLower(strings.TrimSpace(p.input.Value()))
	p.choices, p.sel = p.choices[:0], 0
	add := func(name, key string, at clock.TSC) {
		if fuzzy(name, text) >= 0 {
			p.choices = append(p.choices, choice{name: name, help: placeWords(s, at), key: key, at: at})
		}
	}
	eachMark(m.frame, func(name string, at clock.TSC) { add(name, "◆", at) })
	turns := &m.frame.State.KnobTurns
	for i := range turns.Len() {
		k := turns.At(i)
		add(k.Knob.String()+" "+showKnob(k.Knob, k.Old)+" → "+showKnob(k.Knob, k.Value), knobLetter(s, k), k.At)
	}
	m.eachChosen(s, add)
	slices.SortStableFunc(p.choices, func(a, b choice) int { return cmp.Compare(a.at, b.at) })
	for i, c := range p.choices {
		if c.at <= m.frame.Status.Now {
			p.sel = i
		}
	}
}

// eachChosen calls f with the places that the panes point at: the selected deadline
// and exit, and the latest of the deadlines that are kept.
func (m *Model) eachChosen(s *scene, f func(name, key string, at clock.TSC)) {
	st := s.state()
	if d := m.panes[paneDeadlines].(*deadlinesPane); !d.list.follow {
		if c := d.chosen(s); c != nil && c.Ran() {
			f("selected deadline "+group3(uint64(c.Num)), m.keys.Key(keymap.PaneDeadlines), c.ISRAt)
		}
	}
	if e := m.panes[paneExits].(*exitsPane); !e.list.follow {
		if x := exitByNum(st, e.chosen(s)); x != nil {
			f("selected exit "+group3(uint64(x.Num)), m.keys.Key(keymap.PaneExits), x.At)
		}
	}
	var worst *trace.Chain
	for i := range st.Chains.Len() {
		if c := st.Chains.At(i); c.Ran() && (worst == nil || c.Late > worst.Late) {
			worst = c
		}
	}
	if worst != nil {
		f("latest deadline "+group3(uint64(worst.Num)), m.keys.Key(keymap.PaneDeadlines), worst.ISRAt)
	}
}

// placeWords says where a time is.
func placeWords(s *scene, at clock.TSC) string {
	words := "TSC " + padLeft(group3(uint64(at)), 15) + "  " + virtualTime(s.hz(), at)
	switch d := at.Sub(s.f.Status.Now); {
	case d == 0:
		words += "  now"
	case d > 0:
		words += "  " + duration(cyclesToNanos(s.hz(), d)) + " from now"
	default:
		words += "  " + duration(cyclesToNanos(s.hz(), -d)) + " ago"
	}
	return words
}

// jump goes to a TSC, to the bookmark of a name, or else to the selected place.
func (m *Model) jump(p *prompt, text string) tea.Cmd {
	if at, err := strconv.ParseUint(strings.ReplaceAll(text, ",", ""), 10, 64); err == nil {
		return m.seek(clock.TSC(at))
	}
	if at, ok := findMark(m.frame, text); ok {
		return m.seek(at)
	}
	if p.sel < len(p.choices) {
		return m.seek(p.choices[p.sel].at)
	}
	if text == "" {
		m.refuse("there is no bookmark to jump to; m sets one")
	} else {
		m.refuse("no bookmark is named " + strconv.Quote(text) + ", and it is not a TSC")
	}
	return nil
}
