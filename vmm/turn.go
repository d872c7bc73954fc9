package vmm

import (
	"ticktrap/internal/clock"
	"ticktrap/trace"
)

// direct is what a CPU can have beside CPU: a Run that writes the exit where it is
// kept.
type direct interface {
	RunInto(e *Exit, until clock.TSC)
}

// Turn lets vCPU id go on until something else than the loop must act: an
// interrupt may be due, a stretch of guest code ended without an exit, the vCPU
// halts, or the guest has ended. It is Step for a real host, where nothing acts
// between two stages.
//
// Preconditions: those of Step.
func (m *Machine) Turn(id int) {
	v := &m.vcpus[id]
	p := v.pcpu
	for {
		switch v.stage {
		case StageHandle:
			m.stepHandle(p, v)
			if m.st.ended {
				return
			}
			if m.calm(v) {
				m.rounds(p, v)
				return
			}
		case StageAfter:
			m.stepAfter(p, v)
		case StageOuter:
			m.stepOuter(p, v)
		case StagePrepare:
			m.stepPrepare(p, v)
		case StageTest:
			m.stepTest(p, v)
		case StageEntry:
			m.stepEntry(p, v)
		case StageGuest:
			m.stepGuest(p, v)
			if v.stage == StageGuest {
				return // stopped for something that is no exit
			}
		case StageExit:
			m.stepExit(p, v)
			return
		default:
			m.Step(id)
			return
		}
	}
}

// calm reports whether v, whose exit has been handled, may enter the guest with
// nothing for the stages from After to Entry to do.
func (m *Machine) calm(v *vcpu) bool {
	t := &v.apic.Timer
	return v.stage == StageAfter && v.requests == 0 && v.mp == trace.MPRunnable && v.queued.Kind == BadEvent &&
		v.taking == BadEvent && !v.windowOn && !v.windowSet && v.nmis == 0 && !v.immediate && !v.apic.PI.ON &&
		!t.Pending && t.Expired == 0 && !t.HVInUse && v.apic.IRR.Empty() && m.cfg.Real
}

// rounds goes round the loop while v stays calm: it is the stages from After to
// Handle in one piece, without what they find nothing to do for.
//
// Postconditions: v stands at a stage at which Turn or Step goes on.
func (m *Machine) rounds(p PCPU, v *vcpu) {
	v.reentry = false
	until, kernIO := m.host.Until(p), m.st.kernIO
	m.reportEntry(p, v)
	for {
		v.mode, v.stage = trace.InGuestMode, StageGuest
		if !m.enter(p, v, until) {
			return
		}
		switch {
		case v.reason != trace.ExitIO || m.st.ntext != 0 || !m.silent && !m.loud:
			m.host.Ran(p, v.exit.At)
			m.stepExit(p, v)
		case v.exit.At >= until:
			m.host.Ran(p, v.exit.At)
			m.stepExit(p, v)
			return // the host first
		default:
			if !m.portRound(p, v) {
				return
			}
			if m.st.kernIO != kernIO { // device timers may have changed
				until, kernIO = m.host.Until(p), m.st.kernIO
			}
			continue
		}
		if v.stage != StageHandle || v.exit.At >= until {
			return
		}
		m.stepHandle(p, v)
		if m.st.ended || !m.calm(v) {
			return
		}
		until, kernIO = m.host.Until(p), m.st.kernIO
		m.reportEntry(p, v)
	}
}

// portRound is a port access from exit to entry. It reports whether v may enter
// the guest: a device, or another vCPU, can have asked for something; what it
// takes to change the rest of calm's terms it has not. All of its time is the
// access's.
func (m *Machine) portRound(p PCPU, v *vcpu) bool {
	if m.loud {
		clause := trace.ClauseNoHandler
		if m.st.knobs.Fastpath == RulesOff {
			clause = trace.ClauseKnobOff
		}
		exit, fast := m.events.Pair()
		*exit = trace.Event{TSC: v.exitedAt, Kind: trace.KindExit, VCPU: uint8(v.id), PCPU: uint8(p),
			A: uint64(trace.ExitIO), B: v.exit.RIP, C: v.exit.Addr, D: v.exit.Data}
		*fast = trace.Event{TSC: v.exitedAt, Kind: trace.KindFastpath, VCPU: uint8(v.id), PCPU: uint8(p),
			A: uint64(trace.ExitIO), B: uint64(trace.FastNone), C: uint64(clause)}
	}
	v.mode, v.stage = trace.OutsideGuestMode, StageAfter
	where := m.accessPort(p, v, v.exit.At)
	if v.requests != 0 || v.apic.PI.ON || m.st.ended {
		m.host.Ran(p, v.exit.At)
		m.payDevice(p, where)
		return false
	}
	if m.loud {
		h := m.host.Now(p)
		now := m.common(h)
		spent := trace.PhaseCost{Phase: devicePhase(where), Cycles: min(h.Sub(v.exit.At), trace.MaxPhaseCost)}
		cost, entry := m.events.Pair()
		*cost = trace.Event{TSC: now, Kind: trace.KindCost, VCPU: uint8(v.id), PCPU: uint8(p),
			A: trace.PackCosts(spent, trace.PhaseCost{})}
		*entry = trace.Event{TSC: now, Kind: trace.KindEntry, VCPU: uint8(v.id), PCPU: uint8(p), A: v.exit.RIP, C: hvOff}
	}
	return true
}

// reportEntry accounts the work since the handler and reports the entry.
func (m *Machine) reportEntry(p PCPU, v *vcpu) {
	if m.silent {
		return
	}
	m.spend(p, trace.PhaseEntry)
	if v.ncosts != 0 {
		m.flushCosts(p, v)
	}
	if !m.mute.Has(trace.KindEntry) {
		m.emitNow(p, v.id, trace.KindEntry, v.cpu.RIP(), 0, hvOff, 0)
	}
}

// enter runs guest code and reports whether it ended with an exit.
func (m *Machine) enter(p PCPU, v *vcpu, until clock.TSC) bool {
	e := &v.exit
	if d := m.direct[v.id]; d != nil {
		d.RunInto(e, until)
	} else {
		*e = v.cpu.Run(0, until)
	}
	if c := v.cpu.CR8(); c != v.apic.CR8() {
		v.apic.SetCR8(c)
	}
	if e.Reason == ExitIO {
		m.left(v, trace.ExitIO, e.Addr, e.Data)
		return true
	}
	m.host.Ran(p, e.At)
	switch {
	case e.Reason == StopLimit || e.Reason == StopSignal:
		m.stopped(p, v, *e)
	case m.virtualized(p, v, e):
	default:
		a, b := exitInfo(e)
		m.left(v, exitReasons[e.Reason], a, b)
	}
	return v.stage == StageExit
}
