package vmm

import (
	"slices"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// ports is a Bus on which every port reads 7. A write to port 1 raises the PIC's
// output; ports from 0x40 on are in the kernel.
type ports struct {
	Bus
	m       *Machine
	written []uint32
	ends    bool // a write to port 2 ends the guest
}

func (b *ports) In(clock.TSC, uint16, uint8) (uint32, Where) { return 7, InUser }
func (b *ports) Out(_ clock.TSC, port uint16, _ uint8, v uint32) Where {
	b.written = append(b.written, v)
	if port == 1 {
		b.m.Message(Message{Vector: 0x50, Assert: true})
	}
	if port == 2 && b.ends {
		b.m.Exit(v, false)
	}
	if port == 3 {
		b.m.Console(byte(v))
	}
	if port >= 0x40 {
		return InKernel
	}
	return InUser
}

// real makes a rig's host count as a real one, with the events muted that are
// given. The guest has no handlers: interrupts are taken at once.
func (r *rig) real(mute trace.KindSet) (*trace.Queue, *ports) {
	q, b := trace.NewQueue(), &ports{m: r.m}
	r.m.cfg.Real, r.m.mute, r.m.events, r.m.sink = true, mute, q, q
	if mute.Has(trace.KindCost) {
		r.m.joined = trace.AllPhases
	}
	r.m.silent, r.m.loud = mute&exitKinds == exitKinds, mute&exitKinds == 0
	r.m.plain = plainExit
	r.m.SetBus(b)
	return q, b
}

// Ways of a guest through all kinds of exits; what matters is what one leaves for
// the next.
var ways = []struct {
	name  string
	knobs func(*Knobs)
	exits []Exit
}{
	{"ports", nil, []Exit{
		{Reason: ExitIO, Addr: 0x80, Write: true, Data: 1, Size: 1, RIP: 0x10}, {Reason: ExitIO, Addr: 0x10, Size: 1, RIP: 0x12},
		{Reason: ExitIO, Addr: 0x20, Write: true, Data: 2, Size: 4}, {Reason: ExitIO, Addr: 0x80, Write: true, Data: 3, Size: 1}}},
	{"a port that interrupts", nil, []Exit{
		{Reason: ExitIO, Addr: 0x10, Size: 1}, {Reason: ExitIO, Addr: 1, Write: true, Size: 1}, {Reason: ExitIO, Addr: 0x10, Size: 1},
		{Reason: ExitIO, Addr: 0x10, Size: 1}}},
	{"the same with APICv", func(k *Knobs) { k.APICv = true }, []Exit{
		{Reason: ExitIO, Addr: 0x10, Size: 1}, {Reason: ExitIO, Addr: 1, Write: true, Size: 1}, {Reason: ExitIO, Addr: 0x10, Size: 1}}},
	{"MSRs", nil, []Exit{
		{Reason: ExitRDMSR, Addr: msrTSCAdjust}, {Reason: ExitWRMSR, Addr: uint64(lapic.TPR.MSR()), Data: 0x20, Write: true},
		{Reason: ExitIO, Addr: 0x10, Size: 1}, {Reason: ExitRDMSR, Addr: 0x999}, {Reason: ExitIO, Addr: 0x10, Size: 1}}},
	{"a deadline", nil, []Exit{
		{Reason: ExitIO, Addr: 0x10, Size: 1}, deadlineWrite(), {Reason: ExitIO, Addr: 0x10, Size: 1},
		{Reason: ExitWRMSR, Addr: uint64(lapic.MSRDeadline), Data: 1, Write: true}, {Reason: ExitIO, Addr: 0x10, Size: 1}}},
	{"a deadline in the fastpath", func(k *Knobs) { k.Fastpath = Rules618 }, []Exit{
		{Reason: ExitIO, Addr: 0x10, Size: 1}, deadlineWrite(), {Reason: ExitIO, Addr: 0x10, Size: 1}}},
	{"a masked expiry", nil, []Exit{
		{Reason: ExitIO, Addr: 0x10, Size: 1}, {Reason: ExitWRMSR, Addr: uint64(lapic.LVTT.MSR()), Data: 2<<17 | 1<<16 | 0x40, Write: true},
		{Reason: ExitWRMSR, Addr: uint64(lapic.MSRDeadline), Data: 1, Write: true}, {Reason: ExitIO, Addr: 0x10, Size: 1},
		{Reason: ExitWRMSR, Addr: uint64(lapic.LVTT.MSR()), Data: 2<<17 | 0x40, Write: true}, {Reason: ExitIO, Addr: 0x10, Size: 1},
		{Reason: ExitIO, Addr: 0x10, Size: 1}}},
	{"self-IPI and halt", nil, []Exit{
		{Reason: ExitIO, Addr: 0x10, Size: 1}, icrWrite(1<<18 | 0x51), {Reason: ExitIO, Addr: 0x10, Size: 1},
		{Reason: ExitHLT, Len: 1}, {Reason: ExitIO, Addr: 0x10, Size: 1}}},
}

// told runs a way, by Step or by Turn, and returns its events and what the guest
// sees.
func told(t *testing.T, w int, mute trace.KindSet, step bool) (events []trace.Event, cpu *script, bus *ports) {
	t.Helper()
	r := newRig(t, 1, func(k *Knobs) {
		k.APICv, k.PreemptionTimer = false, false
		if f := ways[w].knobs; f != nil {
			f(k)
		}
	})
	q, b := r.real(mute)
	r.cpus[0].exits = slices.Clone(ways[w].exits)
	for range 400 {
		if len(r.cpus[0].exits) == 0 && r.m.vcpus[0].stage == StageGuest {
			break
		}
		if step {
			r.m.Step(0)
		} else {
			r.m.Turn(0)
		}
	}
	q.Publish()
	q.Take(func(es []trace.Event) (int, bool) { events = append(events, es...); return len(es), false })
	return events, r.cpus[0], b
}

// plain is an event without what is measured, and without the splits of costs.
func plain(events []trace.Event) (out []trace.Event) {
	for _, e := range events {
		if e.Kind == trace.KindCost {
			continue
		}
		e.TSC = 0
		switch e.Kind {
		case trace.KindArm, trace.KindBacking, trace.KindExpire, trace.KindWait, trace.KindTune:
			e.A, e.B, e.C, e.D = 0, 0, 0, 0
		}
		out = append(out, e)
	}
	return out
}

func TestTurnTellsWhatStepTells(t *testing.T) {
	for i, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			want, cpu, bus := told(t, i, 0, true)
			got, cpu2, bus2 := told(t, i, 0, false)
			if a, b := plain(got), plain(want); !slices.Equal(a, b) {
				t.Errorf("Turn tells\n%v\nStep\n%v", a, b)
			}
			if !slices.Equal(cpu2.reads, cpu.reads) || !slices.Equal(cpu2.injected, cpu.injected) || cpu2.cr8 != cpu.cr8 ||
				!slices.Equal(bus2.written, bus.written) {
				t.Errorf("Turn: %+v, %v; Step: %+v, %v", cpu2, bus2.written, cpu, bus.written)
			}
			for _, e := range got {
				if c, _ := trace.UnpackCosts(e.A); e.Kind == trace.KindCost && (c.Phase == trace.BadPhase || c.Cycles <= 0) {
					t.Errorf("a cost event without costs: %v", e)
				}
			}
		})
	}
}

