package vmm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel/rule"
)

// still is a bench on which host work takes no time: two ways through the loop that
// do the same come to the same times.
type still struct{ *bench }

func (s still) Spend(PCPU, trace.Phase) clock.Cycles { return 0 }
func (s still) Until(PCPU) clock.TSC {
	if at, armed := s.timers[0]; armed {
		return min(clock.TSC(at), s.now+1_000_000)
	}
	return s.now + 1_000_000
}
func (s still) Interrupted(p PCPU) (IRQ, int, bool) {
	if s.Until(p) <= s.now {
		return IRQTimer, -1, true
	}
	irq, v, ok := s.bench.Interrupted(p)
	s.pending = nil // taken by the exit
	return irq, v, ok
}
func (s still) HasPreemptionTimer() bool { return false }

// interrupt takes what is due on the vCPU's CPU, as a real host does before a step
// with interrupts on.
func (s still) interrupt(m *Machine) {
	if s.Until(0) <= s.now {
		due := s.timers[0]
		delete(s.timers, 0)
		m.TimerFired(0, 0, due)
	}
}

// walker is a script whose exits take real time, and to which something can happen
// from outside while the guest runs.
type walker struct {
	*script
	host   *bench
	during []func()
	n      int
	signal bool
}

func (w *walker) Run(_, until clock.TSC) Exit {
	switch {
	case w.signal: // KVM_RUN returns once
		w.signal = false
		return Exit{Reason: StopSignal, At: w.host.now}
	case len(w.exits) == 0: // the end: nothing more happens
		delete(w.host.timers, 0)
		return Exit{Reason: StopLimit, At: w.host.now}
	case until <= w.host.now: // a guest that exits may have run past it
		return Exit{Reason: StopLimit, At: w.host.now}
	}
	e := w.exits[0]
	w.exits = w.exits[1:]
	w.regs.RIP = e.RIP
	w.host.now += 100
	e.At = w.host.now
	if f := w.during[w.n]; f != nil {
		f()
	}
	w.n++
	return e
}

// anyPath is a random guest on a random machine: what it does, and what happens to
// it meanwhile.
func anyPath(seed uint64, r *rig, w *walker) {
	dice := rand.New(rand.NewPCG(seed, 1))
	v := &r.m.vcpus[0]
	msr := func(index uint32, value uint64) Exit {
		return Exit{Reason: ExitWRMSR, Addr: uint64(index), Data: value, Write: true, Len: 2}
	}
	kinds := []func() Exit{
		func() Exit { return Exit{Reason: ExitIO, Addr: 0x10, Size: 1, Len: 1} },
		func() Exit {
			return Exit{Reason: ExitIO, Addr: 0x80, Write: true, Size: 4, Data: dice.Uint64() & 0xffff}
		},
		func() Exit { return Exit{Reason: ExitIO, Addr: 0x80, Write: true, Size: 1, Data: 1, String: true} },
		func() Exit { return Exit{Reason: ExitIO, Addr: 0x20, Write: true, Size: 1, Data: 9} },
		func() Exit { return Exit{Reason: ExitIO, Addr: 1, Write: true, Size: 1} }, // interrupts
		func() Exit { return Exit{Reason: ExitIO, Addr: 2, Write: true, Size: 1} }, // ends the guest
		func() Exit { return Exit{Reason: ExitRDMSR, Addr: msrTSCAdjust} },
		func() Exit { return Exit{Reason: ExitRDMSR, Addr: 0x999} },
		func() Exit { return msr(0x999, 1) },
		func() Exit { return msr(msrTSCAdjust, dice.Uint64()&0xff) },
		func() Exit { return msr(lapic.TPR.MSR(), uint64(dice.IntN(256))) },
		func() Exit { return msr(lapic.EOI.MSR(), 0) },
		func() Exit { return msr(lapic.SelfIPI.MSR(), 0x40+uint64(dice.IntN(128))) },
		func() Exit { return icrWrite(lapic.ICR(0x40 + dice.IntN(128))) },
		func() Exit { return msr(lapic.LVTT.MSR(), 2<<17|uint64(dice.IntN(2))<<16|0x40) },
		func() Exit { return Exit{Reason: ExitIO, Addr: 3, Write: true, Size: 1, Data: 'x'} }, // text
		func() Exit { return msr(lapic.MSRDeadline, uint64(r.host.now)+uint64(dice.IntN(400))) },
		func() Exit { return msr(lapic.MSRDeadline, 0) },
		func() Exit { return Exit{Reason: ExitCPUID, Len: 2} },
		func() Exit { return Exit{Reason: ExitVMCALL, Len: 3} },
		func() Exit { return Exit{Reason: ExitINVD, Len: 2} },
		func() Exit { return Exit{Reason: ExitRDPMC, Len: 2} },
		func() Exit { return Exit{Reason: StopWindow} },
	}
	outside := []func(){
		func() { w.cr8 = uint8(dice.IntN(16)) },
		func() { v.apic.Post(lapic.Vector(0x40+dice.IntN(128)), false) },
		func() { r.m.request(1, v, ReqEvent) },
		func() { r.m.request(1, v, ReqScanIOAPIC) },
		func() { r.m.receive(1, v, lapic.Message{Delivery: lapic.NMI, Assert: true}, trace.SourceIPI) },
		func() { r.m.receive(1, v, lapic.Message{Vector: 0x55, Assert: true}, trace.SourceIPI) },
		func() { w.ready = NotReady(dice.IntN(3)) },
		func() { r.host.pending, w.signal = []IRQ{IRQResched}, true },
	}
	for range 40 {
		k := dice.IntN(len(kinds))
		if k == 5 && dice.IntN(20) != 0 {
			k = 0
		}
		if dice.IntN(2) == 0 {
			k = dice.IntN(4) // the hot path
		}
		e := kinds[k]()
		e.RIP = uint64(0x1000 + 16*len(w.exits))
		w.exits = append(w.exits, e)
		var f func()
		if dice.IntN(6) == 0 {
			f = outside[dice.IntN(len(outside))]
		}
		w.during = append(w.during, f)
	}
	w.during[len(w.during)-1] = nil
}

