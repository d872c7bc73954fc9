package vmm

import (
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// injectEvents is kvm_check_and_inject_events: with APICv only NMIs and PIC
// interrupts go through the VM-entry field, without it vectors from IRR do too.
//
// Source: arch/x86/kvm/x86.c, kvm_check_and_inject_events.
func (m *Machine) injectEvents(p PCPU, v *vcpu) {
	taken := m.injectFirst(p, v)
	if v.id == 0 && m.st.intr && v.apic.AcceptsPIC() {
		if ok, _ := v.cpu.Interruptible(); !ok || taken {
			m.putOff(v, taken)
			return
		}
		m.queue(p, v, Event{Kind: EventInterrupt, Vector: m.bus.AckPIC(m.host.Now(p))})
		return
	}
	if v.apicv {
		return
	}
	vec, ok := v.apic.Deliverable()
	if !ok {
		return
	}
	if ready, _ := v.cpu.Interruptible(); !ready || taken {
		m.putOff(v, taken)
		m.emit(p, v.id, trace.KindInject, uint64(vec), 0, 1, 0)
		return
	}
	v.apic.Ack(vec)
	m.queue(p, v, Event{Kind: EventInterrupt, Vector: uint8(vec)})
	if _, more := v.apic.Deliverable(); more {
		v.windowOn = true
	}
}

// putOff sees to an interrupt that cannot be injected at this entry. If the guest
// is not ready, the CPU says when it is. If another event has taken the VM-entry
// field, an immediate exit comes right after that one's delivery (from 5.8 on;
// before, the window was opened).
func (m *Machine) putOff(v *vcpu, taken bool) {
	if taken && v.apic.Config.Rules.BusyExits && !m.cfg.Real {
		v.immediate = true
		return
	}
	v.windowOn = true
}

// injectFirst injects again what is queued already, or else an NMI; it reports
// whether that takes the VM-entry field. An interrupt that waits then needs its
// window all the same.
func (m *Machine) injectFirst(p PCPU, v *vcpu) bool {
	switch {
	case v.queued.Kind != BadEvent:
		m.emit(p, v.id, trace.KindInject, uint64(v.queued.Vector), 1, 0, 0)
		return true
	case v.nmis > 0 && v.cpu.NMIReady():
		v.nmis--
		m.queue(p, v, Event{Kind: EventNMI, Vector: 2})
		return true
	}
	return false
}

// processNMI makes NMIs that were sent pending: two at most, one while another is
// being handled or injected.
//
// Source: arch/x86/kvm/x86.c, process_nmi.
func (v *vcpu) processNMI() {
	limit := uint8(2)
	if !v.cpu.NMIReady() || v.queued.Kind == EventNMI {
		limit = 1
	}
	v.nmis = min(v.nmis+v.nmiQueued, limit)
	v.nmiQueued = 0
	v.requests |= ReqEvent
}

// queue puts an event into the VM-entry field.
func (m *Machine) queue(p PCPU, v *vcpu, e Event) {
	v.queued = e
	m.emit(p, v.id, trace.KindInject, uint64(e.Vector), 0, 0, 0)
}

// fault queues an exception for the next entry.
func (m *Machine) fault(p PCPU, v *vcpu, vector uint8, code uint32, hasCode bool) {
	v.queued = Event{Kind: EventException, Vector: vector, Code: code, HasCode: hasCode}
	m.request(p, v, ReqEvent)
}

// gp queues #GP(0).
func (m *Machine) gp(p PCPU, v *vcpu) { m.fault(p, v, 13, 0, true) }

// deliverQueued hands the VM-entry field to the CPU; it returns the vector. A
// real CPU opens no NMI window: it keeps the second of two NMIs itself.
func (m *Machine) deliverQueued(v *vcpu) uint64 {
	e := v.queued
	v.queued = Event{}
	v.cpu.Inject(e)
	for ; e.Kind == EventNMI && !m.cfg.Exact && v.nmis > 0; v.nmis-- {
		m.emit(v.pcpu, v.id, trace.KindInject, uint64(e.Vector), 0, 0, 0)
		v.cpu.Inject(e)
	}
	v.taking, v.vector, v.viaEntry = e.Kind, e.Vector, true
	return uint64(e.Vector)
}

// updateWindow tells the CPU what to stop for: with APICv an open window means
// virtual-interrupt delivery, without it an interrupt-window exit.
func (m *Machine) updateWindow(v *vcpu) {
	quiet := !v.windowOn && v.nmis == 0 && v.apic.IRR.Empty()
	if quiet && !v.windowSet {
		return
	}
	v.windowSet = !quiet
	irq, threshold := v.windowOn, uint8(0)
	if vec, ok := v.apic.IRR.Highest(); ok {
		if _, can := v.apic.Deliverable(); can {
			irq = irq || v.apicv
		} else if v.apic.CR8() >= vec.Class() {
			threshold = vec.Class()
		}
	}
	v.cpu.WantWindow(irq, v.nmis > 0)
	v.cpu.SetTPRThreshold(threshold)
}

// arrive runs the CPU just long enough to vector through the IDT, so that the
// arrival in the handler is reported when it happens.
func (m *Machine) arrive(p PCPU, v *vcpu) {
	kind, vec := v.taking, v.vector
	v.taking = BadEvent
	if kind == EventException {
		return
	}
	if !m.cfg.Exact { // a real CPU does not stop there: the handler follows the entry
		if !m.mute.Has(trace.KindGuestIRQ) {
			m.sink.Emit(trace.Event{TSC: m.common(m.host.Now(p)), Kind: trace.KindGuestIRQ, Flags: trace.FlagInferred,
				VCPU: uint8(v.id), PCPU: uint8(p), A: uint64(vec), B: b2u(v.apicv && kind == EventInterrupt && !v.viaEntry)})
		}
		return
	}
	now := m.host.Now(p)
	e := v.cpu.Run(now, now+1)
	m.host.Ran(p, e.At)
	if e.Reason != StopLimit {
		a, b := exitInfo(&e)
		m.leave(p, v, e, exitReasons[e.Reason], a, b)
		return
	}
	m.emit(p, v.id, trace.KindGuestIRQ, uint64(vec), b2u(v.apicv && kind == EventInterrupt && !v.viaEntry), v.cpu.RIP(), 0)
}

// acceptVirtual is virtual-interrupt delivery: the highest vector moves from IRR
// to ISR and reaches the guest without an exit. Intel SDM vol. 3C, 29.2.2
// "Virtual-Interrupt Delivery".
func (m *Machine) acceptVirtual(p PCPU, v *vcpu) {
	vec, ok := v.apic.Deliverable()
	if !ok {
		return
	}
	v.apic.Ack(vec)
	v.cpu.Inject(Event{Kind: EventInterrupt, Vector: uint8(vec)})
	v.taking, v.vector, v.viaEntry = EventInterrupt, uint8(vec), false
	m.updateWindow(v)
}

// acceptInit carries out a pending INIT or SIPI (kvm_apic_accept_events); it
// reports whether the vCPU now waits for a SIPI.
func (m *Machine) acceptInit(p PCPU, v *vcpu) bool {
	if v.init {
		v.init = false
		m.initTimer(p, v)
		v.cpu.Reset(false)
		v.queued, v.windowOn, v.nmis, v.nmiQueued = Event{}, false, 0, 0
		if v.id == 0 {
			m.firmware(v)
			m.setMP(p, v, trace.MPRunnable, 0)
		} else {
			m.setMP(p, v, trace.MPInitReceived, 0)
		}
	}
	if v.sipi {
		v.sipi = false
		if v.mp == trace.MPInitReceived {
			m.startUp(v)
			m.setMP(p, v, trace.MPRunnable, v.sipiVec)
		}
	}
	return v.mp == trace.MPInitReceived
}

// initTimer resets the local APIC and tells what that leaves of the timer.
func (m *Machine) initTimer(p PCPU, v *vcpu) {
	was := v.apic.Timer.Deadline != 0
	m.cancelSW(p, v)
	v.apic.Reset(true)
	if v.apic.Timer.HVInUse {
		return
	}
	m.setBacking(p, v, trace.BackNone, trace.ClauseNone, 0)
	if was {
		m.armed(p, v, 0)
	}
}

// firmware lets the boot processor begin at the reset vector, in the copy of the
// firmware below 1 MiB.
func (m *Machine) firmware(v *vcpu) {
	r := v.cpu.Registers()
	r.CS.Base = uint64(r.CS.Selector) << 4
	if err := v.cpu.SetRegisters(&r); err != nil {
		panic("BUG: the state after INIT refused: " + err.Error())
	}
}

// startUp sets CS:IP to the page of a start-up IPI. Intel SDM vol. 3A, 8.4.3
// "MP Initialization Protocol Algorithm for MP Systems".
func (m *Machine) startUp(v *vcpu) {
	r := v.cpu.Registers()
	r.CS.Selector = uint16(v.sipiVec) << 8
	r.CS.Base = uint64(v.sipiVec) << 12
	r.RIP = 0
	if err := v.cpu.SetRegisters(&r); err != nil {
		panic("BUG: start-up state refused: " + err.Error())
	}
}

func (m *Machine) setMP(p PCPU, v *vcpu, s trace.MPState, vec uint8) {
	v.mp = s
	m.emit(p, v.id, trace.KindMPState, uint64(s), uint64(vec), 0, 0)
}

var _ = lapic.ID
