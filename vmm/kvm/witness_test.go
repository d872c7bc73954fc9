//go:build linux && amd64

package kvm

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
)

// witnessed makes a run that counts what it hands on.
func witnessed(t *testing.T, p Placement, args string) (vmm.Witness, *trace.State) {
	t.Helper()
	needKVM(t)
	hz, err := Frequency()
	if err != nil {
		t.Fatal(err)
	}
	params, err := guest.ParseParams("deadline", args, hz)
	if err != nil {
		t.Fatal(err)
	}
	img, err := guest.Builtin("deadline", params)
	if err != nil {
		t.Fatal(err)
	}
	st := &trace.State{}
	st.Reset(&trace.Header{Hz: hz, VCPUs: 1})
	eng, err := New(Config{Guest: img, Placement: p, VCPUs: 1, RAM: 16 << 20, Knobs: vmm.DefaultKnobs()},
		trace.SinkFunc(func(e trace.Event) { st.Apply(&e) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return eng.(vmm.Witness), st
}

// How far the guest is ahead of what was handed on is known to the exit, and
// what was held back comes before the guest runs again.
func TestGuestIsAheadByWhatIsHandedOnNext(t *testing.T) {
	for p := InVMM; p <= InKernel; p++ {
		t.Run(p.String(), func(t *testing.T) {
			e, st := witnessed(t, p, "distance=300000 spread=0 mode=hlt")
			e.(vmm.Exacter).Exact(true)
			n := st.Kinds[trace.KindExit] + 20
			e.Run(clock.Never, func() bool { return st.Kinds[trace.KindExit] >= n })
			rip := e.CPUs(nil)[0].Regs.RIP
			a := e.Ahead()
			t.Logf("%+v after %d exits", a, st.Kinds[trace.KindExit])
			exits, events := st.Kinds[trace.KindExit], uint64(st.Events)
			for e.Ahead().Events > 0 {
				e.Run(clock.Never, func() bool { return true }) // one event at a time
			}
			if got := st.Kinds[trace.KindExit] - exits; got != a.Exits || uint64(st.Events)-events != a.Events {
				t.Errorf("%d exits and %d events were handed on, want those ahead: %+v", got, uint64(st.Events)-events, a)
			}
			if now := e.CPUs(nil)[0].Regs.RIP; now != rip {
				t.Errorf("the guest has run meanwhile: RIP %#x, was %#x", now, rip)
			}
		})
	}
}

// The local APIC that is read is the guest's: armed for a deadline in the near
// future, and reading it again changes nothing.
func TestKernelAPICIsRead(t *testing.T) {
	e, st := witnessed(t, InKernel, "distance=2000000 spread=0 mode=hlt apic=x2apic")
	n := st.Samples.Count() + 5
	e.Run(clock.Never, func() bool { return st.Samples.Count() >= n })
	const tscDeadline = 2
	a := e.CPUs(nil)[0].APIC
	if !a.Known || a.Regs.LVTT>>17&3 != tscDeadline || a.Regs.LVTT>>16&1 != 0 || a.Regs.SPIV>>8&1 == 0 {
		t.Fatalf("%+v, want an enabled APIC in TSC-deadline mode", a)
	}
	if a.Deadline != 0 { // between two deadlines there is none
		if d := a.Deadline.Sub(a.At); d > 10_000_000 || d < -1<<40 {
			t.Errorf("the deadline is %d cycles away, want at most some distances of 2000000", d)
		}
	}
	b := e.CPUs(nil)[0].APIC
	b.At, b.TMCCT = a.At, a.TMCCT
	if a != b {
		t.Errorf("read again: %+v\nwas         %+v", b, a)
	}
	before := st.Deadlines.Count()
	samples := st.Samples.Count() + 5
	e.Run(clock.Never, func() bool { return st.Samples.Count() >= samples })
	if st.Kinds[trace.KindEntry] > 0 && st.Deadlines.Count() <= before {
		t.Error("the guest's timer does not go on after reading")
	}
	if k := e.Figures(); k[vmm.FigureAPIC].Basis != vmm.OnMeasure || k[vmm.FigureMode].Basis != vmm.OnNothing {
		t.Errorf("%+v", k)
	}
}
