package lapic

// Access says what a guest may do with a register in one mode.
type Access uint8

// The kinds of access. NoAccess is a register that the mode does not have.
const (
	NoAccess  Access = 0
	ReadOnly  Access = 1
	WriteOnly Access = 2
	ReadWrite Access = 3
)

// AccessNames names the kinds of access by value.
var AccessNames = [4]string{"none", "ro", "wo", "rw"}

// String returns "ro", "wo", "rw" or "none".
func (a Access) String() string { return AccessNames[a&3] }

// Row is the row of one register in Table.
type Row struct {
	Reg   Reg
	Count int    // consecutive registers of 16 bytes each: 8 for ISR, TMR, IRR
	Name  string // as the manual's register map abbreviates it
	// XAPIC and X2APIC are the access in the two modes.
	XAPIC, X2APIC Access
	Reset         uint32 // after power-up, before Config and ID add theirs
	// Mask is the bits that a write sets; the others keep their reset value.
	// LVTT gets the timer mode's bits, SPIV bit 12, if the guest has them.
	Mask uint32
	// Fault is the bits that make an x2APIC write #GP under KVM, Reserved those
	// that do so under the manual (Config.Strict). Bits 63:32 always do, except
	// in ICR.
	Fault, Reserved uint32
	// Section and Title cite the Intel SDM, vol. 3A.
	Section, Title string
}

const (
	lvtMasked   = 1 << 16
	lvtPlain    = 0x110ff            // mask, delivery status, vector
	lvtMode     = lvtPlain | 0x700   // and delivery mode
	lvtPin      = lvtMode | 0xe000   // and polarity, remote IRR, trigger mode
	lvtStrict   = 0x1000             // delivery status: read-only by the manual
	spivEnable  = 1 << 8             // software enable
	spivNoBcast = 1 << 12            // suppress EOI broadcasts
	versionDEOI = 1 << 24            // directed EOI supported
	timerModes  = uint32(3) << 17    // LVTT mode field, both bits
	timerMode1  = uint32(1) << 17    // without CPUID.1:ECX[24]
	all         = uint32(0xffffffff) // every bit
)

