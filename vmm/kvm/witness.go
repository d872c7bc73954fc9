//go:build linux && amd64

package kvm

import (
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Figures implements vmm.Witness.
func (e *kernelEngine) Figures() vmm.KnownFigures {
	f := hostFacts{kernelFacts: e.facts, observed: observed{debugfs: e.debug != ""}}
	if e.obs != nil {
		f.tracefs, f.probes = true, e.obs.probes
	}
	return f.figures()
}

// Ahead implements vmm.Witness: what was traced up to the moment at which the
// threads were parked and is not handed on. The guest was not stopped when the
// event that ended Run happened, for nobody knew of it: the trace is read every
// observeTick, or exactTick.
func (e *kernelEngine) Ahead() vmm.Ahead {
	var a vmm.Ahead
	for i := range e.batch {
		count(&a, &e.batch[i])
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.events {
		count(&a, &e.events[i])
	}
	return a
}

// Figures implements vmm.Witness.
func (e *loopEngine) Figures() vmm.KnownFigures {
	f := vmm.KnownFigures(loopFigures)
	if e.cfg.Untraced {
		for i := range f {
			if i := vmm.Figure(i); i != vmm.FigureRegisters && i != vmm.FigureSamples && i != vmm.FigureConsole {
				f[i] = vmm.Known{Basis: nothing, By: "the run is not traced"}
			}
		}
	}
	return f
}

// Ahead implements vmm.Witness: what is in the queue.
func (e *loopEngine) Ahead() vmm.Ahead {
	var a vmm.Ahead
	e.queue.Each(func(ev *trace.Event) { count(&a, ev) })
	return a
}

func count(a *vmm.Ahead, ev *trace.Event) {
	a.Events++
	switch ev.Kind {
	case trace.KindExit:
		a.Exits++
	case trace.KindLost:
		a.AtLeast = true
	}
}
