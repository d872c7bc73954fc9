package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Options are the choices of whoever starts the screen. The zero value leaves
// them to Run, which looks at the terminal's environment.
type Options struct {
	// Theme is one of ThemeNames; empty is "dark", or what suits the terminal.
	Theme string
	// NoColor shows the mono theme whatever Theme says (NO_COLOR).
	NoColor bool
	// Profile is what the terminal can show; the zero value is true colour. Run
	// sets it.
	Profile termenv.Profile
	// Keys is the table of actions; nil is keymap.Default.
	Keys []keymap.Binding
	// RecordTo is the file that a recording is suggested to go to.
	RecordTo string
	// Dir is where pictures are saved; empty is the current directory.
	Dir string
	// Focus is the name of the pane to begin with; empty is Timer's. Zoom gives it
	// the whole screen.
	Focus string
	Zoom  bool
	// Layout is one of LayoutNames, empty is the first. Left and Right, if they are
	// not empty, are the titles of the panes in its columns instead of its own, Split
	// is the left column's share of the width in percent, 0 its own.
	Layout      string
	Left, Right []string
	Split       int
	// Late is how late a deadline must be for next-late and previous-late; 0 is
	// later than p99 so far.
	Late clock.Nanos
	// Intro is what the run is for: the first notice, and on top of the help.
	Intro string
	// Findings tells what is known to be wrong with the run so far; nil if nobody
	// looks. It is called with every frame, from the goroutine of the screen.
	Findings func() []explain.Finding
	// Try runs a deadline again with knobs turned; nil where the run cannot be
	// repeated.
	Try TryFunc
	// Output is where Run writes the screen; nil is standard output. It must be a
	// terminal's file, or have its Fd method.
	Output io.Writer
	// FPS is how often a second the screen is painted at most, 0 is 30, or 8 over
	// ssh. ASCII shows no other signs; Run sets it where the terminal has no others.
	FPS   int
	ASCII bool
}

// PaneTitles are the titles of the panes, in the order of their keys.
func PaneTitles() []string { return slices.Clone(paneTitles[:]) }

// Model is the screen. It is a tea.Model and belongs to the program that runs
// it.
type Model struct {
	link link
	opts Options
	keys *keymap.Map
	look *styles

	w, h  int
	frame *vmm.Frame // what is shown, nil before the first
	ready *vmm.Frame // the other buffer: where the next frame goes
	seen  frameStamp
	same  int // frames since something changed

	panes [numPanes]pane
	focus paneID
	zoom  bool
	// lays are the layouts to go through, lay is the present one.
	lays []layout
	lay  int

	front
	notices
	turning
	seeking
	output
	history history
	places  places

	// before are the registers at the exits before the present ones.
	before regsBefore
	nanos  bool

	painter *painter // nil where something else renders View
	failure *PanicError
}

// front is what stands over the panes. What is first here is in front of what
// follows.
type front struct {
	prompt    *prompt
	question  *question
	helping   bool
	helpOff   int
	comparing *comparing        // the open comparison, nil if none
	why       *explaining       // the open explanation, nil if none
	open      *inspector        // the opened exit, nil if none
	sheet     canvas            // what is scrolled over the body
	lastText  [numAsking]string // what was typed last, by prompt
}

// notices is the notice line and what has been told on it.
type notices struct {
	said    string // last notice
	saidBad bool
	saidBy  string            // Status.Notice when it was last copied
	told    []string          // findings that were told, by ID
	found   []explain.Finding // suspects of the last frame
	unseen  bool              // one of them has come since Suspects was looked at
}

// turning is what was asked of the session and has not been seen in a frame, and
// what the knob keys go back to.
type turning struct {
	lastRule uint64 // fastpath rule set to return to
	lastCut  uint64 // kick algorithm with the tax cut to return to
	wanted   [trace.NumKnobs]wish
	pace     wish // the speed, as the bits of a float
}

// seeking is the pointer on the timeline.
type seeking struct {
	held       hold
	away, more bool // a seek is on its way, and another is wanted
	next       clock.TSC
}

// output is the drawn screen.
type output struct {
	canvas canvas
	dots   plot
	buf    []byte
	view   string
	dirty  bool
	// clip is an escape sequence that goes out with the next frame: it hands a
	// line to the terminal's clipboard.
	clip   string
	copied string // what was copied last
}