// Table is the one list of registers: reads, writes, reset, descriptions and the
// state page follow it. Rows are in order of offset.
var Table = []Row{
	{ID, 1, "ID", ReadWrite, ReadOnly, 0, 0xff000000, 0, 0, "10.4.6", "Local APIC ID"},
	{Version, 1, "Version", ReadOnly, ReadOnly, 0x14, 0, 0, 0, "10.4.8", "Local APIC Version Register"},
	{TPR, 1, "TPR", ReadWrite, ReadWrite, 0, 0xff, 0, ^uint32(0xff), "10.8.3.1", "Task and Processor Priorities"},
	{APR, 1, "APR", ReadOnly, NoAccess, 0, 0, 0, 0, "10.6.2.4", "Lowest Priority Delivery Mode"},
	{PPR, 1, "PPR", ReadOnly, ReadOnly, 0, 0, 0, 0, "10.8.3.1", "Task and Processor Priorities"},
	{EOI, 1, "EOI", WriteOnly, WriteOnly, 0, 0, 0, all, "10.8.5", "Signaling Interrupt Servicing Completion"},
	{RRD, 1, "RRD", ReadOnly, NoAccess, 0, 0, 0, 0, "10.4.1", "The Local APIC Block Diagram"},
	{LDR, 1, "LDR", ReadWrite, ReadOnly, 0, 0xff000000, 0, 0, "10.6.2.2", "Logical Destination Mode"},
	{DFR, 1, "DFR", ReadWrite, NoAccess, all, 0xf0000000, 0, 0, "10.6.2.2", "Logical Destination Mode"},
	{SPIV, 1, "SPIV", ReadWrite, ReadWrite, 0xff, 0x3ff, 0, ^uint32(0x13ff), "10.9", "Spurious Interrupt"},
	{ISR, 8, "ISR", ReadOnly, ReadOnly, 0, 0, 0, 0, "10.8.4", "Interrupt Acceptance for Fixed Interrupts"},
	{TMR, 8, "TMR", ReadOnly, ReadOnly, 0, 0, 0, 0, "10.8.4", "Interrupt Acceptance for Fixed Interrupts"},
	{IRR, 8, "IRR", ReadOnly, ReadOnly, 0, 0, 0, 0, "10.8.4", "Interrupt Acceptance for Fixed Interrupts"},
	{ESR, 1, "ESR", ReadWrite, ReadWrite, 0, 0, all, all, "10.5.3", "Error Handling"},
	{LVTCMCI, 1, "LVT CMCI", ReadWrite, ReadWrite, lvtMasked, lvtMode, 0, ^uint32(lvtMode), "10.5.1", "Local Vector Table"},
	{ICRLow, 1, "ICR", ReadWrite, ReadWrite, 0, ^uint32(ICRBusy), uint32(icrReserved), uint32(icrReserved),
		"10.6.1", "Interrupt Command Register (ICR)"},
	{ICR2, 1, "ICR2", ReadWrite, NoAccess, 0, 0xff000000, 0, 0, "10.6.1", "Interrupt Command Register (ICR)"},
	{LVTT, 1, "LVTT", ReadWrite, ReadWrite, lvtMasked, lvtPlain, 0, ^(lvtPlain | timerModes), "10.5.1", "Local Vector Table"},
	{LVTThermal, 1, "LVTTHMR", ReadWrite, ReadWrite, lvtMasked, lvtMode, 0, ^uint32(lvtMode), "10.5.1", "Local Vector Table"},
	{LVTPC, 1, "LVTPC", ReadWrite, ReadWrite, lvtMasked, lvtMode, 0, ^uint32(lvtMode), "10.5.1", "Local Vector Table"},
	{LVT0, 1, "LVT0", ReadWrite, ReadWrite, lvtMasked, lvtPin, 0, ^uint32(lvtPin), "10.5.1", "Local Vector Table"},
	{LVT1, 1, "LVT1", ReadWrite, ReadWrite, lvtMasked, lvtPin, 0, ^uint32(lvtPin), "10.5.1", "Local Vector Table"},
	{LVTError, 1, "LVTERR", ReadWrite, ReadWrite, lvtMasked, lvtPlain, 0, ^uint32(lvtPlain), "10.5.1", "Local Vector Table"},
	{TMICT, 1, "TMICT", ReadWrite, ReadWrite, 0, all, 0, 0, "10.5.4", "APIC Timer"},
	{TMCCT, 1, "TMCCT", ReadOnly, ReadOnly, 0, 0, 0, 0, "10.5.4", "APIC Timer"},
	{TDCR, 1, "TDCR", ReadWrite, ReadWrite, 0, 0xb, 0, ^uint32(0xb), "10.5.4", "APIC Timer"},
	{SelfIPI, 1, "SELF_IPI", NoAccess, WriteOnly, 0, 0, ^uint32(0xff), ^uint32(0xff), "10.12.11", "SELF IPI Register"},
}

// rowAt maps offset/16 to a row's index plus one.
var rowAt = indexTable(Table)

func indexTable(rows []Row) (at [64]uint8) {
	for i, w := range rows {
		for n := range w.Count {
			at[int(w.Reg>>4)+n] = uint8(i + 1)
		}
	}
	return at
}

// Lookup returns the row of r; ok is false for an offset without a register.
func Lookup(r Reg) (row *Row, ok bool) {
	if r >= 0x400 || r&0xf != 0 || rowAt[r>>4] == 0 {
		return nil, false
	}
	return &Table[rowAt[r>>4]-1], true
}

// Name returns the register's name, with the index for ISR, TMR and IRR.
func (r Reg) Name() string {
	w, ok := Lookup(r)
	switch {
	case !ok:
		return "reserved"
	case w.Count > 1:
		return w.Name + string(rune('0'+(r-w.Reg)>>4))
	}
	return w.Name
}

// access returns what the guest may do with the register in the present mode.
func (a *APIC) access(w *Row) Access {
	switch {
	case w.Reg == LVTCMCI && !a.Config.CMCI:
		return NoAccess
	case a.X2APIC():
		return w.X2APIC
	}
	return w.XAPIC
}
