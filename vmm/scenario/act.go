package scenario

import (
	"encoding/binary"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
)

// act is something that the world does to the run once the guest has armed its
// timer so many times. do reports whether it was possible; if not it is tried
// again after the next turn.
type act struct {
	arms uint64
	do   func(*Engine) bool
}

// restore saves vCPU 0 and restores it, in the given orders of calls, while its
// timer is armed.
func restore(save, back []vmm.StatePart) func(*Engine) bool {
	return func(e *Engine) bool {
		m := e.Machine()
		if !m.Outside(0) || !m.Armed(0) {
			return false
		}
		m.RestoreTimer(0, m.SaveTimer(0, save), back)
		return true
	}
}

// suspend keeps vCPU 0 from running for so long.
func suspend(ns clock.Nanos) func(*Engine) bool {
	return func(e *Engine) bool {
		h := e.Header()
		c, _ := h.Hz.ToCycles(ns)
		return e.Machine().Armed(0) && e.Suspend(0, clock.Cycles(c))
	}
}

// inhibit inhibits APICv as a PIT with re-injection does; the bookmark tells the
// reason, for which there is no event.
func inhibit(e *Engine) bool {
	e.sink.Emit(trace.Event{TSC: e.Now(), Kind: trace.KindMark, VCPU: trace.NoCPU, PCPU: trace.NoCPU,
		A: binary.LittleEndian.Uint64([]byte("PIT_REIN"))})
	return e.SetKnob(trace.KnobAPICv, off) == nil
}

// Engine is a model run to which a scenario happens. It belongs to one goroutine.
type Engine struct {
	*model.Engine
	sink trace.Sink
	acts []act
	st   progress
}

// progress is how far a scenario has got.
type progress struct {
	next int // act to come
	arms uint64
}

// Engine makes the run of a scenario.
func (s *Scenario) Engine(cfg model.Config, sink trace.Sink) (*Engine, error) {
	e := &Engine{acts: s.acts, sink: sink}
	m, err := model.New(cfg, trace.SinkFunc(func(ev trace.Event) {
		if ev.Kind == trace.KindArm && ev.A != 0 {
			e.st.arms++
		}
		sink.Emit(ev)
	}))
	if err != nil {
		return nil, err
	}
	e.Engine = m
	return e, nil
}

// Run implements vmm.Engine: acts come between two turns of the model.
func (e *Engine) Run(until clock.TSC, done func() bool) {
	e.Engine.Run(until, func() bool {
		for e.st.next < len(e.acts) && e.st.arms >= e.acts[e.st.next].arms {
			if !e.acts[e.st.next].do(e) {
				break
			}
			e.st.next++
		}
		return done()
	})
}

// checkpoint is a state of the run with the scenario's own.
type checkpoint struct {
	model any
	st    progress
}

// Checkpoint implements vmm.Rewinder.
func (e *Engine) Checkpoint() any { return checkpoint{e.Engine.Checkpoint(), e.st} }

// Rewind implements vmm.Rewinder.
func (e *Engine) Rewind(s any) error {
	c := s.(checkpoint)
	e.st = c.st
	return e.Engine.Rewind(c.model)
}

var _ vmm.Rewinder = (*Engine)(nil)
