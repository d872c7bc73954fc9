package screenshots

import (
	"fmt"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
	"codeberg.org/ticktrap/ticktrap/trace/query"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
	"codeberg.org/ticktrap/ticktrap/vmm/rerun"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// Run is a built-in guest on the model, driven step by step: no clock, so the
// same scene gives the same picture. It is a vmm.Session that is always paused.
type Run struct {
	Guest, Args  string
	VCPUs, PCPUs int
	// Knobs are set at the start, as NAME=VALUE.
	Knobs []string

	r      *session.Runner
	cfg    model.Config
	status vmm.Status
}

// open starts the run; it is done once.
func (u *Run) open() error {
	prof, err := model.LoadProfile("skylake-server")
	if err != nil {
		return err
	}
	p, err := guest.ParseParams(u.Guest, u.Args, prof.Hz)
	if err != nil {
		return err
	}
	img, err := guest.Builtin(u.Guest, p)
	if err != nil {
		return err
	}
	cfg := model.Config{Guest: img, VCPUs: max(u.VCPUs, img.MinVCPUs()), PCPUs: u.PCPUs, RAM: 32 << 20, Seed: model.DefaultSeed,
		Profile: prof, Knobs: vmm.DefaultKnobs()}
	cfg.PCPUs = max(cfg.PCPUs, cfg.VCPUs)
	for _, k := range u.Knobs {
		name, value, _ := strings.Cut(k, "=")
		n, v, err := trace.ParseKnob(name, value)
		if err == nil {
			err = cfg.Knobs.Set(n, v)
		}
		if err != nil {
			return fmt.Errorf("knob %s: %w", k, err)
		}
	}
	u.cfg = cfg
	u.r, err = session.NewRunner(func(sink trace.Sink) (vmm.Engine, error) { return model.New(cfg, sink) })
	if err != nil {
		return err
	}
	u.r.KeepHistory()
	return nil
}

// Try is ui.Options.Try: a deadline of the present branch is run again.
func (u *Run) Try(c *trace.Chain, from clock.TSC, want []explain.Setting, watch func(now, goal clock.TSC) bool) ([]explain.Check, error) {
	again := rerun.Run{Watch: watch, Make: func(sink trace.Sink) (vmm.Rewinder, error) { return model.New(u.cfg, sink) }}
	for _, m := range u.r.Turns() {
		again.Turns = append(again.Turns, rerun.Turn{Pos: m.Pos, Knob: m.Knob, Value: m.Value})
	}
	var try []rerun.Setting
	for _, s := range want {
		try = append(try, rerun.Setting(s))
	}
	outs, err := again.Deadline(c, from, try)
	var checks []explain.Check
	for i := range outs {
		checks = append(checks, explain.NewCheck(want[i], c, int64(c.Late), &outs[i].Chain, outs[i].Ran))
	}
	return checks, err
}

// Deadlines runs on until n more deadlines have been handled.
func (u *Run) Deadlines(n int) error {
	u.r.StepDeadlines(n)
	_, err := u.r.RunTo(clock.Never, nil)
	return err
}

// Frame implements vmm.Session.
func (u *Run) Frame(f *vmm.Frame) {
	f.Header = *u.r.Header()
	u.r.State().CopyTo(&f.State)
	f.CPUs = u.r.Engine().CPUs(f.CPUs[:0])
	f.Knobs = append(f.Knobs[:0], u.r.Engine().Knobs()...)
	u.status.Run, u.status.Now, u.status.Speed = vmm.Paused, u.r.Engine().Now(), 1
	u.status.CanBack = u.r.CanBack()
	u.status.Branch, u.status.Replaying, u.status.Head = u.r.Where()
	f.Status = u.status
	f.Others = u.r.Others(f.Others)
	u.r.Known(&f.Timeline)
}

// Do implements vmm.Session. Every action is complete when it returns.
func (u *Run) Do(c vmm.Command) error {
	var cond *query.Condition
	switch c.Verb {
	case vmm.DoStepExit:
		u.r.StepExits(c.N)
	case vmm.DoStepDeadline:
		u.r.StepDeadlines(c.N)
	case vmm.DoRunTo, vmm.DoBackTo:
		var err error
		if cond, err = query.ParseCondition(c.Text); err != nil {
			return err
		}
	case vmm.DoBackExit:
		return u.r.BackExits(c.N)
	case vmm.DoBackDeadline:
		return u.r.BackDeadlines(c.N)
	case vmm.DoSeek:
		return u.r.Seek(c.At)
	case vmm.DoKnob:
		_, err := u.r.SetKnob(c.Knob, c.Value)
		return err
	case vmm.DoMark:
		u.r.Mark(c.Text)
		return nil
	default:
		return fmt.Errorf("verb %d has no place in a scene", c.Verb)
	}
	if c.Verb == vmm.DoBackTo {
		_, err := u.r.BackTo(cond)
		return err
	}
	u.r.BreakAt(cond)
	_, err := u.r.RunTo(clock.Never, nil)
	u.r.BreakAt(nil)
	return err
}

// Close implements vmm.Session.
func (u *Run) Close() error { return u.r.Engine().Close() }

// exit runs on to the entry after the next exit.
func (u *Run) exit() error {
	u.r.StepExits(1)
	_, err := u.r.RunTo(clock.Never, nil)
	return err
}
