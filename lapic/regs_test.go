package lapic

import "testing"

func TestTableIsOrderedAndDoesNotOverlap(t *testing.T) {
	next := Reg(0)
	for _, w := range Table {
		if w.Reg < next {
			t.Errorf("%s at %#x overlaps or precedes the row before it, which ends at %#x", w.Name, w.Reg, next)
		}
		if w.Reg&0xf != 0 || w.Count < 1 || w.Name == "" || w.Section == "" || w.Title == "" {
			t.Errorf("row %+v is incomplete", w)
		}
		if w.XAPIC == NoAccess && w.X2APIC == NoAccess {
			t.Errorf("%s exists in no mode", w.Name)
		}
		next = w.Reg + Reg(w.Count<<4)
	}
	if next > 0x400 {
		t.Errorf("the table ends at %#x, beyond the page", next)
	}
}

func TestEveryRegisterHasItsMSR(t *testing.T) {
	want := map[Reg]uint32{ID: 0x802, Version: 0x803, TPR: 0x808, PPR: 0x80a, EOI: 0x80b, LDR: 0x80d, SPIV: 0x80f,
		ISR: 0x810, TMR: 0x818, IRR: 0x820, ESR: 0x828, LVTCMCI: 0x82f, ICRLow: 0x830, LVTT: 0x832, LVTThermal: 0x833,
		LVTPC: 0x834, LVT0: 0x835, LVT1: 0x836, LVTError: 0x837, TMICT: 0x838, TMCCT: 0x839, TDCR: 0x83e, SelfIPI: 0x83f}
	for _, w := range Table {
		if msr, ok := want[w.Reg]; ok != (w.X2APIC != NoAccess) || ok && msr != w.Reg.MSR() {
			t.Errorf("%s: MSR %#x, access %v; the manual's map has %#x", w.Name, w.Reg.MSR(), w.X2APIC, msr)
		}
		if r, ok := RegOfMSR(w.Reg.MSR()); !ok || r != w.Reg {
			t.Errorf("RegOfMSR(%#x) = %#x, %v, want %#x", w.Reg.MSR(), r, ok, w.Reg)
		}
	}
	for _, index := range []uint32{0x7ff, 0x900, 0x1b, 0x6e0} {
		if _, ok := RegOfMSR(index); ok {
			t.Errorf("RegOfMSR(%#x) finds a register", index)
		}
	}
}

func TestMasksAndReservedBitsAgree(t *testing.T) {
	for _, w := range Table {
		if w.Mask&w.Reserved != 0 && w.Reg != ICRLow {
			t.Errorf("%s: bits %#x can be written and are reserved", w.Name, w.Mask&w.Reserved)
		}
		if w.Fault&^w.Reserved != 0 {
			t.Errorf("%s: bits %#x fault in KVM and not in the manual", w.Name, w.Fault&^w.Reserved)
		}
		if w.Mask != 0 && w.XAPIC&WriteOnly == 0 {
			t.Errorf("%s: has a write mask but is not written", w.Name)
		}
	}
}

func TestLookupCoversThePage(t *testing.T) {
	n := 0
	for off := range 0x1000 {
		w, ok := Lookup(Reg(off))
		if !ok {
			continue
		}
		n++
		if Reg(off) < w.Reg || Reg(off) >= w.Reg+Reg(w.Count<<4) || off&0xf != 0 {
			t.Errorf("Lookup(%#x) = %s at %#x", off, w.Name, w.Reg)
		}
	}
	want := 0
	for _, w := range Table {
		want += w.Count
	}
	if n != want {
		t.Errorf("Lookup finds %d registers, the table has %d", n, want)
	}
}

func TestRegisterNames(t *testing.T) {
	for r, want := range map[Reg]string{LVTT: "LVTT", IRR + 0x70: "IRR7", ISR: "ISR0", 0x0: "reserved", 0x123: "reserved"} {
		if got := r.Name(); got != want {
			t.Errorf("Reg(%#x).Name() = %q, want %q", uint16(r), got, want)
		}
	}
}

func TestOwnedMSRs(t *testing.T) {
	for index, want := range map[uint32]bool{0x1b: true, 0x6e0: true, 0x800: true, 0x8ff: true, 0x900: false, 0x10: false} {
		if got := OwnsMSR(index); got != want {
			t.Errorf("OwnsMSR(%#x) = %v, want %v", index, got, want)
		}
	}
}
