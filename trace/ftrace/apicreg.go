package ftrace

// apicRegs are the xAPIC offsets of the registers that kvm_apic names
// (kvm_trace_symbol_apic in arch/x86/kvm/trace.h).
var apicRegs = map[string]uint16{
	"APIC_ID": 0x20, "APIC_LVR": 0x30, "APIC_TASKPRI": 0x80, "APIC_ARBPRI": 0x90, "APIC_PROCPRI": 0xa0, "APIC_EOI": 0xb0,
	"APIC_RRR": 0xc0, "APIC_LDR": 0xd0, "APIC_DFR": 0xe0, "APIC_SPIV": 0xf0, "APIC_ISR": 0x100, "APIC_TMR": 0x180,
	"APIC_IRR": 0x200, "APIC_ESR": 0x280, "APIC_ICR": 0x300, "APIC_ICR2": 0x310, "APIC_LVTT": 0x320, "APIC_LVTTHMR": 0x330,
	"APIC_LVTPC": 0x340, "APIC_LVT0": 0x350, "APIC_LVT1": 0x360, "APIC_LVTERR": 0x370, "APIC_TMICT": 0x380,
	"APIC_TMCCT": 0x390, "APIC_TDCR": 0x3e0, "APIC_SELF_IPI": 0x3f0, "APIC_EFEAT": 0x400, "APIC_ECTRL": 0x410,
}

// The registers that the timer needs.
const (
	regLVTT  = 0x320
	regTMICT = 0x380
	regTDCR  = 0x3e0
)

const (
	msrTSCDeadline = 0x6e0
	msrX2APIC      = 0x800
	msrX2APICLast  = 0x8ff
	msrICR         = 0x830
	msrSelfIPI     = 0x83f
)

// divisor decodes TDCR. Intel SDM vol. 3A, 11.5.4 "APIC Timer".
func divisor(tdcr uint64) uint64 {
	n := (tdcr&3 | tdcr&8>>1) + 1
	return 1 << (n & 7)
}

// inhibitNames are the APICv inhibit reasons by bit. The numbering changes from
// release to release, so a bit has a name only within an era.
var inhibitNames = []struct {
	era   Era
	names []string
}{
	{Era{0, V(5, 17)}, []string{"DISABLE", "HYPERV", "NESTED", "IRQWIN", "PIT_REINJ", "X2APIC", "BLOCKIRQ", "ABSENT"}},
	{Era{V(5, 18), V(6, 2)}, []string{"DISABLE", "HYPERV", "ABSENT", "BLOCKIRQ", "APIC_ID_MODIFIED",
		"APIC_BASE_MODIFIED", "NESTED", "IRQWIN", "PIT_REINJ", "SEV"}},
	{Era{V(6, 3), 0}, []string{"DISABLED", "HYPERV", "ABSENT", "BLOCKIRQ", "PHYSICAL_ID_ALIASED", "APIC_ID_MODIFIED",
		"APIC_BASE_MODIFIED", "NESTED", "IRQWIN", "PIT_REINJ", "SEV", "LOGICAL_ID_ALIASED", "PHYSICAL_ID_TOO_BIG"}},
}

// InhibitName names an APICv inhibit bit of kernel v; the empty string if the
// kernel has no such bit or v is not known.
func InhibitName(v Version, bit uint) string {
	if v == 0 {
		return ""
	}
	for _, t := range inhibitNames {
		if t.era.Has(v) && bit < uint(len(t.names)) {
			return t.names[bit]
		}
	}
	return ""
}
