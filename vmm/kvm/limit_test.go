//go:build linux && amd64

package kvm

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
)

// With the LAPIC in the kernel the trace is read after things have happened, so
// the guest is further than the limit when the limit is seen.
func TestLimitEndsTheRunAtTheDeadlineAskedFor(t *testing.T) {
	needTracefs(t)
	hz, err := Frequency()
	if err != nil {
		t.Fatal(err)
	}
	params, err := guest.ParseParams("deadline", "count=0 distance=2000000 spread=0 mode=spin", hz)
	if err != nil {
		t.Fatal(err)
	}
	img, err := guest.Builtin("deadline", params)
	if err != nil {
		t.Fatal(err)
	}
	st := &trace.State{}
	var last trace.Event
	e, err := New(Config{Guest: img, Placement: InKernel, VCPUs: 1, RAM: 16 << 20, Knobs: vmm.DefaultKnobs()},
		trace.SinkFunc(func(ev trace.Event) {
			if ev.TSC < last.TSC {
				t.Errorf("%v after %v", ev, last)
			}
			last = ev
			st.Apply(&ev)
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	h := e.Header()
	st.Reset(&h)
	at := uint64(0)
	e.Run(clock.Never, func() bool {
		at = st.Deadlines.Count()
		return at >= 30
	})
	e.Stop(trace.EndLimit)
	if n := st.Deadlines.Count(); n != at || last.Kind != trace.KindEnd || trace.EndKind(last.A) != trace.EndLimit {
		t.Errorf("%d deadlines, ended by %v; want %d, the limit", n, last, at)
	}
}
