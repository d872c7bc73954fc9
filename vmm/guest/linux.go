package guest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Linux' boot protocol. Source: Linux, Documentation/arch/x86/boot.rst, "Details
// of Header Fields", and zero-page.rst.
const (
	hdrStart      = 0x1f1
	hdrSetupSects = 0x1f1
	hdrBootFlag   = 0x1fe
	hdrJump       = 0x200 // its second byte: where the header ends, from 0x202
	hdrMagic      = 0x202
	hdrVersion    = 0x206
	hdrLoader     = 0x210
	hdrLoadFlags  = 0x211
	hdrCode32     = 0x214
	hdrDisk       = 0x218
	hdrDiskSize   = 0x21c
	hdrHeapEnd    = 0x224
	hdrArgs       = 0x228
	hdrDiskMax    = 0x22c
	hdrReloc      = 0x234
	hdrXLoadFlags = 0x236
	hdrArgSize    = 0x238
	hdrSetupData  = 0x250
	hdrPreferred  = 0x258
	hdrInitSize   = 0x260

	zeroRSDP     = 0x070 // acpi_rsdp_addr
	zeroE820N    = 0x1e8
	zeroE820     = 0x2d0
	zeroPageSize = 0x1000

	linuxMagic    = 0x53726448 // "HdrS"
	loadedHigh    = 1 << 0     // of hdrLoadFlags
	canUseHeap    = 1 << 7
	entry64       = 1 << 0 // of hdrXLoadFlags: XLF_KERNEL_64
	loaderUnknown = 0xff   // of hdrLoader: none with a number of its own
	setupRNGSeed  = 9      // type of setup data
	diskMaxOld    = 0x37ffffff
)

// linuxBoot is a kernel that is entered with a zero page.
type linuxBoot struct {
	header  []byte // the setup header, from hdrStart on
	disk    []byte // the initial RAM disk
	diskMax uint64
	end     uint64    // end of the memory that the kernel uses before it looks at the map
	seed    [32]byte  // for the kernel's random numbers
	segs    []segment // of reserved
}

// isBzImage reports whether data has the setup header of a kernel with a 32-bit
// part that is loaded at 1 MiB.
func isBzImage(data []byte) bool {
	le := binary.LittleEndian
	return len(data) > hdrInitSize+4 && le.Uint16(data[hdrBootFlag:]) == 0xaa55 &&
		le.Uint32(data[hdrMagic:]) == linuxMagic
}

// loadBzImage loads a kernel with a setup header.
func loadBzImage(g *Image, data []byte) error {
	le := binary.LittleEndian
	version := le.Uint16(data[hdrVersion:])
	switch {
	case version < 0x202:
		return fmt.Errorf("offset %#x: boot protocol %d.%02d, expected 2.02 or later", hdrVersion, version>>8, version&0xff)
	case data[hdrLoadFlags]&loadedHigh == 0:
		return fmt.Errorf("offset %#x: a zImage, which is loaded below 1 MiB; expected a bzImage", hdrLoadFlags)
	}
	setup := (max(int(data[hdrSetupSects]), 1) + 1) * 512
	if data[hdrSetupSects] == 0 {
		setup = 5 * 512
	}
	if setup >= len(data) {
		return fmt.Errorf("the file of %d bytes ends within the setup code's %d", len(data), setup)
	}
	l := newLinuxBoot(g, data[hdrStart:min(hdrMagic+int(data[hdrJump+1]), setup, zeroE820)])
	// Fields that a version does not have yet read as zero.
	l.header = append(make([]byte, 0, hdrInitSize+4-hdrStart), l.header...)
	l.header = append(l.header, make([]byte, max(0, hdrInitSize+4-hdrStart-len(l.header)))...)
	at := uint64(CodeBase)
	size := uint64(len(data) - setup)
	if version >= 0x20a {
		if p := l.field64(hdrPreferred); p != 0 && (l.header[hdrReloc-hdrStart] != 0 || p == CodeBase) {
			at = p
		}
		size = max(size, uint64(l.field32(hdrInitSize)))
	}
	if version >= 0x203 {
		l.diskMax = uint64(l.field32(hdrDiskMax))
	}
	if n := l.field32(hdrArgSize); version >= 0x206 && uint64(len(g.cmdline)) > uint64(n) {
		return fmt.Errorf("command line has %d bytes, more than this kernel's %d", len(g.cmdline), n)
	}
	binary.LittleEndian.PutUint32(l.header[hdrCode32-hdrStart:], uint32(at))
	g.Format, g.bits, g.entry, g.boot = BzImage, 32, at, l
	if version >= 0x20c && le.Uint16(l.header[hdrXLoadFlags-hdrStart:])&entry64 != 0 {
		g.bits, g.entry = 64, at+0x200
	}
	code := data[setup:]
	g.segments = []segment{{at, code, uint64(len(code)), "the kernel"}}
	l.end = at + size
	return nil
}

// newLinuxBoot is a kernel with the given setup header.
func newLinuxBoot(g *Image, header []byte) *linuxBoot {
	g.cmdline = g.Args
	return &linuxBoot{header: header, disk: g.disk, diskMax: diskMaxOld, segs: protocolReserved(),
		seed: sha256.Sum256(append(g.SHA256[:], g.Args...))}
}

