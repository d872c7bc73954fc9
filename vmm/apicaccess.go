package vmm

import (
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
)

const apicPage = 0x1000

// apicOffset is the offset of a guest-physical address in v's APIC page.
func (v *vcpu) apicOffset(gpa uint64) (off uint16, ok bool) {
	base, decoded := v.apic.MMIOBase()
	if !decoded || gpa < base || gpa >= base+apicPage {
		return 0, false
	}
	return uint16(gpa - base), true
}

// syncTPR takes over what the guest has written to CR8.
func (m *Machine) syncTPR(v *vcpu) {
	if c := v.cpu.CR8(); c != v.apic.CR8() {
		v.apic.SetCR8(c)
	}
}

// virtualized handles what a CPU with APIC virtualization does without an exit,
// and turns the exit into an APIC one otherwise. It reports whether the guest
// goes on.
func (m *Machine) virtualized(p PCPU, v *vcpu, e *Exit) bool {
	if !m.cfg.Real {
		m.syncTPR(v)
	}
	switch e.Reason {
	case StopWindow:
		if !v.apicv || v.windowOn {
			return false
		}
		m.acceptVirtual(p, v)
		return true
	case ExitSetTPR:
		if v.apicv {
			m.updateWindow(v)
		}
		return v.apicv
	case ExitMMIO:
		return m.virtualMMIO(p, v, e)
	case ExitRDMSR:
		return m.virtualRDMSR(p, v, e)
	case ExitWRMSR:
		return m.virtualWRMSR(p, v, e)
	}
	return false
}

// virtualMMIO is an access to the xAPIC page. Intel SDM vol. 3C, 29.4
// "Virtualizing Memory-Mapped APIC Accesses".
func (m *Machine) virtualMMIO(p PCPU, v *vcpu, e *Exit) bool {
	off, ok := v.apicOffset(e.Addr)
	if !ok {
		return false
	}
	reg := lapic.Reg(off &^ 15)
	if !e.Write {
		if reg != lapic.TPR && !(v.apicv && virtualRead(reg)) {
			return m.apicExit(p, v, e, trace.ExitAPICAccess, off)
		}
		val := v.apic.ReadMMIO(off, e.Size, m.sample(p, v))
		v.cpu.CompleteRead(val)
		m.emit(p, v.id, trace.KindAPIC, uint64(reg), val, 0, 1)
		return true
	}
	switch {
	case reg == lapic.TPR, v.apicv && reg == lapic.EOI && !m.eoiExits(v), v.apicv && reg == lapic.ICR2,
		v.apicv && reg == lapic.ICRLow && virtualSelfIPI(lapic.ICR(e.Data)):
		return m.virtualWrite(p, v, e, reg, off)
	case v.apicv && reg == lapic.EOI:
		return m.apicExit(p, v, e, trace.ExitEOIInduced, off)
	case v.apicv:
		return m.apicExit(p, v, e, trace.ExitAPICWrite, off)
	}
	return m.apicExit(p, v, e, trace.ExitAPICAccess, off)
}

// virtualWrite carries out a write without an exit; a TPR write below the
// threshold exits after it.
func (m *Machine) virtualWrite(p PCPU, v *vcpu, e *Exit, reg lapic.Reg, off uint16) bool {
	m.emit(p, v.id, trace.KindAPIC, uint64(reg), e.Data, 1, 1)
	v.cpu.CompleteRead(0)
	eff := v.apic.WriteMMIO(off, e.Size, e.Data, m.sample(p, v))
	return m.virtualEffect(p, v, e, eff)
}

// virtualEffect finishes a virtualized write.
func (m *Machine) virtualEffect(p PCPU, v *vcpu, e *Exit, eff lapic.Effect) bool {
	switch {
	case eff.Has(lapic.EffectEOI):
		m.emitEOI(p, v, eff, true)
	case eff.Has(lapic.EffectIPI):
		m.selfVirtual(p, v, eff.ICR.Vector())
	case eff.Has(lapic.EffectSelfIPI):
		m.selfVirtual(p, v, eff.Vector)
	case eff.Has(lapic.EffectTPR):
		v.cpu.SetCR8(v.apic.CR8())
		if !v.apicv && m.blockedByTPR(v) {
			m.leave(p, v, *e, trace.ExitTPRBelow, 8, uint64(v.apic.CR8()))
			return true
		}
	}
	m.updateWindow(v)
	return true
}

