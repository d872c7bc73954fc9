package ui

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel/rule"
	"codeberg.org/ticktrap/ticktrap/ui/uitest"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// rig is a screen over a scripted session, driven without a terminal.
type rig struct {
	t *testing.T
	m *Model
	s *uitest.Session
}

// events400 is the stream of most tests.
var events400 = sync.OnceValue(func() []trace.Event { return uitest.Stream(400) })

func newRig(t *testing.T, w, h, events int) *rig {
	t.Helper()
	s := uitest.New(uitest.Header(), events400())
	s.CPUs = uitest.CPUs()
	s.Play(events)
	r := &rig{t, New(s, Options{Theme: "mono", Dir: t.TempDir()}), s}
	r.send(tea.WindowSizeMsg{Width: w, Height: h})
	r.frame()
	return r
}

// frame lets the screen take the session's state.
func (r *rig) frame() { r.m.Update(r.m.Init()()) }

// send delivers a message and carries out the command that follows, but not the
// endless one that waits for frames.
func (r *rig) send(msg tea.Msg) tea.Msg {
	_, cmd := r.m.Update(msg)
	if cmd == nil {
		return nil
	}
	out := cmd()
	switch out.(type) {
	case doneMsg, compareMsg, savedMsg:
		r.m.Update(out)
	}
	r.frame()
	return out
}

// press sends keys, named as keymap names them; a comma separates them, and one
// key is itself. What is in quotes is typed.
func (r *rig) press(keys string) (last tea.Msg) {
	if len([]rune(keys)) == 1 {
		return r.send(KeyMsg(keys))
	}
	for i, part := range strings.Split(keys, `"`) {
		if i%2 == 1 {
			for _, c := range part {
				r.send(KeyMsg(string(c)))
			}
			continue
		}
		for _, k := range strings.Split(strings.Trim(part, ","), ",") {
			if k != "" {
				last = r.send(KeyMsg(k))
			}
		}
	}
	return last
}

// screen is the frame as text.
func (r *rig) screen() string {
	r.m.View()
	if r.m.failure != nil {
		r.t.Fatalf("%v\n%s", r.m.failure, r.m.failure.Stack)
	}
	return r.m.canvas.text()
}

func (r *rig) wants(what string) {
	r.t.Helper()
	if s := r.screen(); !strings.Contains(s, what) {
		r.t.Errorf("the screen does not show %q:\n%s", what, s)
	}
}

func TestEveryActionDrivesTheScreen(t *testing.T) {
	t.Parallel()
	all := []paneID{paneTimer, paneDeadlines, paneFastpath, paneKicks, paneKnobs, paneExits, paneConsole}
	for _, sz := range []struct {
		w, h, events int
		panes        []paneID
	}{{80, 24, 1500, all}, {80, 24, 0, []paneID{paneExits}}, {200, 60, 1500, []paneID{paneDeadlines, paneExits}},
		{MinWidth, MinHeight, 0, []paneID{paneDeadlines}}} {
		for _, p := range sz.panes {
			for _, b := range keymap.Default() {
				r := newRig(t, sz.w, sz.h, sz.events)
				r.m.focus = p
				before := r.screen()
				last := r.press(b.Keys[0])
				after := r.screen()
				_, quit := last.(tea.QuitMsg)
				if b.Scope == keymap.Global && before == after && len(r.s.Done) == 0 && !quit && !moving(b.Action) {
					t.Errorf("%d×%d, %d events, %s: %s does nothing and says nothing", sz.w, sz.h, sz.events, paneTitles[p], b.Name)
				}
			}
		}
	}
}

// moving are the actions that may find nothing to move.
func moving(a keymap.Action) bool {
	return slices.Contains([]keymap.Action{keymap.Up, keymap.Down, keymap.Left, keymap.Right, keymap.PageUp, keymap.PageDown, keymap.Top,
		keymap.Bottom, keymap.Start, keymap.End, keymap.Back, keymap.PaneTimer, keymap.PaneDeadlines, keymap.PaneFastpath, keymap.PaneKicks,
		keymap.PaneKnobs, keymap.PaneExits, keymap.PaneConsole, keymap.Units}, a)
}

