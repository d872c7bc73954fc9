package vmm

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// The MSRs that the loop emulates. Intel SDM vol. 4, 2.1 "Architectural MSRs".
const (
	msrTSC         = 0x10
	msrTSCAdjust   = 0x3b
	msrBIOSSign    = 0x8b
	msrMTRRCap     = 0xfe
	msrMCGCap      = 0x179
	msrMiscEnable  = 0x1a0
	msrMTRRDefType = 0x2ff
	msrPlatform    = 0xce
	msrArchCap     = 0x10a
)

// msrs are plain MSRs of a vCPU that only keep their value.
type msrs struct {
	adjust     clock.Cycles
	miscEnable uint64
	mtrrDef    uint64
	mtrrFix    [11]uint64
	mtrrVar    [16]uint64
}

func (s *msrs) reset() {
	*s = msrs{miscEnable: 1 | 1<<11 | 1<<12}
}

// mtrrFixed are the fixed-range MTRRs in the order of msrs.mtrrFix.
var mtrrFixed = [11]uint32{0x250, 0x258, 0x259, 0x268, 0x269, 0x26a, 0x26b, 0x26c, 0x26d, 0x26e, 0x26f}

// plain returns where a plain MSR is kept, or nil.
func (s *msrs) plain(index uint32) *uint64 {
	switch {
	case index == msrMiscEnable:
		return &s.miscEnable
	case index == msrMTRRDefType:
		return &s.mtrrDef
	case index >= 0x200 && index < 0x210:
		return &s.mtrrVar[index-0x200]
	}
	for i, f := range mtrrFixed {
		if f == index {
			return &s.mtrrFix[i]
		}
	}
	return nil
}

// readOnly are MSRs with a constant value.
var readOnly = map[uint32]uint64{msrBIOSSign: 1 << 32, msrMTRRCap: 0x508, msrMCGCap: 0, msrPlatform: 0, msrArchCap: 0,
	0x17: 0, 0x2a: 0, 0xc0010015: 0, 0x34: 0}

func handleWRMSR(m *Machine, p PCPU, v *vcpu) {
	m.spend(p, trace.PhaseMSR)
	index, value := uint32(v.exit.Addr), v.exit.Data
	ok := m.writeMSR(p, v, index, value)
	m.emit(p, v.id, trace.KindMSR, uint64(index), value, 1, b2u(!ok))
	if !ok {
		m.gp(p, v)
		return
	}
	v.cpu.Skip()
}

func handleRDMSR(m *Machine, p PCPU, v *vcpu) {
	m.spend(p, trace.PhaseMSR)
	index := uint32(v.exit.Addr)
	value, ok := m.readMSR(p, v, index)
	m.emit(p, v.id, trace.KindMSR, uint64(index), value, 0, b2u(!ok))
	if !ok {
		m.gp(p, v)
		return
	}
	v.cpu.CompleteRead(value)
	v.cpu.Skip()
}

// writeMSR emulates WRMSR; false means #GP.
func (m *Machine) writeMSR(p PCPU, v *vcpu, index uint32, value uint64) bool {
	switch {
	case index == lapic.MSRBase:
		if m.cfg.PhysBits != 0 && value>>m.cfg.PhysBits != 0 {
			return false
		}
		e, ok := v.apic.WriteBase(value)
		if ok {
			m.apply(p, v, 0, 0, e)
			v.cpu.SetCR8(v.apic.CR8())
		}
		return ok
	case index == lapic.MSRDeadline || lapic.OwnsMSR(index):
		return m.writeAPICMSR(p, v, index, value)
	case index == msrTSC:
		now := m.common(m.host.Now(p))
		m.setOffset(p, v, clock.TSC(value).Sub(now))
		return true
	case index == msrTSCAdjust:
		m.setOffset(p, v, v.tscOffset+clock.Cycles(value)-v.msr.adjust)
		return true
	case m.cfg.Real: // KVM has all others, and this is one it has refused
		return false
	}
	if r := v.msr.plain(index); r != nil {
		*r = value
		return true
	}
	if _, ok := readOnly[index]; ok {
		return index == msrBIOSSign || index == 0x17 // written by kernels before reading
	}
	return v.cpu.WriteMSR(index, value)
}

// readMSR emulates RDMSR; false means #GP.
func (m *Machine) readMSR(p PCPU, v *vcpu, index uint32) (uint64, bool) {
	switch {
	case index == lapic.MSRBase:
		return v.apic.Base, true
	case index == lapic.MSRDeadline || lapic.OwnsMSR(index):
		m.spend(p, trace.PhaseAPIC)
		val, ok := v.apic.ReadMSR(index, m.sample(p, v))
		if r, isReg := lapic.RegOfMSR(index); ok && isReg {
			m.emit(p, v.id, trace.KindAPIC, uint64(r), val, 0, 0)
		}
		return val, ok
	case index == msrTSC:
		return uint64(m.sample(p, v).Guest), true
	case index == msrTSCAdjust:
		return uint64(v.msr.adjust), true
	case m.cfg.Real:
		return 0, false
	}
	if r := v.msr.plain(index); r != nil {
		return *r, true
	}
	if val, ok := readOnly[index]; ok {
		return val, true
	}
	return v.cpu.ReadMSR(index)
}

// setOffset moves the guest TSC of v; IA32_TSC_ADJUST moves by the same amount.
// An armed timer keeps its host time, as in KVM.
func (m *Machine) setOffset(p PCPU, v *vcpu, off clock.Cycles) {
	old := v.tscOffset
	v.msr.adjust += off - old
	v.tscOffset = off
	v.cpu.SetTSCOffset(m.st.offset + off)
	m.emit(p, v.id, trace.KindTSCOffset, uint64(off), uint64(old), 0, 0)
}

// writeAPICMSR writes an x2APIC register or IA32_TSC_DEADLINE.
func (m *Machine) writeAPICMSR(p PCPU, v *vcpu, index uint32, value uint64) bool {
	m.spend(p, trace.PhaseAPIC)
	e, ok := v.apic.WriteMSR(index, value, m.sample(p, v))
	if !ok {
		return false
	}
	r, isReg := lapic.RegOfMSR(index)
	if isReg {
		m.emit(p, v.id, trace.KindAPIC, uint64(r), value, 1, 0)
	}
	m.apply(p, v, r, value, e)
	return true
}
