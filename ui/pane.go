package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
	"codeberg.org/ticktrap/ticktrap/trace/query"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// paneID numbers the panes as their keys do, from 0.
type paneID int

const (
	paneTimer paneID = iota
	paneDeadlines
	paneFastpath
	paneKicks
	paneKnobs
	paneExits
	paneConsole
	paneSuspects
	numPanes
)

// room is what the screen knows of a pane beside what the pane does itself.
type room struct {
	// focus is the action that goes there; its short words are the pane's title.
	focus keymap.Action
	// topic is that of the figures in its help (vmm.FigureTopics), figure the one
	// whose basis its title line tells, if that is no measurement.
	topic  string
	figure vmm.Figure
	// footer is the key bar while the pane is in front; nil is the common one.
	footer []keymap.Action
	// claim is what it claims of a column.
	claim func(c claiming) share
	make  func() pane
}

// claiming is what panes are told when a column is shared out.
type claiming struct {
	h, w, vcpus int
	timers      bool // the guest seems to use timers
}

// rooms are the panes. A new one is a constant above, a row here, an action with a
// row in package keymap, and files of its own.
var rooms = [numPanes]room{
	paneTimer: timerRoom, paneDeadlines: deadlinesRoom, paneFastpath: fastpathRoom, paneKicks: kicksRoom,
	paneKnobs: knobsRoom, paneExits: exitsRoom, paneConsole: consoleRoom, paneSuspects: suspectsRoom,
}

// paneTitles are the titles of the panes.
var paneTitles = func() (titles [numPanes]string) {
	for _, b := range keymap.Default() {
		if p, ok := paneOf(b.Action); ok {
			titles[p] = b.Short
		}
	}
	return titles
}()

// paneOf is the pane that an action goes to; ok is false for other actions.
func paneOf(a keymap.Action) (p paneID, ok bool) {
	for p := range rooms {
		if rooms[p].focus == a {
			return paneID(p), true
		}
	}
	return 0, false
}

// pane is one part of the screen. It keeps its own view state and draws from a scene.
type pane interface {
	// draw fills the inside of the pane's frame.
	draw(s *scene, a area)
	// strip draws the pane as one line.
	strip(s *scene, a area)
	// status is a word or two for the right end of the title line.
	status(s *scene) string
	// act takes a moving action; it reports whether it had a use for it. rows is
	// the height of the pane's inside.
	act(s *scene, act keymap.Action, rows int) bool
	// click selects what is at (x, y) of the pane's inside; open asks to open it.
	click(s *scene, x, y int) (open bool)
	// help is what the pane shows, as lines.
	help() []string
}

// opener is a pane in which something can be opened; of any other, enter gives it
// the whole screen.
type opener interface{ open(m *Model) tea.Cmd }

// filterer is a pane with lines that can be filtered.
type filterer interface {
	// filter sets what lines must meet; "" shows all. It returns what is wrong
	// with a condition.
	filter(text string) *query.Error
	// filtered is the filter as it was typed.
	filtered() string
}

// dragger is a pane in which the pointer can be drawn along.
type dragger interface{ drag(s *scene, x, y int) }

// scene is what panes draw from: the frame and how to show it.
type scene struct {
	f    *vmm.Frame
	keys *keymap.Map
	// mono asks for patterns where colours would tell parts of a bar apart.
	mono bool
	// nanos shows times in nanoseconds first, cycles otherwise.
	nanos bool
	// late is how late a deadline is called late, 0 if nobody said.
	late clock.Cycles
	// suspects are the findings of now; newSuspects is true if one of them has not
	// been looked at.
	suspects    []explain.Finding
	newSuspects bool
	// focused is true while the focused pane is drawn.
	focused bool
	// before are the registers at the exits before the present ones.
	before regsBefore
	// dots is scratch for charts.
	dots *plot
	// scratch is what vcpu returns.
	scratch trace.VCPU
}

func (s *scene) state() *trace.State { return &s.f.State }

// hz is the TSC frequency.
func (s *scene) hz() clock.Hz { return s.f.Header.Hz }

// knob returns a knob as the engine offers it.
func (s *scene) knob(k trace.Knob) vmm.KnobState { return knobOf(s.f, k) }

func knobOf(f *vmm.Frame, k trace.Knob) vmm.KnobState {
	for _, ks := range f.Knobs {
		if ks.Knob == k {
			return ks
		}
	}
	return vmm.KnobState{Knob: k, Value: f.State.Knobs[k], Tag: vmm.TagFixed, Why: "this source does not tell what turned it"}
}

// cyc writes a signed distance in the unit that comes first, with its unit.
func (s *scene) cyc(c clock.Cycles) string {
	if s.nanos {
		n := cyclesToNanos(s.hz(), c)
		if n > 0 {
			return "+" + duration(n)
		}
		return duration(n)
	}
	return signed3(int64(c)) + " cyc"
}

// both writes a distance in cycles and in time.
func (s *scene) both(c clock.Cycles) string {
	if s.nanos {
		return duration(cyclesToNanos(s.hz(), c)) + " · " + plain3(int64(c)) + " cyc"
	}
	return plain3(int64(c)) + " cyc · " + duration(cyclesToNanos(s.hz(), c))
}

// span writes an unsigned distance in the unit that comes first.
func (s *scene) span(c clock.Cycles) string {
	if s.nanos {
		return duration(cyclesToNanos(s.hz(), c))
	}
	return plain3(int64(c)) + " cyc"
}

// list is the selection in a sequence of numbered lines. While follow is set the
// selection is the newest line.
type list struct {
	sel    uint64
	follow bool
	top    uint64 // first line shown last
}

// at is the selected number among first … end−1.
func (l *list) at(first, end uint64) uint64 {
	if end == first {
		return first
	}
	if l.follow || l.sel >= end {
		return end - 1
	}
	return max(l.sel, first)
}

// act moves the selection; rows is a page.
func (l *list) act(act keymap.Action, first, end uint64, rows int) bool {
	if end == first {
		return false
	}
	cur, page := l.at(first, end), uint64(max(rows-1, 1))
	switch act {
	case keymap.Up:
		cur = max(cur, first+1) - 1
	case keymap.Down:
		cur++
	case keymap.PageUp:
		cur = max(cur, first+page) - page
	case keymap.PageDown:
		cur += page
	case keymap.Top:
		cur = first
	case keymap.Bottom:
		cur = end - 1
	default:
		return false
	}
	l.follow = cur >= end-1
	l.sel = min(cur, end-1)
	return true
}

// window is the range of at most rows lines to show: where it was, moved only as
// far as the selection needs.
func (l *list) window(first, end uint64, rows int) (from, to uint64) {
	n := uint64(max(rows, 0))
	if end-first <= n {
		l.top = first
		return first, end
	}
	sel := l.at(first, end)
	l.top = min(max(l.top, first), end-n)
	if l.follow || sel >= l.top+n {
		l.top = sel + 1 - n
	}
	l.top = max(min(l.top, sel), first)
	return l.top, l.top + n
}