func TestKeysAskTheSession(t *testing.T) {
	knob := func(k trace.Knob, v uint64) vmm.Command { return vmm.Command{Verb: vmm.DoKnob, Knob: k, Value: v} }
	tests := []struct {
		keys string
		want []vmm.Command
	}{
		{" ", []vmm.Command{{Verb: vmm.DoRun}}},
		{"s", []vmm.Command{{Verb: vmm.DoStepExit, N: 1}}},
		{"d", []vmm.Command{{Verb: vmm.DoStepDeadline, N: 1}}},
		{"S", nil}, {"D", nil},
		{"a", []vmm.Command{knob(trace.KnobAPICv, 0)}},
		{"a,a", []vmm.Command{knob(trace.KnobAPICv, 0), knob(trace.KnobAPICv, 1)}},
		{"p", []vmm.Command{knob(trace.KnobPostedTimer, 1)}},
		{"P", []vmm.Command{knob(trace.KnobPreemptionTimer, 0)}},
		{"f,f", []vmm.Command{knob(trace.KnobFastpath, uint64(vmm.RulesOff)), knob(trace.KnobFastpath, uint64(vmm.Rules515))}},
		{"F,F", []vmm.Command{knob(trace.KnobFastpath, uint64(rule.FastTimer)), knob(trace.KnobFastpath, uint64(rule.FastHalt))}},
		{"x,x", []vmm.Command{knob(trace.KnobKick, uint64(vmm.KickKC)), knob(trace.KnobKick, uint64(vmm.KickKB))}},
		{"X", []vmm.Command{knob(trace.KnobKick, uint64(vmm.KickKC))}},
		{"+,+,-", []vmm.Command{knob(trace.KnobAdvance, 1100), knob(trace.KnobAdvance, 1200), knob(trace.KnobAdvance, 1100)}},
		{"A,A", []vmm.Command{knob(trace.KnobAdvance, 1000), knob(trace.KnobAdvance, trace.AdvanceAdaptive)}},
		{"v,v,v", []vmm.Command{knob(trace.KnobVMEntryAdvance, 25), knob(trace.KnobVMEntryAdvance, 300), knob(trace.KnobVMEntryAdvance, 0)}},
		{"w", []vmm.Command{knob(trace.KnobWaitPlacement, uint64(trace.WaitEarly))}},
		{"H", []vmm.Command{knob(trace.KnobHaltPoll, 400_000)}},
		{"E", []vmm.Command{knob(trace.KnobExitsDisabled, uint64(vmm.DisableHLT))}},
		{"T", []vmm.Command{knob(trace.KnobTuning, 5)}},
		{"R", []vmm.Command{knob(trace.KnobRunningShort, uint64(vmm.ShortcutWake))}},
		{"]", []vmm.Command{{Verb: vmm.DoSpeed, Speed: 10}}},
		{"[", []vmm.Command{{Verb: vmm.DoSpeed, Speed: 0.1}}},
		{`b,"late > 1us",enter`, []vmm.Command{{Verb: vmm.DoBreak, Text: "late > 1us"}}},
		{"b,l,a,t,e,enter", nil}, // no condition yet
		{"b,enter", []vmm.Command{{Verb: vmm.DoBreak}}},
		{"b,l,esc", nil},
		{`>,"knob changed",enter`, []vmm.Command{{Verb: vmm.DoRunTo, Text: "knob changed"}}},
		{`>,"knob changed",enter,>,enter`, []vmm.Command{{Verb: vmm.DoRunTo, Text: "knob changed"}, {Verb: vmm.DoRunTo, Text: "knob changed"}}},
		{`>,"knob changed",enter,b,up,enter`, []vmm.Command{{Verb: vmm.DoRunTo, Text: "knob changed"}, {Verb: vmm.DoBreak}}},
		{`b,"late > 1us",enter,b,"x",up,enter`, []vmm.Command{{Verb: vmm.DoBreak, Text: "late > 1us"}, {Verb: vmm.DoBreak, Text: "late > 1us"}}},
		{"n", []vmm.Command{{Verb: vmm.DoRunTo, Text: "late > 100"}}},
		{"m,x,enter", []vmm.Command{{Verb: vmm.DoMark, Text: "x"}}},
		{"m,x,enter,',x,enter", []vmm.Command{{Verb: vmm.DoMark, Text: "x"}, {Verb: vmm.DoSeek}}},
		{"r,enter,r", []vmm.Command{{Verb: vmm.DoRecord, Path: "cyclic-0.tt"}, {Verb: vmm.DoRecord}}},
		{`r,"x",enter`, []vmm.Command{{Verb: vmm.DoRecord, Path: "cyclic-0.ttx"}}},
		{"r,esc", nil},
		{"5,enter", []vmm.Command{knob(trace.KnobAPICv, 0)}},
		{"5,down,enter", []vmm.Command{knob(trace.KnobPostedTimer, 1)}},
		{"5,down,down,down,backspace", []vmm.Command{knob(trace.KnobAdvance, 900)}},
		{":,a,p,i,c,v,=,o,f,f,enter", []vmm.Command{knob(trace.KnobAPICv, 0)}},
		{":,t,i,m,e,r,-,a,d,v,a,n,c,e,=,5,u,s,enter", []vmm.Command{knob(trace.KnobAdvance, 5000)}},
		{":,k,i,c,k,-,t,a,x,enter", []vmm.Command{knob(trace.KnobKick, uint64(vmm.KickKC))}},
		{":,a,p,i,c,v,=,7,enter", nil},
	}
	for _, tt := range tests {
		r := newRig(t, 120, 40, 0)
		r.m.frame.Status.CanBack = strings.Contains(tt.keys, "'")
		r.s.Status.CanBack = r.m.frame.Status.CanBack
		r.press(tt.keys)
		if !slices.Equal(r.s.Done, tt.want) {
			t.Errorf("keys %q ask for %+v, want %+v (notice %q)", tt.keys, r.s.Done, tt.want, r.m.said)
		}
	}
}

