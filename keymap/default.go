package keymap

// Binding is one row of the table.
type Binding struct {
	Action Action
	Scope  Scope
	Group  Group
	// Keys ask for the action; the first is the one that the screen shows.
	Keys []string
	// Name identifies the action in the palette and in a configuration file.
	Name string
	// Short is one or two words for the key bar, Help a sentence without its full stop.
	Short, Help string
}

// Default returns the table of actions, in the order of help. Each action has
// exactly one row. The caller owns the copy.
func Default() []Binding {
	return []Binding{
		{RunPause, Global, Running, []string{" "}, "run-pause", "run/pause", "run or pause the guest"},
		{StepExit, Global, Running, []string{"s"}, "step-exit", "exit", "run to the next VM-exit and pause"},
		{BackExit, Global, Running, []string{"S"}, "back-exit", "exit back", "go back to the previous VM-exit"},
		{StepDeadline, Global, Running, []string{"d"}, "step-deadline", "deadline", "run until the next deadline's chain is complete and pause"},
		{BackDeadline, Global, Running, []string{"D"}, "back-deadline", "deadline back", "go back to the previous deadline"},
		{NextLate, Global, Running, []string{")"}, "next-late", "next late", "run to the next deadline that is later than p99 so far"},
		{PrevLate, Global, Running, []string{"("}, "previous-late", "late before", "go back to the last deadline that was later than p99 so far"},
		{RunTo, Global, Running, []string{">"}, "run-to", "run to", "run to the next moment at which a condition holds"},
		{BackTo, Global, Running, []string{"<"}, "back-to", "back to", "go back to the last moment at which a condition held"},
		{Again, Global, Running, []string{"n"}, "again", "next match", "run to the next moment at which the last condition of > or < holds; without one, to the next late deadline"},
		{AgainBack, Global, Running, []string{"N"}, "again-back", "match before", "go back to the last moment at which that condition held"},
		{LastPlace, Global, Running, []string{"`"}, "last-place", "last place", "go to where you were before the last jump, search or step back; again to return"},
		{SpeedDown, Global, Running, []string{"["}, "slower", "slower", "run virtual time ten times slower"},
		{SpeedUp, Global, Running, []string{"]"}, "faster", "faster", "run virtual time ten times faster, up to as fast as possible"},

		{NextPane, Global, Moving, []string{"tab"}, "next-pane", "pane", "focus the next pane"},
		{PrevPane, Global, Moving, []string{"shift+tab"}, "previous-pane", "pane back", "focus the previous pane"},
		{PaneTimer, Global, Moving, []string{"1"}, "pane-timer", "Timer", "focus Timer: each vCPU's LAPIC timer and what backs it"},
		{PaneDeadlines, Global, Moving, []string{"2"}, "pane-deadlines", "Deadlines", "focus Deadlines: chains, lateness over time, histogram and percentiles"},
		{PaneFastpath, Global, Moving, []string{"3"}, "pane-fastpath", "Fastpath", "focus Fastpath: hit rate per exit reason and why exits bailed out"},
		{PaneKicks, Global, Moving, []string{"4"}, "pane-kicks", "Kicks", "focus Kicks: what each kick decided and what it executed"},
		{PaneKnobs, Global, Moving, []string{"5"}, "pane-knobs", "Knobs", "focus Knobs: every setting, its key and whether this engine can turn it"},
		{PaneExits, Global, Moving, []string{"6"}, "pane-exits", "Exits", "focus Exits: the list of VM-exits; enter opens the selected one"},
		{PaneConsole, Global, Moving, []string{"7"}, "pane-console", "Console", "focus Console: what the guest wrote to its serial port"},
		{PaneSuspects, Global, Moving, []string{"8"}, "pane-suspects", "Suspects", "focus Suspects: what is known to be wrong with the run, with evidence and fix"},
		{Zoom, Global, Moving, []string{"z"}, "zoom", "zoom", "zoom the focused pane to the whole screen, or back"},
		{Layout, Global, Moving, []string{"L"}, "layout", "layout", "take the next layout: which panes are shown, and where"},
		{Up, Global, Moving, []string{"up", "k"}, "up", "up", "move the selection up, or scroll"},
		{Down, Global, Moving, []string{"down", "j"}, "down", "down", "move the selection down, or scroll"},
		{Left, Global, Moving, []string{"left", "h"}, "left", "view back", "show the pane's previous view"},
		{Right, Global, Moving, []string{"right", "l"}, "right", "view", "show the pane's next view"},
		{PageUp, Global, Moving, []string{"pgup", "ctrl+b"}, "page-up", "page up", "move a page up"},
		{PageDown, Global, Moving, []string{"pgdown", "ctrl+f"}, "page-down", "page down", "move a page down"},
		{Top, Global, Moving, []string{"home"}, "top", "oldest", "go to the first line"},
		{Bottom, Global, Moving, []string{"end"}, "bottom", "newest", "go to the last line and follow new ones"},
		{Start, Global, Moving, []string{"g"}, "start", "start", "go to the start of the timeline where one is shown, else to the first line"},
		{End, Global, Moving, []string{"G"}, "end", "end", "go to the end of the timeline where one is shown, else to the last line"},
		{Open, Global, Moving, []string{"enter"}, "open", "open", "open what is selected"},
		{Back, Global, Moving, []string{"esc"}, "back", "back", "close what was opened, clear the filter, leave the zoom"},

		{APICv, Global, Turning, []string{"a"}, "apicv", "APICv", "turn APIC virtualization and posted interrupts on or off"},
		{PostedTimer, Global, Turning, []string{"p"}, "posted-timer", "posted timer", "let timer interrupts be posted from the hrtimer callback (pi_inject_timer)"},
		{PreemptionTimer, Global, Turning, []string{"P"}, "preemption-timer", "hv timer", "let the VMX preemption timer back guest timers"},
		{Fastpath, Global, Turning, []string{"f"}, "fastpath", "fastpath", "turn the fastpath off, or on with the last rule set"},
		{FastpathEra, Global, Turning, []string{"F"}, "fastpath-era", "fastpath era", "take the fastpath rules of the next kernel era"},
		{KickTaxCut, Global, Turning, []string{"x"}, "kick-tax-cut", "kick tax cut", "pay the kick tax (KB), or cut it with the algorithm used before (KC, KD)"},
		{KickEra, Global, Turning, []string{"X"}, "kick-era", "kick era", "take the next kick algorithm: KA, KB, KC (the tax cut as posted), KD (as merged)"},
		{AdvanceUp, Global, Turning, []string{"+", "="}, "advance-up", "advance", "fix the timer advance 100 ns higher"},
		{AdvanceDown, Global, Turning, []string{"-"}, "advance-down", "advance less", "fix the timer advance 100 ns lower"},
		{Adaptive, Global, Turning, []string{"A"}, "adaptive", "adaptive", "let the timer advance tune itself, or fix it at its present value"},
		{VMEntryAdvance, Global, Turning, []string{"v"}, "vmentry-advance", "vmentry advance", "take the next VM-entry advance of 0, 25 and 300 ns"},
		{WaitPlacement, Global, Turning, []string{"w"}, "wait-placement", "wait place", "move the wait for the deadline: early in vcpu_enter_guest, or just before VM-entry"},
		{HaltPoll, Global, Turning, []string{"H"}, "halt-poll", "halt poll", "take the next halt-polling limit of 0, 50, 200 and 400 us"},
		{ExitsDisabled, Global, Turning, []string{"E"}, "exits-disabled", "HLT exits", "let HLT exit or not (KVM_CAP_X86_DISABLE_EXITS)"},
		{TuningEra, Global, Turning, []string{"T"}, "tuning-era", "tuning era", "take the adaptive tuning of the next kernel era"},
		{Shortcut, Global, Turning, []string{"R"}, "running-shortcut", "shortcut", "take the next rule for posting to the running vCPU"},
		{TurnBack, Global, Turning, []string{"backspace"}, "turn-back", "turn back", "set the knob selected in Knobs to its previous value; enter sets the next"},
		{Undo, Global, Turning, []string{"u", "ctrl+z"}, "undo", "undo", "undo the last knob turn made here"},
		{TurnBefore, Global, Turning, []string{"{"}, "turn-before", "turn before", "show on the verdict bar what the previous turn changed"},
		{TurnAfter, Global, Turning, []string{"}"}, "turn-after", "turn after", "show what the following turn changed"},

		{Filter, Global, Finding, []string{"/"}, "filter", "filter", "show only the lines on which a condition holds, or that contain a text; ! in front shows the others"},
		{BrushLeft, Global, Finding, []string{","}, "brush-left", "brush", "show only the deadlines of the previous chart column (histogram or over time)"},
		{BrushRight, Global, Finding, []string{"."}, "brush-right", "brush on", "show only the deadlines of the next chart column"},
		{BrushChart, Global, Finding, []string{"B"}, "brush-chart", "brush chart", "brush in the other chart: histogram or over time"},
		{Break, Global, Finding, []string{"b"}, "break", "break", "pause when a condition holds; an empty one removes it"},
		{Bookmark, Global, Finding, []string{"m"}, "bookmark", "mark", "set a bookmark at this TSC"},
		{Jump, Global, Finding, []string{"'"}, "jump", "jump", "jump to a bookmark, a turned knob, the selected deadline or exit, or a TSC"},
		{Explain, Global, Finding, []string{"e"}, "explain", "explain", "explain the selected deadline; again to rerun it with each suggested knob turned"},
		{Compare, Global, Finding, []string{"c"}, "compare", "compare", "compare before and after the last knob, or with the branch you left"},
		{Copy, Global, Finding, []string{"y"}, "copy", "copy", "copy the selected exit, deadline or kick as a line of trace text (OSC 52)"},
		{Picture, Global, Finding, []string{"W"}, "picture", "picture", "save the focused pane, or what is open over it, as an SVG in the current directory"},

		{Record, Global, Session, []string{"r"}, "record", "record", "start or stop a recording"},
		{Help, Global, Session, []string{"?", "f1"}, "help", "help", "explain the focused pane and list the keys"},
		{Palette, Global, Session, []string{":"}, "palette", "palette", "find an action or set a knob by name"},
		{Theme, Global, Session, []string{"t"}, "theme", "theme", "take the next theme: dark, light, 16 colours, mono"},
		{Units, Global, Session, []string{"U"}, "units", "units", "show times in cycles or in nanoseconds first"},
		{Quit, Global, Session, []string{"q", "ctrl+c"}, "quit", "quit", "quit; asks first while recording"},

		{Accept, Prompt, Answering, []string{"enter"}, "accept", "accept", "accept what was typed or selected"},
		{Cancel, Prompt, Answering, []string{"esc", "ctrl+c"}, "cancel", "cancel", "leave the prompt and change nothing"},
		{Confirm, Question, Answering, []string{"y", "enter"}, "confirm", "yes", "answer yes"},
		{Refuse, Question, Answering, []string{"n", "esc", "ctrl+c", "q"}, "refuse", "no", "answer no"},
	}
}