// loadVmlinux loads a kernel's ELF file that is to be entered in long mode with
// a zero page: one that is linked in the upper half of the address space.
func loadVmlinux(g *Image, f *elfFile) error {
	l := newLinuxBoot(g, make([]byte, hdrInitSize+4-hdrStart))
	le := binary.LittleEndian
	le.PutUint16(l.header[hdrBootFlag-hdrStart:], 0xaa55)
	le.PutUint32(l.header[hdrMagic-hdrStart:], linuxMagic)
	le.PutUint16(l.header[hdrVersion-hdrStart:], 0x20c)
	l.header[hdrLoadFlags-hdrStart] = loadedHigh
	le.PutUint32(l.header[0x230-hdrStart:], 1<<21) // kernel_alignment
	var err error
	g.Format, g.bits, g.segments, g.boot = Vmlinux, 64, f.loads, l
	if g.entry, err = f.physicalEntry(); err != nil {
		return err
	}
	for i := range f.loads {
		l.end = max(l.end, f.loads[i].end())
	}
	return nil
}

func (l *linuxBoot) field32(at int) uint32 { return binary.LittleEndian.Uint32(l.header[at-hdrStart:]) }
func (l *linuxBoot) field64(at int) uint64 { return binary.LittleEndian.Uint64(l.header[at-hdrStart:]) }

func (l *linuxBoot) reserved() []segment { return l.segs }

// place makes the zero page, the command line, the setup data and the initial
// RAM disk.
func (l *linuxBoot) place(g *Image, ram uint64) ([]segment, error) {
	if l.end > ram {
		return nil, fmt.Errorf("%s: the kernel unpacks itself up to %#x, but the guest has %d MiB of RAM: give --mem %d or more",
			g.Name, l.end, ram>>20, (l.end+uint64(len(l.disk))+64<<20)>>20)
	}
	zero := make([]byte, zeroPageSize)
	le := binary.LittleEndian
	copy(zero[hdrStart:], l.header)
	zero[hdrLoader] = loaderUnknown
	zero[hdrLoadFlags] |= canUseHeap
	le.PutUint16(zero[hdrHeapEnd:], 0xfe00)
	le.PutUint32(zero[hdrArgs:], bootArgs)
	le.PutUint64(zero[zeroRSDP:], firmwareBase)
	le.PutUint64(zero[hdrSetupData:], setupData)
	for i, r := range regions(ram) {
		p := zero[zeroE820+20*i:]
		le.PutUint64(p, r.base)
		le.PutUint64(p[8:], r.end-r.base)
		le.PutUint32(p[16:], r.kind)
		zero[zeroE820N] = byte(i + 1)
	}
	s := []segment{
		{addr: setupData, data: l.setup(), what: "setup data"},
		{addr: bootArgs, data: append([]byte(g.cmdline), 0), what: "command line"},
		{addr: BootGDT, data: linuxGDT(g.bits), what: "GDT"},
		{addr: BootPML4, data: pageTables(), what: "page tables"},
	}
	if len(l.disk) > 0 {
		at := initrdPlace(len(l.disk), ram, l.diskMax)
		if at < l.end {
			return nil, fmt.Errorf("%s: the initial RAM disk of %d MiB does not fit above the kernel's end at %#x in %d MiB of RAM: "+
				"give more with --mem", g.Name, len(l.disk)>>20, l.end, ram>>20)
		}
		le.PutUint32(zero[hdrDisk:], uint32(at))
		le.PutUint32(zero[hdrDiskSize:], uint32(len(l.disk)))
		s = append(s, segment{addr: at, data: l.disk, what: "initial RAM disk"})
	}
	return append(s, segment{addr: bootParams, data: zero, what: "zero page"}), nil
}

// setup is a list of one element: a seed for the kernel's random numbers, always
// the same for the same kernel and command line.
func (l *linuxBoot) setup() []byte {
	p := binary.LittleEndian.AppendUint64(nil, 0) // no next one
	p = binary.LittleEndian.AppendUint32(p, setupRNGSeed)
	p = binary.LittleEndian.AppendUint32(p, uint32(len(l.seed)))
	return append(p, l.seed[:]...)
}

// enter: "64-bit Boot Protocol" and "32-bit Boot Protocol".
func (l *linuxBoot) enter(g *Image, r *vmm.Registers) {
	if g.bits == 64 {
		enterLong(r, selLinuxCode, selLinuxData)
		r.GDTR = vmm.Table{Base: BootGDT, Limit: uint16(len(linuxGDT(64)) - 1)}
	} else {
		enterProtected(r, selLinuxCode, selLinuxData)
	}
	r.GPR[vmm.RSI] = bootParams
}

// linuxGDT is two null descriptors, code for the given mode, data.
func linuxGDT(bits uint8) []byte {
	code := uint64(0x00cf9b000000ffff)
	if bits == 64 {
		code = 0x00af9b000000ffff
	}
	var p []byte
	for _, d := range []uint64{0, 0, code, 0x00cf93000000ffff} {
		p = binary.LittleEndian.AppendUint64(p, d)
	}
	return p
}

// errNoDisk is what a guest that takes no initial RAM disk is refused with.
var errNoDisk = errors.New("an initial RAM disk is only for Linux kernels (bzImage, vmlinux) and for PVH")

// upperHalf reports whether an ELF file is linked above the lower half of the
// address space, as kernels are that bring their own page tables.
func (f *elfFile) upperHalf() bool {
	for i := range f.virtual {
		if f.virtual[i]>>47 != 0 {
			return true
		}
	}
	return false
}

// isVmlinux looks for the banner that every kernel has.
func isVmlinux(data []byte) bool { return bytes.Contains(data, []byte("Linux version ")) }