func TestTwoPressesWithinOneFrameAddUp(t *testing.T) {
	r := newRig(t, 80, 24, 0)
	for range 3 { // no frame between them
		_, cmd := r.m.Update(KeyMsg("+"))
		r.m.Update(cmd())
	}
	if got := r.s.Done[2].Value; got != 1300 {
		t.Errorf("the third press asks for %d ns, want 1300", got)
	}
	r.m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("]]")}) // from 1
	if got := r.m.speed(); got != 100 {
		t.Errorf("after two presses at once the speed is %v, want 100", got)
	}
}

func TestKeysThatArriveTogetherAreKeysEach(t *testing.T) {
	r := newRig(t, 80, 24, 0)
	_, cmd := r.m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("2z")})
	if cmd != nil {
		cmd()
	}
	if r.m.focus != paneDeadlines || !r.m.zoom {
		t.Errorf("2 and z in one message leave focus %d, zoom %v", r.m.focus, r.m.zoom)
	}
	r.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("qq"), Paste: true})
	r.wants("pasted text")
	r.press("/")
	r.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("hlt"), Paste: true})
	if got := r.m.prompt.input.Value(); got != "hlt" {
		t.Errorf("pasting hlt into a prompt leaves %q", got)
	}
	r.press("esc,m")
	for _, word := range []string{"end", "enter", "esc", "left", "up"} { // words, although keys have these names
		r.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(word)})
	}
	if r.m.prompt == nil || r.m.prompt.input.Value() != "endenterescleftup" {
		t.Errorf("words that arrive at once leave the prompt %+v", r.m.prompt)
	}
}

func TestIdleScreensLookLessOften(t *testing.T) {
	r := newRig(t, 80, 24, 500)
	for range idleFrames + 1 {
		r.frame()
	}
	if got := r.m.period(); got != idlePeriod {
		t.Errorf("an idle screen waits %v for a frame, want %v", got, idlePeriod)
	}
	r.press("s")
	if got := r.m.period(); got != framePeriod {
		t.Errorf("after a step the screen waits %v, want %v", got, framePeriod)
	}
	<-r.m.link.nudge // the step ended the wait
	r.s.Status.Run = vmm.Running
	for range idleFrames + 2 {
		r.frame()
	}
	if got := r.m.period(); got != framePeriod && r.m.frame.Status.Run == vmm.Running {
		t.Errorf("a running screen waits %v", got)
	}
}

func TestRefusedActionsSayWhy(t *testing.T) {
	tests := []struct{ keys, want string }{
		{"S", "cannot go back"},
		{"D", "cannot go back"},
		{"e", "no deadline to explain"},
		{"6,e", "2 lists the deadlines"},
		{"c", "nothing to compare yet"},
		{"N", "cannot go back"},
		{"<", "cannot go back"},
		{">,enter", "a condition is needed"},
		{"'", "cannot go to another time"},
		{"p", "posted-timer is fixed: the module was loaded without it"},
		{"P", "preemption-timer is gone: this engine does not offer it"},
		{"i", "key i has no action"},
		{"y", "nothing to copy"},
		{"6,enter", "no exit to open"},
		{":,z,z,z,q,enter", "nothing matches"},
		{":,a,p,i,c,v,=,7,enter", "apicv"},
	}
	for _, tt := range tests {
		r := newRig(t, 120, 40, 0)
		r.s.Knobs[trace.KnobPostedTimer-1] = vmm.KnobState{Knob: trace.KnobPostedTimer, Tag: vmm.TagFixed, Why: "the module was loaded without it"}
		r.s.Knobs[trace.KnobPreemptionTimer-1] = vmm.KnobState{Knob: trace.KnobPreemptionTimer, Tag: vmm.TagGone}
		r.frame()
		r.press(tt.keys)
		r.wants("✗ ")
		r.wants(tt.want)
		if len(r.s.Done) != 0 {
			t.Errorf("keys %q ask the session for %+v", tt.keys, r.s.Done)
		}
	}
}

