package guest

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// bzImage builds a kernel file: one sector of setup code, then the code, at
// whose start the 32-bit entry is.
type bzImage struct {
	version         uint16
	flags           byte
	xflags          uint16
	preferred, size uint64
	diskMax         uint32
	code            []byte
}

func (k bzImage) bytes() []byte {
	b := make([]byte, 1024)
	le := binary.LittleEndian
	b[hdrSetupSects] = 1
	le.PutUint16(b[hdrBootFlag:], 0xaa55)
	b[hdrJump], b[hdrJump+1] = 0xeb, 0x6a
	le.PutUint32(b[hdrMagic:], linuxMagic)
	le.PutUint16(b[hdrVersion:], k.version)
	b[hdrLoadFlags] = k.flags
	le.PutUint32(b[hdrDiskMax:], k.diskMax)
	b[hdrReloc] = 1
	le.PutUint16(b[hdrXLoadFlags:], k.xflags)
	le.PutUint32(b[hdrArgSize:], 100)
	le.PutUint64(b[hdrPreferred:], k.preferred)
	le.PutUint32(b[hdrInitSize:], uint32(k.size))
	return append(b, k.code...)
}

var testKernel = bzImage{version: 0x20f, flags: loadedHigh, xflags: entry64, preferred: 16 << 20, size: 8 << 20,
	diskMax: 0x7fffffff, code: bytes.Repeat([]byte{0x90}, 0x300)}

// withDisk loads an image with an initial RAM disk.
func withDisk(t *testing.T, name string, image, disk []byte, args string) (*Image, error) {
	t.Helper()
	f := filepath.Join(t.TempDir(), "initrd")
	if err := os.WriteFile(f, disk, 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(name, image, Options{Append: args, Initrd: f})
}

func TestBzImageIsEnteredAsTheBootProtocolSays(t *testing.T) {
	old := testKernel
	old.version, old.xflags = 0x205, 0
	tests := []struct {
		name      string
		kernel    bzImage
		entry, at uint64
		bits      int
	}{
		{"64-bit entry", testKernel, 16<<20 + 0x200, 16 << 20, 64},
		{"32-bit entry of an old one", old, 1 << 20, 1 << 20, 32},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// The name says nothing: contents decide.
			g, err := withDisk(t, "kernel.bin", tt.kernel.bytes(), []byte("disk"), "console=ttyS0")
			if err != nil {
				t.Fatal(err)
			}
			if g.Format != BzImage || g.Entry() != tt.entry {
				t.Errorf("%v at %#x, want a bzImage at %#x", g.Format, g.Entry(), tt.entry)
			}
			mem := ram(make([]byte, 64<<20))
			if err := g.Place(mem); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(mem[tt.at:tt.at+0x300], tt.kernel.code) {
				t.Errorf("the code is not at %#x", tt.at)
			}
			r := g.Boot()
			long := r.EFER&eferLMA != 0
			if r.GPR[vmm.RSI] != bootParams || r.CS.Selector != 0x10 || r.DS.Selector != 0x18 || long != (tt.bits == 64) {
				t.Errorf("RSI %#x CS %#x DS %#x EFER %#x, want the protocol's state for %d bits", r.GPR[vmm.RSI], r.CS.Selector,
					r.DS.Selector, r.EFER, tt.bits)
			}
			zero, le := mem[bootParams:], binary.LittleEndian
			args := le.Uint32(zero[hdrArgs:])
			if got := string(mem[args : args+14]); got != "console=ttyS0\x00" {
				t.Errorf("command line %q", got)
			}
			disk, n := le.Uint32(zero[hdrDisk:]), le.Uint32(zero[hdrDiskSize:])
			if n != 4 || string(mem[disk:disk+n]) != "disk" || disk&0xfff != 0 {
				t.Errorf("initial RAM disk at %#x, %d bytes", disk, n)
			}
			var usable uint64
			for i := range int(zero[zeroE820N]) {
				if e := zero[zeroE820+20*i:]; le.Uint32(e[16:]) == 1 {
					usable += le.Uint64(e[8:])
				}
			}
			if want := uint64(64<<20 - 1<<20 + lowEnd); usable != want {
				t.Errorf("E820 has %#x usable bytes, want %#x", usable, want)
			}
			if at := le.Uint64(zero[hdrSetupData:]); le.Uint32(mem[at+8:]) != setupRNGSeed || le.Uint32(mem[at+12:]) != 32 {
				t.Errorf("setup data at %#x: %x, want a seed of 32 bytes", at, mem[at:at+16])
			}
		})
	}
}