// blockedByTPR reports whether the write just made a vector deliverable, which
// is TPR_BELOW_THRESHOLD without APICv.
func (m *Machine) blockedByTPR(v *vcpu) bool {
	_, ok := v.apic.Deliverable()
	return ok && !v.windowOn
}

// selfVirtual is self-IPI virtualization: the vector goes straight into IRR.
// Intel SDM vol. 3C, 29.1.5 "Self-IPI Virtualization".
func (m *Machine) selfVirtual(p PCPU, v *vcpu, vec lapic.Vector) {
	v.apic.Accept(vec, false)
	m.emit(p, v.id, trace.KindDeliver, uint64(vec), uint64(trace.DeliverVirtual), 0, uint64(trace.SourceSelf))
}

// apicExit turns an access into the exit that the CPU takes for it.
func (m *Machine) apicExit(p PCPU, v *vcpu, e *Exit, r trace.ExitReason, off uint16) bool {
	m.leave(p, v, *e, r, uint64(off), e.Data)
	return true
}

// virtualRead reports whether APIC-register virtualization answers a load.
// Intel SDM vol. 3C, 29.4.2 "Virtualizing Reads from the APIC-Access Page".
func virtualRead(r lapic.Reg) bool {
	switch r {
	case lapic.APR, lapic.PPR, lapic.TMCCT, lapic.RRD:
		return false
	}
	return true
}

// virtualSelfIPI reports whether an ICR write is virtualized: a fixed, edge,
// self-shorthand IPI of a legal vector.
func virtualSelfIPI(c lapic.ICR) bool {
	return c.Shorthand() == lapic.ToSelf && c.Delivery() == lapic.Fixed && c&(lapic.ICRLevel|lapic.ICRLogical) == 0 &&
		c.Vector() >= 16
}

// eoiExits reports whether an EOI now causes an exit: the vector in service is
// level-triggered, so the I/O APIC must hear of it (EOI-exit bitmap).
func (m *Machine) eoiExits(v *vcpu) bool {
	vec, ok := v.apic.ISR.Highest()
	return ok && v.apic.TMR.Has(vec)
}

// virtualRDMSR: with APICv every x2APIC register but TMCCT is read without an
// exit, without it TPR only.
func (m *Machine) virtualRDMSR(p PCPU, v *vcpu, e *Exit) bool {
	reg, ok := lapic.RegOfMSR(uint32(e.Addr))
	if !ok || !v.apic.X2APIC() || reg != lapic.TPR && !(v.apicv && reg != lapic.TMCCT) {
		return false
	}
	val, ok := v.apic.ReadMSR(uint32(e.Addr), m.sample(p, v))
	if !ok {
		return false
	}
	v.cpu.CompleteRead(val)
	v.cpu.Skip()
	m.emit(p, v.id, trace.KindAPIC, uint64(reg), val, 0, 1)
	return true
}

// virtualWRMSR: with APICv TPR, EOI and SELF_IPI are written without an exit,
// without it TPR only.
func (m *Machine) virtualWRMSR(p PCPU, v *vcpu, e *Exit) bool {
	reg, ok := lapic.RegOfMSR(uint32(e.Addr))
	if !ok || !v.apic.X2APIC() {
		return false
	}
	switch {
	case reg == lapic.TPR:
	case v.apicv && reg == lapic.EOI && m.eoiExits(v):
		return m.apicExit(p, v, e, trace.ExitEOIInduced, uint16(reg))
	case v.apicv && reg == lapic.EOI:
	case v.apicv && reg == lapic.SelfIPI && e.Data&0xff >= 16:
	default:
		return false
	}
	eff, ok := v.apic.WriteMSR(uint32(e.Addr), e.Data, m.sample(p, v))
	if !ok {
		return false
	}
	v.cpu.Skip()
	m.emit(p, v.id, trace.KindAPIC, uint64(reg), e.Data, 1, 1)
	return m.virtualEffect(p, v, e, eff)
}

