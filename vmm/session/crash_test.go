package session_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/internal/crash"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// buggy is an engine that panics once it has run for a while.
type buggy struct {
	vmm.Engine
	after int
}

func (b *buggy) Run(until clock.TSC, done func() bool) {
	if b.after--; b.after < 0 {
		panic("BUG: on purpose")
	}
	n := 0
	b.Engine.Run(until, func() bool { n++; return n > 2000 || done() })
}

// A bug in the loop ends the session with an error, and what was recorded is whole.
func TestBugEndsTheSessionAndSavesTheRecording(t *testing.T) {
	r, err := session.NewRunner(func(sink trace.Sink) (vmm.Engine, error) {
		e, err := newEngine(t, "deadline", "", 1, 1, 1, vmm.DefaultKnobs(), sink)
		return &buggy{e, 3}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "r.tt")
	l, err := session.NewLive(r, &ticking{}, session.Options{Record: file})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-l.Failed():
	case <-time.After(30 * time.Second):
		t.Fatal("the session goes on")
	}
	var bug *crash.Error
	if err := l.Close(); !errors.As(err, &bug) || bug.Value != "BUG: on purpose" {
		t.Errorf("Close gives %v", err)
	}
	rec, f, err := trace.OpenFile(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if rec.Warning() != "" || rec.Events() < 1000 {
		t.Errorf("%d events are recorded: %s", rec.Events(), rec.Warning())
	}
}
