package vmm

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// Stage is where a vCPU stands in the run loop. One Step carries out one stage;
// between two steps another vCPU may act, and whatever it did is seen then.
type Stage uint8

// The stages, in the order of a full turn.
const (
	StageOuter   Stage = iota // vcpu_run: enter the guest, or halt
	StagePrepare              // vcpu_enter_guest: requests, event injection
	StageTest                 // IRQs off, mode IN_GUEST_MODE: PIR sync, exit test
	StageEntry                // vmx_vcpu_run: preemption timer, wait, VM-entry
	StageGuest                // guest code
	StageExit                 // after VM-exit: fastpath
	StageHandle               // IRQs on: the exit's handler
	StageAfter                // tail of vcpu_run: pending timer, host work
	StagePoll                 // halt polling
	StageBlock                // preparing to sleep in kvm_vcpu_block
	StageSleep                // about to sleep in kvm_vcpu_block
	StageWoken                // awake again
	numStages
)

// StageNames names the stages.
var StageNames = []string{"outer", "prepare", "test", "entry", "guest", "exit", "handle", "after", "poll", "block", "sleep",
	"woken"}

var stages = [numStages]func(*Machine, PCPU, *vcpu){
	StageOuter: (*Machine).stepOuter, StagePrepare: (*Machine).stepPrepare, StageTest: (*Machine).stepTest,
	StageEntry: (*Machine).stepEntry, StageGuest: (*Machine).stepGuest, StageExit: (*Machine).stepExit,
	StageHandle: (*Machine).stepHandle, StageAfter: (*Machine).stepAfter, StagePoll: (*Machine).stepPoll,
	StageBlock: (*Machine).stepBlock, StageSleep: (*Machine).stepSleep, StageWoken: (*Machine).stepWoken,
}

// Step carries out one stage of vCPU id, on the host CPU where its thread runs.
//
// Preconditions: the thread of id is running there; interrupts due on that CPU
// have been taken if IRQsOn; the guest has not ended.
func (m *Machine) Step(id int) {
	v := &m.vcpus[id]
	stages[v.stage](m, v.pcpu, v)
}

// IRQsOn reports whether host interrupts are taken before the next step of vCPU
// id. In the guest they cause an exit instead.
func (m *Machine) IRQsOn(id int) bool {
	switch m.vcpus[id].stage {
	case StageTest, StageEntry, StageGuest, StageExit:
		return false
	}
	return true
}

// Exited reports whether vCPU id has left the guest just now and its exit has not
// been handled.
func (m *Machine) Exited(id int) bool { return m.vcpus[id].stage == StageHandle }

// InGuest reports whether vCPU id executes guest code.
func (m *Machine) InGuest(id int) bool { return m.vcpus[id].stage == StageGuest }

// Exiting reports whether vCPU id has just left the guest and its exit has not
// been looked at: the point at which a debugger stops.
func (m *Machine) Exiting(id int) bool { return m.vcpus[id].stage == StageExit }

// Load is vcpu_load: the thread of vCPU id runs on p from now on.
func (m *Machine) Load(p PCPU, id int) {
	v := &m.vcpus[id]
	moved := v.pcpu != p
	v.pcpu = p
	m.st.loaded[p] = int8(id)
	v.apic.PI.Load()
	m.shrinkSpin(p, v)
	if moved && v.apic.Timer.HVInUse {
		m.restartTimer(p, v) // hv_deadline_tsc counts on the CPU it was set on
	}
	if moved && v.backing == trace.BackSW && !m.canPost(v) {
		m.request(p, v, ReqMigrateTimer)
	}
	m.emit(p, id, trace.KindSched, 1, uint64(p), 0, 0)
}

// Put is vcpu_put: the thread of vCPU id leaves p. preempted says that it could
// go on running.
func (m *Machine) Put(p PCPU, id int, preempted bool) {
	v := &m.vcpus[id]
	v.apic.PI.Unload(preempted, !preempted)
	m.emit(p, id, trace.KindSched, 0, uint64(p), 0, 0)
	m.st.loaded[p] = -1
}

