package ui

import (
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// View returns the frame as text, for whoever renders it itself. A panic is kept for Run; the next Update ends
// the program.
func (m *Model) View() (out string) {
	switch {
	case m.painter != nil: // it writes the screen itself
		return ""
	case !m.dirty:
		return m.view
	}
	defer func() {
		if v := recover(); v != nil {
			m.failure, out = newPanicError(v), ""
		}
	}()
	m.draw()
	m.buf = m.canvas.render(append(m.buf[:0], m.clip...), m.look)
	m.view, m.dirty = string(m.buf), m.clip != ""
	m.clip = ""
	return m.view
}

// barRows is the height of the seek bar, 0 if there is none. At the head of a run
// only a large screen has a row for it.
func (m *Model) barRows() int {
	if hasBar(m.frame) && (m.frame.Status.Replaying || m.w >= gridWidth && m.h > gridHeight) {
		return 1
	}
	return 0
}

func (m *Model) tooSmall() bool { return m.w < MinWidth || m.h < MinHeight }

// draw paints the screen on the canvas.
func (m *Model) draw() {
	m.canvas.reset(m.w, m.h)
	all := m.canvas.all()
	switch {
	case m.w <= 0 || m.h <= 0:
		return
	case m.tooSmall():
		drawTooSmall(all)
		return
	case m.frame == nil:
		empty(all, "ticktrap", "the engine is starting; q quits")
		return
	}
	s := m.scene()
	presentHeader(s, all.sub(0, 0, m.w, headerRows))
	bar := m.barRows()
	verdict := m.verdictRows()
	body := all.sub(0, headerRows, m.w, m.h-headerRows-footerRows-bar-verdict)
	if verdict > 0 {
		m.presentVerdict(s, all.sub(0, body.y+body.h, m.w, verdict))
	}
	if bar > 0 {
		presentBar(s, all.sub(0, m.h-footerRows-1, m.w, 1))
	}
	if m.open != nil {
		drawInspector(m, s, body)
	} else {
		m.drawPanes(s, all)
	}
	m.drawFooter(s, all.sub(0, m.h-footerRows, m.w, footerRows))
	switch {
	case m.helping:
		m.drawHelp(body)
	case m.comparing != nil && m.prompt == nil && m.question == nil:
		m.drawCompare(s, body)
	case m.why != nil && m.prompt == nil && m.question == nil:
		m.drawExplain(s, body)
	case m.prompt != nil && m.prompt.lists():
		m.drawPalette(body)
	case m.question != nil:
		drawQuestion(body, m.question, m.keys)
	}
}

func drawTooSmall(a area) {
	lines := []string{"terminal too small",
		"needs " + strconv.Itoa(MinWidth) + "×" + strconv.Itoa(MinHeight),
		"has   " + strconv.Itoa(a.w) + "×" + strconv.Itoa(a.h), "q quits"}
	y := max((a.h-len(lines))/2, 0)
	for i, l := range lines {
		a.text(max((a.w-textWidth(l))/2, 0), y+i, pick(i == 0, warn, text), l)
	}
}

func (m *Model) drawPanes(s *scene, all area) {
	for p, sl := range m.arrange() {
		if sl.w == 0 || sl.h == 0 {
			continue
		}
		id := paneID(p)
		a := all.sub(sl.x, sl.y, sl.w, sl.h)
		s.focused = id == m.focus
		if !sl.open {
			m.drawStrip(s, a, id)
			continue
		}
		status := m.panes[id].status(s)
		if b := s.basisOf(id); b != "" { // it is rather cut than left out
			status = cutString(status+b, max(a.w-len(paneTitles[id])-12, 0))
		}
		in := drawFrame(s, a, id, s.focused, status)
		m.panes[id].draw(s, in)
	}
}

const stripLead = 13 // columns of a strip before its content

func (m *Model) drawStrip(s *scene, a area, id paneID) {
	a.text(1, 0, keyHint, strconv.Itoa(int(id)+1))
	a.text(3, 0, title, paneTitles[id])
	m.panes[id].strip(s, a.sub(stripLead, 0, a.w-stripLead-1, 1))
}

// drawFrame draws a pane's frame and returns its inside.
func drawFrame(_ *scene, a area, id paneID, focused bool, status string) area {
	fr, ti := faint, title
	if focused {
		fr, ti = frameFocus, titleFocus
	}
	in := a.box(fr)
	x := a.text(2, 0, fr, "┤")
	x = a.text(x, 0, keyHint, strconv.Itoa(int(id)+1))
	x = a.text(x, 0, ti, " "+paneTitles[id])
	if focused {
		x = a.text(x, 0, ti, " ◂")
	}
	x = a.text(x, 0, fr, "├")
	if w := textWidth(status); status != "" && x+w+4 < a.w {
		a.right(a.w-2, 0, dim, " "+status+" ")
	}
	return in
}

// footerActions are the keys on the last line, by what is in front.
var footerActions = map[string][]keymap.Action{
	"": {keymap.RunPause, keymap.StepExit, keymap.StepDeadline, keymap.NextPane, keymap.Zoom, keymap.Help, keymap.Palette,
		keymap.Quit, keymap.APICv, keymap.PostedTimer, keymap.PreemptionTimer, keymap.Fastpath, keymap.KickTaxCut,
		keymap.AdvanceUp, keymap.Adaptive, keymap.WaitPlacement, keymap.Record},
	"inspector": {keymap.Back, keymap.Explain, keymap.Left, keymap.Right, keymap.RunPause, keymap.StepExit, keymap.BackExit, keymap.Up, keymap.Down, keymap.Help, keymap.Quit},
	"compare":   {keymap.Back, keymap.Left, keymap.Right, keymap.NextPane, keymap.Up, keymap.Down, keymap.Units, keymap.Picture, keymap.Help, keymap.Palette},
	"explain":   {keymap.Explain, keymap.Open, keymap.Back, keymap.Up, keymap.Down, keymap.PageDown, keymap.Units, keymap.Picture, keymap.Help, keymap.Palette, keymap.Quit},
	"help":      {keymap.Back, keymap.Up, keymap.Down, keymap.PageDown, keymap.Palette},
}

func (m *Model) drawFooter(s *scene, a area) {
	if m.prompt != nil && !m.prompt.lists() {
		drawPrompt(a, m.prompt, m.lastText[m.prompt.kind] != "")
		return
	}
	if m.said != "" {
		sign, st := "· ", notice
		if m.saidBad {
			sign, st = "✗ ", bad
		}
		lines := wrap(m.said, a.w-4)
		a.text(1, 0, st, sign)
		for i := range min(len(lines), 2) {
			words := lines[i]
			if i == 1 { // it takes the place of the keys, until the next one
				words = strings.Join(lines[1:], " ")
			}
			a.cut(3, i, a.w-4, st, words)
		}
		if len(lines) > 1 {
			return
		}
	}
	x := 1
	for _, act := range m.footer() {
		key, short := m.keys.Key(act), m.keys.Binding(act).Short
		if key == "" || (knobOfAction(act) != trace.BadKnob || act == keymap.Record) && m.whyNot(act) != "" {
			continue // not in this session at all
		}
		key, short = m.barWords(s, act, key, short)
		if w := textWidth(key) + 1 + textWidth(short); x+w > a.w-1 {
			break
		}
		x = a.text(x, 1, keyHint, key)
		x = a.text(x+1, 1, pick(m.whyNot(act) == "", text, faint), short) + 2
	}
}

// drawPrompt draws the line being typed and, below, its keys or what is wrong
// with it, pointing at the column.
func drawPrompt(a area, p *prompt, hasLast bool) {
	x := a.text(1, 0, keyHint, prompts[p.kind].label)
	if p.input.Value() == "" {
		a.cut(x+1, 0, a.w-x-1, dim, prompts[p.kind].hint)
	}
	from := drawInput(a.sub(x, 0, a.w-x, 1), p)
	if p.err != nil {
		words := p.err.Error()
		at := min(max(x+p.err.Col-1-from, x), a.w-2)
		a.put(at, 1, '▲', bad)
		if room := a.w - at - 3; room >= min(textWidth(words), 30) {
			a.cut(at+2, 1, room, bad, words)
		} else {
			a.right(at-1, 1, bad, cutString(words, max(at-2, 1)))
		}
		return
	}
	ps := []piece{{"enter", keyHint, 0}, {" accept  ", dim, 0}, {"esc", keyHint, 0}, {" cancel  ", dim, 0}}
	if hasLast {
		ps = append(ps, piece{"↑", keyHint, 0}, piece{" the last one", dim, 0})
	}
	a.pieces(1, 1, a.w-1, ps)
}

// barWords adapts a key's words to what is in front.
func (m *Model) barWords(s *scene, act keymap.Action, key, short string) (string, string) {
	switch {
	case act == keymap.RunPause:
		short = pickString(s.f.Status.Run == vmm.Running, "pause", "run")
	case act == keymap.AdvanceUp:
		key += " " + m.keys.Key(keymap.AdvanceDown)
	case act == keymap.Explain && m.why != nil:
		short = "try the knobs"
	case act == keymap.Back && m.why != nil && m.why.trial.running():
		short = "give up"
	case act == keymap.Open && m.why != nil:
		short = "its exit"
	case act == keymap.Left && m.open != nil:
		short = "exit before"
	case act == keymap.Right && m.open != nil:
		short = "next exit"
	case act == keymap.Left && m.comparing != nil:
		short = "side back"
	case act == keymap.Right && m.comparing != nil:
		short = "next side"
	case act == keymap.NextPane && m.comparing != nil:
		short = "A or B"
	case act == keymap.Open && m.focus == paneKnobs:
		short = "turn"
	}
	return key, short
}

// inFront names what is in front, for the key bar.
func (m *Model) inFront() string {
	switch {
	case m.helping:
		return "help"
	case m.comparing != nil:
		return "compare"
	case m.why != nil:
		return "explain"
	case m.open != nil:
		return "inspector"
	}
	return ""
}

// footer are the keys of the key bar now.
func (m *Model) footer() []keymap.Action {
	front := m.inFront()
	if keys := rooms[m.focus].footer; front == "" && keys != nil {
		return keys
	}
	return footerActions[front]
}

// drawInput draws the typed text and the cursor. It returns the first character
// that is shown.
func drawInput(a area, p *prompt) (from int) {
	v := []rune(p.input.Value())
	pos := p.input.Position()
	from = max(pos-a.w+2, 0)
	x := 0
	for i := from; i <= len(v) && x < a.w; i++ {
		r := ' '
		if i < len(v) {
			r = v[i]
		}
		st := value
		if i == pos {
			st |= selected
			if r == ' ' && len(v) == 0 {
				a.put(0, 0, '▏', value)
				return from
			}
		}
		x = a.text(x, 0, st, string(r))
	}
	return from
}

func drawQuestion(body area, q *question, keys *keymap.Map) {
	w := min(max(textWidth(q.text)+6, 40), body.w-2)
	lines := wrap(q.text, w-4)
	a := overlay(body, w, len(lines)+4)
	for i, l := range lines {
		a.text(1, i, text, l)
	}
	x := a.text(1, len(lines)+1, keyHint, keys.Key(keymap.Confirm))
	x = a.text(x+1, len(lines)+1, text, "yes")
	x = a.text(x+3, len(lines)+1, keyHint, keys.Key(keymap.Refuse))
	a.text(x+1, len(lines)+1, text, "no")
}

// overlay clears a box in the middle of body and returns its inside.
func overlay(body area, w, h int) area {
	w, h = overlayWidth(body, w), min(h, body.h)
	a := body.sub((body.w-w)/2, max((body.h-h)/3, 0), w, h)
	a.fill(' ', text)
	return a.box(frameFocus)
}

// overlayWidth is the width of a box over body: all of it rather than leave
// slivers of panes beside it.
func overlayWidth(body area, w int) int {
	if body.w-w < 16 {
		return body.w
	}
	return w
}
