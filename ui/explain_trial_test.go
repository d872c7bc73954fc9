package ui

import (
	"errors"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
)

// explainedRig is a screen on which a deadline with proposals is explained.
func explainedRig(t *testing.T, try TryFunc) *rig {
	t.Helper()
	r := newRig(t, 140, 60, 11_500)
	r.m.opts.Try = try
	r.press("2,up,e")
	for range 40 {
		if len(r.m.why.x.Settings()) > 0 {
			return r
		}
		r.press("esc,up,e")
	}
	t.Fatal("no deadline of the stream has a proposal")
	return nil
}

func TestProposedKnobsAreTriedAndWatched(t *testing.T) {
	var seen trace.Num
	r := explainedRig(t, func(c *trace.Chain, _ clock.TSC, want []explain.Setting, watch func(now, goal clock.TSC) bool) ([]explain.Check, error) {
		seen = c.Num
		watch(50, 200)
		var out []explain.Check
		for _, s := range want {
			out = append(out, explain.Check{Knob: s.Knob.String(), Value: trace.FormatKnob(s.Knob, s.Value), Before: 1500, After: 1100})
		}
		out[len(out)-1] = explain.Check{Knob: "apicv", Value: "on", Note: "its handler did not run within 50 ms"}
		return append(out, explain.Check{Knob: "halt-poll", Value: "off", Before: 7, After: 7}), nil
	})
	_, cmd := r.m.Update(KeyMsg("e")) // not carried out yet
	r.wants("running the guest up to the deadline")
	msg := cmd()
	r.frame()
	r.wants("25%")
	r.m.Update(msg)
	if want := trace.Num(r.m.why.x.Deadline); seen != want {
		t.Errorf("deadline %d is run again, want %d", seen, want)
	}
	r.wants("run again with a knob turned")
	r.wants("its handler did not run within 50 ms")
	r.wants("no difference")
	if n := len(r.m.why.trial.want); n > 1 {
		r.wants("+1,500 cyc →")
		r.wants("400 cyc earlier")
	}
}

func TestTrialIsGivenUpBeforeTheExplanationCloses(t *testing.T) {
	r := explainedRig(t, func(_ *trace.Chain, _ clock.TSC, _ []explain.Setting, watch func(now, goal clock.TSC) bool) ([]explain.Check, error) {
		if !watch(1, 2) {
			t.Error("a trial that was given up is not told so")
		}
		return nil, errors.New("given up")
	})
	_, cmd := r.m.Update(KeyMsg("e"))
	r.press("e")
	r.wants("✗ the deadline is being run again; esc gives it up")
	r.press("esc")
	r.wants("given up")
	r.m.Update(cmd())
	if strings.Contains(r.screen(), "not tried") {
		t.Error("the end of a trial that was given up is shown as a failure")
	}
	r.press("esc")
	if r.m.why != nil {
		t.Error("esc does not close the explanation after the trial")
	}
}

func TestTrialThatIsNotPossibleSaysWhy(t *testing.T) {
	r := explainedRig(t, nil)
	r.press("e")
	r.wants("✗ this run cannot be repeated")
	r = explainedRig(t, func(*trace.Chain, clock.TSC, []explain.Setting, func(now, goal clock.TSC) bool) ([]explain.Check, error) {
		return nil, errors.New("the run does not repeat itself")
	})
	_, cmd := r.m.Update(KeyMsg("e"))
	r.m.Update(cmd())
	r.wants("not tried: the run does not repeat itself")
}

func TestRunningTrialKeepsTheScreenFresh(t *testing.T) {
	r := explainedRig(t, func(*trace.Chain, clock.TSC, []explain.Setting, func(now, goal clock.TSC) bool) ([]explain.Check, error) {
		return nil, nil
	})
	var cmd tea.Cmd
	_, cmd = r.m.Update(KeyMsg("e"))
	for range idleFrames + 2 {
		r.frame()
	}
	if got := r.m.period(); got != framePeriod {
		t.Errorf("while a trial runs the screen waits %v for a frame, want %v", got, framePeriod)
	}
	r.m.Update(cmd())
	for range idleFrames + 2 {
		r.frame()
	}
	if got := r.m.period(); got != idlePeriod {
		t.Errorf("after it the screen waits %v, want %v", got, idlePeriod)
	}
}

func TestSettingsSayHowTheyAreMade(t *testing.T) {
	s := newRig(t, 80, 24, 0).m.scene()
	for _, tt := range []struct{ knob, value, want string }{
		{"apicv", "off", "apicv=off, key a"}, {"timer-advance", "adaptive", "timer-advance=adaptive, key A"},
		{"timer-advance", "1200ns", ":timer-advance=1200ns"}, {"vmentry-advance", "300ns", "vmentry-advance=300ns, key v"},
		{"vmentry-advance", "350ns", ":vmentry-advance=350ns"}, {"nothing", "1", "nothing=1"},
	} {
		if got := howToSet(s, tt.knob, tt.value); got != tt.want {
			t.Errorf("%s=%s: %q, want %q", tt.knob, tt.value, got, tt.want)
		}
	}
}

func TestProgressIsSeenOnASmallScreen(t *testing.T) {
	r := explainedRig(t, func(*trace.Chain, clock.TSC, []explain.Setting, func(now, goal clock.TSC) bool) ([]explain.Check, error) {
		return nil, nil
	})
	r.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	r.m.Update(KeyMsg("e"))
	r.wants("running the guest up to the deadline")
}