// frameStamp is what must differ for a frame to be worth drawing.
type frameStamp struct {
	events   trace.Seq
	status   vmm.Status
	others   int
	buckets  int
	complete bool
}

// wish is a value that was asked for and has not been seen in a frame.
type wish struct {
	value   uint64
	pending int // commands on their way
	set     bool
}

// shown ends the wish with the first frame after its commands.
func (w *wish) shown() {
	if w.pending == 0 {
		w.set = false
	}
}

// done notes that a command has been taken, or refused.
func (w *wish) done(err error) {
	w.pending = max(w.pending-1, 0)
	if err != nil {
		w.set = false
	}
}

// New makes the screen of a session.
func New(session vmm.Session, opts Options) *Model {
	if opts.Keys == nil {
		opts.Keys = keymap.Default()
	}
	if opts.Theme == "" {
		opts.Theme = "dark"
	}
	if opts.NoColor {
		opts.Theme = "mono"
	}
	m := &Model{link: newLink(session), opts: opts, keys: keymap.New(opts.Keys), zoom: opts.Zoom,
		turning: turning{lastRule: uint64(vmm.Rules618), lastCut: uint64(vmm.KickKC)}, output: output{dirty: true}, ready: &vmm.Frame{}}
	m.look = newStyles(opts.Theme, opts.Profile)
	m.lays = chosenLayouts(&opts)
	for i, t := range paneTitles {
		m.panes[i] = rooms[i].make()
		if strings.EqualFold(t, opts.Focus) {
			m.focus = paneID(i)
		}
	}
	if opts.Intro != "" {
		m.say("%s", opts.Intro)
	}
	return m
}

// layout is the present layout.
func (m *Model) layout() *layout { return &m.lays[m.lay] }

// Init asks for the first frame.
func (m *Model) Init() tea.Cmd { return m.link.firstCmd(m.ready) }

// say shows a sentence on the notice line.
func (m *Model) say(format string, args ...any) {
	m.said, m.saidBad = fmt.Sprintf(format, args...), false
}

// refuse says why something does not happen.
func (m *Model) refuse(why string) { m.said, m.saidBad = why, true }

// scene is what panes draw from now.
func (m *Model) scene() *scene {
	s := &scene{f: m.frame, keys: m.keys, mono: m.look.name == "mono", nanos: m.nanos, dots: &m.dots, before: m.before,
		suspects: m.found, newSuspects: m.unseen}
	if m.opts.Late > 0 && m.frame != nil {
		late, _ := s.hz().ToCycles(m.opts.Late)
		s.late = clock.Cycles(late)
	}
	return s
}

// takeFrame shows a new frame and keeps the one before as the next buffer.
func (m *Model) takeFrame(f *vmm.Frame) {
	m.before.take(m.frame, f)
	m.ready, m.frame = m.frame, f
	if m.ready == nil {
		m.ready = &vmm.Frame{}
	}
	for k := range m.wanted {
		m.wanted[k].shown()
	}
	m.pace.shown()
	if m.open != nil {
		m.open.stepped(f)
	}
	m.tellFindings()
	if f.Status.Notice != m.saidBy {
		m.saidBy = f.Status.Notice
		if m.saidBy != "" {
			m.said, m.saidBad = m.saidBy, false
		}
	}
	stamp := frameStamp{f.State.Events, f.Status, len(f.Others), len(f.Timeline.Buckets), f.Timeline.Complete}
	if m.same++; stamp != m.seen {
		m.seen, m.same, m.dirty = stamp, 0, true
	}
	if m.why != nil && m.why.trial.running() { // its progress is no event either
		m.same, m.dirty = 0, true
	}
	if !f.Timeline.Complete && len(f.Timeline.Buckets) > 0 { // it grows without any event
		m.same, m.dirty = 0, true
	}
}

// period is the time to wait for the next frame.
func (m *Model) period() time.Duration {
	if m.same > idleFrames && m.frame.Status.Run != vmm.Running {
		return idlePeriod
	}
	return framePeriod
}

// knobValue is a knob's value as far as the user can know: asked for or shown.
func (m *Model) knobValue(k trace.Knob) uint64 {
	if w := m.wanted[k]; w.set {
		return w.value
	}
	return knobOf(m.frame, k).Value
}