// stepOuter is the head of vcpu_run's loop.
func (m *Machine) stepOuter(p PCPU, v *vcpu) {
	m.spend(p, trace.PhaseOuter)
	if v.mp == trace.MPRunnable {
		v.stage = StagePrepare
		return
	}
	m.startHalt(p, v)
}

// stepPrepare is vcpu_enter_guest up to the point where IRQs are off and the
// mode is IN_GUEST_MODE.
func (m *Machine) stepPrepare(p PCPU, v *vcpu) {
	if v.requests != 0 && m.serve(p, v) {
		v.stage = StageAfter
		return
	}
	m.spend(p, trace.PhasePrepare)
	v.mode = trace.InGuestMode
	v.stage = StageTest
}

// serve carries out the requests that are checked on the way into the guest; it
// reports whether the vCPU now waits for a SIPI instead.
func (m *Machine) serve(p PCPU, v *vcpu) (waits bool) {
	if v.take(ReqMigrateTimer) {
		m.migrateTimer(p, v)
	}
	v.take(ReqScanIOAPIC)
	v.take(ReqClockUpdate)
	if v.take(ReqAPICvUpdate) {
		m.applyAPICv(p, v)
	}
	if v.take(ReqInit) && m.acceptInit(p, v) {
		return true
	}
	if v.take(ReqNMI) {
		v.processNMI()
	}
	if v.take(ReqEvent) {
		m.spend(p, trace.PhaseEvent)
		m.injectEvents(p, v)
	}
	return false
}

// stepTest is the rest of vcpu_enter_guest before the inner loop.
func (m *Machine) stepTest(p PCPU, v *vcpu) {
	if v.apic.PI.ON {
		m.syncPIR(p, v)
	}
	m.spend(p, trace.PhaseExitTest)
	if m.exitRequest(p, v) != trace.ClauseNone {
		m.cancelEntry(p, v)
		return
	}
	v.reentry = false
	v.stage = StageEntry
}

// cancelEntry gives up an entry attempt: a queued event goes back where it came
// from (kvm_x86_cancel_injection keeps it queued for the next attempt).
func (m *Machine) cancelEntry(p PCPU, v *vcpu) {
	v.mode = trace.OutsideGuestMode
	if v.queued.Kind != BadEvent {
		v.requests |= ReqEvent
	}
	v.stage = StageAfter
}

// exitRequest is kvm_vcpu_exit_request: the first of its terms that holds, or
// ClauseNone.
//
// Source: arch/x86/kvm/x86.c, kvm_vcpu_exit_request; S004 calls it
// kvm_need_cancel_enter_guest.
func (m *Machine) exitRequest(p PCPU, v *vcpu) trace.Clause { return m.first(p, v, m.st.pred.test) }

// stepEntry is vmx_vcpu_run up to the guest's first instruction. Every entry goes
// the way from the early place of the wait to the late one, wherever the wait is. The
// preemption timer counts from the beginning of VM-entry, so it may run out during
// it: Intel SDM vol. 3C, 26.7.4 "VMX-Preemption Timer".
func (m *Machine) stepEntry(p PCPU, v *vcpu) {
	if m.st.knobs.WaitPlacement == trace.WaitEarly {
		// In the kernels that waited here there was no fastpath. One that waits
		// here passes the wait on re-entries too: what the knob compares is the
		// distance from the wait to the guest.
		m.waitExpire(p, v, trace.WaitEarly)
	}
	m.spend(p, trace.PhaseEarlyGap)
	hv := m.programHV(p, v)
	if m.st.knobs.WaitPlacement == trace.WaitLate {
		m.waitExpire(p, v, trace.WaitLate)
	}
	m.spend(p, trace.PhaseLateGap)
	v.hv.fire = clock.Never
	if hv != hvOff {
		v.hv.fire = m.host.Now(p) + clock.TSC(hv)
	}
	m.spend(p, trace.PhaseEntry)
	vector := uint64(0)
	if v.queued.Kind != BadEvent {
		vector = m.deliverQueued(v)
	}
	if v.ncosts != 0 {
		m.flushCosts(p, v)
	}
	if !m.mute.Has(trace.KindEntry) {
		m.emitNow(p, v.id, trace.KindEntry, v.cpu.RIP(), vector, hv, b2u(v.reentry))
	}
	if hv != hvOff {
		v.hv.fire = max(v.hv.fire, m.host.Now(p)) // the guest's first instruction, at the earliest
	}
	m.updateWindow(v)
	v.stage = StageGuest
}

