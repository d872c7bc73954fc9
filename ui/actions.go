package ui

import (
	"math"
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// handlers maps the actions of the Global scope to what they do.
var handlers = map[keymap.Action]func(m *Model) tea.Cmd{
	keymap.RunPause:     (*Model).runPause,
	keymap.StepExit:     func(m *Model) tea.Cmd { return m.do(vmm.Command{Verb: vmm.DoStepExit, N: 1}) },
	keymap.BackExit:     func(m *Model) tea.Cmd { return m.do(vmm.Command{Verb: vmm.DoBackExit, N: 1}) },
	keymap.StepDeadline: func(m *Model) tea.Cmd { return m.do(vmm.Command{Verb: vmm.DoStepDeadline, N: 1}) },
	keymap.BackDeadline: func(m *Model) tea.Cmd { return m.do(vmm.Command{Verb: vmm.DoBackDeadline, N: 1}) },
	keymap.SpeedDown:    func(m *Model) tea.Cmd { return m.changeSpeed(-1) },
	keymap.SpeedUp:      func(m *Model) tea.Cmd { return m.changeSpeed(+1) },

	keymap.NextPane: func(m *Model) tea.Cmd { return m.focusOn(m.neighbour(+1)) },
	keymap.PrevPane: func(m *Model) tea.Cmd { return m.focusOn(m.neighbour(-1)) },
	keymap.Zoom:     func(m *Model) tea.Cmd { m.zoom = !m.zoom; return nil },
	keymap.Layout:   (*Model).nextLayout,
	keymap.Left:     (*Model).noView,
	keymap.Right:    (*Model).noView,
	keymap.Open:     (*Model).openSelected,
	keymap.Back:     (*Model).back,

	keymap.APICv:           turner(trace.KnobAPICv, false),
	keymap.PostedTimer:     turner(trace.KnobPostedTimer, false),
	keymap.PreemptionTimer: turner(trace.KnobPreemptionTimer, false),
	keymap.Fastpath:        (*Model).toggleFastpath,
	keymap.FastpathEra:     (*Model).nextEra,
	keymap.KickTaxCut:      (*Model).toggleTaxCut,
	keymap.KickEra:         turner(trace.KnobKick, false),
	keymap.AdvanceUp:       func(m *Model) tea.Cmd { return m.stepAdvance(false) },
	keymap.AdvanceDown:     func(m *Model) tea.Cmd { return m.stepAdvance(true) },
	keymap.Adaptive:        (*Model).toggleAdaptive,
	keymap.VMEntryAdvance:  turner(trace.KnobVMEntryAdvance, false),
	keymap.WaitPlacement:   turner(trace.KnobWaitPlacement, false),
	keymap.HaltPoll:        turner(trace.KnobHaltPoll, false),
	keymap.ExitsDisabled:   turner(trace.KnobExitsDisabled, false),
	keymap.TuningEra:       turner(trace.KnobTuning, false),
	keymap.Shortcut:        turner(trace.KnobRunningShort, false),

	keymap.TurnBack:   func(m *Model) tea.Cmd { return m.turnSelected(true) },
	keymap.Undo:       (*Model).undoTurn,
	keymap.TurnBefore: func(m *Model) tea.Cmd { m.walkTurns(+1); return nil },
	keymap.TurnAfter:  func(m *Model) tea.Cmd { m.walkTurns(-1); return nil },

	keymap.Again:     func(m *Model) tea.Cmd { return m.again(vmm.DoRunTo) },
	keymap.AgainBack: func(m *Model) tea.Cmd { return m.again(vmm.DoBackTo) },
	keymap.LastPlace: (*Model).lastPlace,

	keymap.NextLate: func(m *Model) tea.Cmd { return m.seekLate(vmm.DoRunTo) },
	keymap.PrevLate: func(m *Model) tea.Cmd { return m.seekLate(vmm.DoBackTo) },
	keymap.RunTo:    func(m *Model) tea.Cmd { return m.ask(askRunTo) },
	keymap.BackTo:   func(m *Model) tea.Cmd { return m.ask(askBackTo) },
	keymap.Filter:   func(m *Model) tea.Cmd { return m.ask(askFilter) },
	keymap.Break:    func(m *Model) tea.Cmd { return m.ask(askBreak) },
	keymap.Bookmark: func(m *Model) tea.Cmd { return m.ask(askMark) },
	keymap.Jump:     func(m *Model) tea.Cmd { return m.ask(askJump) },
	keymap.Explain:  (*Model).explainSelected,
	keymap.Compare:  (*Model).startCompare,

	keymap.BrushLeft:  brusher(keymap.BrushLeft),
	keymap.BrushRight: brusher(keymap.BrushRight),
	keymap.BrushChart: brusher(keymap.BrushChart),

	keymap.Copy:    (*Model).copyLine,
	keymap.Picture: (*Model).savePicture,
	keymap.Start:   func(m *Model) tea.Cmd { return m.seekEnd(keymap.Top) },
	keymap.End:     func(m *Model) tea.Cmd { return m.seekEnd(keymap.Bottom) },
	keymap.Record:  (*Model).toggleRecord,
	keymap.Help:    func(m *Model) tea.Cmd { m.helping, m.helpOff = !m.helping, 0; return nil },
	keymap.Palette: func(m *Model) tea.Cmd { return m.ask(askPalette) },
	keymap.Theme:   (*Model).nextTheme,
	keymap.Units:   func(m *Model) tea.Cmd { m.nanos = !m.nanos; return nil },
	keymap.Quit:    (*Model).quit,
}

// act carries out an action, or says why it is not possible now.
func (m *Model) act(a keymap.Action) tea.Cmd {
	m.dirty = true
	if why := m.whyNot(a); why != "" {
		m.refuse(why)
		return nil
	}
	if m.open != nil && a == keymap.End && m.frame.Status.Past { // as the header says
		return m.seekEnd(keymap.Bottom)
	}
	if cmd, ok := m.moves(a); ok {
		return cmd
	}
	if m.open != nil && slices.Contains(steps, a) {
		m.open.follow = true
	}
	if p, ok := paneOf(a); ok {
		return m.focusOn(p)
	}
	if h, ok := handlers[a]; ok {
		return h(m)
	}
	m.refuse(m.keys.Binding(a).Name + " has no use in " + paneTitles[m.focus])
	return nil
}

// moves gives a moving action to whatever is in front; ok is false if that has no
// use for it.
func (m *Model) moves(a keymap.Action) (cmd tea.Cmd, ok bool) {
	page := m.h - headerRows - footerRows - 2
	if m.overlaid() { // no time line in front
		switch a {
		case keymap.Start:
			a = keymap.Top
		case keymap.End:
			a = keymap.Bottom
		}
	}
	switch {
	case m.helping:
		n, ok := scrolled(m.helpOff, a, page)
		m.helpOff = n
		return nil, ok
	case m.comparing != nil:
		return m.comparing.act(a, page)
	case m.why != nil:
		return nil, m.why.act(a, page)
	case m.open != nil:
		return nil, m.open.act(m.scene(), a, page)
	}
	arr := m.arrange()
	return nil, m.panes[m.focus].act(m.scene(), a, arr[m.focus].h-2)
}

// brusher moves the brush in the charts of Deadlines, wherever the focus is.
func brusher(a keymap.Action) func(m *Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.focusOn(paneDeadlines)
		m.panes[paneDeadlines].act(m.scene(), a, 0)
		return nil
	}
}