func TestSessionErrorsAreShown(t *testing.T) {
	r := newRig(t, 100, 30, 0)
	r.s.Fail[vmm.DoKnob] = errors.New("the engine is busy")
	r.press("a")
	r.wants("✗ the engine is busy")
	if r.m.wanted[trace.KnobAPICv].set {
		t.Error("a refused knob is still shown as turned")
	}
}

func TestCopyHandsTraceTextToTheTerminal(t *testing.T) {
	tests := []struct{ keys, want string }{
		{"6,y", "kvm_exit: vcpu 0 reason MSR_WRITE rip 0x401052 info1 0x00000000000006e0 info2 0x000000000241e130"},
		{"2,y", "deadline 510 vcpu 1 target 37806397 late 3031 outcome done backing sw (blocked) route pending+kick (from-timer-fn)"},
		{"4,y", "kick: target 1 from none mode outside decision wake steps rcu|wake"},
	}
	for _, tt := range tests {
		r := newRig(t, 120, 40, 11_500)
		r.press(tt.keys)
		want := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(r.m.copied)) + "\a"
		if v := r.m.View(); !strings.HasPrefix(v, want) {
			t.Errorf("%s: the frame begins with %q", tt.keys, first(v, 60))
		}
		if !strings.Contains(r.m.copied, tt.want) {
			t.Errorf("%s copies %q, want %q", tt.keys, r.m.copied, tt.want)
		}
		if v := r.m.View(); strings.Contains(v, "\x1b]52") {
			t.Errorf("%s: the next frame copies again", tt.keys)
		}
	}
}

func TestQuitAsksOnlyWhileRecording(t *testing.T) {
	r := newRig(t, 80, 24, 0)
	if _, ok := r.press("q").(tea.QuitMsg); !ok {
		t.Error("q does not quit")
	}
	r.s.Status.Recording = "run.tt"
	r.frame()
	if _, ok := r.press("q").(tea.QuitMsg); ok {
		t.Error("q quits although a recording runs")
	}
	r.wants("finish it and quit?")
	if _, ok := r.press("n").(tea.QuitMsg); ok || r.m.question != nil {
		t.Error("n does not close the question")
	}
	if _, ok := r.press("q,y").(tea.QuitMsg); !ok {
		t.Error("y does not quit")
	}
}

func TestFilterShowsMatchingLinesOnly(t *testing.T) {
	r := newRig(t, 120, 30, 3000)
	r.press("6,z,/,c,p,u,i,d,enter")
	if s := r.screen(); !strings.Contains(s, "CPUID") || strings.Contains(s, "PREEMPTION") {
		t.Errorf("filter cpuid shows:\n%s", s)
	}
	r.press("up,up")
	if x := exitByNum(&r.m.frame.State, r.m.panes[paneExits].(*exitsPane).chosen(r.m.scene())); x.Reason != trace.ExitCPUID {
		t.Errorf("the selection went to %v", x.Reason)
	}
	r.press("/,!,m,s,r,enter")
	if s := r.screen(); strings.Contains(s, "MSR_WRITE") || !strings.Contains(s, "HLT") {
		t.Errorf("filter !msr shows:\n%s", s)
	}
	r.press("/,x,esc") // leaves the filter as it was
	r.wants("/!msr")
	r.press("esc")
	r.wants("MSR_WRITE")
}

