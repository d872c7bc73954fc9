package ui

import (
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
)

var suspectsRoom = room{
	focus: keymap.PaneSuspects,
	footer: []keymap.Action{keymap.Open, keymap.Explain, keymap.RunPause, keymap.StepDeadline, keymap.LastPlace, keymap.Zoom, keymap.Help, keymap.Palette,
		keymap.Quit},
	claim: func(_ claiming) share {
		return share{want: 8, need: 5, extra: 20}
	},
	make: func() pane { return &suspectsPane{} },
}

// suspectsPane lists what is known to be wrong with the run, as long as it is.
type suspectsPane struct{ sel int }

func (p *suspectsPane) status(s *scene) string {
	if n := len(s.suspects); n > 0 {
		return plural(n, "suspect")
	}
	return "nothing found"
}

func (p *suspectsPane) draw(s *scene, a area) {
	if len(s.suspects) == 0 {
		empty(a, "nothing suspicious so far", "what is lost, stuck, storming, ineligible or without effect stands here, with its evidence and its cure")
		return
	}
	p.sel = min(p.sel, len(s.suspects)-1)
	rows := min(len(s.suspects), max(a.h-5, 1))
	from := min(max(p.sel-rows+1, 0), len(s.suspects)-rows)
	for i := range rows {
		f := &s.suspects[from+i]
		a.pieces(0, i, a.w, suspectPieces(f))
		if from+i == p.sel && s.focused {
			a.mark(i, selected)
		}
	}
	if rest := len(s.suspects) - from - rows; rest > 0 {
		a.right(a.w, rows-1, dim, " ↓ "+strconv.Itoa(rest)+" more")
	}
	if y := rows + 1; y < a.h {
		suspectWords(s, a.sub(1, y, a.w-2, a.h-y), &s.suspects[p.sel])
	}
}

// suspectPieces are a suspect as a row.
func suspectPieces(f *explain.Finding) []piece {
	ps := []piece{{"✗ ", bad, 0}, {padRight(f.ID, 26), value, 0}, {padLeft(group3(f.Count)+"×", 9) + "  ", text, 0}}
	where := "all "
	if f.VCPU >= 0 {
		where = padRight("v"+strconv.Itoa(f.VCPU), 4)
	}
	return append(ps, piece{where, label, 0}, piece{" " + figures(f.Words), dim, 0})
}

// suspectWords tells a suspect in full: evidence, cure, where.
func suspectWords(s *scene, a area, f *explain.Finding) {
	y := 0
	say := func(name, words string, st style) {
		for i, l := range wrap(words, a.w-10) {
			if i == 0 {
				a.text(0, y, label, name)
			}
			a.text(10, y, st, l)
			y++
		}
	}
	say("evidence", figures(f.Words), text)
	say("cure", figures(f.Rule), good)
	if f.TSC != 0 {
		say("where", "TSC "+group3(f.TSC)+pickString(s.f.Status.CanBack, ", "+s.keys.Key(keymap.Open)+" goes there", ""), dim)
	}
}

func (p *suspectsPane) strip(s *scene, a area) {
	if len(s.suspects) == 0 {
		a.cut(0, 0, a.w, dim, "nothing suspicious so far")
		return
	}
	a.pieces(0, 0, a.w, suspectPieces(&s.suspects[0]))
}

func (p *suspectsPane) act(s *scene, act keymap.Action, rows int) bool {
	n, ok := scrolled(p.sel, act, rows)
	p.sel = min(n, max(len(s.suspects)-1, 0))
	return ok
}

func (p *suspectsPane) click(s *scene, _, y int) bool {
	if y < 0 || y >= len(s.suspects) {
		return false
	}
	again := p.sel == y
	p.sel = y
	return again
}

// open goes to where the selected suspect was found: its deadline is explained if
// it is kept, else the view goes to its time.
func (p *suspectsPane) open(m *Model) tea.Cmd {
	s := m.scene()
	if p.sel >= len(s.suspects) {
		m.refuse("nothing suspicious so far")
		return nil
	}
	f := s.suspects[p.sel]
	if c := suspectChain(s.state(), &f); c != nil {
		return m.explainChain(c)
	}
	switch {
	case f.TSC == 0:
		m.refuse(f.ID + " is about the run as a whole: it has no place of its own")
	case !m.frame.Status.CanBack:
		m.refuse("this session cannot go to another time")
	default:
		return m.seek(clock.TSC(f.TSC))
	}
	return nil
}

// suspectChain is the deadline that a suspect is about, nil if it is none that is
// kept.
func suspectChain(st *trace.State, f *explain.Finding) *trace.Chain {
	for i := range st.Chains.Len() {
		c := st.Chains.Last(i)
		if int(c.VCPU) == f.VCPU && f.TSC != 0 && !c.Ran() && uint64(max(c.ExpireAt, c.Target)) == f.TSC {
			return c
		}
	}
	return nil
}

func (p *suspectsPane) help() []string {
	return []string{
		"What is known to be wrong with the run, as long as it is: deadlines that are lost, merged or overdue, storms, settings that are on and have no effect, vCPUs that nobody starts.",
		"Each has its evidence, how often it was seen, where first, and what makes it go away. Enter explains its deadline or goes to its place; ` leads back.",
		"The header counts them; a new one stands in red there until this pane has been looked at.",
	}
}

// suspects are the findings of now: those of the watcher first, which has seen
// every event, then what the state alone tells.
func (m *Model) suspects() (out []explain.Finding) {
	if m.opts.Findings != nil {
		out = m.opts.Findings()
	}
	for _, f := range explain.Standing(&m.frame.State) {
		if !slices.ContainsFunc(out, func(o explain.Finding) bool { return o.ID == f.ID && o.VCPU == f.VCPU }) {
			out = append(out, f)
		}
	}
	return out
}

// badgePieces is the count of suspects for the header.
func badgePieces(s *scene) []piece {
	n := len(s.suspects)
	if n == 0 {
		return nil
	}
	word := "✗ " + plural(n, "suspect")
	if s.newSuspects {
		return []piece{{word, bad | strong, 0}, {" " + s.keys.Key(keymap.PaneSuspects), keyHint, 0}, {"  ", text, 0}}
	}
	return []piece{{word, dim, 0}, {"  ", text, 0}}
}
