package model

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/interp"
)

// Snapshot is the whole state of a run at one moment. It does not change and can
// be restored any number of times.
type Snapshot struct {
	host    hostState
	machine *vmm.Snapshot
	mem     *interp.MemSnapshot
	waiting []trace.Event
	turns   uint64
	handed  uint64
	told    bool
	end     clock.TSC
}

// Save returns the present state.
func (e *Engine) Save() *Snapshot {
	return &Snapshot{host: e.host.st.clone(), machine: e.m.Save(), mem: e.mem.Snapshot(),
		waiting: append([]trace.Event(nil), e.order.kept()...), turns: e.turns, handed: e.order.handed,
		told: e.told, end: e.end}
}

// Restore brings back a state of this engine.
func (e *Engine) Restore(s *Snapshot) error {
	if err := e.mem.Restore(s.mem); err != nil {
		return err
	}
	e.host.st, e.host.stale = s.host.clone(), true
	e.m.Restore(s.machine)
	e.order.drop()
	e.order.waiting = append(e.order.waiting, s.waiting...)
	e.order.handed = s.handed
	e.turns, e.told, e.end = s.turns, s.told, s.end
	return nil
}

// Position implements vmm.Rewinder: it counts turns of the model and events
// handed on, so that every event has a position of its own.
func (e *Engine) Position() uint64 { return e.turns + e.order.handed }

func (s *hostState) clone() hostState {
	c := *s
	c.cpus = append([]pcpu(nil), s.cpus...)
	for i := range c.cpus {
		c.cpus[i].runq = append([]int(nil), s.cpus[i].runq...)
		c.cpus[i].irqs = append([]irq(nil), s.cpus[i].irqs...)
	}
	c.timers = append([]hrtimer(nil), s.timers...)
	c.threads = append([]thread(nil), s.threads...)
	return c
}
