package guest

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Multiboot 1. Source: Multiboot Specification 0.6.96, "Header layout" and
// "Boot information format".
const (
	mbMagic     = 0x1badb002
	mbBootMagic = 0x2badb002 // in EAX at entry
	mbSearch    = 8192
	// Flags of the header.
	mbPageAlign = 1 << 0
	mbMemory    = 1 << 1
	mbRequired  = 0xffff
	mbAddresses = 1 << 16
	// Flags of the boot information.
	mbiMemory  = 1 << 0
	mbiArgs    = 1 << 2
	mbiModules = 1 << 3
	mbiMap     = 1 << 6
	mbiLoader  = 1 << 9
)

// findMultiboot returns the offset of the multiboot header.
func findMultiboot(data []byte) (off int, ok bool) {
	le := binary.LittleEndian
	for off = 0; off+12 <= min(len(data), mbSearch); off += 4 {
		magic, flags, sum := le.Uint32(data[off:]), le.Uint32(data[off+4:]), le.Uint32(data[off+8:])
		if magic == mbMagic && magic+flags+sum == 0 {
			return off, true
		}
	}
	return 0, false
}

// loadMultiboot loads a file with a multiboot header: by the addresses in the
// header if it has them, else as ELF.
func loadMultiboot(g *Image, data []byte) error {
	off, _ := findMultiboot(data)
	flags := binary.LittleEndian.Uint32(data[off+4:])
	if f := flags & mbRequired &^ (mbPageAlign | mbMemory); f != 0 {
		return fmt.Errorf("multiboot header at offset %#x requires features %#x, which this loader has not", off, f)
	}
	g.Format, g.bits = Multiboot, 32
	if flags&mbAddresses != 0 {
		return g.loadByAddresses(data, off)
	}
	if !bytes.HasPrefix(data, []byte("\x7fELF")) {
		return fmt.Errorf("multiboot header at offset %#x gives no load addresses, and the file is not ELF", off)
	}
	f, err := parseELF(data)
	if err != nil {
		return err
	}
	g.segments = f.loads
	if g.entry, err = f.physicalEntry(); err != nil {
		return err
	}
	if g.entry >= 1<<32 {
		return fmt.Errorf("entry point %#x is above 4 GiB, where 32-bit code cannot start", g.entry)
	}
	return nil
}

// loadByAddresses loads as the address fields of the header say.
func (g *Image) loadByAddresses(data []byte, off int) error {
	if len(data) < off+32 {
		return fmt.Errorf("multiboot header at offset %#x is cut off before its addresses", off)
	}
	le := binary.LittleEndian
	field := func(i int) uint64 { return uint64(le.Uint32(data[off+12+4*i:])) }
	header, load, loadEnd, bssEnd, entry := field(0), field(1), field(2), field(3), field(4)
	if header < load || header-load > uint64(off) {
		return fmt.Errorf("multiboot header at offset %#x: load address %#x does not fit header address %#x", off, load, header)
	}
	start := uint64(off) - (header - load)
	if loadEnd == 0 {
		loadEnd = load + uint64(len(data)) - start
	}
	bssEnd = max(bssEnd, loadEnd)
	switch {
	case loadEnd < load || loadEnd-load > uint64(len(data))-start:
		return fmt.Errorf("multiboot header at offset %#x: load end %#x lies outside the file of %d bytes", off, loadEnd, len(data))
	case entry < load || entry >= bssEnd:
		return fmt.Errorf("multiboot header at offset %#x: entry %#x lies outside %#x–%#x", off, entry, load, bssEnd)
	}
	g.entry = entry
	g.segments = []segment{{load, data[start : start+loadEnd-load], bssEnd - load, "the image"}}
	return nil
}

// multibootInfo is the BootInfo page: information structure, memory map, module
// list, loader name, command line.
func (g *Image) multibootInfo(ram uint64) []byte {
	p := make([]byte, bootInfoSize)
	le := binary.LittleEndian
	info, env := uint32(g.infoAt()), uint32(g.envAt())
	flags := uint32(mbiMemory | mbiArgs | mbiMap | mbiLoader)
	if g.env != "" {
		flags |= mbiModules
		le.PutUint32(p[20:], 1)
		le.PutUint32(p[24:], info+bootInfoModule)
		le.PutUint32(p[bootInfoModule:], env)
		le.PutUint32(p[bootInfoModule+4:], env+uint32(len(g.env)))
		le.PutUint32(p[bootInfoModule+8:], info+bootInfoModule+16) // its name: empty
	}
	le.PutUint32(p[0:], flags)
	le.PutUint32(p[4:], lowEnd>>10)
	le.PutUint32(p[8:], uint32((ram-highBase)>>10))
	le.PutUint32(p[16:], info+bootInfoArgs)
	m := memoryMap(ram)
	le.PutUint32(p[44:], uint32(len(m)))
	le.PutUint32(p[48:], info+bootInfoMap)
	le.PutUint32(p[64:], info+bootInfoLoader)
	copy(p[bootInfoMap:], m)
	copy(p[bootInfoLoader:], "ticktrap")
	copy(p[bootInfoArgs:], g.cmdline)
	return p
}

// memoryMap is the map of the boot information.
func memoryMap(ram uint64) []byte {
	var m []byte
	le := binary.LittleEndian
	for _, r := range regions(ram) {
		m = le.AppendUint32(m, 20) // size of what follows
		m = le.AppendUint64(le.AppendUint64(m, r.base), r.end-r.base)
		m = le.AppendUint32(m, r.kind)
	}
	return m
}
