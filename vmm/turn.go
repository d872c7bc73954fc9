package vmm

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
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
// nothing for the stages from After to Entry to do. What is queued for the VM-entry
// field comes with a request; a window that waits, an NMI that pends and a vector in
// IRR have windowSet; a deadline to wait for waits for a vector to be injected; a real
// host has no preemption timer and forces no exit.
func (m *Machine) calm(v *vcpu) bool {
	return v.stage == StageAfter && v.requests == 0 && v.mp == trace.MPRunnable && !v.windowSet && !v.apic.PI.ON &&
		!v.apic.Timer.Pending && m.cfg.Real
}

// rounds goes round the loop while v stays calm: it is the stages from After to
// Handle in one piece, without what they find nothing to do for.
//
// Postconditions: v stands at a stage at which Turn or Step goes on.
func (m *Machine) rounds(p PCPU, v *vcpu) {
	until, kernIO := m.host.Until(p), m.st.kernIO
	m.reportEntry(p, v)
	for {
		v.mode, v.stage = trace.InGuestMode, StageGuest
		switch how := m.enter(p, v, until); {
		case how == noExit:
			return
		case how == plainExit && v.exit.At < until && m.st.ntext == 0:
			if !m.plainRound(p, v) {
				return
			}
			if m.st.kernIO != kernIO { // device timers may have changed
				until, kernIO = m.host.Until(p), m.st.kernIO
			}
			continue
		}
		m.host.Ran(p, v.exit.At)
		m.stepExit(p, v)
		if v.stage != StageHandle || v.exit.At >= until {
			return // the host first
		}
		m.stepHandle(p, v)
		if m.st.ended || !m.calm(v) {
			return
		}
		until, kernIO = m.host.Until(p), m.st.kernIO
		m.reportEntry(p, v)
	}
}

// How a stretch of guest code ended.
const (
	noExit    = iota // the vCPU did not leave the guest, or the host is to look first
	anyExit          // with an exit
	plainExit        // with one that plainRound takes
)

// enter runs guest code and says how that ended. Plain is an access to a port, or
// to an MSR that is not the local APIC's: of those the fastpath knows without
// looking that they are not for it.
func (m *Machine) enter(p PCPU, v *vcpu, until clock.TSC) (how int) {
	e := &v.exit
	if d := m.direct[v.id]; d != nil {
		d.RunInto(e, until)
	} else {
		*e = v.cpu.Run(0, until)
	}
	if c := v.cpu.CR8(); c != v.apic.CR8() {
		v.apic.SetCR8(c)
	}
	switch e.Reason {
	case ExitIO:
		m.left(v, trace.ExitIO, e.Addr, e.Data)
		return m.plain
	case ExitRDMSR, ExitWRMSR:
		if timerMSR(uint32(e.Addr)) {
			break
		}
		m.left(v, exitReasons[e.Reason], e.Addr, e.Data)
		if m.st.knobs.Fastpath == RulesS004 { // what it says depends on more
			return anyExit
		}
		return m.plain
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
	if v.stage != StageExit {
		return noExit
	}
	return anyExit
}

// timerMSR reports whether an MSR is, or may be, the local APIC's: x2APIC has 800H
// to 8FFH.
func timerMSR(index uint32) bool {
	return index>>8 == 8 || index == lapic.MSRDeadline || index == lapic.MSRBase
}

// plainRound is a plain access from exit to entry; all of that time is its own. It
// reports whether v may enter the guest: a device, or another vCPU, can have
// asked for something. What it takes to change the rest of calm's terms they have
// not.
func (m *Machine) plainRound(p PCPU, v *vcpu) bool {
	e := &v.exit
	if m.loud {
		m.reportPlainExit(p, v)
	}
	v.mode, v.stage = trace.OutsideGuestMode, StageAfter
	phase, ok, msr := trace.PhaseMSR, true, uint64(0)
	switch {
	case e.Reason == ExitIO && e.Write && !e.String:
		m.st.devCPU, phase = p, trace.PhaseUser
		if m.bus.Out(e.At, uint16(e.Addr), e.Size, uint32(e.Data)) == InKernel {
			m.st.kernIO++
			phase = trace.PhasePIO
		}
	case e.Reason == ExitIO:
		phase = devicePhase(m.accessPort(p, v, e.At))
	case e.Reason == ExitRDMSR:
		if msr, ok = m.readMSR(p, v, uint32(e.Addr)); ok {
			v.cpu.CompleteRead(msr)
		}
	default:
		msr = e.Data
		ok = m.writeMSR(p, v, uint32(e.Addr), msr)
	}
	if !ok || v.requests != 0 || v.apic.PI.ON || m.st.ended {
		if phase == trace.PhaseMSR {
			m.emit(p, v.id, trace.KindMSR, e.Addr, msr, b2u(e.Write), b2u(!ok))
		}
		if !ok {
			m.gp(p, v)
		}
		m.host.Ran(p, e.At)
		m.spend(p, phase)
		return false
	}
	if m.loud {
		m.reportPlainEntry(p, v, phase, msr)
	}
	return true
}

// reportPlainExit tells of the exit and of the fastpath's verdict.
func (m *Machine) reportPlainExit(p PCPU, v *vcpu) {
	clause, msr := trace.ClauseNoHandler, uint64(0)
	if v.reason == trace.ExitMSRWrite {
		clause, msr = trace.ClauseOtherMSR, v.exit.Addr
	}
	if m.st.knobs.Fastpath == RulesOff {
		clause = trace.ClauseKnobOff
	}
	exit, fast := m.events.Pair()
	head(exit, v.exitedAt, p, v, trace.KindExit)
	exit.A, exit.B, exit.C, exit.D = uint64(v.reason), v.exit.RIP, v.exit.Addr, v.exit.Data
	head(fast, v.exitedAt, p, v, trace.KindFastpath)
	fast.A, fast.B, fast.C, fast.D = uint64(v.reason), uint64(trace.FastNone), uint64(clause), msr
}

// head fills in the first words of an event.
func head(e *trace.Event, at clock.TSC, p PCPU, v *vcpu, k trace.Kind) {
	e.TSC, e.Kind, e.VCPU, e.PCPU, e.Flags = at, k, uint8(v.id), uint8(p), 0
}

// reportPlainEntry tells of the MSR, if it was one, what the round cost, and of
// the entry.
func (m *Machine) reportPlainEntry(p PCPU, v *vcpu, phase trace.Phase, msr uint64) {
	h := m.host.Now(p)
	now := m.common(h)
	if phase == trace.PhaseMSR && !m.mute.Has(trace.KindMSR) {
		e := m.events.Slot()
		head(e, now, p, v, trace.KindMSR)
		e.A, e.B, e.C, e.D = v.exit.Addr, msr, b2u(v.exit.Write), 0
	}
	spent := trace.PhaseCost{Phase: phase, Cycles: min(h.Sub(v.exit.At), trace.MaxPhaseCost)}
	cost, entry := m.events.Pair()
	head(cost, now, p, v, trace.KindCost)
	cost.A, cost.B, cost.C, cost.D = trace.PackCosts(spent, trace.PhaseCost{}), 0, 0, 0
	head(entry, now, p, v, trace.KindEntry)
	entry.A, entry.B, entry.C, entry.D = v.exit.RIP, 0, hvOff, 0
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
