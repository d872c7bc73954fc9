//go:build linux && amd64

package kvm

import (
	"testing"
	"time"

	"ticktrap/internal/clock"
	"ticktrap/trace"
	"ticktrap/vmm"
	"ticktrap/vmm/guest"
)

// runGuest runs a built-in guest for n samples or to its end.
func runGuest(t *testing.T, p Placement, name, args string, limit time.Duration) (*trace.State, *guest.Results, vmm.Engine) {
	t.Helper()
	needKVM(t)
	hz, err := Frequency()
	if err != nil {
		t.Fatal(err)
	}
	params, err := guest.ParseParams(name, args, hz)
	if err != nil {
		t.Fatal(err)
	}
	img, err := guest.Builtin(name, params)
	if err != nil {
		t.Fatal(err)
	}
	st := &trace.State{}
	var h trace.Header
	started := false
	eng, err := New(Config{Guest: img, Placement: p, VCPUs: img.MinVCPUs(), RAM: 16 << 20, Knobs: vmm.DefaultKnobs()},
		trace.SinkFunc(func(e trace.Event) {
			if !started {
				return
			}
			if err := trace.Validate(&e); err != nil {
				t.Errorf("invalid event %v: %v", e, err)
			}
			st.Apply(&e)
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	h = eng.Header()
	st.Reset(&h)
	started = true
	until, _ := hz.ToCycles(clock.Nanos(limit))
	eng.Run(until, func() bool { return false })
	mem := eng.(interface{ Memory() vmm.Memory }).Memory()
	r, err := guest.ReadResults(mem)
	if err != nil {
		t.Fatal(err)
	}
	return st, r, eng
}

func TestBuiltInGuestsCompleteWithTheLAPICInTheVMM(t *testing.T) {
	for _, g := range []struct{ name, args string }{
		{"deadline", "count=50 distance=2000000 spread=0 mode=hlt"},
		{"deadline", "count=50 distance=2000000 spread=0 mode=spin"},
		{"oneshot", "count=30 distance=2000000"},
		{"periodic", "count=20 distance=5000000"},
		{"self-ipi", "count=30"},
		{"noisy", "count=20 distance=2000000 spread=0"},
	} {
		t.Run(g.name+" "+g.args, func(t *testing.T) {
			st, r, eng := runGuest(t, InVMM, g.name, g.args, 20*time.Second)
			how, code, ended := eng.Ended()
			if !ended || how != trace.EndExit || r.Fault >= 0 {
				t.Errorf("ended=%v %v code %d fault %d, %d samples, exits %d: want a clean exit", ended, how, code, r.Fault,
					len(r.Samples), st.Kinds[trace.KindExit])
			}
			t.Logf("%d samples, late p50 %d max %d cycles; %d deadlines done", len(r.Samples),
				st.Deadlines.Late.Percentile(50), st.Deadlines.Late.Percentile(100), st.Deadlines.Count())
		})
	}
}