// walk takes a random path by Step or by Turn.
func walk(t *testing.T, seed uint64, mute trace.KindSet, step bool) (events []trace.Event, w *walker, b *ports, r *rig) {
	t.Helper()
	dice := rand.New(rand.NewPCG(seed, 0))
	r = newRig(t, 1, func(k *Knobs) {
		k.PreemptionTimer = false
		k.APICv = dice.IntN(2) == 0
		k.Fastpath = RulesOff + RuleSet(dice.IntN(int(rule.NumFastpaths-RulesOff)))
		k.Advance = []uint64{0, trace.AdvanceAdaptive, 200}[dice.IntN(3)]
	})
	q, b := r.real(mute)
	w = &walker{script: r.cpus[0], host: r.host}
	v := &r.m.vcpus[0]
	h := still{r.host}
	v.cpu, r.m.host = w, h
	b.ends = true
	anyPath(seed, r, w)
	for range 2000 {
		if len(w.exits) == 0 && v.stage == StageGuest && v.taking == BadEvent || r.m.HasEnded() {
			break
		}
		if r.m.IRQsOn(0) {
			h.interrupt(r.m)
		}
		if step {
			r.m.Step(0)
		} else {
			r.m.Turn(0)
		}
	}
	if left := len(w.exits); left > 0 && !r.m.HasEnded() {
		t.Fatalf("seed %d: %d exits left", seed, left)
	}
	q.Publish()
	q.Take(func(es []trace.Event) (int, bool) { events = append(events, es...); return len(es), false })
	return events, w, b, r
}

// Random exits, with things happening meanwhile, leave the same machine and tell
// the same, payloads and times included, whichever way the loop goes round. Costs
// are split otherwise and stand apart.
func TestTurnIsStepOnRandomPaths(t *testing.T) {
	free := func(es []trace.Event) []trace.Event {
		return slices.DeleteFunc(es, func(e trace.Event) bool { return e.Kind == trace.KindCost })
	}
	n := uint64(300)
	if testing.Short() {
		n = 3
	}
	for seed := range n {
		for _, mute := range []trace.KindSet{0, ^trace.KindSet(0), trace.Kinds(trace.KindMSR)} {
			es, w, b, r := walk(t, seed, mute, true)
			es2, w2, b2, r2 := walk(t, seed, mute, false)
			es, es2 = free(es), free(es2)
			for i := range min(len(es), len(es2)) {
				if es[i] != es2[i] {
					t.Fatalf("seed %d, mute %x: event %d is %v by Turn, %v by Step (after %v)", seed, mute, i, es2[i], es[i],
						es[max(0, i-3):i])
				}
			}
			if len(es) != len(es2) {
				t.Fatalf("seed %d, mute %x: Turn tells %d events, Step %d: %v", seed, mute, len(es2), len(es), es2[max(0, min(len(es), len(es2))-3):])
			}
			if !slices.Equal(w.reads, w2.reads) || !slices.Equal(w.injected, w2.injected) ||
				w.cr8 != w2.cr8 || w.irq != w2.irq || w.nmi != w2.nmi || !slices.Equal(b.written, b2.written) {
				t.Fatalf("seed %d, mute %x: by Turn the guest saw %+v, %v; by Step %+v, %v", seed, mute, w2.script, b2.written,
					w.script, b.written)
			}
			v, v2 := r.m.vcpus[0], r2.m.vcpus[0]
			if v.apic != v2.apic || v.mode != v2.mode || v.requests != v2.requests || v.stage != v2.stage || v.queued != v2.queued ||
				v.windowOn != v2.windowOn || v.nmis != v2.nmis || v.taking != v2.taking || r.m.st.exits != r2.m.st.exits ||
				r.m.st.kernIO != r2.m.st.kernIO {
				t.Fatalf("seed %d, mute %x: Turn leaves %+v, Step %+v", seed, mute, v2, v)
			}
		}
	}
}
