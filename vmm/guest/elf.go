package guest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// The parts of the ELF format that loading needs. Source: System V ABI, "ELF
// Header" and "Program Header"; processor supplements i386 and AMD64.
const (
	elfClass32, elfClass64 = 1, 2
	elfLittle              = 1
	elfExec, elfDyn        = 2, 3
	elf386, elfX8664       = 3, 62
	elfLoad, elfNote       = 1, 4
	elfMaxLoads            = 1024
)

// elfFile is a parsed ELF executable.
type elfFile struct {
	bits    uint8
	entry   uint64
	loads   []segment
	virtual []uint64 // virtual address of each load
	notes   [][]byte // contents of note segments
}

// parseELF checks an ELF file and collects what it loads.
func parseELF(data []byte) (*elfFile, error) {
	if len(data) < 20 {
		return nil, fmt.Errorf("ELF header is cut off at %d bytes", len(data))
	}
	f := &elfFile{}
	headerSize, machine := 0, uint16(0)
	switch {
	case data[4] == elfClass32:
		f.bits, headerSize, machine = 32, 52, elf386
	case data[4] == elfClass64:
		f.bits, headerSize, machine = 64, 64, elfX8664
	default:
		return nil, fmt.Errorf("offset 4: ELF class %d, expected 1 (32-bit) or 2 (64-bit)", data[4])
	}
	if data[5] != elfLittle {
		return nil, fmt.Errorf("offset 5: byte order %d, expected 1 (little-endian)", data[5])
	}
	if len(data) < headerSize {
		return nil, fmt.Errorf("ELF header is cut off at %d of %d bytes", len(data), headerSize)
	}
	le := binary.LittleEndian
	if t := le.Uint16(data[16:]); t != elfExec {
		hint := ""
		if t == elfDyn {
			hint = "; link it without -pie"
		}
		return nil, fmt.Errorf("offset 16: ELF type %d, expected 2 (executable at fixed addresses)%s", t, hint)
	}
	if m := le.Uint16(data[18:]); m != machine {
		return nil, fmt.Errorf("offset 18: machine %d, expected %d for %d-bit x86", m, machine, f.bits)
	}
	var phoff uint64
	var phsize, phnum uint16
	if f.bits == 32 {
		f.entry, phoff = uint64(le.Uint32(data[24:])), uint64(le.Uint32(data[28:]))
		phsize, phnum = le.Uint16(data[42:]), le.Uint16(data[44:])
	} else {
		f.entry, phoff = le.Uint64(data[24:]), le.Uint64(data[32:])
		phsize, phnum = le.Uint16(data[54:]), le.Uint16(data[56:])
	}
	return f, f.programHeaders(data, phoff, phsize, phnum)
}

// programHeaders reads the program header table.
func (f *elfFile) programHeaders(data []byte, off uint64, size, num uint16) error {
	want := uint16(32)
	if f.bits == 64 {
		want = 56
	}
	switch {
	case num == 0:
		return errors.New("ELF file has no program headers: it is not linked")
	case size != want:
		return fmt.Errorf("program headers of %d bytes, expected %d", size, want)
	case off > uint64(len(data)) || uint64(num)*uint64(size) > uint64(len(data))-off:
		return fmt.Errorf("%d program headers at offset %#x lie outside the file of %d bytes", num, off, len(data))
	}
	for i := range int(num) {
		if err := f.programHeader(data, off+uint64(i)*uint64(size), i); err != nil {
			return err
		}
	}
	if len(f.loads) == 0 {
		return errors.New("ELF file has no segment to load")
	}
	return nil
}

// programHeader reads header i, at offset off, and keeps it if it is to be
// loaded.
func (f *elfFile) programHeader(data []byte, off uint64, i int) error {
	le := binary.LittleEndian
	p := data[off:]
	kind := le.Uint32(p)
	if kind != elfLoad && kind != elfNote {
		return nil
	}
	var at, vaddr, paddr, filesz, memsz uint64
	if f.bits == 32 {
		at, vaddr, paddr = uint64(le.Uint32(p[4:])), uint64(le.Uint32(p[8:])), uint64(le.Uint32(p[12:]))
		filesz, memsz = uint64(le.Uint32(p[16:])), uint64(le.Uint32(p[20:]))
	} else {
		at, vaddr, paddr = le.Uint64(p[8:]), le.Uint64(p[16:]), le.Uint64(p[24:])
		filesz, memsz = le.Uint64(p[32:]), le.Uint64(p[40:])
	}
	switch {
	case memsz == 0:
		return nil
	case len(f.loads) == elfMaxLoads:
		return fmt.Errorf("more than %d segments to load", elfMaxLoads)
	case filesz > memsz:
		return fmt.Errorf("segment %d (header at offset %#x): %d bytes in the file, only %d in memory", i, off, filesz, memsz)
	case at > uint64(len(data)) || filesz > uint64(len(data))-at:
		return fmt.Errorf("segment %d (header at offset %#x): bytes %#x to %#x lie outside the file of %d bytes", i, off, at,
			at+filesz, len(data))
	case paddr > math.MaxUint64-memsz:
		return fmt.Errorf("segment %d (header at offset %#x): %#x bytes at address %#x pass the end of memory", i, off, memsz, paddr)
	}
	if kind == elfNote {
		f.notes = append(f.notes, data[at:at+filesz])
		return nil
	}
	f.loads = append(f.loads, segment{paddr, data[at : at+filesz], memsz, fmt.Sprintf("segment %d", i)})
	f.virtual = append(f.virtual, vaddr)
	return nil
}

// physicalEntry is the entry's physical address. Linkers put the virtual one
// into the header.
func (f *elfFile) physicalEntry() (uint64, error) {
	for i := range f.loads {
		if d := f.entry - f.virtual[i]; f.entry >= f.virtual[i] && d < f.loads[i].size {
			return f.loads[i].addr + d, nil
		}
	}
	for i := range f.loads {
		if f.entry >= f.loads[i].addr && f.entry < f.loads[i].end() {
			return f.entry, nil
		}
	}
	return 0, fmt.Errorf("entry point %#x lies in no segment", f.entry)
}

// loadELF loads an ELF file without a multiboot 1 header: by its PVH note, as
// Linux' own ELF file, or as an x86-64 executable for our own long mode.
func loadELF(g *Image, data []byte) error {
	f, err := parseELF(data)
	if err != nil {
		return err
	}
	if entry, ok := pvhEntry(f); ok {
		return loadPVH(g, f, entry)
	}
	if f.bits == 64 && f.upperHalf() && isVmlinux(data) {
		return loadVmlinux(g, f)
	}
	if f.bits == 32 {
		return errors.New("32-bit ELF without a multiboot header in its first 8192 bytes: nothing says how to enter it")
	}
	for i := range f.loads {
		if f.virtual[i] != f.loads[i].addr {
			return fmt.Errorf("%s is linked at %#x but loaded at %#x; the loader's page tables map addresses to themselves",
				f.loads[i].what, f.virtual[i], f.loads[i].addr)
		}
	}
	g.Format, g.bits, g.segments = ELF64, 64, f.loads
	g.entry, err = f.physicalEntry()
	return err
}
