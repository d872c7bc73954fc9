package ui

import (
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// outcome is what an action did: what was asked of the session, what the screen
// shows, and the message that came back.
type outcome struct {
	done   []vmm.Command
	screen string
	quit   bool
}

// carryOut drives a screen on which most actions are possible.
func carryOut(t *testing.T, keys string) outcome {
	t.Helper()
	r := newRig(t, 100, 32, 6_000)
	r.s.Status.CanBack = true
	r.s.Marks = []vmm.Mark{{At: 1000, Name: "a"}}
	r.frame()
	r.press("2")
	last := r.press(keys)
	_, quit := last.(tea.QuitMsg)
	if r.m.said != "" && strings.Contains(r.m.said, r.m.opts.Dir) {
		r.m.say("a picture")
		r.m.dirty = true
	}
	return outcome{r.s.Done, r.screen(), quit}
}

func TestEveryActionIsReachedByKeyAndPaletteAndIsInHelp(t *testing.T) {
	t.Parallel()
	r := newRig(t, 120, 60, 3000)
	var help strings.Builder
	for _, l := range r.m.helpLines(118) {
		help.WriteString(l.key + " " + l.words + "\n")
	}
	before := carryOut(t, "")
	for _, b := range keymap.Default() {
		if !strings.Contains(help.String(), b.KeyNames(" ")+" "+first(b.Help, 40)) {
			t.Errorf("%s: help has no line %q with %q", b.Name, b.KeyNames(" "), b.Help)
		}
		if b.Scope != keymap.Global {
			continue
		}
		byKey := carryOut(t, b.Keys[0])
		for _, k := range b.Keys[1:] {
			if other := carryOut(t, k); !slices.Equal(other.done, byKey.done) || other.screen != byKey.screen || other.quit != byKey.quit {
				t.Errorf("%s: key %s does not do what %s does", b.Name, k, b.Keys[0])
			}
		}
		if len(byKey.done) == 0 && byKey.screen == before.screen && !byKey.quit && !moving(b.Action) {
			t.Errorf("%s: key %q does nothing", b.Name, b.Keys[0])
		}
		if b.Action == keymap.Palette {
			continue
		}
		byName := carryOut(t, `:,"`+b.Name+`",enter`)
		if !slices.Equal(byName.done, byKey.done) || byName.screen != byKey.screen || byName.quit != byKey.quit {
			t.Errorf("%s: the palette asks for %+v, the key for %+v; the screens are\n%s\n%s", b.Name, byName.done, byKey.done, byName.screen, byKey.screen)
		}
	}
}

func TestPromptsAndQuestionsAreAnsweredByEachOfTheirKeys(t *testing.T) {
	for _, b := range keymap.Default() {
		for _, k := range b.Keys {
			r := newRig(t, 100, 30, 500)
			switch b.Scope {
			case keymap.Prompt:
				r.press(`b,"late > 1us"`)
				r.press(k)
				if accepted := len(r.s.Done) == 1; r.m.prompt != nil || accepted != (b.Action == keymap.Accept) {
					t.Errorf("%s, key %q: prompt %+v, the session was asked for %+v", b.Name, k, r.m.prompt, r.s.Done)
				}
			case keymap.Question:
				r.s.Status.Recording = "run.tt"
				r.frame()
				r.press("q")
				_, quit := r.press(k).(tea.QuitMsg)
				if r.m.question != nil || quit != (b.Action == keymap.Confirm) {
					t.Errorf("%s, key %q: question %+v, quit %v", b.Name, k, r.m.question, quit)
				}
			}
		}
	}
}

// TestMouseReachesWhatKeysReach clicks, drags and turns the wheel, and looks for
// the effect of the key that does the same.
func TestMouseReachesWhatKeysReach(t *testing.T) {
	tests := []struct {
		name, keys string
		mouse      func(r *rig)
	}{
		{"focus", "6", func(r *rig) { r.click(paneExits, 2, 0) }},
		{"zoom out and focus by strip", "3", func(r *rig) { r.click(paneFastpath, 2, 0) }},
		{"up", "6,up", func(r *rig) { r.press("6"); r.wheel(paneExits, tea.MouseButtonWheelUp) }},
		{"down", "6,up,up,down", func(r *rig) { r.press("6,up,up"); r.wheel(paneExits, tea.MouseButtonWheelDown) }},
	}
	for _, tt := range tests {
		byKeys, byMouse := newRig(t, 80, 24, 6_000), newRig(t, 80, 24, 6_000)
		byKeys.press(tt.keys)
		byMouse.screen()
		tt.mouse(byMouse)
		if a, b := byKeys.screen(), byMouse.screen(); a != b {
			t.Errorf("%s: the mouse leaves\n%s\nwant as after the keys %s\n%s", tt.name, b, tt.keys, a)
		}
	}
	r := newRig(t, 100, 32, 6_000)
	r.s.Timeline = vmm.Timeline{To: 50_000_000, Buckets: make([]vmm.Bucket, 8), Complete: true}
	r.s.Status.Replaying = true
	r.frame()
	r.send(tea.MouseMsg{X: barLead, Y: 32 - footerRows - 1, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
	r.press("g")
	if want := (vmm.Command{Verb: vmm.DoSeek, At: clock.TSC(0)}); !slices.Equal(r.s.Done, []vmm.Command{want, want}) {
		t.Errorf("a click on the start of the seek bar and g ask for %+v", r.s.Done)
	}
}

// click presses the left button at a place of a pane.
func (r *rig) click(p paneID, x, y int) {
	s := r.m.arrange()[p]
	r.send(tea.MouseMsg{X: s.x + x, Y: s.y + y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
	r.send(tea.MouseMsg{X: s.x + x, Y: s.y + y, Button: tea.MouseButtonNone, Action: tea.MouseActionRelease})
}

func (r *rig) wheel(p paneID, b tea.MouseButton) {
	s := r.m.arrange()[p]
	r.send(tea.MouseMsg{X: s.x + 3, Y: s.y + 3, Button: b, Action: tea.MouseActionPress})
}
