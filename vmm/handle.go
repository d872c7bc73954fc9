package vmm

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// handlers are the slow exit handlers (kvm_vmx_exit_handlers), by reason. They
// run with IRQs on and leave the stage at StageAfter.
var handlers = [trace.NumExits]func(*Machine, PCPU, *vcpu){
	trace.ExitExternalInterrupt:  func(*Machine, PCPU, *vcpu) {},
	trace.ExitPreemptionTimer:    handlePreemptionTimer,
	trace.ExitInterruptWindow:    handleWindow,
	trace.ExitNMIWindow:          handleWindow,
	trace.ExitMSRWrite:           handleWRMSR,
	trace.ExitMSRRead:            handleRDMSR,
	trace.ExitHLT:                handleHLT,
	trace.ExitCPUID:              handleCPUID,
	trace.ExitIO:                 handleIO,
	trace.ExitMMIO:               handleMMIO,
	trace.ExitAPICAccess:         handleAPICAccess,
	trace.ExitAPICWrite:          handleAPICAccess,
	trace.ExitEOIInduced:         handleAPICAccess,
	trace.ExitVMCALL:             handleVMCALL,
	trace.ExitINVD:               handleNothing,
	trace.ExitWBINVD:             handleNothing,
	trace.ExitPause:              handlePause,
	trace.ExitMWAIT:              handleNothing,
	trace.ExitMONITOR:            handleNothing,
	trace.ExitXSETBV:             handleXSETBV,
	trace.ExitRDPMC:              handleRDPMC,
	trace.ExitTPRBelow:           handleTPR,
	trace.ExitTripleFault:        handleEnd,
	trace.ExitUnknownInstruction: handleEnd,
	trace.ExitInternalError:      handleEnd,
	trace.ExitEntryFailure:       handleEnd,
}

// stepHandle runs the exit's handler.
func (m *Machine) stepHandle(p PCPU, v *vcpu) {
	v.stage = StageAfter
	if !m.cfg.Real {
		m.syncTPR(v)
	}
	h := handlers[v.reason]
	if h == nil {
		panic("BUG: no handler for exit " + v.reason.String())
	}
	h(m, p, v)
	if m.st.resetting {
		m.reboot(p)
	}
}

func handlePreemptionTimer(m *Machine, p PCPU, v *vcpu) {
	if !v.hv.softDisabled && !v.hv.forced {
		m.hvExpired(p, v)
	}
}

func handleWindow(m *Machine, p PCPU, v *vcpu) {
	v.windowOn = false
	m.request(p, v, ReqEvent)
}

// handleHLT is kvm_emulate_halt.
func handleHLT(m *Machine, p PCPU, v *vcpu) {
	v.cpu.Skip()
	m.setMP(p, v, trace.MPHalted, 0)
}

func handleCPUID(m *Machine, p PCPU, v *vcpu) {
	m.spend(p, trace.PhaseCPUID)
	v.cpu.CompleteCPUID(m.cfg.CPUID(v.id, uint32(v.exit.Addr), uint32(v.exit.Data)))
	v.cpu.Skip()
}

// The hypercalls that are answered, by RAX, and what an unknown one returns.
// include/uapi/linux/kvm_para.h.
const (
	hcVAPICPollIRQ = 1
	hcSendIPI      = 10
	hcNoSys        = 1<<64 - 1000 // −KVM_ENOSYS
)

// handleVMCALL is kvm_emulate_hypercall.
func handleVMCALL(m *Machine, p PCPU, v *vcpu) {
	m.spend(p, trace.PhaseHypercall)
	var ret uint64 = hcNoSys
	switch v.cpu.GPR(RAX) {
	case hcVAPICPollIRQ:
		ret = 0
	case hcSendIPI:
		ret = m.sendIPIs(p, v)
	}
	v.cpu.SetGPR(RAX, ret)
	v.cpu.Skip()
}

// sendIPIs is kvm_pv_send_ipi: RBX and RCX are a bit map of APIC IDs from RDX on,
// RSI is an ICR. It returns the number of vCPUs reached.
func (m *Machine) sendIPIs(p PCPU, v *vcpu) (n uint64) {
	bits := [2]uint64{v.cpu.GPR(RBX), v.cpu.GPR(RCX)}
	first, icr := v.cpu.GPR(RDX), lapic.ICR(v.cpu.GPR(RSI))
	if icr.Delivery() != lapic.Fixed && icr.Delivery() != lapic.NMI {
		return hcNoSys
	}
	for i := range m.vcpus {
		bit := uint64(i) - first
		if uint64(i) < first || bit >= 128 || bits[bit/64]>>(bit%64)&1 == 0 {
			continue
		}
		m.receive(p, &m.vcpus[i], lapic.Message{Delivery: icr.Delivery(), Vector: icr.Vector(), Assert: true, IPI: true},
			trace.SourceIPI)
		n++
	}
	return n
}

