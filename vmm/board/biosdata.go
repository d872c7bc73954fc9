package board

import (
	"encoding/binary"
	"fmt"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// What firmware leaves in low memory. Source: IBM PS/2 and PC BIOS Interface
// Technical Reference, "BIOS Data Area".
const (
	biosData     = 0x400
	biosDataSize = 0x100
	ebdaBase     = 0x9fc00
	ebdaSize     = 1 // in KiB
	baseKiB      = ebdaBase >> 10
)

// placeBIOS writes the BIOS data area and the extended one.
func placeBIOS(mem vmm.Memory) error {
	p := make([]byte, biosDataSize)
	le := binary.LittleEndian
	le.PutUint16(p[0x00:], 0x3f8)       // COM1
	le.PutUint16(p[0x0e:], ebdaBase>>4) // segment of the EBDA
	le.PutUint16(p[0x10:], 1<<9|2<<4)   // equipment: one serial port, 80 columns in colour
	le.PutUint16(p[0x13:], baseKiB)
	p[0x49] = 3                     // video mode
	le.PutUint16(p[0x4a:], 80)      // columns
	le.PutUint16(p[0x4c:], 80*25*2) // bytes of a page
	le.PutUint16(p[0x63:], 0x3d4)   // CRTC
	p[0x84] = 24                    // rows less one
	if err := mem.WriteAt(p, biosData); err != nil {
		return fmt.Errorf("placing the BIOS data area: %w", err)
	}
	if err := mem.WriteAt([]byte{ebdaSize, 0}, ebdaBase); err != nil {
		return fmt.Errorf("placing the extended BIOS data area: %w", err)
	}
	return nil
}

// mpTable is the MP configuration table for guests that read no ACPI, with its
// floating pointer in front; at is the address that it is placed at, a multiple
// of 16. Source: Intel MultiProcessor Specification 1.4, 4 "MP Configuration
// Table".
func mpTable(n int, at uint64) []byte {
	const pointer, header = 16, 44
	le := binary.LittleEndian
	b := make([]byte, pointer+header)
	copy(b, "_MP_")
	le.PutUint32(b[4:], uint32(at+pointer))
	b[8], b[9] = 1, 4 // length in 16 bytes, specification 1.4
	b[10] = checksum(b[:pointer])
	entries := uint16(0)
	add := func(p ...byte) { b = append(b, p...); entries++ }
	for i := range n {
		flags := byte(1) // enabled
		if i == 0 {
			flags |= 2 // the boot processor
		}
		p := append([]byte{0, byte(i), 0x14, flags}, make([]byte, 16)...)
		le.PutUint32(p[4:], 0x600)     // family 6
		le.PutUint32(p[8:], 1<<9|1<<0) // APIC, FPU
		add(p...)
	}
	add(append([]byte{1, 0}, "ISA   "...)...)
	add(le.AppendUint32([]byte{2, 0, 0x11, 1}, ioapicAddr)...)
	for irq := range byte(16) {
		if irq != 2 { // the cascade
			add(3, 0, 0, 0, 0, irq, 0, pinOf(irq))
		}
	}
	add(4, 3, 0, 0, 0, 0, 0, 0)    // ExtINT to LINT0 of the boot processor
	add(4, 1, 0, 0, 0, 0, 0xff, 1) // NMI to LINT1 of all
	t := b[pointer:]
	copy(t, "PCMP")
	le.PutUint16(t[4:], uint16(len(t)))
	t[6] = 4
	copy(t[8:], "TICKTRAPBOARD       ")
	le.PutUint16(t[34:], entries)
	le.PutUint32(t[36:], lapicAddr)
	t[7] = checksum(t)
	return b
}
