package guest

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// The PVH boot protocol. Source: Xen, docs/misc/pvh.pandoc, and its public header
// arch-x86/hvm/start_info.h.
const (
	pvhMagic   = 0x336ec578
	pvhNote    = 18 // XEN_ELFNOTE_PHYS32_ENTRY
	pvhVersion = 1
	// Inside the page at bootParams.
	pvhModules = 0x100
	pvhMap     = 0x200
)

// pvhBoot is a kernel that is entered by its PVH note.
type pvhBoot struct {
	disk []byte
	end  uint64
}

// pvhEntry returns the physical entry address that a PVH note names.
func pvhEntry(f *elfFile) (entry uint64, ok bool) {
	le := binary.LittleEndian
	for _, n := range f.notes {
		for len(n) >= 12 {
			name, desc, kind := uint64(le.Uint32(n)), uint64(le.Uint32(n[4:])), le.Uint32(n[8:])
			at := 12 + (name+3)&^3
			if at+desc > uint64(len(n)) {
				break
			}
			if kind == pvhNote && bytes.Equal(n[12:12+name], []byte("Xen\x00")) {
				switch desc {
				case 4:
					return uint64(le.Uint32(n[at:])), true
				case 8:
					return le.Uint64(n[at:]) & 0xffffffff, true
				}
			}
			n = n[min(at+(desc+3)&^3, uint64(len(n))):]
		}
	}
	return 0, false
}

// loadPVH loads an ELF file with a PVH note.
func loadPVH(g *Image, f *elfFile, entry uint64) error {
	b := &pvhBoot{disk: g.disk}
	g.cmdline = g.Args
	g.Format, g.bits, g.entry, g.segments, g.boot = PVH, 32, entry, f.loads, b
	inside := false
	for i := range f.loads {
		s := &f.loads[i]
		b.end = max(b.end, s.end())
		inside = inside || entry >= s.addr && entry < s.end()
	}
	if !inside {
		return fmt.Errorf("PVH note: entry %#x lies in no segment", entry)
	}
	return nil
}

func (b *pvhBoot) reserved() []segment { return protocolReserved() }

// place makes the start info, its module list and memory map, and the command
// line.
func (b *pvhBoot) place(g *Image, ram uint64) ([]segment, error) {
	p := make([]byte, 0x1000)
	le := binary.LittleEndian
	s := []segment{
		{addr: bootArgs, data: append([]byte(g.cmdline), 0), what: "command line"},
		{addr: BootGDT, data: linuxGDT(32), what: "GDT"},
	}
	le.PutUint32(p[0:], pvhMagic)
	le.PutUint32(p[4:], pvhVersion)
	if len(b.disk) > 0 {
		at := initrdPlace(len(b.disk), ram, 0xffffffff)
		if at < b.end {
			return nil, fmt.Errorf("%s: the initial RAM disk of %d MiB does not fit above the image's end at %#x in %d MiB of RAM",
				g.Name, len(b.disk)>>20, b.end, ram>>20)
		}
		le.PutUint32(p[12:], 1)
		le.PutUint64(p[16:], bootParams+pvhModules)
		le.PutUint64(p[pvhModules:], at)
		le.PutUint64(p[pvhModules+8:], uint64(len(b.disk)))
		s = append(s, segment{addr: at, data: b.disk, what: "initial RAM disk"})
	}
	le.PutUint64(p[24:], bootArgs)
	le.PutUint64(p[32:], firmwareBase)
	le.PutUint64(p[40:], bootParams+pvhMap)
	for i, r := range regions(ram) {
		m := p[pvhMap+24*i:]
		le.PutUint64(m, r.base)
		le.PutUint64(m[8:], r.end-r.base)
		le.PutUint32(m[16:], r.kind)
		le.PutUint32(p[48:], uint32(i+1))
	}
	return append(s, segment{addr: bootParams, data: p, what: "start info"}), nil
}

// enter: EBX holds the start info's address.
func (b *pvhBoot) enter(_ *Image, r *vmm.Registers) {
	enterProtected(r, selLinuxCode, selLinuxData)
	r.GPR[vmm.RBX] = bootParams
}