func handleNothing(_ *Machine, _ PCPU, v *vcpu) { v.cpu.Skip() }

// handleXSETBV accepts x87 and SSE state for XCR0.
func handleXSETBV(m *Machine, p PCPU, v *vcpu) {
	if v.exit.Addr != 0 || !v.cpu.SetXCR0(v.exit.Data) {
		m.gp(p, v)
		return
	}
	v.cpu.Skip()
}

// handleRDPMC: there is no virtual PMU.
func handleRDPMC(m *Machine, p PCPU, v *vcpu) { m.gp(p, v) }

// handleTPR is TPR_BELOW_THRESHOLD: the CPU has written CR8 already.
func handleTPR(m *Machine, p PCPU, v *vcpu) { m.request(p, v, ReqEvent) }

// handleEnd ends the run: the guest cannot go on.
func handleEnd(m *Machine, p PCPU, v *vcpu) {
	how, code, detail := trace.EndError, uint32(0), v.exit.RIP
	switch v.reason {
	case trace.ExitTripleFault:
		if m.cfg.Reboot == RebootAlways && m.cfg.Boot != nil {
			m.st.devCPU = p
			m.Reset()
			return
		}
		how = trace.EndTripleFault
	case trace.ExitUnknownInstruction:
		how, detail = trace.EndUnknown, v.info[0]
	case trace.ExitInternalError:
		if sub := InternalError(v.exit.Addr); sub == InternalEmulation || sub == InternalDelivery {
			how, code, detail = trace.EndInternal, uint32(sub), v.exit.Data
		}
	}
	m.Stop(p, how, code, detail)
}

// handleIO emulates a port access.
func handleIO(m *Machine, p PCPU, v *vcpu) {
	m.payDevice(p, m.accessPort(p, v, m.host.Now(p)))
	if !v.exit.String {
		v.cpu.Skip()
	}
}

// accessPort carries out the port access of v's exit.
func (m *Machine) accessPort(p PCPU, v *vcpu, now clock.TSC) (where Where) {
	e := &v.exit
	m.st.devCPU = p
	if e.Write {
		where = m.bus.Out(now, uint16(e.Addr), e.Size, uint32(e.Data))
	} else {
		var val uint32
		val, where = m.bus.In(now, uint16(e.Addr), e.Size)
		v.cpu.CompleteRead(uint64(val))
	}
	if e.String && e.Write {
		v.cpu.CompleteRead(0)
	}
	switch where {
	case InKernel:
		m.st.kernIO++
	case Unclaimed:
		m.missing(p, v, false)
	}
	return where
}

// handleMMIO emulates a memory access outside RAM.
func handleMMIO(m *Machine, p PCPU, v *vcpu) {
	e := &v.exit
	m.st.devCPU = p
	m.spend(p, trace.PhaseEmulate)
	now := m.host.Now(p)
	var val uint64
	var where Where
	if e.Write {
		where = m.bus.WriteMem(now, e.Addr, e.Size, e.Data)
	} else {
		val, where = m.bus.ReadMem(now, e.Addr, e.Size)
	}
	if where == Unclaimed {
		m.missing(p, v, true)
	}
	v.cpu.CompleteRead(val)
	m.payDevice(p, where)
}

// missing tells, once for an address, that the guest reached for a device that
// is not there.
func (m *Machine) missing(p PCPU, v *vcpu, memory bool) {
	e := &v.exit
	if !m.st.missed.First(trace.MissedKey(e.Addr, memory)) {
		return
	}
	m.emit(p, v.id, trace.KindMissing, e.Addr, b2u(memory)<<1|b2u(e.Write), v.cpu.RIP(), b2u(e.Write)*e.Data)
}

// payDevice spends the cost of a device access by the place that emulates it.
// What no device claims goes to user space, as in KVM.
func (m *Machine) payDevice(p PCPU, where Where) {
	m.spend(p, devicePhase(where))
}

func devicePhase(where Where) trace.Phase {
	if where == InKernel {
		return trace.PhasePIO
	}
	return trace.PhaseUser
}