// stepGuest runs guest code until it exits, an interrupt arrives, or another CPU
// must catch up.
func (m *Machine) stepGuest(p PCPU, v *vcpu) {
	if v.taking != BadEvent {
		m.arrive(p, v)
		return
	}
	until := m.host.Until(p)
	e := v.cpu.Run(m.host.Now(p), min(until, v.hv.fire))
	m.host.Ran(p, e.At)
	if m.cfg.Real {
		m.syncTPR(v)
	}
	switch {
	case e.Reason == StopLimit && v.hv.fire <= e.At:
		m.leave(p, v, e, trace.ExitPreemptionTimer, 0, 0)
	case e.Reason == StopLimit || e.Reason == StopSignal:
		m.stopped(p, v, e)
	case m.virtualized(p, v, &e):
	default:
		a, b := exitInfo(&e)
		m.leave(p, v, e, exitReasons[e.Reason], a, b)
	}
}

// stopped is the end of a stretch of guest code without an exit of its own.
func (m *Machine) stopped(p PCPU, v *vcpu, e Exit) {
	irq, target, ok := m.host.Interrupted(p)
	switch {
	case !ok:
		return // another CPU is behind: go on later
	case irq == IRQNotify && target == v.id && v.apicv:
		m.host.AckNotification(p)
		m.spend(p, trace.PhaseNotify)
		m.syncPIR(p, v)
		m.flushCosts(p, v) // guest time: no exit pays for it
		m.updateWindow(v)
	default:
		m.leave(p, v, e, trace.ExitExternalInterrupt, 0, uint64(irqVectors[irq]))
	}
}

// leave is the VM-exit itself.
func (m *Machine) leave(p PCPU, v *vcpu, e Exit, r trace.ExitReason, info1, info2 uint64) {
	v.exit = e
	m.left(v, r, info1, info2)
}

// left is leave where v.exit is known already.
func (m *Machine) left(v *vcpu, r trace.ExitReason, info1, info2 uint64) {
	v.reason = r
	v.info[0], v.info[1] = info1, info2
	v.exitedAt = m.common(v.exit.At)
	m.st.exits++
	v.stage = StageExit
}

// stepExit is the rest of vmx_vcpu_run and of the inner loop: the exit is
// reported, the fastpath has its chance.
func (m *Machine) stepExit(p PCPU, v *vcpu) {
	if m.st.ntext != 0 {
		m.flushConsole(p)
	}
	if !m.mute.Has(trace.KindExit) {
		m.emitAt(v.exitedAt, p, v.id, trace.KindExit, uint64(v.reason), v.exit.RIP, v.info[0], v.info[1])
	}
	m.spend(p, trace.PhaseExit)
	result := trace.FastNone
	if !m.silent || handlerOf(&m.st.fast, v.reason) != nil {
		result = m.fastpath(p, v)
	}
	if result == trace.FastReenter {
		v.reentry = true
		v.stage = StageEntry
		return
	}
	v.mode = trace.OutsideGuestMode
	m.spend(p, trace.PhaseDispatch)
	v.stage = StageHandle
	if result != trace.FastNone {
		v.stage = StageAfter
	}
}

// stepAfter is the tail of vcpu_run's loop.
func (m *Machine) stepAfter(p PCPU, v *vcpu) {
	v.requests &^= ReqUnblock
	if v.apic.Timer.Pending && v.apic.HasPendingTimer() {
		m.spend(p, trace.PhaseInjectTimer)
		m.injectTimer(p, v, trace.SourceTimer)
	}
	v.stage = StageOuter
	if !m.cfg.Real && m.host.NeedResched(p, v.id) {
		m.host.Yield(p, v.id)
	}
}

// exitInfo are the two numbers that an exit event carries.
func exitInfo(e *Exit) (a, b uint64) {
	if e.Reason == ExitUnknown {
		for i, x := range e.Bytes[:min(8, e.NBytes)] {
			a |= uint64(x) << (8 * i)
		}
		return a, uint64(e.NBytes)
	}
	return e.Addr, e.Data
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