func TestUntracedTurnDoesTheSameInSilence(t *testing.T) {
	all := ^trace.KindSet(0)
	for i, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			_, cpu, bus := told(t, i, 0, true)
			events, cpu2, bus2 := told(t, i, all, false)
			if len(events) != 0 {
				t.Errorf("events %v although all are muted", events)
			}
			if !slices.Equal(cpu2.reads, cpu.reads) || !slices.Equal(cpu2.injected, cpu.injected) || cpu2.cr8 != cpu.cr8 ||
				!slices.Equal(bus2.written, bus.written) {
				t.Errorf("untraced: %+v, %v; traced: %+v, %v", cpu2, bus2.written, cpu, bus.written)
			}
		})
	}
}

func TestTurnDoesNotAllocate(t *testing.T) {
	r := newRig(t, 1, nil)
	r.real(0)
	endless := make([]Exit, 40_000)
	for i := range endless {
		endless[i] = Exit{Reason: ExitIO, Addr: 0x80, Size: 1}
	}
	r.cpus[0].exits, r.cpus[0].reads = endless, make([]uint64, 0, len(endless))
	if got := testing.AllocsPerRun(5, func() { r.m.Turn(0) }); got != 0 {
		t.Errorf("Turn allocates %v times, want 0", got)
	}
}
