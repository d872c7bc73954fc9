package guest

import (
	"encoding/binary"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Segment attributes as vmm.Segment.Attr has them.
const (
	attrCode64 = 0xa09b
	attrCode32 = 0xc09b
	attrData32 = 0xc093
	attrCode16 = 0x009b
	attrData16 = 0x0093
	attrTSS    = 0x008b
	attrLDT    = 0x0082
	attrUnused = 1 << 16
)

// Control register and EFER bits of the boot states.
const (
	cr0PE, cr0ET, cr0NE, cr0WP, cr0PG = 1 << 0, 1 << 4, 1 << 5, 1 << 16, 1 << 31
	cr4PAE, cr4FXSR, cr4XMM           = 1 << 5, 1 << 9, 1 << 10
	eferLME, eferLMA, eferNXE         = 1 << 8, 1 << 10, 1 << 11
)

// Boot is the boot CPU's state at entry. Other CPUs wait for a start-up IPI.
//
// Multiboot: 32-bit protected mode without paging, flat segments, EAX and EBX as
// the specification says. ELF64, flat and built-in: long mode with flat
// segments, addresses up to 4 GiB mapped to themselves, RSP at StackTop, RDI
// the address of the multiboot information. Boot sector: real mode. Interrupts
// are off in all.
func (g *Image) Boot() vmm.Registers {
	r := powerUp()
	r.RIP = g.entry
	if g.boot != nil {
		g.boot.enter(g, &r)
		return r
	}
	switch g.bits {
	case 32:
		r.CR0 = cr0PE | cr0ET
		setSegments(&r, vmm.Segment{Selector: selCode32, Limit: ^uint32(0), Attr: attrCode32}, selData)
		r.GPR[vmm.RAX], r.GPR[vmm.RBX] = mbBootMagic, g.infoAt()
	case 64:
		r.CR0 = cr0PE | cr0ET | cr0NE | cr0WP | cr0PG
		r.CR4 = cr4PAE | cr4FXSR | cr4XMM
		r.CR3 = BootPML4
		r.EFER = eferLME | eferLMA | eferNXE
		setSegments(&r, vmm.Segment{Selector: selCode64, Limit: ^uint32(0), Attr: attrCode64}, selData)
		r.GDTR = vmm.Table{Base: BootGDT, Limit: uint16(len(gdtBytes()) - 1)}
		r.GPR[vmm.RSP], r.GPR[vmm.RDI] = StackTop, g.infoAt()
	}
	return r
}

// powerUp is the state that all boot states begin with: real mode, flat, FPU as
// after FNINIT. Source: Intel SDM vol. 3A, 9.1.1 "Processor State After Reset".
func powerUp() vmm.Registers {
	data := vmm.Segment{Limit: 0xffff, Attr: attrData16}
	r := vmm.Registers{
		RFLAGS: 2, CR0: cr0ET, XCR0: 1,
		CS: vmm.Segment{Limit: 0xffff, Attr: attrCode16},
		DS: data, ES: data, FS: data, GS: data, SS: data,
		TR:   vmm.Segment{Limit: 0xffff, Attr: attrTSS},
		LDTR: vmm.Segment{Limit: 0xffff, Attr: attrLDT | attrUnused},
		GDTR: vmm.Table{Limit: 0xffff}, IDTR: vmm.Table{Limit: 0xffff},
	}
	r.DR[6], r.DR[7] = 0xffff0ff0, 0x400
	r.FPU.Control, r.FPU.MXCSR = 0x37f, 0x1f80
	return r
}

// setSegments makes code the code segment and the others flat data.
func setSegments(r *vmm.Registers, code vmm.Segment, sel uint16) {
	data := vmm.Segment{Selector: sel, Limit: ^uint32(0), Attr: attrData32}
	r.CS = code
	r.DS, r.ES, r.FS, r.GS, r.SS = data, data, data, data, data
}

// gdtBytes is BootGDT: null, code64, data, code32.
func gdtBytes() []byte {
	var p []byte
	for _, d := range []uint64{0, 0x00af9b000000ffff, 0x00cf93000000ffff, 0x00cf9b000000ffff} {
		p = binary.LittleEndian.AppendUint64(p, d)
	}
	return p
}

// pageTables are PML4, PDPT and four page directories that map 4 GiB to
// themselves, present, writable and user, accessed and dirty.
func pageTables() []byte {
	const table, page = 0x27, 0xe7
	p := make([]byte, 6*0x1000)
	put := func(at int, v uint64) { binary.LittleEndian.PutUint64(p[at:], v) }
	put(0, BootPDPT|table)
	for i := range 4 {
		put(BootPDPT-BootPML4+8*i, uint64(BootPD+i*0x1000)|table)
	}
	for i := range 4 * 512 {
		put(BootPD-BootPML4+8*i, uint64(i)<<21|page)
	}
	return p
}
