//go:build linux && amd64

package kvm

import (
	"testing"
	"time"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
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

// guests are runs of every built-in guest of one vCPU, with distances that the
// emulated machines can keep up with.
var guests = []struct{ name, args string }{
	{"deadline", "count=50 distance=2000000 spread=0 mode=hlt"},
	{"deadline", "count=50 distance=2000000 spread=0 mode=spin"},
	{"deadline", "count=20 distance=2000000 spread=0 mode=hlt apic=xapic"},
	{"immediate", "count=20"},
	{"oneshot", "count=30 distance=2000000"},
	{"periodic", "count=20 distance=5000000"},
	{"cyclic", "count=20 distance=5000000"},
	{"self-ipi", "count=30 variant=sti_nop"},
	{"storm", "count=10 distance=2000000 spread=0"},
	{"noisy", "count=20 distance=2000000 spread=0"},
}

func TestBuiltInGuestsComplete(t *testing.T) {
	for p := InVMM; p <= InKernel; p++ {
		for _, g := range guests {
			t.Run(p.String()+"/"+g.name+" "+g.args, func(t *testing.T) {
				st, r, eng := runGuest(t, p, g.name, g.args, 20*time.Second)
				how, code, ended := eng.Ended()
				if !ended || how != trace.EndExit || r.Fault >= 0 {
					t.Errorf("ended=%v %v code %d fault %d, %d samples, exits %d: want a clean exit", ended, how, code, r.Fault,
						len(r.Samples), st.Kinds[trace.KindExit])
				}
				t.Logf("%d samples; %d deadlines done, late p50 %d max %d cycles; %s", len(r.Samples), st.Deadlines.Count(),
					st.Deadlines.Late.Percentile(50), st.Deadlines.Late.Percentile(100), eng.(interface{ Notice() string }).Notice())
			})
		}
	}
}

// The guest's own clock is the referee: the lateness that the events give must
// lie below what the guest saw in its handler, and near it.
func TestLatenessAgreesWithTheGuest(t *testing.T) {
	for p := InVMM; p <= InKernel; p++ {
		t.Run(p.String(), func(t *testing.T) {
			st, r, _ := runGuest(t, p, "deadline", "count=50 distance=2000000 spread=0 mode=hlt", 20*time.Second)
			if p == InKernel && st.Kinds[trace.KindEntry] == 0 {
				t.Skip("needs tracefs")
			}
			if n := st.Samples.Count(); n != 50 {
				t.Errorf("%d samples in the events, want 50", n)
			}
			if n := st.Deadlines.Count(); n != 50 {
				t.Fatalf("%d deadlines in the events, want 50", n)
			}
			for i, s := range r.Samples {
				c := st.Chains.At(i)
				if c.Target != s.Due {
					t.Fatalf("deadline %d: target %d in the events, the guest armed %d", i, c.Target, s.Due)
				}
				if c.Late > s.Lateness() {
					t.Errorf("deadline %d: events say %d late, the guest saw only %d", i, c.Late, s.Lateness())
				}
			}
		})
	}
}

func TestRunGoesOnAfterManyPauses(t *testing.T) {
	for p := InVMM; p <= InKernel; p++ {
		t.Run(p.String(), func(t *testing.T) {
			_, _, eng := runGuest(t, p, "deadline", "distance=2000000 spread=0", time.Millisecond)
			last := eng.Now()
			for i := range 40 {
				calls := 0
				eng.Run(clock.Never, func() bool { calls++; return calls > 200 })
				if eng.Now() <= last {
					t.Fatalf("slice %d: time stands still", i)
				}
				last = eng.Now()
				eng.CPUs(nil)
			}
		})
	}
}
