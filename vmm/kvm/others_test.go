//go:build linux && amd64

package kvm

import (
	"bufio"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
)

// startChild runs a guest in a process of its own until the test's end, and sets
// running when it does.
func startChild(t *testing.T, running *atomic.Bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if _, err := Recover(); err != nil {
			t.Error(err)
		}
	})
	go func() {
		_, _ = bufio.NewReader(out).ReadString('\n')
		running.Store(true)
	}()
}

// A debugger that starts while another one's guest runs, with a guest of the
// same kind and vCPU number, adds nothing to what the other one sees.
func TestSecondDebuggerAddsNothingToTheFirst(t *testing.T) {
	needTracefs(t)
	hz, err := Frequency()
	if err != nil {
		t.Fatal(err)
	}
	params, err := guest.ParseParams("deadline", "count=0 distance=2000000 spread=0", hz)
	if err != nil {
		t.Fatal(err)
	}
	img, err := guest.Builtin("deadline", params)
	if err != nil {
		t.Fatal(err)
	}
	st := &trace.State{}
	twice := uint64(0)
	var offsets []trace.Event
	e, err := New(Config{Guest: img, Placement: InKernel, VCPUs: 1, RAM: 16 << 20, Knobs: vmm.DefaultKnobs()},
		trace.SinkFunc(func(ev trace.Event) {
			st.Apply(&ev)
			switch {
			case ev.Kind == trace.KindEOI && int64(ev.A) < 0:
				twice++ // TCG delivered an interrupt twice
			case ev.Kind == trace.KindTSCOffset:
				offsets = append(offsets, ev)
			}
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	h := e.Header()
	st.Reset(&h)
	offsets = nil
	var running atomic.Bool
	startChild(t, &running)
	const more = 40 // deadlines beside the running child
	last := uint64(0)
	e.Run(clock.Never, func() bool {
		n := st.Deadlines.Count()
		if last == 0 && running.Load() {
			last = n + more
		}
		return last != 0 && n >= last
	})
	if other := e.(*kernelEngine).obs.dec.Report().OtherVM; other == 0 {
		t.Error("nothing was seen of the other debugger's guest: the test proves nothing")
	}
	d := &st.Deadlines
	if handled := d.Count(); d.Arms < handled || d.Arms > handled+2 || st.Injections.EOIs > handled+twice+2 {
		t.Errorf("%d arms, %d handled, %d EOIs (%d of them TCG's own): want as many of each", d.Arms, handled,
			st.Injections.EOIs, twice)
	}
	if len(offsets) != 0 {
		t.Errorf("the TSC offset of the guest seems to change: %v", offsets)
	}
}
