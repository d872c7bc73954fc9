package board

import (
	"encoding/binary"
	"fmt"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Where the ACPI tables lie in guest RAM: a page-aligned place below 1 MiB where
// guests look for the RSDP, which comes first.
const (
	ACPIBase = 0xf0000
	ACPIEnd  = 0x100000
)

// The addresses that the MADT and the DSDT tell.
const (
	lapicAddr  = 0xfee00000
	ioapicAddr = 0xfec00000
	sciIRQ     = 9
)

// acpiHeader is the size of an ACPI table's header.
const acpiHeader = 36

// Place writes what firmware leaves in guest RAM: the BIOS data areas, the MP
// table, and the ACPI tables RSDP, RSDT, XSDT, FADT, FACS, DSDT and MADT. There
// is no HPET. Source of all layouts: ACPI 6.5, 5.2 "ACPI
// System Description Tables".
func (b *Board) Place(mem vmm.Memory) error {
	if err := placeBIOS(mem); err != nil {
		return err
	}
	if err := mem.WriteAt(acpiTables(&b.cfg), ACPIBase); err != nil {
		return fmt.Errorf("placing ACPI tables at %#x: %w", ACPIBase, err)
	}
	for at, code := range map[uint64][]byte{firmwareBase: firmware, resetVector: resetJump} {
		if err := mem.WriteAt(code, at); err != nil {
			return fmt.Errorf("placing firmware at %#x: %w", at, err)
		}
	}
	return nil
}

// acpiTables returns the bytes from ACPIBase on.
func acpiTables(c *Config) []byte {
	buf := make([]byte, 36) // the RSDP, filled in last
	add := func(t []byte, align int) (addr uint64) {
		for len(buf)%align != 0 {
			buf = append(buf, 0)
		}
		addr = ACPIBase + uint64(len(buf))
		buf = append(buf, t...)
		return addr
	}
	facs := add(facsTable(), 64)
	dsdt := add(acpiTable("DSDT", 1, dsdtBody()), 16)
	fadt := add(acpiTable("FACP", 3, fadtBody(facs, dsdt)), 16)
	madt := add(acpiTable("APIC", 1, madtBody(c.VCPUs)), 16)
	var rsdt, xsdt []byte
	for _, t := range []uint64{fadt, madt} {
		rsdt = binary.LittleEndian.AppendUint32(rsdt, uint32(t))
		xsdt = binary.LittleEndian.AppendUint64(xsdt, t)
	}
	rsdtAt := add(acpiTable("RSDT", 1, rsdt), 16)
	xsdtAt := add(acpiTable("XSDT", 1, xsdt), 16)
	for len(buf)%16 != 0 {
		buf = append(buf, 0)
	}
	buf = append(buf, mpTable(c.VCPUs, ACPIBase+uint64(len(buf)))...)
	copy(buf, "RSD PTR \x00TICKTR\x02")
	binary.LittleEndian.PutUint32(buf[16:], uint32(rsdtAt))
	binary.LittleEndian.PutUint32(buf[20:], 36)
	binary.LittleEndian.PutUint64(buf[24:], xsdtAt)
	buf[8] = checksum(buf[:20])
	buf[32] = checksum(buf[:36])
	return buf
}

// acpiTable puts a header in front of a table's body.
func acpiTable(signature string, revision byte, body []byte) []byte {
	t := make([]byte, acpiHeader, acpiHeader+len(body))
	copy(t, signature)
	t = append(t, body...)
	binary.LittleEndian.PutUint32(t[4:], uint32(len(t)))
	t[8] = revision
	copy(t[10:], "TICKTRBOARD   ")
	binary.LittleEndian.PutUint32(t[24:], 1)
	copy(t[28:], "TICK")
	binary.LittleEndian.PutUint32(t[32:], 1)
	t[9] = checksum(t)
	return t
}

// checksum is the byte that makes the sum of p zero, where p's own checksum
// byte is zero.
func checksum(p []byte) byte {
	var s byte
	for _, c := range p {
		s += c
	}
	return -s
}

// facsTable is an empty firmware control structure; it has no header and no
// checksum.
func facsTable() []byte {
	t := make([]byte, 64)
	copy(t, "FACS")
	binary.LittleEndian.PutUint32(t[4:], 64)
	return t
}

// dsdtBody is AML for Name (_S5, Package (4) {sleepS5, sleepS5, 0, 0}), which
// is all that power-off needs.
func dsdtBody() []byte {
	return []byte{0x08, '_', 'S', '5', '_', 0x12, 0x0a, 0x04, 0x0a, sleepS5, 0x0a, sleepS5, 0x0a, 0x00, 0x0a, 0x00}
}

// fadtBody is the fixed description, revision 3, offsets counted from the
// header's end.
func fadtBody(facs, dsdt uint64) []byte {
	b := make([]byte, 244-acpiHeader)
	le := binary.LittleEndian
	at := func(off int) []byte { return b[off-acpiHeader:] } // by the specification's offsets
	le.PutUint32(at(36), uint32(facs))
	le.PutUint32(at(40), uint32(dsdt))
	le.PutUint16(at(46), sciIRQ)
	le.PutUint32(at(56), 0x600) // PM1a event
	le.PutUint32(at(64), 0x604) // PM1a control
	le.PutUint32(at(76), 0x608) // PM timer
	at(88)[0], at(89)[0], at(91)[0] = 4, 2, 4
	le.PutUint16(at(96), 0xfff)              // no C2
	le.PutUint16(at(98), 0xfff)              // no C3
	at(108)[0] = cmosCentury                 //
	le.PutUint16(at(109), 1<<2)              // no VGA
	le.PutUint32(at(112), 1|1<<4|1<<5|1<<10) // WBINVD; no power or sleep button; reset register
	copy(at(116), gas(resetPort, 1))
	at(128)[0] = 4 | 2
	le.PutUint64(at(132), facs)
	le.PutUint64(at(140), dsdt)
	copy(at(148), gas(0x600, 4))
	copy(at(172), gas(0x604, 2))
	copy(at(208), gas(0x608, 4))
	return b
}

// gas is a generic address structure for an I/O port of size bytes.
func gas(port uint64, size byte) []byte {
	return binary.LittleEndian.AppendUint64([]byte{1, size * 8, 0, 0}, port)
}

// madtBody lists the local APICs (IDs 0 to n−1, all enabled), the I/O APIC, the
// override of IRQ 0 to pin 2, the SCI as level-triggered and LINT1 as NMI.
func madtBody(n int) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, lapicAddr)
	b = le.AppendUint32(b, 1) // a PIC pair is there
	for i := range n {
		b = le.AppendUint32(append(b, 0, 8, byte(i), byte(i)), 1)
	}
	b = le.AppendUint32(append(b, 1, 12, 0, 0), ioapicAddr)
	b = le.AppendUint32(b, 0) // first interrupt line
	override := func(irq byte, gsi uint32, flags uint16) {
		b = le.AppendUint16(le.AppendUint32(append(b, 2, 10, 0, irq), gsi), flags)
	}
	override(irq0, uint32(pinOf(irq0)), 0)
	override(sciIRQ, sciIRQ, 0xd)         // active high, level
	return append(b, 4, 6, 0xff, 0, 0, 1) // LINT1 of all CPUs
}
