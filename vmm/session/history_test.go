package session_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/query"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// newEngine makes a built-in guest on the model.
func newEngine(t testing.TB, name, args string, vcpus, pcpus int, seed uint64, knobs vmm.Knobs, sink trace.Sink) (*model.Engine, error) {
	t.Helper()
	prof, err := model.LoadProfile("generic")
	if err != nil {
		t.Fatal(err)
	}
	p, err := guest.ParseParams(name, args, prof.Hz)
	if err != nil {
		t.Fatal(err)
	}
	img, err := guest.Builtin(name, p)
	if err != nil {
		t.Fatal(err)
	}
	return model.New(model.Config{Guest: img, VCPUs: max(vcpus, img.MinVCPUs()), PCPUs: pcpus, Seed: seed,
		Profile: prof, Knobs: knobs, RAM: 16 << 20}, sink)
}

// newRunner makes a run of it.
func newRunner(t testing.TB, name, args string, vcpus, pcpus int, seed uint64, knobs vmm.Knobs) (*session.Runner, *model.Engine) {
	t.Helper()
	var eng *model.Engine
	r, err := session.NewRunner(func(sink trace.Sink) (vmm.Engine, error) {
		var err error
		eng, err = newEngine(t, name, args, vcpus, pcpus, seed, knobs, sink)
		return eng, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, eng
}

// moment is what two visits of the same point of a run must agree on.
type moment struct {
	print  uint64
	events trace.Seq
	now    clock.TSC
	exits  uint64
	done   uint64
}

func at(r *session.Runner, e *model.Engine) moment {
	return moment{e.Fingerprint(), r.State().Events, e.Now(), r.State().Kinds[trace.KindExit], r.State().Deadlines.Count()}
}

func stepExits(t require, r *session.Runner, n int) {
	r.StepExits(n)
	if _, err := r.RunTo(clock.Never, nil); err != nil {
		t.Fatalf("stepping %d exits: %v", n, err)
	}
}

// require is what testing.T and rapid.T have in common here.
type require interface {
	Fatalf(string, ...any)
}

// From any stop, N steps and N steps back give the identical state, whatever the
// guest, the number of vCPUs and the knobs turned on the way.
func TestSteppingBackUndoesStepping(t *testing.T) {
	guests := []string{"deadline", "oneshot", "periodic", "cyclic", "self-ipi", "ping-pong", "storm", "noisy", "immediate"}
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom(guests).Draw(rt, "guest")
		vcpus := rapid.IntRange(1, 3).Draw(rt, "vcpus")
		pcpus := rapid.IntRange(1, vcpus).Draw(rt, "pcpus")
		r, e := newRunner(t, name, "", vcpus, pcpus, rapid.Uint64Range(1, 99).Draw(rt, "seed"), vmm.DefaultKnobs())
		r.KeepHistory()
		turn := func(label string) {
			k := trace.Knob(rapid.IntRange(1, int(trace.NumKnobs)-1).Draw(rt, label))
			knobs := vmm.DefaultKnobs()
			v := rapid.Uint64Range(0, 5).Draw(rt, label+" value")
			if knobs.Set(k, v) == nil {
				if _, err := r.SetKnob(k, v); err != nil {
					rt.Fatalf("SetKnob(%s, %d): %v", k, v, err)
				}
			}
		}
		stepExits(rt, r, rapid.IntRange(1, 400).Draw(rt, "first"))
		turn("knob 1")
		stepExits(rt, r, rapid.IntRange(1, 400).Draw(rt, "second"))
		start := at(r, e)
		n := rapid.IntRange(1, 300).Draw(rt, "n")
		stepExits(rt, r, n/2+1)
		turn("knob 2")
		stepExits(rt, r, n)
		far := at(r, e)
		if err := r.BackExits(n + n/2 + 1); err != nil {
			rt.Fatalf("going back: %v", err)
		}
		if got := at(r, e); got != start {
			rt.Fatalf("%s: after going back %+v, was %+v", name, got, start)
		}
		for range 3 {
			stepExits(rt, r, 1)
		}
		for range 3 {
			if err := r.BackExits(1); err != nil {
				rt.Fatalf("going back: %v", err)
			}
		}
		if got := at(r, e); got != start {
			rt.Fatalf("%s: after going back one by one %+v, was %+v", name, got, start)
		}
		stepExits(rt, r, n+n/2+1)
		if got := at(r, e); got != far {
			rt.Fatalf("%s: forward again %+v, was %+v", name, got, far)
		}
	})
}

