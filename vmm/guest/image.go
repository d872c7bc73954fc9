package guest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Format is the kind of a guest image.
type Format uint8

// The formats. BadFormat is the invalid zero value; in Options it means
// "recognise it".
const (
	BadFormat  Format = iota
	Multiboot         // multiboot 1: ELF, or any file by the addresses in its header
	ELF64             // x86-64 ELF without a multiboot header
	Flat              // raw 64-bit code at CodeBase
	BootRecord        // 512-byte boot sector at BootSector
	BuiltIn           // one of our own
	BzImage           // Linux with a setup header
	Vmlinux           // Linux' ELF file, entered in long mode
	PVH               // ELF with a PVH note, entered in protected mode
)

// FormatNames names the formats.
var FormatNames = []string{"bad", "multiboot", "elf64", "flat", "boot sector", "built-in", "bzImage", "vmlinux", "PVH"}

func (f Format) String() string { return FormatNames[f] }

// Options say how to load a guest.
type Options struct {
	// Append is the command line behind the guest's own name.
	Append string
	// Env is environment text for the guest, lines of NAME=VALUE: a multiboot
	// module, as the unit tests read it. Empty: no module.
	Env string
	// Initrd is the file of an initial RAM disk, for Linux and PVH. Empty: none.
	Initrd string
	// Format overrides recognition, for flat binaries. BadFormat recognises.
	Format Format
}

// Image is a guest that is ready to be placed into memory. It does not change.
type Image struct {
	// Name is the built-in's name or the file's.
	Name   string
	Format Format
	// SHA256 is the digest of the file, or of a built-in's code.
	SHA256 [sha256.Size]byte
	// Args is the command line as given.
	Args string
	// Initrd is the initial RAM disk's file, empty for none.
	Initrd string

	segments []segment
	entry    uint64
	cmdline  string
	env      string
	low      uint64 // distance of boot information and module from their usual places
	bits     uint8  // mode at entry: 16, 32 or 64
	params   *Params
	disk     []byte
	boot     protocol // nil: multiboot 1, or our own
}

// segment is a part of guest RAM that an image fills.
type segment struct {
	addr uint64
	data []byte
	size uint64 // at least len(data): the rest is zero
	what string // for messages: "segment 2"
}

func (s *segment) end() uint64 { return s.addr + s.size }

// Entry is the address of the first instruction.
func (g *Image) Entry() uint64 { return g.entry }

// Params are a built-in's parameters, nil for other guests.
func (g *Image) Params() *Params { return g.params }

// DefaultRAM is the memory in bytes that suits the guest.
func (g *Image) DefaultRAM() uint64 {
	if g.boot != nil {
		return 512 << 20
	}
	return 128 << 20
}

// infoAt and envAt are where the boot information and the module go.
func (g *Image) infoAt() uint64 { return BootInfo + g.low }
func (g *Image) envAt() uint64  { return EnvText + g.low }

// settle finds places for what the loader adds: the usual ones, or the same
// further up if the image itself fills those.
func (g *Image) settle() error {
	err := g.checkSegments()
	if err == nil || g.bits != 32 || g.boot != nil {
		return err
	}
	g.low = BootMoved
	if g.checkSegments() == nil {
		return nil
	}
	return err
}

// checkSegments sorts the segments and rejects overlaps, and those that lie on
// what the loader puts into low memory.
func (g *Image) checkSegments() error {
	all := append(g.reserved(), g.segments...)
	slices.SortStableFunc(all, func(a, b segment) int { return cmp.Compare(a.addr, b.addr) })
	for i := range all {
		if i > 0 && all[i].addr < all[i-1].end() {
			return fmt.Errorf("%s: %s at %#x–%#x overlaps %s at %#x–%#x", g.Name, all[i].what, all[i].addr, all[i].end()-1,
				all[i-1].what, all[i-1].addr, all[i-1].end()-1)
		}
	}
	return nil
}

// reserved are the places that the loader fills itself for this format.
func (g *Image) reserved() []segment {
	if g.boot != nil {
		return g.boot.reserved()
	}
	if g.bits == 16 {
		return nil
	}
	r := []segment{
		{addr: 0x400, size: 0x100, what: "the BIOS data area"},
		{addr: lowEnd, size: 0x400, what: "the extended BIOS data area"},
		{addr: g.infoAt(), size: bootInfoSize, what: "the loader's boot information"},
		{addr: firmwareBase, size: highBase - firmwareBase, what: "the ACPI tables"},
	}
	if g.env != "" {
		r = append(r, segment{addr: g.envAt(), size: EnvTextMax, what: "the loader's environment module"})
	}
	if g.bits == 64 {
		r = append(r, segment{addr: BootGDT, size: BootPD + 4*0x1000 - BootGDT, what: "the loader's page tables"})
	}
	return r
}

// Place writes the image and what the boot CPU needs into memory.
func (g *Image) Place(mem vmm.Memory) error {
	for i := range g.segments {
		s := &g.segments[i]
		if s.end() > mem.Size() {
			return fmt.Errorf("%s: %s needs memory up to %#x, but the guest has %d MiB of RAM", g.Name, s.what, s.end(),
				mem.Size()>>20)
		}
		if err := mem.WriteAt(s.data, s.addr); err != nil {
			return fmt.Errorf("placing %s of %s: %w", s.what, g.Name, err)
		}
		if err := zero(mem, s.addr+uint64(len(s.data)), s.size-uint64(len(s.data))); err != nil {
			return fmt.Errorf("clearing %s of %s: %w", s.what, g.Name, err)
		}
	}
	more, err := g.bootSegments(mem.Size())
	if err != nil {
		return err
	}
	for _, s := range more {
		if err := mem.WriteAt(s.data, s.addr); err != nil {
			return fmt.Errorf("placing %s: %w", s.what, err)
		}
	}
	return nil
}

// bootSegments are what the loader adds, for a guest with ram bytes of RAM.
func (g *Image) bootSegments(ram uint64) ([]segment, error) {
	if g.boot != nil {
		return g.boot.place(g, ram)
	}
	if g.bits == 16 {
		return nil, nil
	}
	s := []segment{{addr: g.infoAt(), data: g.multibootInfo(ram), what: "boot information"}}
	if g.env != "" {
		s = append(s, segment{addr: g.envAt(), data: []byte(g.env), what: "environment module"})
	}
	if g.bits == 64 {
		s = append(s, segment{addr: BootGDT, data: gdtBytes(), what: "GDT"},
			segment{addr: BootPML4, data: pageTables(), what: "page tables"})
	}
	if g.params != nil {
		s = append(s, segment{addr: ParamBlock, data: g.params.block(), what: "parameters"})
	}
	return s, nil
}

// zeroes is what zero writes from.
const zeroChunk = 1 << 16

// zero clears n bytes of memory.
func zero(mem vmm.Memory, addr, n uint64) error {
	if n == 0 {
		return nil
	}
	chunk := bytes.Repeat([]byte{0}, int(min(n, zeroChunk)))
	for n > 0 {
		k := min(n, uint64(len(chunk)))
		if err := mem.WriteAt(chunk[:k], addr); err != nil {
			return err
		}
		addr += k
		n -= k
	}
	return nil
}