func TestGuestTextCannotReachTheTerminal(t *testing.T) {
	r := newRig(t, 100, 30, 0)
	evil := "\x1b]0;title\x07\x1b[31mred\x1b[0m\x9b2J\x00\x08\x1b[6n ok\u202e\u2028\r\n\x1b"
	var ev []trace.Event
	for i := 0; i < len(evil); i += 8 {
		e := trace.Event{Kind: trace.KindConsole, D: uint64(min(8, len(evil)-i))}
		for j := 0; j < 8 && i+j < len(evil); j++ {
			e.A |= uint64(evil[i+j]) << (8 * j)
		}
		ev = append(ev, e)
	}
	r.s.Events = ev
	r.s.Play(len(ev))
	r.frame()
	r.press("7")
	r.wants("red")
	r.m.dirty = true
	for _, seq := range strings.Split(r.m.View(), "\x1b")[1:] {
		if !strings.HasPrefix(seq, "[") || strings.Trim(seq[1:strings.IndexByte(seq, 'm')], "0123456789;") != "" {
			t.Errorf("the frame holds the sequence %q", first(seq, 12))
		}
	}
	for _, c := range r.m.View() {
		if c < ' ' && c != '\n' && c != '\x1b' || c == 0x202e || c >= 0x7f && c < 0xa0 {
			t.Errorf("the frame holds %#U", c)
		}
	}
}

func TestSmallTerminalSaysWhatItNeeds(t *testing.T) {
	r := newRig(t, 20, 5, 0)
	r.wants("terminal too small")
	r.wants("needs 64×18")
	r.wants("has   20×5")
	if _, ok := r.press("q").(tea.QuitMsg); !ok {
		t.Error("q does not quit a small screen")
	}
}

func TestResizeStormDoesNotPanic(t *testing.T) {
	t.Parallel()
	r := newRig(t, 80, 24, 11_500)
	for p := range numPanes {
		r.m.focus = p
		for _, key := range []string{"z", "enter", "?", ":", "esc", "esc", "esc"} {
			r.press(key)
			for i := range 40 {
				r.send(tea.WindowSizeMsg{Width: i * 37 % 230, Height: i * 17 % 71})
				r.screen()
			}
		}
	}
}

func TestManyVCPUsFitEverySize(t *testing.T) {
	for _, n := range []int{0, 1, 3, 8, 200} {
		h := uitest.Header()
		h.VCPUs = n
		s := uitest.New(h, uitest.Stream(20))
		if n > 1 {
			s.Play(500)
		}
		m := New(s, Options{})
		m.Update(m.Init()())
		for _, sz := range []struct{ w, h int }{{64, 18}, {80, 24}, {200, 60}} {
			m.Update(tea.WindowSizeMsg{Width: sz.w, Height: sz.h})
			m.Update(KeyMsg("pgdown"))
			m.View()
			if m.failure != nil {
				t.Fatalf("%d vCPUs at %d×%d: %v\n%s", n, sz.w, sz.h, m.failure, m.failure.Stack)
			}
		}
	}
}

