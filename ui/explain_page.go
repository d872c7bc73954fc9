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

// explaining is an open explanation. It is made once, when it is asked for, so
// that it stays while the guest runs on.
type explaining struct {
	x     *explain.Explanation
	chain trace.Chain
	from  clock.TSC // when a knob must be turned to matter, see explain.ArmedIn
	exit  trace.Num // an exit that belongs to the deadline
	off   int
	trial *trial // the re-run with proposed knobs, nil if it was not asked for
}

// explainSelected explains the deadline that is in front: that of the opened
// exit, of the selected exit, or the selected one of Deadlines.
func (m *Model) explainSelected() tea.Cmd {
	if m.why != nil {
		return m.startTrial()
	}
	s := m.scene()
	st := s.state()
	var c *trace.Chain
	switch p := m.panes[m.focus].(type) {
	case *exitsPane:
		n := p.chosen(s)
		if m.open != nil {
			n = m.open.num
		}
		if x := exitByNum(st, n); x != nil {
			c = chainOf(st, x)
		}
		if c == nil {
			m.refuse("no deadline that is still kept belongs to this exit; 2 lists the deadlines")
			return nil
		}
	default:
		d := m.panes[paneDeadlines].(*deadlinesPane)
		c = d.chosen(s)
	}
	if c == nil && st.Chains.N > 0 {
		m.refuse("no deadline is selected: none that is kept is in the brush and meets the filter")
		return nil
	}
	if c == nil {
		m.refuse("there is no deadline to explain yet")
		return nil
	}
	return m.explainChain(c)
}

// explainChain opens the explanation of a deadline.
func (m *Model) explainChain(c *trace.Chain) tea.Cmd {
	st := &m.frame.State
	x := explain.Explain(&m.frame.Header, st, c)
	if m.opts.Findings != nil {
		x.Findings = m.opts.Findings()
	}
	m.why = &explaining{x: x, chain: *c, from: explain.ArmedIn(st, c), exit: exitOfChain(st, c)}
	return nil
}

// openExplained opens the exit of the explained deadline.
func (m *Model) openExplained() tea.Cmd {
	if exitByNum(&m.frame.State, m.why.exit) == nil {
		m.refuse("no exit that is still kept belongs to this deadline")
		return nil
	}
	exit := m.why.exit
	m.leaveExplained()
	m.focus, m.open = paneExits, &inspector{num: exit}
	return nil
}

func (e *explaining) act(a keymap.Action, page int) bool {
	n, ok := scrolled(e.off, a, page)
	if ok {
		e.off = n
	}
	return ok
}

// explainLine is a line of the explanation: pieces, and a bar in tenths of a
// percent or −1.
type explainLine struct {
	ps     []piece
	tenths int
}

// explainLines is the explanation for a width.
func explainLines(s *scene, e *explaining, w int) (out []explainLine) {
	x := e.x
	add := func(ps ...piece) { out = append(out, explainLine{ps, -1}) }
	for _, l := range wrap(figures(x.Verdict), w-2) {
		add(piece{l, value | strong, 0})
	}
	add()
	if lines := trialLines(s, e, w); len(lines) > 0 { // where it is seen at any size
		out = append(append(out, lines...), explainLine{nil, -1})
	}
	if len(x.Causes) > 0 {
		add(piece{"where the time went", heading, 0}, piece{"  shares add up to the lateness", dim, 1})
		seen := map[string]int{}
		for i := range x.Causes {
			note := causeNote(s, &x.Causes[i])
			as := 0
			if at, ok := seen[note]; ok && note != "" {
				as, note = at, ""
			} else {
				seen[note] = i + 1
			}
			out = append(out, causeLines(s, i+1, &x.Causes[i], note, as, w)...)
		}
		add()
	}
	add(piece{"step by step", heading, 0}, piece{"  distance from the deadline, and from the step before", dim, 1})
	for i := range x.Steps {
		st := &x.Steps[i]
		lead := padLeft(s.cyc(clock.Cycles(st.FromTarget)), 16) + padLeft(s.cyc(clock.Cycles(st.FromLast)), 16)
		words := wrap(figures(st.Words), max(w-46, 20))
		for j := 0; j < max(len(words), 1); j++ {
			ps := []piece{{padRight("", 12) + padLeft("", 32), text, 0}}
			if j == 0 {
				ps = []piece{{padRight(st.Name, 12), label, 0}, {lead, value, 0}}
			}
			if j < len(words) {
				ps = append(ps, piece{"  " + words[j], text, 0})
			}
			add(ps...)
		}
	}
	out = append(out, findingLines(x.Findings, w)...)
	for _, wh := range x.Withheld {
		for i, l := range wrap(wh, w-4) {
			add(piece{pickString(i == 0, "? ", "  "), warn, 0}, piece{l, dim, 0})
		}
	}
	return out
}