// overlaid reports whether something is open over the panes.
func (m *Model) overlaid() bool {
	return m.helping || m.comparing != nil || m.why != nil || m.open != nil
}

// scrolled is an offset after a moving action.
func scrolled(off int, a keymap.Action, page int) (int, bool) {
	switch a {
	case keymap.Up:
		off--
	case keymap.Down:
		off++
	case keymap.PageUp:
		off -= max(page-1, 1)
	case keymap.PageDown:
		off += max(page-1, 1)
	case keymap.Top:
		off = 0
	case keymap.Bottom:
		off = 1 << 20
	default:
		return off, false
	}
	return max(off, 0), true
}

// do asks the session for an action.
func (m *Model) do(c vmm.Command) tea.Cmd {
	m.leave(c)
	return m.link.doCmd(c)
}

func (m *Model) runPause() tea.Cmd {
	if m.frame.Status.Run == vmm.Running {
		return m.do(vmm.Command{Verb: vmm.DoPause})
	}
	return m.do(vmm.Command{Verb: vmm.DoRun})
}

// speeds are the steps of the speed keys; 0 is as fast as possible.
var speeds = []float64{1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 0}

// speed is the speed as far as the user can know: asked for or shown.
func (m *Model) speed() float64 {
	if m.pace.set {
		return math.Float64frombits(m.pace.value)
	}
	return m.frame.Status.Speed
}

func (m *Model) changeSpeed(dir int) tea.Cmd {
	at := len(speeds) - 1
	for i, s := range speeds[:len(speeds)-1] {
		if cur := m.speed(); cur != 0 && cur <= s*1.001 {
			at = i
			break
		}
	}
	at += dir
	if at < 0 || at >= len(speeds) {
		m.say("speed is %s already", speed(m.speed()))
		return nil
	}
	m.pace = wish{math.Float64bits(speeds[at]), m.pace.pending + 1, true}
	m.say("speed %s: guest time per wall time", speed(speeds[at]))
	return m.do(vmm.Command{Verb: vmm.DoSpeed, Speed: speeds[at]})
}

