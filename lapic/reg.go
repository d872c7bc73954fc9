package lapic

// Reg is a local APIC register, named by its offset in the xAPIC page: a
// multiple of 16 below 0x400.
type Reg uint16

// The registers. ISR, TMR and IRR are eight registers each, 16 bytes apart.
const (
	ID         Reg = 0x020
	Version    Reg = 0x030
	TPR        Reg = 0x080
	APR        Reg = 0x090
	PPR        Reg = 0x0a0
	EOI        Reg = 0x0b0
	RRD        Reg = 0x0c0
	LDR        Reg = 0x0d0
	DFR        Reg = 0x0e0
	SPIV       Reg = 0x0f0
	ISR        Reg = 0x100
	TMR        Reg = 0x180
	IRR        Reg = 0x200
	ESR        Reg = 0x280
	LVTCMCI    Reg = 0x2f0
	ICRLow     Reg = 0x300
	ICR2       Reg = 0x310
	LVTT       Reg = 0x320
	LVTThermal Reg = 0x330
	LVTPC      Reg = 0x340
	LVT0       Reg = 0x350
	LVT1       Reg = 0x360
	LVTError   Reg = 0x370
	TMICT      Reg = 0x380
	TMCCT      Reg = 0x390
	TDCR       Reg = 0x3e0
	SelfIPI    Reg = 0x3f0
)

// The MSRs of the local APIC.
const (
	MSRBase     uint32 = 0x1b  // IA32_APIC_BASE
	MSRDeadline uint32 = 0x6e0 // IA32_TSC_DEADLINE
	MSRX2APIC   uint32 = 0x800 // first x2APIC register
	msrX2Last   uint32 = 0x8ff
)

// MSR returns the x2APIC MSR of r.
func (r Reg) MSR() uint32 { return MSRX2APIC + uint32(r>>4) }

// RegOfMSR returns the register behind an x2APIC MSR; ok is false if the index
// lies outside 0x800–0x8ff. That such a register exists is not said.
func RegOfMSR(index uint32) (r Reg, ok bool) {
	if index < MSRX2APIC || index > msrX2Last {
		return 0, false
	}
	return Reg(index-MSRX2APIC) << 4, true
}

// OwnsMSR reports whether an MSR belongs to the local APIC, so that ReadMSR and
// WriteMSR answer for it.
func OwnsMSR(index uint32) bool {
	_, x2 := RegOfMSR(index)
	return x2 || index == MSRBase || index == MSRDeadline
}