// causeNote is why, and which knob would change it.
func causeNote(s *scene, c *explain.Cause) string {
	note := figures(c.Why)
	if c.Knob != "" {
		if note != "" {
			note += "; "
		}
		note += "try " + howToSet(s, c.Knob, c.Value)
	}
	return note
}

// howToSet is a setting with the key that makes it, or as it is typed into the
// palette where no key comes to the value.
func howToSet(s *scene, knob, value string) string {
	set := knob + "=" + value
	k, v, err := trace.ParseKnob(knob, value)
	row := knobRowOf(k)
	switch {
	case err != nil || row == nil:
		return set
	case k == trace.KnobAdvance && v == trace.AdvanceAdaptive:
		return set + ", key " + s.keys.Key(keymap.Adaptive)
	case k == trace.KnobAdvance || !slices.Contains(row.values, value):
		return s.keys.Key(keymap.Palette) + set
	}
	return set + ", key " + s.keys.Key(row.action)
}

func causeLines(s *scene, n int, c *explain.Cause, note string, as, w int) (out []explainLine) {
	share := strconv.FormatFloat(float64(c.Tenths)/10, 'f', 1, 64) + "%"
	mark := ""
	if c.Inferred {
		mark = "  inferred"
	}
	like := ""
	if as > 0 {
		like = ": as " + strconv.Itoa(as)
	}
	out = append(out, explainLine{[]piece{{padRight(strconv.Itoa(n), 3), dim, 0}, {padLeft(share, 6) + " ", value, 0}, {padRight("", explainBar) + " ", text, 0},
		{padLeft(s.cyc(clock.Cycles(c.Cycles)), 14) + "  ", value, 0}, {c.Words, text, 0}, {like, dim, 0}, {mark, warn, 1}}, c.Tenths})
	for _, l := range wrap(note, max(w-explainBar-30, 20)) {
		out = append(out, explainLine{[]piece{{padRight("", explainBar+27), text, 0}, {l, dim, 0}}, -1})
	}
	return out
}

const explainBar = 16 // columns of a share's bar

func padLeft(s string, w int) string {
	for textWidth(s) < w {
		s = " " + s
	}
	return s
}

func padRight(s string, w int) string {
	for textWidth(s) < w {
		s += " "
	}
	return s
}

// drawExplain draws the explanation over the body.
func (m *Model) drawExplain(s *scene, body area) {
	x := m.why.x
	w := overlayWidth(body, 130)
	lines := explainLines(s, m.why, w-4)
	a := overlay(body, w, min(len(lines)+3, body.h))
	head := " deadline " + group3(x.Deadline) + "  v" + strconv.Itoa(x.VCPU) + " " + x.Mode + " "
	frame := area{a.c, a.x - 1, a.y - 1, a.w + 2, a.h + 2}
	end := frame.text(3, 0, heading, head)
	frame.text(end, 0, badge, " "+x.Provenance+" ")
	m.why.off = min(m.why.off, max(len(lines)-a.h, 0))
	for i := 0; i < a.h && m.why.off+i < len(lines); i++ {
		l := lines[m.why.off+i]
		a.pieces(1, i, a.w-2, l.ps)
		if l.tenths >= 0 {
			a.bar(11, i, explainBar, float64(l.tenths)/1000, late)
		}
	}
	if rest := len(lines) - m.why.off - a.h; rest > 0 {
		a.right(a.w-1, a.h-1, dim, moreLines(rest))
	}
}

var explainHelp = []string{
	"Why one deadline was late or early: every cycle between the deadline and the handler belongs to one cause, so the shares add up.",
	"e — once more runs this deadline again on a second engine, up to the moment before it was armed and on from there with each proposed knob turned: what it would have been. It goes on in the background; esc gives it up. Only for runs of the model and their recordings.",
	"try — the knob that would change the cause. inferred — the events do not state it. ? — what this source cannot tell.",
}
