package session_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// realTime is an engine that cannot go back and says that it is measured: the
// model without what KVM lacks. Its guest is ahead of what it hands on.
type realTime struct{ vmm.Engine }

func (realTime) Ahead() vmm.Ahead { return vmm.Ahead{Events: 20, Exits: 3} }

func (realTime) Figures() (k vmm.KnownFigures) {
	k[vmm.FigureAPIC] = vmm.Known{Basis: vmm.OnMeasure, By: "a reading", Reading: true}
	k[vmm.FigureLateness] = vmm.Known{Basis: vmm.OnInference, By: "a deduction"}
	return k
}

func (e realTime) Header() trace.Header {
	h := e.Engine.Header()
	h.Provenance = trace.Measured
	return h
}

// ticking is a wall clock that goes on a little with every look.
type ticking struct{ now time.Time }

func (c *ticking) Now() time.Time {
	c.now = c.now.Add(200 * time.Microsecond)
	return c.now
}

func (c *ticking) After(time.Duration) <-chan time.Time { return nil }

// driver drives a session as a screen does.
type driver struct {
	t *testing.T
	r *session.Runner
	s vmm.Session
	f vmm.Frame
}

// realRun makes a paused run that cannot be repeated, of a guest that ends.
func realRun(t *testing.T) *driver {
	t.Helper()
	r, err := session.NewRunner(func(sink trace.Sink) (vmm.Engine, error) {
		e, err := newEngine(t, "noisy", "count=2000", 1, 1, 1, vmm.DefaultKnobs(), sink)
		return realTime{e}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	r.KeepHistory()
	l, err := session.NewByHand(r, &ticking{}, session.Options{Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return &driver{t: t, r: r, s: l}
}

// do carries out a command and returns the report of what is then shown, with
// its number of events: two visits of one moment give the same.
func (d *driver) do(c vmm.Command) string {
	d.t.Helper()
	if err := d.s.Do(c); err != nil {
		d.t.Fatalf("%+v: %v", c, err)
	}
	return d.frame()
}

func (d *driver) frame() string {
	d.s.Frame(&d.f)
	return text(&d.f.Header, &d.f.State)
}

// step carries out a step, which may take several slices.
func (d *driver) step(v vmm.Verb, n int) string {
	d.t.Helper()
	d.do(vmm.Command{Verb: v, N: n})
	return d.rest()
}

// rest lets the session run until it stops.
func (d *driver) rest() (shown string) {
	d.t.Helper()
	for range 100_000 {
		if shown = d.frame(); d.f.Status.Run != vmm.Running {
			return shown
		}
	}
	d.t.Fatalf("it does not stop: %+v", d.f.Status)
	return ""
}

// A run that cannot be repeated goes back through what it has shown and forward
// again, and from its present on it runs.
func TestRealRunGoesBackInWhatItHasShown(t *testing.T) {
	d := realRun(t)
	var seen []string
	for range 6 {
		seen = append(seen, d.step(vmm.DoStepExit, 50))
		if d.f.Status.Past || !d.f.Status.CanBack {
			t.Fatalf("at the present: %+v", d.f.Status)
		}
	}
	present := d.f.Status.Now
	for i := len(seen) - 2; i >= 0; i-- {
		if diff := cmp.Diff(seen[i], d.step(vmm.DoBackExit, 50)); diff != "" {
			t.Fatalf("50 exits back (-then +now):\n%s", diff)
		}
		if s := d.f.Status; !s.Past || s.Run != vmm.Paused || !s.Replaying || s.Now >= s.Head || s.Head > present {
			t.Fatalf("in the past: %+v", s)
		}
		if len(d.f.CPUs) != 0 || d.f.Status.Ahead.Exits != 0 ||
			d.f.Known[vmm.FigureAPIC].Basis != vmm.OnNothing || d.f.Known[vmm.FigureLateness].Basis != vmm.OnInference {
			t.Fatal("the past shows the registers of the present")
		}
	}
	for i := 1; i < len(seen); i++ {
		if diff := cmp.Diff(seen[i], d.step(vmm.DoStepExit, 50)); diff != "" {
			t.Fatalf("50 exits forward again (-then +now):\n%s", diff)
		}
	}
	if s := d.f.Status; s.Past || !strings.Contains(s.Notice, "present") || len(d.f.CPUs) == 0 || s.Ahead.Exits != 3 ||
		d.f.Known[vmm.FigureAPIC].Basis != vmm.OnMeasure {
		t.Fatalf("at the end of the past: %+v, %d CPUs; want the present", s, len(d.f.CPUs))
	}
	before := d.f.State.Kinds[trace.KindEntry]
	d.step(vmm.DoStepExit, 1)
	if got := d.f.State.Kinds[trace.KindEntry]; d.f.Status.Past || got != before+1 {
		t.Errorf("a step from the present makes %d entries, want 1: %+v", got-before, d.f.Status)
	}
}

// Whatever leads to the end of what was shown leads back to the present.
func TestWaysBackToThePresent(t *testing.T) {
	tests := []struct {
		name    string
		command vmm.Command
		running bool
		beyond  bool // the guest has run
	}{
		{"seek to the end", vmm.Command{Verb: vmm.DoSeek, At: clock.Never}, false, false},
		{"steps beyond the end", vmm.Command{Verb: vmm.DoStepExit, N: 10_000}, false, false},
		{"deadlines beyond the end", vmm.Command{Verb: vmm.DoStepDeadline, N: 10_000}, false, false},
		{"a condition that holds only later", vmm.Command{Verb: vmm.DoRunTo, Text: "deadline == 1000"}, false, true},
		{"playing to the end", vmm.Command{Verb: vmm.DoRun}, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := realRun(t)
			there := d.step(vmm.DoStepExit, 300)
			d.step(vmm.DoBackDeadline, 40)
			if !d.f.Status.Past {
				t.Fatalf("going back: %+v", d.f.Status)
			}
			got := d.do(tt.command)
			for n := 0; d.f.Status.Past && n < 20_000; n++ {
				got = d.frame()
			}
			if !tt.running {
				got = d.rest()
			}
			s := &d.f.Status
			if s.Past || (s.Run == vmm.Running) != tt.running {
				t.Fatalf("%+v, want the present, running %v", s, tt.running)
			}
			if tt.beyond {
				if d.frame() == there {
					t.Error("the guest does not run")
				}
				return
			}
			if diff := cmp.Diff(there, got); diff != "" {
				t.Errorf("(-present +shown):\n%s", diff)
			}
		})
	}
}

// What cannot be in the past is refused; what can is done there.
func TestWhatThePastAllows(t *testing.T) {
	d := realRun(t)
	if err := d.s.Do(vmm.Command{Verb: vmm.DoSpeed, Speed: 0.1}); err == nil {
		t.Error("the speed of a run in real time was set")
	}
	d.step(vmm.DoStepDeadline, 200)
	d.step(vmm.DoBackDeadline, 100)
	here := d.f.Status.Now
	if err := d.s.Do(vmm.Command{Verb: vmm.DoKnob, Knob: trace.KnobAPICv, Value: 0}); err == nil {
		t.Error("a knob was turned in the past of a run in real time")
	}
	for _, k := range d.f.Knobs {
		if k.Tag != vmm.TagFixed || !strings.Contains(k.Why, "past") {
			t.Fatalf("knob %+v, want fixed because this is the past", k)
		}
	}
	d.do(vmm.Command{Verb: vmm.DoMark, Text: "here"})
	d.do(vmm.Command{Verb: vmm.DoSpeed, Speed: 0.01})
	if d.f.Status.Speed != 0.01 {
		t.Errorf("speed of the past %g, want 0.01", d.f.Status.Speed)
	}
	d.do(vmm.Command{Verb: vmm.DoBreak, Text: "deadline == 150"})
	d.do(vmm.Command{Verb: vmm.DoSpeed, Speed: 0})
	d.step(vmm.DoRun, 0)
	if s := &d.f.Status; !s.Past || d.f.State.Deadlines.Count() != 150 || !strings.HasPrefix(s.Notice, "stopped at deadline == 150: deadline 150 on v0, ") {
		t.Errorf("stopped after %d deadlines: %+v; want 150, in the past", d.f.State.Deadlines.Count(), s)
	}
	d.do(vmm.Command{Verb: vmm.DoBreak})
	d.do(vmm.Command{Verb: vmm.DoSeek, At: clock.Never})
	if n := d.f.State.Deadlines.Count(); n != 200 || d.f.Status.Past || d.f.Knobs[0].Tag != vmm.TagLive {
		t.Errorf("the present has %d deadlines, want 200: %+v", n, d.f.Status)
	}
	if len(d.f.Marks) != 1 || d.f.Marks[0] != (vmm.Mark{At: here, Name: "here"}) {
		t.Errorf("bookmarks %+v, want one at %d", d.f.Marks, here)
	}
	if len(d.f.Timeline.Buckets) != 0 {
		t.Error("the present shows the time line of the past")
	}
	d.do(vmm.Command{Verb: vmm.DoSeek, At: here})
	if !d.f.Status.Past || d.f.Status.Now != here {
		t.Errorf("jumped to %d: %+v", here, d.f.Status)
	}
}

// A guest that has ended can be looked at from its end back.
func TestEndedRealRunGoesBack(t *testing.T) {
	d := realRun(t)
	d.step(vmm.DoRun, 0)
	if d.f.Status.Run != vmm.Ended {
		t.Fatalf("%+v, want the guest's end", d.f.Status)
	}
	end, n := d.frame(), d.f.State.Deadlines.Count()
	d.step(vmm.DoBackDeadline, 500)
	if s := &d.f.Status; !s.Past || s.Run != vmm.Paused || d.f.State.Deadlines.Count() != n-499 { // the last one was before the end
		t.Errorf("back over 500 moments from deadline %d: at %d, %+v", n, d.f.State.Deadlines.Count(), s)
	}
	got := d.step(vmm.DoStepDeadline, 1000)
	if diff := cmp.Diff(end, got); diff != "" || d.f.Status.Run != vmm.Ended {
		t.Errorf("forward again: %+v (-then +now):\n%s", d.f.Status, diff)
	}
	if err := d.s.Do(vmm.Command{Verb: vmm.DoStepExit, N: 1}); err == nil {
		t.Error("a guest that has ended was stepped")
	}
}

// Of a long run only the last part is kept, in bounded memory.
func TestOldestPartOfTheRunIsForgotten(t *testing.T) {
	const size, parts = 60_000, 3
	d := realRun(t)
	d.r.KeepLittle(parts, size)
	for d.r.State().Deadlines.Count() < 1900 {
		d.step(vmm.DoStepDeadline, 100)
	}
	bytes, n := d.r.Kept()
	const chunk = 400_000 // a part ends with the block that fills it
	if n != parts || bytes > parts*(size+chunk) {
		t.Errorf("%d bytes in %d parts are kept, want at most %d in %d", bytes, n, parts*(size+chunk), parts)
	}
	last := d.frame()
	d.step(vmm.DoBackExit, 1_000_000)
	first := d.f.State.Events
	if first == 0 {
		t.Fatal("nothing was forgotten")
	}
	d.step(vmm.DoBackExit, 1)
	if s := &d.f.Status; d.f.State.Events != first || !strings.Contains(s.Notice, "kept no more") {
		t.Errorf("back from event %d: event %d, %q", first, d.f.State.Events, s.Notice)
	}
	if diff := cmp.Diff(last, d.step(vmm.DoStepExit, 1_000_000)); diff != "" || d.f.Status.Past {
		t.Errorf("at the present again: %+v (-then +now):\n%s", d.f.Status, diff)
	}
}

// The goroutine of a live session goes back and returns as well; the screen asks
// for frames meanwhile.
func TestPastBesideTheScreen(t *testing.T) {
	r, err := session.NewRunner(func(sink trace.Sink) (vmm.Engine, error) {
		e, err := newEngine(t, "noisy", "", 1, 1, 1, vmm.DefaultKnobs(), sink)
		return realTime{e}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	r.KeepHistory()
	s, err := session.NewLive(r, &ticking{}, session.Options{Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var f vmm.Frame
	do := func(c vmm.Command, until func() bool) {
		t.Helper()
		if err := s.Do(c); err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		for s.Frame(&f); !until(); s.Frame(&f) {
		}
	}
	exits := func() uint64 { return f.State.Kinds[trace.KindEntry] }
	do(vmm.Command{Verb: vmm.DoStepExit, N: 100}, func() bool { return exits() >= 100 && f.Status.Run == vmm.Paused })
	do(vmm.Command{Verb: vmm.DoBackExit, N: 50}, func() bool { return f.Status.Past && exits() <= 51 })
	do(vmm.Command{Verb: vmm.DoRun}, func() bool { return !f.Status.Past && f.Status.Run == vmm.Running && exits() > 100 })
	do(vmm.Command{Verb: vmm.DoBackDeadline, N: 20}, func() bool { return f.Status.Past && f.Status.Run == vmm.Paused })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
