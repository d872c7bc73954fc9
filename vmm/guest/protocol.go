package guest

import "codeberg.org/ticktrap/ticktrap/vmm"

// protocol is a boot protocol other than multiboot 1 and our own: what it puts
// beside the image, and the boot CPU's state.
type protocol interface {
	// reserved are the places of what it puts there, as far as they do not depend
	// on the size of RAM.
	reserved() []segment
	// place returns what it puts beside the image into ram bytes of RAM.
	place(g *Image, ram uint64) ([]segment, error)
	// enter sets the boot CPU's state at entry, from that at power-up.
	enter(g *Image, r *vmm.Registers)
}

// The low memory of boot protocols: what Linux' and PVH's put there.
//
//	0x01000  BootGDT … page tables, as in layout.go
//	0x10000  bootParams  the zero page (Linux), or start info (PVH, multiboot 2)
//	0x11000  setupData   list of setup data (Linux)
//	0x20000  bootArgs    command line, up to 4 KiB
const (
	bootParams = 0x10000
	setupData  = 0x11000
	bootArgs   = 0x20000
	bootArgMax = 0x1000
)

// The selectors of Linux' boot protocol: __BOOT_CS and __BOOT_DS.
const (
	selLinuxCode = 0x10
	selLinuxData = 0x18
)

// protocolReserved are the places that Linux' and PVH's protocols fill.
func protocolReserved() []segment {
	return []segment{
		{addr: 0x400, size: 0x100, what: "the BIOS data area"},
		{addr: BootGDT, size: BootPD + 4*0x1000 - BootGDT, what: "the loader's page tables"},
		{addr: bootParams, size: 2 * 0x1000, what: "the loader's boot parameters"},
		{addr: bootArgs, size: bootArgMax, what: "the command line"},
		{addr: firmwareBase, size: highBase - firmwareBase, what: "the ACPI tables"},
	}
}

// enterProtected is 32-bit protected mode without paging, with the given code
// and data selectors.
func enterProtected(r *vmm.Registers, code, data uint16) {
	r.CR0 = cr0PE | cr0ET
	setSegments(r, vmm.Segment{Selector: code, Limit: ^uint32(0), Attr: attrCode32}, data)
	r.GDTR = vmm.Table{Base: BootGDT, Limit: uint16(len(linuxGDT(0)) - 1)}
}

// enterLong is long mode with the loader's page tables.
func enterLong(r *vmm.Registers, code, data uint16) {
	r.CR0 = cr0PE | cr0ET | cr0NE | cr0WP | cr0PG
	r.CR4 = cr4PAE | cr4FXSR | cr4XMM
	r.CR3 = BootPML4
	r.EFER = eferLME | eferLMA | eferNXE
	setSegments(r, vmm.Segment{Selector: code, Limit: ^uint32(0), Attr: attrCode64}, data)
}

// initrdPlace is where an initial RAM disk of n bytes goes: as high as RAM and
// max, the last address it may use, let it.
func initrdPlace(n int, ram, max uint64) uint64 {
	top := min(ram, max+1)
	if uint64(n) > top {
		return 0
	}
	return (top - uint64(n)) &^ 0xfff
}

// region is a part of the memory map.
type region struct {
	base, end uint64
	kind      uint32
}

// The kinds of a region, in the numbers that E820, multiboot and PVH share.
const (
	ramUsable   = 1
	ramReserved = 2
)

// regions is the memory map: conventional memory, the EBDA, firmware's part of
// the first MiB, and the rest of RAM.
func regions(ram uint64) []region {
	return []region{
		{0, lowEnd, ramUsable}, {lowEnd, 0xa0000, ramReserved}, {firmwareBase, highBase, ramReserved},
		{highBase, ram, ramUsable},
	}
}