// Map finds actions by key. Make one with New; it is read-only after that.
type Map struct {
	rows  []Binding
	byKey [NumScopes]map[string]Action
	byAct [NumActions]int // index into rows plus one
}

// New indexes a table of bindings.
func New(rows []Binding) *Map {
	m := &Map{rows: rows}
	for i, b := range rows {
		if m.byKey[b.Scope] == nil {
			m.byKey[b.Scope] = map[string]Action{}
		}
		for _, k := range b.Keys {
			m.byKey[b.Scope][k] = b.Action
		}
		m.byAct[b.Action] = i + 1
	}
	return m
}

// Lookup returns the action of a key in a scope. ok is false if it has none.
func (m *Map) Lookup(s Scope, key string) (a Action, ok bool) {
	a, ok = m.byKey[s][key]
	return a, ok
}

// Binding returns the row of an action, the zero Binding if it has none.
func (m *Map) Binding(a Action) Binding {
	if int(a) >= len(m.byAct) || m.byAct[a] == 0 {
		return Binding{}
	}
	return m.rows[m.byAct[a]-1]
}

// Rows returns the table in the order of help. The caller must not change it.
func (m *Map) Rows() []Binding { return m.rows }

// Key returns the key that the screen shows for an action, empty if none.
func (m *Map) Key(a Action) string {
	b := m.Binding(a)
	if len(b.Keys) == 0 {
		return ""
	}
	return KeyName(b.Keys[0])
}
