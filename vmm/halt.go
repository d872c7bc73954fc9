package vmm

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// runnable is kvm_arch_vcpu_runnable: what there is to run for, or BadWake.
func (m *Machine) runnable(v *vcpu) trace.WakeReason {
	switch {
	case v.mp == trace.MPRunnable:
		return trace.WakeUnblock
	case v.init || v.sipi && v.mp == trace.MPInitReceived:
		return trace.WakeInit
	case v.mp != trace.MPHalted:
		return trace.BadWake
	case m.trapWaits(v):
		return trace.WakeUnblock
	case v.nmis+v.nmiQueued > 0 && v.cpu.NMIReady():
		return trace.WakeNMI
	case v.queued.Kind != BadEvent:
		return trace.WakeInterrupt
	case m.interruptible(v) && m.hasInterrupt(v):
		return trace.WakeInterrupt
	}
	return trace.BadWake
}

// trapWaits reports whether the CPU has an event of its own to deliver: a
// single-step trap after HLT.
func (m *Machine) trapWaits(v *vcpu) bool {
	_, why := v.cpu.Interruptible()
	return why == NotReadyEvent
}

// interruptible is kvm_arch_interrupt_allowed for a halted vCPU.
func (m *Machine) interruptible(v *vcpu) bool {
	ok, _ := v.cpu.Interruptible()
	return ok
}

// hasInterrupt is kvm_cpu_has_interrupt, which moves PIR into IRR first.
func (m *Machine) hasInterrupt(v *vcpu) bool {
	if m.st.intr && v.id == 0 && v.apic.AcceptsPIC() {
		return true
	}
	if v.apic.PI.ON {
		m.syncPIR(v.pcpu, v)
	}
	_, ok := v.apic.Deliverable()
	return ok
}

// checkBlock is kvm_vcpu_check_block: why a halt must end, or BadWake.
func (m *Machine) checkBlock(p PCPU, v *vcpu) trace.WakeReason {
	if m.host.Now(p) < v.hidden {
		return trace.BadWake // the stores of another CPU are not visible yet
	}
	if w := m.runnable(v); w != trace.BadWake {
		return w
	}
	switch {
	case v.apic.HasPendingTimer() && v.mp == trace.MPHalted:
		return trace.WakeTimer
	case m.host.SignalPending(p, v.id):
		return trace.WakeSignal
	case v.requests&ReqUnblock != 0:
		return trace.WakeUnblock
	}
	return trace.BadWake
}

// startHalt is vcpu_block up to the point where the thread polls or sleeps.
func (m *Machine) startHalt(p PCPU, v *vcpu) {
	if m.runnable(v) != trace.BadWake {
		m.endHalt(p, v)
		return
	}
	v.hvBefore = v.apic.Timer.HVInUse
	m.switchToSoft(p, v)
	v.haltAt = m.host.Now(p)
	if v.haltPoll > 0 && v.mp == trace.MPHalted {
		c, _ := m.hz.ToCycles(v.haltPoll)
		v.pollEnd = v.haltAt + c
		m.emit(p, v.id, trace.KindHalt, uint64(trace.HaltPolling), uint64(v.haltPoll), 0, 0)
		v.stage = StagePoll
		return
	}
	m.sleep(p, v)
}

// stepPoll is one turn of halt polling.
func (m *Machine) stepPoll(p PCPU, v *vcpu) {
	if w := m.checkBlock(p, v); w != trace.BadWake {
		m.wake(p, v, w, true)
		return
	}
	if m.host.Now(p) >= v.pollEnd || m.host.OtherRunnable(p) {
		m.sleep(p, v)
		return
	}
	if m.host.Idle(p, v.pollEnd) {
		return // nothing will happen here before that: the host moved its clock
	}
	m.spend(p, trace.PhasePoll)
}

// sleep is the blocking half of a halt. What another CPU does while the thread
// prepares is seen by the check that follows.
func (m *Machine) sleep(p PCPU, v *vcpu) {
	m.spend(p, trace.PhaseBlock)
	v.stage = StageBlock
}