func (m *Model) focusOn(p paneID) tea.Cmd {
	m.leaveExplained()
	m.focus, m.open, m.helping, m.comparing = p, nil, false, nil
	m.unseen = m.unseen && p != paneSuspects
	return nil
}

// neighbour is the next pane of the layout in a direction.
func (m *Model) neighbour(dir paneID) paneID {
	for p := m.focus; ; {
		if p = (p + dir + numPanes) % numPanes; m.layout().shows(p) || p == m.focus {
			return p
		}
	}
}

// nextLayout takes the next layout, and its first pane if it does not show the
// focused one.
func (m *Model) nextLayout() tea.Cmd {
	m.lay = (m.lay + 1) % len(m.lays)
	l := m.layout()
	m.zoom = false
	if !l.shows(m.focus) {
		m.focus = append(slices.Clone(l.left), l.right...)[0]
	}
	m.say("layout %s: %s", l.name, l.words())
	return nil
}

func (m *Model) back() tea.Cmd {
	switch {
	case m.helping:
		m.helping = false
	case m.comparing != nil:
		m.comparing = nil
	case m.why != nil && m.why.trial.running():
		m.why.trial.giveUp()
	case m.why != nil:
		m.leaveExplained()
	case m.open != nil:
		m.open = nil
	case m.zoom:
		m.zoom = false
	case m.unfilter():
		m.said = ""
	case m.history.chosen() != nil:
		m.history.hidden = true
		m.say("the verdict bar is closed; %s shows it again", m.keys.Key(keymap.TurnBefore))
	}
	return nil
}

// unfilter shows all lines of the focused pane again; did is false if it did.
func (m *Model) unfilter() (did bool) {
	if p, ok := m.panes[m.focus].(*deadlinesPane); ok {
		did = p.brush.kind != brushNone
		p.setBrush(brush{})
	}
	if p, ok := m.panes[m.focus].(filterer); ok {
		did = did || p.filtered() != ""
		p.filter("")
	}
	return did
}

func (m *Model) openSelected() tea.Cmd {
	if m.why != nil {
		return m.openExplained()
	}
	if p, ok := m.panes[m.focus].(opener); ok {
		return p.open(m)
	}
	m.zoom = true
	return nil
}

// noView refuses a view that there is none of.
func (m *Model) noView() tea.Cmd {
	m.refuse(paneTitles[m.focus] + " has one view only" + pickString(m.focus == paneKnobs, "; "+m.keys.Key(keymap.Open)+" turns the selected knob", ""))
	return nil
}

// turnSelected turns the selected knob on or back.
func (m *Model) turnSelected(back bool) tea.Cmd {
	p, ok := m.panes[m.focus].(*knobsPane)
	if !ok {
		m.refuse("select a knob in Knobs first")
		return nil
	}
	return m.turn(knobRows[p.sel].knob, back)
}

func (m *Model) toggleRecord() tea.Cmd {
	if m.frame.Status.Recording != "" {
		return m.do(vmm.Command{Verb: vmm.DoRecord})
	}
	return m.ask(askRecord)
}

func (m *Model) nextTheme() tea.Cmd {
	if m.opts.NoColor {
		m.refuse("colours are off: NO_COLOR or --no-color is set")
		return nil
	}
	for i, n := range ThemeNames {
		if n == m.look.name {
			m.look = newStyles(ThemeNames[(i+1)%len(ThemeNames)], m.opts.Profile)
			break
		}
	}
	m.say("theme %s", m.look.name)
	return nil
}

func (m *Model) quit() tea.Cmd {
	if m.frame.Status.Recording != "" {
		m.question = &question{text: "Recording to " + m.frame.Status.Recording + " goes on: finish it and quit?", yes: tea.Quit}
		return nil
	}
	return tea.Quit
}

// seekLate runs to the next deadline that is later than Options.Late, or than p99
// so far, or goes back to the last one.
func (m *Model) seekLate(verb vmm.Verb) tea.Cmd {
	if ns := m.opts.Late; ns > 0 {
		text := "late > " + strconv.FormatInt(int64(ns), 10) + "ns"
		m.say("%s deadline later than %s ns", pickString(verb == vmm.DoRunTo, "runs to the next", "goes back to the last"),
			signed3(int64(ns)))
		return m.do(vmm.Command{Verb: verb, Text: text})
	}
	limit := max(m.frame.State.Deadlines.Late.Percentile(99), trace.OnTimeBand)
	text := "late > " + strconv.FormatInt(int64(limit), 10)
	m.say("%s deadline later than p99 so far, %s cycles", pickString(verb == vmm.DoRunTo, "runs to the next", "goes back to the last"),
		signed3(int64(limit)))
	return m.do(vmm.Command{Verb: verb, Text: text})
}