// The fold after going back is the fold of a run that never went further.
func TestStateAfterGoingBackIsThatOfAFreshRun(t *testing.T) {
	r, _ := newRunner(t, "noisy", "", 1, 1, 1, vmm.DefaultKnobs())
	r.KeepHistory()
	stepExits(t, r, 500)
	if err := r.BackExits(200); err != nil {
		t.Fatal(err)
	}
	fresh, _ := newRunner(t, "noisy", "", 1, 1, 1, vmm.DefaultKnobs())
	stepExits(t, fresh, 300)
	a, b := trace.NewReport(r.Header(), r.State()), trace.NewReport(fresh.Header(), fresh.State())
	if !reflect.DeepEqual(a, b) {
		t.Errorf("report after going back:\n%s\nof a fresh run:\n%s", a.Text(), b.Text())
	}
}

// A knob turned in the past begins a branch: the run from there equals one in
// which it was turned at that point from the start, and what was recorded of the
// old branch is not added to.
func TestKnobTurnedInThePastBeginsABranch(t *testing.T) {
	r, e := newRunner(t, "deadline", "mode=hlt", 1, 1, 1, vmm.DefaultKnobs())
	r.KeepHistory()
	var seen int
	r.Tee(trace.SinkFunc(func(trace.Event) { seen++ }))
	stepExits(t, r, 300)
	if err := r.BackExits(100); err != nil {
		t.Fatal(err)
	}
	before := seen
	branched, err := r.SetKnob(trace.KnobAPICv, 0)
	if err != nil || !branched {
		t.Fatalf("SetKnob in the past = %v, %v, want a branch", branched, err)
	}
	stepExits(t, r, 150)

	fresh, f := newRunner(t, "deadline", "mode=hlt", 1, 1, 1, vmm.DefaultKnobs())
	stepExits(t, fresh, 200)
	if branched, err := fresh.SetKnob(trace.KnobAPICv, 0); err != nil || branched {
		t.Fatalf("SetKnob at the head = %v, %v, want no branch", branched, err)
	}
	stepExits(t, fresh, 150)
	if a, b := e.Fingerprint(), f.Fingerprint(); a != b {
		t.Errorf("the branch differs from a run with the same turn: %x, %x", a, b)
	}
	if seen == before {
		t.Error("the branch's events reached no sink")
	}
	if err := r.BackExits(100_000); err != nil || r.State().Events > 20 {
		t.Errorf("going back too far: %v, %d events; want the start of the run", err, r.State().Events)
	}
}

// Going back to a condition finds, latest first, what breaks on it found going
// forward.
func TestBackToFindsWhatBreaksFound(t *testing.T) {
	c, err := query.ParseCondition("exit == HLT || kick == wake")
	if err != nil {
		t.Fatal(err)
	}
	r, e := newRunner(t, "deadline", "mode=mixed", 1, 1, 3, vmm.DefaultKnobs())
	r.KeepHistory()
	r.BreakAt(c)
	var hits []moment
	for len(hits) < 40 {
		if reached, err := r.RunTo(clock.Never, nil); err != nil || !reached || !r.Hit() {
			t.Fatalf("RunTo = %v, %v, hit %v", reached, err, r.Hit())
		}
		hits = append(hits, at(r, e))
	}
	for i := len(hits) - 2; i >= 0; i-- {
		if found, err := r.BackTo(c); err != nil || !found {
			t.Fatalf("BackTo = %v, %v", found, err)
		}
		if got := at(r, e); got != hits[i] {
			t.Fatalf("hit %d from behind: %+v, want %+v", i, got, hits[i])
		}
	}
	if found, err := r.BackTo(c); err != nil || found {
		t.Errorf("before the first hit: BackTo = %v, %v, want nothing", found, err)
	}
}

// Seeking lands on the same state as stepping there.
func TestSeekGoesToATime(t *testing.T) {
	r, e := newRunner(t, "noisy", "", 1, 1, 3, vmm.DefaultKnobs())
	r.KeepHistory()
	stepExits(t, r, 300)
	want := at(r, e)
	stepExits(t, r, 700)
	if err := r.Seek(want.now); err != nil {
		t.Fatal(err)
	}
	if got := at(r, e); got.now < want.now || got.exits > want.exits+1 || got.exits+1 < want.exits {
		t.Errorf("Seek(%d) is at %+v, want about %+v", want.now, got, want)
	}
}
