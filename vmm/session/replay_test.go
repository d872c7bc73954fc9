package session_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// still is a wall clock that stands.
type still struct{}

func (still) Now() time.Time                         { return time.Unix(0, 0) }
func (still) After(d time.Duration) <-chan time.Time { return time.After(d) }

// recorded runs n deadlines of a guest into a file and opens it.
func recorded(t testing.TB, name, args string, vcpus int, n uint64, turns ...session.Turn) *trace.Recording {
	t.Helper()
	r, _ := newRunner(t, name, args, vcpus, vcpus, 1, vmm.DefaultKnobs())
	path := filepath.Join(t.TempDir(), "run.tt")
	rec, err := session.NewRecorder(path, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Schedule(turns); err != nil {
		t.Fatal(err)
	}
	r.SetLimits(session.Limits{Deadlines: n, Exits: 20 * n})
	if _, err := r.RunTo(clock.Never, nil); err != nil {
		t.Fatal(err)
	}
	r.Engine().Stop(trace.EndLimit)
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	f, closer, err := trace.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closer.Close() })
	return f
}

func text(h *trace.Header, s *trace.State) string { return trace.NewReport(h, s).Text() }

// A replay stepped to some exit shows what a live run stepped there shows, and
// going back shows it again.
func TestReplayShowsWhatTheLiveRunShowed(t *testing.T) {
	rec := recorded(t, "noisy", "", 1, 300)
	p, err := session.NewReplay("run.tt", rec, still{}, session.Options{Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	live, _ := newRunner(t, "noisy", "", 1, 1, 1, vmm.DefaultKnobs())
	show := func() string {
		var f vmm.Frame
		p.Frame(&f)
		return text(&f.Header, &f.State)
	}
	var seen []string
	for range 5 {
		stepExits(t, live, 100)
		if err := p.Do(vmm.Command{Verb: vmm.DoStepExit, N: 100}); err != nil {
			t.Fatal(err)
		}
		got := show()
		if diff := cmp.Diff(text(live.Header(), live.State()), got); diff != "" {
			t.Fatalf("after %d exits (-live +replay):\n%s", live.State().Kinds[trace.KindExit], diff)
		}
		seen = append(seen, got)
	}
	for i := len(seen) - 2; i >= 0; i-- {
		if err := p.Do(vmm.Command{Verb: vmm.DoBackExit, N: 100}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(seen[i], show()); diff != "" {
			t.Fatalf("100 exits back (-then +now):\n%s", diff)
		}
	}
}

// Running to a condition and back to it again visit the same moments.
func TestReplayRunsToAndBackToConditions(t *testing.T) {
	rec := recorded(t, "deadline", "mode=mixed", 1, 400)
	p, err := session.NewReplay("run.tt", rec, still{}, session.Options{Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var f vmm.Frame
	at := func() trace.Seq { p.Frame(&f); return f.State.Events }
	const cond = "late > 300ns"
	var hits []trace.Seq
	for p.Do(vmm.Command{Verb: vmm.DoRunTo, Text: cond}) == nil {
		hits = append(hits, at())
	}
	if len(hits) < 20 {
		t.Fatalf("%d moments with %s, want more", len(hits), cond)
	}
	for i := len(hits) - 1; i >= 0; i-- {
		if err := p.Do(vmm.Command{Verb: vmm.DoBackTo, Text: cond}); err != nil {
			t.Fatal(err)
		}
		if got := at(); got != hits[i] {
			t.Fatalf("moment %d from behind is at event %d, was at %d", i, got, hits[i])
		}
	}
	if err := p.Do(vmm.Command{Verb: vmm.DoBackTo, Text: cond}); err == nil || at() != 0 {
		t.Errorf("before the first: error %v at event %d, want an error at the start", err, at())
	}
	if err := p.Do(vmm.Command{Verb: vmm.DoBackTo, Text: "latt > 1"}); err == nil {
		t.Error("a condition with an unknown name was accepted")
	}
}

// The timeline counts every deadline and marks the knob turns.
func TestTimelineCoversTheRecording(t *testing.T) {
	rec := recorded(t, "deadline", "mode=spin", 1, 300, session.Turn{At: 100, Knob: trace.KnobAPICv, Value: 0})
	p, err := session.NewReplay("run.tt", rec, still{}, session.Options{Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var f vmm.Frame
	for !f.Timeline.Complete {
		p.Frame(&f)
	}
	var n, knobs uint32
	for _, b := range f.Timeline.Buckets {
		n += b.Deadlines
		if b.Knob {
			knobs++
		}
	}
	if n != 300 || knobs != 1 {
		t.Errorf("the timeline has %d deadlines and %d knob turns, want 300 and 1", n, knobs)
	}
}

// A recorded run executed again gives the same events; one event changed is
// found.
func TestVerifyFindsTheFirstDifference(t *testing.T) {
	rec := recorded(t, "ping-pong", "", 2, 200, session.Turn{At: 0, Knob: trace.KnobKick, Value: uint64(vmm.KickKC)})
	make := func(seed uint64) session.Factory {
		return func(sink trace.Sink) (vmm.Engine, error) {
			return newEngine(t, "ping-pong", "", 2, 2, seed, vmm.DefaultKnobs(), sink)
		}
	}
	if err := session.Verify(rec, make(1)); err != nil {
		t.Errorf("executed again: %v", err)
	}
	err := session.Verify(rec, make(2))
	if d := (*session.Difference)(nil); !errors.As(err, &d) || d.Recorded == d.Executed {
		t.Errorf("with another seed: %v, want a difference", err)
	}
}

// A recording that was begun in the middle of a run plays like any other, from
// where it was begun.
func TestReplayOfARecordingBegunInTheMiddle(t *testing.T) {
	r, _ := newRunner(t, "noisy", "", 1, 1, 1, vmm.DefaultKnobs())
	stepExits(t, r, 300)
	path := filepath.Join(t.TempDir(), "run.tt")
	out, err := session.NewRecorder(path, r)
	if err != nil {
		t.Fatal(err)
	}
	begun, start := r.State().Events, text(r.Header(), r.State())
	stepExits(t, r, 500)
	end := text(r.Header(), r.State())
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	rec, closer, err := trace.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	p, err := session.NewReplay("run.tt", rec, still{}, session.Options{Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var f vmm.Frame
	show := func() string { p.Frame(&f); return text(&f.Header, &f.State) }
	if diff := cmp.Diff(start, show()); diff != "" {
		t.Errorf("at the start (-live +replay):\n%s", diff)
	}
	if err := p.Do(vmm.Command{Verb: vmm.DoStepExit, N: 500}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(end, show()); diff != "" {
		t.Errorf("500 exits on (-live +replay):\n%s", diff)
	}
	for _, back := range []vmm.Command{{Verb: vmm.DoBackExit, N: 600}, {Verb: vmm.DoBackTo, Text: "late > 1s"}} {
		if err := p.Do(back); (err != nil) != (back.Verb == vmm.DoBackTo) {
			t.Errorf("%+v: error %v", back, err)
		}
		if show(); f.State.Events != begun {
			t.Errorf("%+v goes to event %d, want the first, %d", back, f.State.Events, begun)
		}
		if err := p.Do(vmm.Command{Verb: vmm.DoStepExit, N: 100}); err != nil {
			t.Fatal(err)
		}
	}
	for !f.Timeline.Complete {
		p.Frame(&f)
	}
	if f.Timeline.From == 0 || f.Timeline.To != rec.Last() {
		t.Errorf("the timeline is %d to %d, want it to begin with the recording and end at %d", f.Timeline.From, f.Timeline.To, rec.Last())
	}
}

// deducing marks what real hosts do not state as inferred.
type deducing struct{ to trace.Sink }

func (d deducing) Emit(e trace.Event) {
	if e.Kind == trace.KindGuestIRQ {
		e.Flags |= trace.FlagInferred
	}
	d.to.Emit(e)
}

// A recording says which figures rest on deductions, and nothing of others.
func TestReplayTellsWhatIsInferred(t *testing.T) {
	r, err := session.NewRunner(func(sink trace.Sink) (vmm.Engine, error) {
		return newEngine(t, "deadline", "", 1, 1, 1, vmm.DefaultKnobs(), deducing{sink})
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "run.tt")
	out, err := session.NewRecorder(path, r)
	if err != nil {
		t.Fatal(err)
	}
	stepExits(t, r, 100)
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	rec, closer, err := trace.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	p, err := session.NewReplay("run.tt", rec, still{}, session.Options{Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var f vmm.Frame
	if p.Frame(&f); f.Known != (vmm.KnownFigures{}) {
		t.Errorf("nothing has happened, and it is said to be known: %+v", f.Known)
	}
	if err := p.Do(vmm.Command{Verb: vmm.DoSeek, At: clock.Never}); err != nil {
		t.Fatal(err)
	}
	p.Frame(&f)
	for n := range f.Known {
		want := vmm.BadBasis
		if vmm.Figure(n) == vmm.FigureLateness {
			want = vmm.OnInference
		}
		if got := f.Known[n].Basis; got != want {
			t.Errorf("%v is said to be %v, want %v", vmm.Figure(n), got, want)
		}
	}
}
