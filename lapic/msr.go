package lapic

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// ReadMSR is RDMSR of an MSR for which OwnsMSR is true; ok=false means #GP.
func (a *APIC) ReadMSR(index uint32, now Sample) (v uint64, ok bool) {
	switch index {
	case MSRBase:
		return a.Base, true
	case MSRDeadline:
		return uint64(a.DeadlineMSR()), true
	}
	r, x2 := RegOfMSR(index)
	if !x2 || !a.X2APIC() {
		return 0, false
	}
	return a.Read(r, now)
}

// WriteMSR is WRMSR of an MSR for which OwnsMSR is true; ok=false means #GP and
// nothing changed.
func (a *APIC) WriteMSR(index uint32, v uint64, now Sample) (e Effect, ok bool) {
	switch index {
	case MSRBase:
		return a.WriteBase(v)
	case MSRDeadline:
		return a.WriteDeadline(clock.TSC(v)), true
	}
	r, x2 := RegOfMSR(index)
	if !x2 || !a.X2APIC() {
		return Effect{}, false
	}
	return a.Write(r, v, now)
}

// ReadMMIO is a load of size bytes (1, 2, 4 or 8) at offset off (below 0x1000) of
// the APIC page. A load within the low 4 bytes of a register reads those bytes;
// others read 0. In x2APIC mode or with the APIC disabled all loads read as all
// ones.
//
// Source: arch/x86/kvm/lapic.c, apic_mmio_read, with the quirk LAPIC_MMIO_HOLE.
func (a *APIC) ReadMMIO(off uint16, size uint8, now Sample) uint64 {
	ones := ^uint64(0) >> (64 - 8*min(uint(size), 8))
	if _, decoded := a.MMIOBase(); !decoded {
		return ones
	}
	if off&0xf+uint16(size) > 4 {
		return 0
	}
	v, _ := a.Read(Reg(off&^0xf), now)
	return v >> (off & 0xf * 8) & ones
}

// WriteMMIO is a store to the APIC page. Stores that are not 4 bytes at a
// multiple of 16 are dropped, as are all in x2APIC mode or with the APIC
// disabled.
func (a *APIC) WriteMMIO(off uint16, size uint8, v uint64, now Sample) Effect {
	if _, decoded := a.MMIOBase(); !decoded || size != 4 || off&0xf != 0 {
		return Effect{}
	}
	e, _ := a.Write(Reg(off), v&0xffffffff, now)
	return e
}