// handleAPICAccess emulates an xAPIC access that exited.
func handleAPICAccess(m *Machine, p PCPU, v *vcpu) {
	e := &v.exit
	off := uint16(v.info[0])
	reg := lapic.Reg(off &^ 15)
	if v.reason == trace.ExitAPICAccess && !(e.Write && reg == lapic.EOI) {
		m.spend(p, trace.PhaseAPICDecode)
	}
	m.spend(p, trace.PhaseAPIC)
	s := m.sample(p, v)
	if !e.Write {
		val := v.apic.ReadMMIO(off, e.Size, s)
		m.emit(p, v.id, trace.KindAPIC, uint64(reg), val, 0, 0)
		v.cpu.CompleteRead(val)
		return
	}
	m.emit(p, v.id, trace.KindAPIC, uint64(reg), e.Data, 1, 0)
	if e.Reason == ExitWRMSR { // an EOI that the I/O APIC must hear of
		eff, ok := v.apic.Write(reg, e.Data, s)
		if !ok {
			m.gp(p, v)
			return
		}
		v.cpu.Skip()
		m.apply(p, v, reg, e.Data, eff)
		return
	}
	v.cpu.CompleteRead(0)
	m.apply(p, v, reg, e.Data, v.apic.WriteMMIO(off, e.Size, e.Data, s))
}

// apply does what a register write leaves for the loop, in the order of the
// effects.
func (m *Machine) apply(p PCPU, v *vcpu, reg lapic.Reg, value uint64, e lapic.Effect) {
	if e.Do&(lapic.EffectModeChange|lapic.EffectLDR) != 0 {
		if e.Has(lapic.EffectModeChange) && !m.cfg.Real {
			m.applyAPICv(p, v)
		}
		m.checkInhibits(p, v, e)
	}
	if e.Has(lapic.EffectCancelSW) {
		m.cancelSW(p, v)
	}
	if e.Has(lapic.EffectCancelHV) && v.backing == trace.BackHV {
		m.setBacking(p, v, trace.BackNone, trace.ClauseNone, 0)
	}
	if e.Has(lapic.EffectArm) {
		m.armed(p, v, value)
		m.restartTimer(p, v)
	} else if e.Do&lapic.EffectCancel != 0 {
		m.armed(p, v, value)
	}
	if e.Has(lapic.EffectTPR) {
		v.cpu.SetCR8(v.apic.CR8())
	}
	if e.Has(lapic.EffectPPR) {
		m.request(p, v, ReqEvent)
	}
	if e.Has(lapic.EffectLVT0) && v.id == 0 && m.st.intr && v.apic.AcceptsPIC() {
		m.request(p, v, ReqEvent)
	}
	if e.Has(lapic.EffectEOI) {
		m.emitEOI(p, v, e, false)
		m.request(p, v, ReqEvent)
	}
	if e.Has(lapic.EffectIPI) {
		msg := e.ICR.Message(v.apic.X2APIC())
		set := m.route(p, v, msg, trace.SourceIPI)
		m.emit(p, v.id, trace.KindIPI, uint64(e.ICR), set, 0, 0)
	}
	if e.Has(lapic.EffectSelfIPI) {
		m.receive(p, v, lapic.Message{Vector: e.Vector, Assert: true, IPI: true, Shorthand: lapic.ToSelf},
			trace.SourceSelf)
	}
	if e.Has(lapic.EffectError) {
		if msg, ok := v.apic.LocalDeliver(lapic.LVTError); ok {
			m.receive(p, v, msg, trace.SourceLVT)
		}
	}
}

// emitEOI reports an EOI and tells the I/O APIC.
func (m *Machine) emitEOI(p PCPU, v *vcpu, e lapic.Effect, virtual bool) {
	vec := ^uint64(0)
	if e.InService {
		vec = uint64(e.Vector)
	}
	m.emit(p, v.id, trace.KindEOI, vec, b2u(virtual), 0, 0)
	if e.Broadcast && m.bus != nil {
		m.st.devCPU = p
		m.bus.EOI(m.host.Now(p), uint8(e.Vector))
	}
}
