package vmm

import (
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// receive hands an interrupt message, addressed to v, to its local APIC.
func (m *Machine) receive(p PCPU, v *vcpu, msg lapic.Message, src trace.Source) {
	switch v.apic.Receive(msg) {
	case lapic.OutcomeVector:
		m.deliver(p, v, msg.Vector, msg.Level, src)
	case lapic.OutcomeNMI:
		v.nmiQueued = min(v.nmiQueued+1, 2)
		m.event(p, v, 2, ReqNMI|ReqEvent, src)
	case lapic.OutcomeINIT:
		v.init, v.sipi = true, false
		m.event(p, v, 0, ReqInit|ReqEvent, src)
	case lapic.OutcomeStartUp:
		v.sipi, v.sipiVec = true, uint8(msg.Vector)
		m.event(p, v, uint8(msg.Vector), ReqInit|ReqEvent, src)
	case lapic.OutcomeExtINT, lapic.OutcomeSMI:
		m.event(p, v, uint8(msg.Vector), ReqEvent, src)
	case lapic.OutcomeIllegal:
		m.lose(p, v, msg.Vector, trace.ClauseNone, src)
		if e, ok := v.apic.LocalDeliver(lapic.LVTError); ok && v.apic.Config.Errors {
			m.receive(p, v, e, trace.SourceLVT)
		}
	case lapic.OutcomeDisabled:
		m.lose(p, v, msg.Vector, trace.ClauseAPICDisabled, src)
	}
}

func (m *Machine) lose(p PCPU, v *vcpu, vec lapic.Vector, c trace.Clause, src trace.Source) {
	m.emit(p, v.id, trace.KindDeliver, uint64(vec), uint64(trace.DeliverLost), uint64(c), uint64(src))
}

// event delivers what is not a vector in IRR: a request and a kick.
func (m *Machine) event(p PCPU, v *vcpu, vec uint8, r Request, src trace.Source) {
	m.catchUp(p, v)
	m.emit(p, v.id, trace.KindDeliver, uint64(vec), uint64(trace.DeliverEvent), 0, uint64(src))
	m.request(p, v, r)
	m.kick(p, v)
}

// deliver is the vendor's deliver_interrupt: into PIR with APICv, else into IRR
// with a request and a kick.
//
// Sources: arch/x86/kvm/vmx/vmx.c, vmx_deliver_interrupt,
// vmx_deliver_posted_interrupt, kvm_vcpu_trigger_posted_interrupt.
func (m *Machine) deliver(p PCPU, v *vcpu, vec lapic.Vector, level bool, src trace.Source) {
	m.catchUp(p, v)
	if !v.apicv {
		v.apic.Accept(vec, level)
		m.emit(p, v.id, trace.KindDeliver, uint64(vec), uint64(trace.DeliverRequest), uint64(trace.ClauseAPICvOff),
			uint64(src))
		m.request(p, v, ReqEvent)
		m.kick(p, v)
		return
	}
	m.spend(p, trace.PhasePost)
	m.catchUp(p, v)
	already, on := v.apic.Post(vec, level)
	route, clause := m.notifyRoute(p, v, already, on)
	m.emit(p, v.id, trace.KindDeliver, uint64(vec), uint64(route), uint64(clause), uint64(src))
	switch route {
	case trace.DeliverNotify:
		m.spend(p, trace.PhaseIPISend)
		m.host.SendIPI(p, v.pcpu, IRQNotify, v.id)
	case trace.DeliverWake:
		m.spend(p, trace.PhaseKickRCU)
		if v.blocked && m.wakeThread(p, v) {
			m.spend(p, trace.PhaseWake)
		}
	case trace.DeliverPIRKick:
		m.kick(p, v)
	}
}

// notifyRoute decides how the target of a posted interrupt learns of it.
func (m *Machine) notifyRoute(p PCPU, v *vcpu, already, on bool) (trace.DeliverRoute, trace.Clause) {
	running := int(m.st.loaded[p]) == v.id
	in := v.mode == trace.InGuestMode
	switch {
	case already:
		return trace.DeliverMerged, trace.ClausePIRSet
	case on:
		return trace.DeliverMerged, trace.ClauseONSet
	case running && m.st.knobs.Shortcut == ShortcutAlways:
		return trace.DeliverSelf, trace.ClauseRunning
	case running && in && m.st.knobs.Shortcut == ShortcutInGuest:
		return trace.DeliverSelf, trace.ClauseRunning
	case in:
		return trace.DeliverNotify, trace.ClauseNone
	case m.st.knobs.Shortcut == ShortcutInGuest, m.st.knobs.Shortcut == ShortcutWake:
		return trace.DeliverWake, trace.ClauseNotInGuest
	}
	return trace.DeliverPIRKick, trace.ClauseNotInGuest
}

// syncPIR is sync_pir_to_irr: PIR moves into the virtual IRR. With APICv the
// next entry, or the guest if it is running, sees it through RVI; without, an
// event evaluation is requested.
func (m *Machine) syncPIR(p PCPU, v *vcpu) {
	if !v.apic.PI.ON {
		return
	}
	m.spend(p, trace.PhasePIRSync)
	moved, fresh, highest, _ := v.apic.Sync()
	m.emit(p, v.id, trace.KindPIRSync, uint64(moved), uint64(highest), 0, 0)
	if fresh && !v.apicv {
		m.request(p, v, ReqEvent)
	}
}

// Message delivers an interrupt message from a device to the local APICs it is
// addressed to.
func (m *Machine) Message(msg Message) {
	src := trace.SourceIOAPIC
	m.route(m.devCPU(), nil, lapic.Message{Dest: msg.Dest, Logical: msg.Logical, Delivery: lapic.Delivery(msg.Delivery),
		Vector: lapic.Vector(msg.Vector), Level: msg.Level, Assert: msg.Assert || !msg.Level}, src)
}

// devCPU is the host CPU on which device emulation runs now.
func (m *Machine) devCPU() PCPU { return m.st.devCPU }

// route sends a message from vCPU from (nil: a device) to all vCPUs that it is
// addressed to, and returns them as a bit mask.
func (m *Machine) route(p PCPU, from *vcpu, msg lapic.Message, src trace.Source) uint64 {
	set := m.targets(from, msg)
	if msg.Delivery == lapic.LowestPriority {
		if cpu, ok := lapic.PickLowest(msg.Vector, set); ok {
			set = 1 << cpu
		}
	}
	for i := range m.vcpus {
		if set>>i&1 != 0 {
			m.receive(p, &m.vcpus[i], msg, src)
		}
	}
	return set
}

// targets is the set of vCPUs that a message is addressed to.
func (m *Machine) targets(from *vcpu, msg lapic.Message) uint64 {
	var set uint64
	for i := range m.vcpus {
		hit := false
		switch msg.Shorthand {
		case lapic.ToSelf:
			hit = from != nil && from.id == i
		case lapic.ToAll:
			hit = true
		case lapic.ToOthers:
			hit = from == nil || from.id != i
		default:
			hit = m.vcpus[i].apic.Matches(msg)
		}
		if hit {
			set |= 1 << i
		}
	}
	return set
}

// SetINTR is the PIC pair's output.
func (m *Machine) SetINTR(level bool) {
	rose := level && !m.st.intr
	m.st.intr = level
	v := &m.vcpus[0]
	if !rose {
		return
	}
	if v.apic.PICNMI() {
		m.receive(m.devCPU(), v, lapic.Message{Delivery: lapic.NMI, Assert: true}, trace.SourcePIC)
		return
	}
	if v.apic.AcceptsPIC() {
		m.event(m.devCPU(), v, 0, ReqEvent, trace.SourcePIC)
	}
}

// PulseNMI is a pulse on LINT1 of every local APIC.
func (m *Machine) PulseNMI() {
	for i := range m.vcpus {
		v := &m.vcpus[i]
		if msg, ok := v.apic.LocalDeliver(lapic.LVT1); ok {
			m.receive(m.devCPU(), v, msg, trace.SourceLVT)
		}
	}
}

// catchUp lets v's CPU reach the time of p before p does something to v.
func (m *Machine) catchUp(p PCPU, v *vcpu) {
	if v.pcpu != p {
		m.host.CatchUp(p)
	}
}