func TestKernelsThatCannotBootSayWhy(t *testing.T) {
	edit := func(f func(*bzImage)) []byte { k := testKernel; f(&k); return k.bytes() }
	tests := []struct {
		name  string
		image []byte
		ram   int
		want  string
	}{
		{"too old", edit(func(k *bzImage) { k.version = 0x201 }), 64, "boot protocol 2.01"},
		{"zImage", edit(func(k *bzImage) { k.flags = 0 }), 64, "zImage"},
		{"no code", testKernel.bytes()[:800], 64, "ends within the setup code"},
		{"too little memory", testKernel.bytes(), 20, "up to 0x1800000, but the guest has 20 MiB"},
		{"disk does not fit", edit(func(k *bzImage) { k.diskMax = 0xffffff }), 64, "does not fit above the kernel's end"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, err := withDisk(t, "k", tt.image, []byte("d"), "")
			if err == nil {
				err = g.Place(ram(make([]byte, tt.ram<<20)))
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
	if _, err := withDisk(t, "x.bin", []byte{0xf4}, []byte("d"), ""); err == nil || !strings.Contains(err.Error(), "only for Linux") {
		t.Errorf("a disk for a flat binary: %v", err)
	}
	if _, err := Load("k", testKernel.bytes(), Options{Append: strings.Repeat("x", 101)}); err == nil ||
		!strings.Contains(err.Error(), "more than this kernel's 100") {
		t.Errorf("a command line that is too long: %v", err)
	}
}

// noteELF is an ELF file with a note beside one segment to load.
func noteELF(vaddr uint64, code []byte, note []byte) []byte {
	le := binary.LittleEndian
	b := make([]byte, 64+2*56)
	copy(b, elfImage{bits: 64, entry: vaddr, loads: []testLoad{{vaddr, 2 << 20, uint64(len(code)), code}}}.bytes()[:64])
	le.PutUint16(b[56:], 2)
	put := func(i int, kind uint32, data []byte, v, p uint64) {
		h := b[64+56*i:]
		le.PutUint32(h, kind)
		for j, x := range []uint64{uint64(len(b)), v, p, uint64(len(data)), uint64(len(data))} {
			le.PutUint64(h[8+8*j:], x)
		}
		b = append(b, data...)
	}
	put(0, elfLoad, code, vaddr, 2<<20)
	put(1, elfNote, note, 0, 0)
	return b
}

func TestPVHNoteGivesTheEntry(t *testing.T) {
	note := []byte{4, 0, 0, 0, 4, 0, 0, 0, pvhNote, 0, 0, 0, 'X', 'e', 'n', 0, 0x10, 0, 0x20, 0}
	other := []byte{4, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 'G', 'N', 'U', 0, 9, 9, 9, 9}
	image := noteELF(0xffffffff80200000, bytes.Repeat([]byte{0x90}, 64), append(other, note...))
	g, err := withDisk(t, "k", image, []byte("disk"), "a b")
	if err != nil {
		t.Fatal(err)
	}
	if g.Format != PVH || g.Entry() != 0x200010 {
		t.Fatalf("%v at %#x, want PVH at 0x200010", g.Format, g.Entry())
	}
	mem := ram(make([]byte, 16<<20))
	if err := g.Place(mem); err != nil {
		t.Fatal(err)
	}
	r := g.Boot()
	le, info := binary.LittleEndian, mem[bootParams:]
	if r.GPR[vmm.RBX] != bootParams || r.CR0&cr0PG != 0 || le.Uint32(info) != pvhMagic {
		t.Errorf("EBX %#x CR0 %#x magic %#x", r.GPR[vmm.RBX], r.CR0, le.Uint32(info))
	}
	mod := mem[le.Uint64(info[16:]):]
	at := le.Uint64(mod)
	if le.Uint32(info[12:]) != 1 || string(mem[at:at+le.Uint64(mod[8:])]) != "disk" {
		t.Errorf("module list %x", mod[:16])
	}
	if at := le.Uint64(info[24:]); string(mem[at:at+4]) != "a b\x00" {
		t.Errorf("command line %q", mem[at:at+4])
	}
	// A note that is cut off names nothing.
	if g, err := Load("k", noteELF(2<<20, []byte{0x90}, note[:14]), Options{}); err != nil || g.Format != ELF64 {
		t.Errorf("a cut note: %v, %v", g, err)
	}
}

func TestVmlinuxIsEnteredInLongModeAtItsPhysicalEntry(t *testing.T) {
	code := append([]byte("Linux version 9.9 "), make([]byte, 64)...)
	g, err := Load("k", noteELF(0xffffffff80200000, code, nil), Options{Append: "x"})
	if err != nil {
		t.Fatal(err)
	}
	r := g.Boot()
	if g.Format != Vmlinux || r.RIP != 2<<20 || r.GPR[vmm.RSI] != bootParams || r.EFER&eferLMA == 0 {
		t.Errorf("%v at %#x, RSI %#x, EFER %#x", g.Format, r.RIP, r.GPR[vmm.RSI], r.EFER)
	}
}