// stepBlock sets the task pointer and looks once more. What comes while it looks,
// or after it, has to wake the thread.
func (m *Machine) stepBlock(p PCPU, v *vcpu) {
	v.blocked = true
	w := m.checkBlock(p, v)
	m.spend(p, trace.PhaseExitTest)
	if w != trace.BadWake {
		m.wake(p, v, w, false)
		return
	}
	m.emit(p, v.id, trace.KindHalt, uint64(trace.HaltBlocked), uint64(v.haltPoll), 0, 0)
	m.flushConsole(p)
	v.stage, v.woken = StageSleep, false
}

// stepSleep is schedule(): what the check before it did not see must have woken
// the thread, or it sleeps. Host interrupts come in between: the thread is loaded,
// its task pointer is set, and it will not look again.
func (m *Machine) stepSleep(p PCPU, v *vcpu) {
	v.stage = StageWoken
	if v.woken {
		v.woken = false
		return
	}
	m.host.Sleep(p, v.id)
}

// canWake reports whether a wake-up of v's thread would do something.
func (m *Machine) canWake(v *vcpu) bool { return v.stage == StageSleep || m.host.Asleep(v.id) }

// wakeThread is wake_up_process for a blocked vCPU; it reports whether that did
// something.
func (m *Machine) wakeThread(p PCPU, v *vcpu) bool {
	if v.stage == StageSleep {
		v.woken = true
		return true
	}
	return m.host.Wake(p, v.id)
}

// stepWoken is the thread running again after a sleep.
func (m *Machine) stepWoken(p PCPU, v *vcpu) {
	w := m.checkBlock(p, v)
	if w == trace.BadWake {
		v.stage, v.woken = StageSleep, false
		return
	}
	m.wake(p, v, w, false)
}

// wake ends a halt: the poll time adapts, the preemption timer comes back, and
// the vCPU runs if there is something to run.
func (m *Machine) wake(p PCPU, v *vcpu, why trace.WakeReason, polled bool) {
	v.blocked = false
	halted, _ := m.hz.ToNanos(clock.TSC(max(0, m.host.Now(p).Sub(v.haltAt))))
	if v.mp == trace.MPHalted {
		m.adjustPoll(v, halted)
	}
	m.emit(p, v.id, trace.KindWake, uint64(why), uint64(halted), b2u(polled), uint64(v.haltPoll))
	v.take(ReqUnblock)
	if v.hvBefore && v.backing == trace.BackSW && m.cfg.Faults&FaultNoSwitchBack == 0 {
		m.restartTimer(p, v)
	}
	v.hvBefore = false
	if m.runnable(v) != trace.BadWake {
		m.endHalt(p, v)
		return
	}
	v.stage = StageAfter
}

// endHalt makes the vCPU run: INIT and SIPI are taken, a halt is over.
func (m *Machine) endHalt(p PCPU, v *vcpu) {
	if v.init || v.sipi {
		m.acceptInit(p, v)
	}
	if v.mp == trace.MPHalted {
		m.setMP(p, v, trace.MPRunnable, 0)
	}
	v.stage = StageAfter
}

// shrunkPoll is shrink_halt_poll_ns: the polling time after a halt that was too
// long for it. A divisor of 0 ends polling.
func (m *Machine) shrunkPoll(poll clock.Nanos) clock.Nanos {
	k := &m.cfg.Kernel.Poll
	if k.Shrink == 0 {
		return 0
	}
	if poll /= clock.Nanos(k.Shrink); poll < k.GrowStart {
		return 0
	}
	return poll
}

// grownPoll is grow_halt_poll_ns.
func (m *Machine) grownPoll(poll clock.Nanos) clock.Nanos {
	k := &m.cfg.Kernel.Poll
	return max(poll*clock.Nanos(k.Grow), k.GrowStart)
}

// adjustPoll is the tail of kvm_vcpu_halt: the vCPU's polling time grows while
// halts are shorter than the maximum, and shrinks when they are longer.
func (m *Machine) adjustPoll(v *vcpu, halted clock.Nanos) {
	limit := m.st.knobs.HaltPoll
	switch {
	case limit == 0:
		v.haltPoll = 0
	case halted <= v.haltPoll:
	case v.haltPoll > 0 && halted > limit:
		v.haltPoll = m.shrunkPoll(v.haltPoll)
	case v.haltPoll < limit && halted < limit:
		v.haltPoll = min(m.grownPoll(v.haltPoll), limit)
	}
}
