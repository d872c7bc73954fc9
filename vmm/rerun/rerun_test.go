package rerun_test

import (
	"errors"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
	"codeberg.org/ticktrap/ticktrap/vmm/rerun"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

func config(t *testing.T, seed uint64) model.Config {
	t.Helper()
	prof, err := model.LoadProfile("generic")
	if err != nil {
		t.Fatal(err)
	}
	p, err := guest.ParseParams("deadline", "mode=spin", prof.Hz)
	if err != nil {
		t.Fatal(err)
	}
	img, err := guest.Builtin("deadline", p)
	if err != nil {
		t.Fatal(err)
	}
	k := vmm.DefaultKnobs()
	k.Advance = 0
	return model.Config{Guest: img, VCPUs: 1, Profile: prof, Knobs: k, Seed: seed}
}

// played runs to 60 deadlines with a knob turned after 20, and returns the 40th.
func played(t *testing.T, cfg model.Config) (trace.Chain, clock.TSC, []rerun.Turn) {
	t.Helper()
	r, err := session.NewRunner(func(s trace.Sink) (vmm.Engine, error) { return model.New(cfg, s) })
	if err != nil {
		t.Fatal(err)
	}
	defer r.Engine().Close()
	if err := r.Schedule([]session.Turn{{At: 20, Knob: trace.KnobWaitPlacement, Value: uint64(trace.WaitEarly)}}); err != nil {
		t.Fatal(err)
	}
	r.SetLimits(session.Limits{Deadlines: 60})
	if _, err := r.RunTo(clock.Never, nil); err != nil {
		t.Fatal(err)
	}
	st := r.State()
	for i := range st.Chains.Len() {
		if c := st.Chains.At(i); c.Num == 40 {
			return *c, st.Exits.Get(uint64(c.ArmExit) - 1).At, []rerun.Turn{{Deadlines: 20, Knob: trace.KnobWaitPlacement, Value: uint64(trace.WaitEarly)}}
		}
	}
	t.Fatal("no deadline 40")
	return trace.Chain{}, 0, nil
}

func run(cfg model.Config, turns []rerun.Turn) *rerun.Run {
	return &rerun.Run{Turns: turns, Make: func(s trace.Sink) (vmm.Rewinder, error) { return model.New(cfg, s) }}
}

func TestKnobIsTriedOnTheSameDeadline(t *testing.T) {
	cfg := config(t, 3)
	c, at, turns := played(t, cfg)
	outs, err := run(cfg, turns).Deadline(&c, at, []rerun.Setting{
		{Knob: trace.KnobAdvance, Value: trace.AdvanceAdaptive}, {Knob: trace.KnobHaltPoll, Value: 0}})
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range outs {
		if !o.Ran || o.Chain.Target != c.Target || o.Chain.ArmAt != c.ArmAt {
			t.Errorf("setting %d: ran %v, target %d, want %d", i, o.Ran, o.Chain.Target, c.Target)
		}
	}
	if got := outs[0].Chain.Late; got >= c.Late*2/3 {
		t.Errorf("with an adaptive advance the deadline is %d cycles late, without %d: want less than two thirds", got, c.Late)
	}
	if got := outs[1].Chain.Late; got != c.Late {
		t.Errorf("a knob that does not matter changed the lateness from %d to %d", c.Late, got)
	}
}

func TestRunThatDoesNotRepeatItselfIsRefused(t *testing.T) {
	c, at, turns := played(t, config(t, 3))
	_, err := run(config(t, 4), turns).Deadline(&c, at, nil)
	if err == nil || !strings.Contains(err.Error(), "does not repeat itself") {
		t.Errorf("another seed: %v, want a refusal", err)
	}
}

// TestTurnsOfASessionRepeatItsBranch turns knobs in the middle of a reversible run,
// scheduled and by hand, goes back, branches, and runs a deadline again.
func TestTurnsOfASessionRepeatItsBranch(t *testing.T) {
	cfg := config(t, 5)
	r, err := session.NewRunner(func(s trace.Sink) (vmm.Engine, error) { return model.New(cfg, s) })
	if err != nil {
		t.Fatal(err)
	}
	defer r.Engine().Close()
	r.KeepHistory()
	if err := r.Schedule([]session.Turn{{At: 10, Knob: trace.KnobWaitPlacement, Value: uint64(trace.WaitEarly)},
		{At: 70, Knob: trace.KnobAPICv, Value: 0}}); err != nil {
		t.Fatal(err)
	}
	to := func(n int) {
		r.StepDeadlines(n)
		if _, err := r.RunTo(clock.Never, nil); err != nil {
			t.Fatal(err)
		}
	}
	turn := func(k trace.Knob, v uint64) {
		if _, err := r.SetKnob(k, v); err != nil {
			t.Fatal(err)
		}
	}
	to(30)
	turn(trace.KnobAdvance, trace.AdvanceAdaptive)
	to(60) // 90: beyond the second scheduled turn
	if err := r.BackDeadlines(50); err != nil {
		t.Fatal(err)
	}
	turn(trace.KnobVMEntryAdvance, 25) // a new branch
	to(20)
	made := r.Turns()
	if len(made) != 3 {
		t.Fatalf("%d turns on the branch, want the first scheduled one and two by hand: %+v", len(made), made)
	}
	var turns []rerun.Turn
	for _, m := range made {
		turns = append(turns, rerun.Turn{Pos: m.Pos, Knob: m.Knob, Value: m.Value})
	}
	c := r.State().Chains.Last(0)
	if _, err := run(cfg, turns).Deadline(c, 0, nil); err != nil {
		t.Errorf("deadline %d of the branch: %v", c.Num, err)
	}
	if _, err := run(cfg, turns[:2]).Deadline(c, 0, nil); err == nil {
		t.Error("without the last turn the run repeats itself all the same")
	}
}

func TestWatcherSeesTheWayAndEndsTheRun(t *testing.T) {
	cfg := config(t, 3)
	c, at, turns := played(t, cfg)
	r := run(cfg, turns)
	looks := 0
	r.Watch = func(now, goal clock.TSC) bool {
		if looks++; now > goal || goal == 0 {
			t.Errorf("at %d of %d", now, goal)
		}
		return false
	}
	if _, err := r.Deadline(&c, at, nil); err != nil || looks == 0 {
		t.Fatalf("%d looks, %v; want some and no error", looks, err)
	}
	r.Watch = func(_, _ clock.TSC) bool { return true }
	if _, err := r.Deadline(&c, at, nil); !errors.Is(err, rerun.ErrGivenUp) {
		t.Errorf("a watcher that ends the run: %v, want ErrGivenUp", err)
	}
}
