package ui

import (
	"strconv"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
)

// TryFunc runs deadline c again, once with each setting, which is turned at from
// (0: shortly before it was armed), and says what became of it. It is called in a
// goroutine of its own. watch is told how far the run is and returns true to give
// it up.
type TryFunc func(c *trace.Chain, from clock.TSC, want []explain.Setting, watch func(now, goal clock.TSC) (stop bool)) ([]explain.Check, error)

// maxTrials is how many proposed knobs are tried at most.
const maxTrials = 4

// trial is a re-run of an explained deadline with the proposed knobs.
type trial struct {
	want      []explain.Setting
	checks    []explain.Check
	err       error
	over      bool
	now, goal atomic.Uint64 // how far it is
	stop      atomic.Bool   // it was given up
}

// triedMsg brings what became of a trial.
type triedMsg struct {
	t      *trial
	checks []explain.Check
	err    error
}

func (t *trial) running() bool { return t != nil && !t.over }

// giveUp ends a trial; its message may come later.
func (t *trial) giveUp() {
	if t.running() {
		t.stop.Store(true)
		t.over = true
	}
}

// whyNoTrial says why the explained deadline cannot be run again; empty if it
// can.
func (m *Model) whyNoTrial() string {
	switch {
	case m.opts.Try == nil:
		return "this run cannot be repeated, so no knob can be tried: only runs of the model and their recordings can"
	case m.why.trial.running():
		return "the deadline is being run again; " + m.keys.Key(keymap.Back) + " gives it up"
	case len(m.why.x.Settings()) == 0:
		return "no knob is proposed for this deadline"
	}
	return ""
}

// startTrial runs the explained deadline again in the background.
func (m *Model) startTrial() tea.Cmd {
	e := m.why
	want := e.x.Settings()
	t := &trial{want: want[:min(len(want), maxTrials)]}
	e.trial = t
	try, chain, from := m.opts.Try, e.chain, e.from
	return guarded(func() tea.Msg {
		checks, err := try(&chain, from, t.want, func(now, goal clock.TSC) bool {
			t.now.Store(uint64(now))
			t.goal.Store(uint64(goal))
			return t.stop.Load()
		})
		return triedMsg{t, checks, err}
	})
}

// tried takes what became of a trial, unless it was given up.
func (m *Model) tried(msg triedMsg) {
	if msg.t.stop.Load() {
		return
	}
	msg.t.checks, msg.t.err, msg.t.over = msg.checks, msg.err, true
	m.dirty = true
}

// leaveExplained closes the explanation and gives up what it tries.
func (m *Model) leaveExplained() {
	if m.why != nil {
		m.why.trial.giveUp()
		m.why = nil
	}
}

// trialLines is the part of an explanation about the knobs that are tried.
func trialLines(s *scene, e *explaining, w int) (out []explainLine) {
	t := e.trial
	if t == nil {
		return nil
	}
	head := []piece{{"run again with a knob turned", heading, 0}, {"  the same deadline, up to its arming as before; " + e.x.Provenance, dim, 1}}
	out = append(out, explainLine{head, -1})
	line := func(ps ...piece) { out = append(out, explainLine{ps, -1}) }
	switch {
	case t.stop.Load():
		line(piece{"given up; ", dim, 0}, piece{s.keys.Key(keymap.Explain), keyHint, 0}, piece{" begins again", dim, 0})
	case !t.over:
		share := 0.0
		if goal := t.goal.Load(); goal > 0 {
			share = float64(t.now.Load()) / float64(goal)
		}
		line(piece{"running the guest up to the deadline  ", text, 0}, piece{strconv.Itoa(int(share*100)) + "%", value, 0},
			piece{"  TSC " + group3(t.now.Load()) + " of " + group3(t.goal.Load()), dim, 1}, piece{"  ", text, 0},
			piece{s.keys.Key(keymap.Back), keyHint, 0}, piece{" gives it up", dim, 0})
	case t.err != nil:
		for _, l := range wrap("not tried: "+t.err.Error(), w-4) {
			line(piece{l, warn, 0})
		}
	}
	for i := range t.checks {
		c := &t.checks[i]
		ps := []piece{{padRight(c.Knob+"="+c.Value, 26), text, 0}}
		if c.Note != "" {
			line(append(ps, piece{figures(c.Note), warn, 0})...)
			continue
		}
		d := clock.Cycles(c.After - c.Before)
		ps = append(ps, piece{padLeft(s.cyc(clock.Cycles(c.Before)), 14) + " → ", dim, 0}, piece{padLeft(s.cyc(clock.Cycles(c.After)), 14), value, 0},
			piece{"   " + trialWord(s, d), pick(d < 0, good, pick(d > 0, late, dim)), 0})
		line(ps...)
	}
	return out
}

// trialWord says what a knob would have changed.
func trialWord(s *scene, d clock.Cycles) string {
	switch {
	case d < 0:
		return s.span(-d) + " earlier"
	case d > 0:
		return s.span(d) + " later"
	}
	return "no difference"
}