func TestMouseFocusesSelectsAndOpens(t *testing.T) {
	r := newRig(t, 200, 60, 11_500)
	arr := r.m.arrange()
	at := arr[paneExits]
	click := tea.MouseMsg{X: at.x + 30, Y: at.y + 4, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress}
	r.screen()
	r.send(click)
	p := r.m.panes[paneExits].(*exitsPane)
	if r.m.focus != paneExits || p.list.follow {
		t.Fatalf("a click leaves focus %d, follow %v", r.m.focus, p.list.follow)
	}
	want := p.chosen(r.m.scene())
	r.screen()
	r.send(click)
	if r.m.open == nil || r.m.open.num != want {
		t.Errorf("the second click opens %+v, want exit %d", r.m.open, want)
	}
	r.press("esc")
	sel := p.list.sel
	r.send(tea.MouseMsg{X: at.x + 30, Y: at.y + 4, Button: tea.MouseButtonWheelUp, Action: tea.MouseActionPress})
	if p.list.sel != sel-1 {
		t.Errorf("the wheel moves the selection from %d to %d", sel, p.list.sel)
	}
	k := arr[paneKnobs]
	r.send(tea.MouseMsg{X: k.x + 5, Y: k.y + 3, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
	if r.m.focus != paneKnobs || r.m.panes[paneKnobs].(*knobsPane).sel != 2 {
		t.Errorf("a click on the third knob selects %d", r.m.panes[paneKnobs].(*knobsPane).sel)
	}
}

func TestPauseIsDrawnOnce(t *testing.T) {
	r := newRig(t, 80, 24, 500)
	r.screen()
	r.frame()
	if r.m.dirty {
		t.Error("a frame in which nothing changed is drawn again")
	}
	r.s.Play(1)
	r.frame()
	if !r.m.dirty {
		t.Error("a frame with a new event is not drawn")
	}
}

// broken is a session that panics.
type broken struct{ vmm.Session }

func (broken) Frame(*vmm.Frame) { panic("no frame") }

func TestPanicsComeBackAsErrorsWithTheTerminalRestored(t *testing.T) {
	tests := []struct {
		name string
		m    func() *Model
		want string
	}{
		{"in a command", func() *Model { return New(broken{}, Options{}) }, "no frame"},
		{"in View", func() *Model {
			m := New(uitest.New(uitest.Header(), nil), Options{})
			m.w, m.h, m.panes[paneTimer] = 80, 24, nil
			return m
		}, "nil pointer"},
	}
	for _, tt := range tests {
		var out strings.Builder
		pr, pw := io.Pipe()
		err := run(t.Context(), tt.m(), nil, tea.WithInput(pr), tea.WithOutput(&out), tea.WithAltScreen())
		pw.Close()
		var pe *PanicError
		if !errors.As(err, &pe) || !strings.Contains(err.Error(), tt.want) || len(pe.Stack) == 0 {
			t.Errorf("%s: Run = %v, want a PanicError with %q", tt.name, err, tt.want)
		}
		if s := out.String(); !strings.Contains(s, "\x1b[?1049l") || !strings.Contains(s, "\x1b[?25h") {
			t.Errorf("%s: the terminal is not restored: %q", tt.name, first(s, 200))
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	pr, pw := io.Pipe()
	defer pw.Close()
	err := run(ctx, New(uitest.New(uitest.Header(), nil), Options{}), nil, tea.WithInput(pr), tea.WithOutput(io.Discard))
	if err != nil {
		t.Errorf("Run after its context is done = %v, want nil", err)
	}
}

// started tells when the screen has asked for its first frame.
type started struct {
	*uitest.Session
	once sync.Once
	c    chan struct{}
}

func (s *started) Frame(f *vmm.Frame) {
	s.Session.Frame(f)
	s.once.Do(func() { close(s.c) })
}

func TestSignalEndsTheScreenAndRestoresTheTerminal(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		s := &started{Session: uitest.New(uitest.Header(), nil), c: make(chan struct{})}
		var out strings.Builder
		pr, pw := io.Pipe()
		end := make(chan error)
		go func() {
			end <- run(t.Context(), New(s, Options{}), nil, tea.WithInput(pr), tea.WithOutput(&out), tea.WithAltScreen())
		}()
		<-s.c
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if err := self.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if err := <-end; err != nil {
			t.Errorf("after %v Run = %v", sig, err)
		}
		pw.Close()
		if !strings.Contains(out.String(), "\x1b[?1049l") {
			t.Errorf("after %v the terminal is not restored", sig)
		}
	}
}

func TestThemesShowTheSameText(t *testing.T) {
	var texts []string
	for _, theme := range []string{"dark", "light", "16"} {
		r := newRig(t, 160, 48, 11_500)
		r.m.look = newStyles(theme, r.m.opts.Profile)
		texts = append(texts, r.screen())
	}
	if texts[0] != texts[1] || texts[0] != texts[2] {
		t.Error("themes differ in more than their colours")
	}
	r := newRig(t, 160, 48, 0)
	r.m.opts.NoColor = true
	r.press("t")
	r.wants("colours are off")
}

func BenchmarkFrame200x60(b *testing.B) {
	tests := []struct{ name, keys string }{
		{"overview", "2"}, {"zoomed", "2,z"}, {"filter that keeps nothing", `6,/,"exit == WBINVD",enter`},
		{"filter by deadline", `6,/,"late > 20us",enter`}, {"brushed", "2,.,"}, {"inspector", "6,enter"}, {"compare", "c"}, {"help", "?"},
	}
	events := uitest.Stream(6000)
	for _, tt := range tests {
		b.Run(tt.name, func(b *testing.B) {
			s := uitest.New(uitest.Header(), events)
			s.Play(100_000)
			m := New(s, Options{})
			r := &rig{nil, m, s}
			r.frame()
			r.send(tea.WindowSizeMsg{Width: 200, Height: 60})
			r.press(tt.keys)
			b.ReportAllocs()
			for b.Loop() {
				s.Play(10)
				m.Update(m.Init()()) // the session's copy of the state is part of a frame
				m.dirty = true
				m.View()
			}
			if m.failure != nil {
				b.Fatal(m.failure)
			}
		})
	}
}
