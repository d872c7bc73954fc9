package lapic

// The bits of IA32_APIC_BASE. Intel SDM vol. 3A, 10.4.4 "Local APIC Status and
// Location", and 10.12.1 "Detecting and Enabling x2APIC Mode".
//
//	 63      52 51           12 11 10  9  8 7        0
//	┌──────────┬───────────────┬──┬──┬──┬──┬──────────┐
//	│ reserved │ base address  │EN│EX│  │BS│ reserved │
//	└──────────┴───────────────┴──┴──┴──┴──┴──────────┘
//	EN enable, EX x2APIC mode, BS boot processor
const (
	BaseBSP     uint64 = 1 << 8
	BaseX2APIC  uint64 = 1 << 10
	BaseEnable  uint64 = 1 << 11
	BaseAddr    uint64 = 1<<52 - 1<<12
	DefaultBase uint64 = 0xfee00000

	baseReserved uint64 = ^(BaseBSP | BaseX2APIC | BaseEnable | BaseAddr)
)

// WriteBase writes IA32_APIC_BASE as the guest does; ok=false means #GP:
// reserved bits, x2APIC without the feature, x2APIC without enable, and the two
// transitions that x2APIC forbids (to xAPIC, and from disabled).
//
//	from \ to   disabled  xAPIC  x2APIC
//	disabled       ok       ok     #GP
//	xAPIC          ok       ok     ok
//	x2APIC         ok      #GP     ok
//
// Intel SDM vol. 3A, 10.12.5 "x2APIC State Transitions". As in KVM, disabling
// keeps all registers; enabling again restores the ID.
func (a *APIC) WriteBase(v uint64) (e Effect, ok bool) {
	old := a.Base
	if v == old {
		return Effect{}, true
	}
	const mode = BaseEnable | BaseX2APIC
	switch {
	case v&baseReserved != 0,
		v&BaseX2APIC != 0 && !a.Config.X2APIC,
		v&mode == BaseX2APIC,
		old&mode == mode && v&mode == BaseEnable,
		old&mode == 0 && v&mode == mode:
		return Effect{}, false
	}
	a.Base = v
	if (old^v)&mode != 0 && v&BaseEnable != 0 {
		a.setID()
	}
	return Effect{Do: EffectModeChange | EffectLDR}, true
}

// Modified reports whether the xAPIC ID, or the address of the APIC page, is not
// the one that an APIC with APIC virtualization must have.
//
// Source: arch/x86/kvm/lapic.c, kvm_lapic_xapic_id_updated and kvm_lapic_set_base.
func (a *APIC) Modified() (id, base bool) {
	id = a.Enabled() && !a.X2APIC() && a.reg(ID)>>24 != a.ID&0xff
	return id, a.Enabled() && a.Base&BaseAddr != DefaultBase
}

// MMIOBase returns the guest-physical address of the APIC page, and whether the
// APIC decodes it (enabled, xAPIC mode).
func (a *APIC) MMIOBase() (gpa uint64, decoded bool) {
	return a.Base & BaseAddr, a.Enabled() && !a.X2APIC()
}

// LogicalX2APIC derives the x2APIC LDR from an APIC ID: cluster in bits 31:16, a
// bit for the place in the cluster below. Intel SDM vol. 3A, 10.12.10.2 "Deriving
// Logical x2APIC ID from the Local x2APIC ID".
func LogicalX2APIC(id uint32) uint32 { return id>>4<<16 | 1<<(id&0xf) }
