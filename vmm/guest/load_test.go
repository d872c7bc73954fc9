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

// elfImage builds ELF files for tests.
type elfImage struct {
	bits  int
	entry uint64
	loads []testLoad
	multi bool // with a multiboot header in front of the first segment's bytes
}

type testLoad struct {
	vaddr, paddr, memsz uint64
	data                []byte
}

func (e elfImage) bytes() []byte {
	le := binary.LittleEndian
	header, ph, class, machine := 52, 32, byte(1), uint16(3)
	if e.bits == 64 {
		header, ph, class, machine = 64, 56, 2, 62
	}
	b := make([]byte, header+ph*len(e.loads))
	copy(b, []byte{0x7f, 'E', 'L', 'F', class, 1, 1})
	le.PutUint16(b[16:], 2)
	le.PutUint16(b[18:], machine)
	if e.bits == 64 {
		le.PutUint64(b[24:], e.entry)
		le.PutUint64(b[32:], uint64(header))
		le.PutUint16(b[54:], uint16(ph))
		le.PutUint16(b[56:], uint16(len(e.loads)))
	} else {
		le.PutUint32(b[24:], uint32(e.entry))
		le.PutUint32(b[28:], uint32(header))
		le.PutUint16(b[42:], uint16(ph))
		le.PutUint16(b[44:], uint16(len(e.loads)))
	}
	for i, l := range e.loads {
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
		at := uint64(len(b))
		data := l.data
		if i == 0 && e.multi {
			data = append(multibootHeader(0), data...)
		}
		b = append(b, data...)
		p := b[header+i*ph:]
		le.PutUint32(p, 1)
		if e.bits == 64 {
			for j, v := range []uint64{at, l.vaddr, l.paddr, uint64(len(data)), l.memsz} {
				le.PutUint64(p[8+8*j:], v)
			}
		} else {
			for j, v := range []uint64{at, l.vaddr, l.paddr, uint64(len(data)), l.memsz} {
				le.PutUint32(p[4+4*j:], uint32(v))
			}
		}
	}
	return b
}

func multibootHeader(flags uint32, addresses ...uint32) []byte {
	le := binary.LittleEndian
	h := le.AppendUint32(nil, mbMagic)
	h = le.AppendUint32(h, flags)
	h = le.AppendUint32(h, -(mbMagic + flags))
	for _, a := range addresses {
		h = le.AppendUint32(h, a)
	}
	return h
}

func TestMultibootELFIsEnteredInProtectedMode(t *testing.T) {
	for _, bits := range []int{32, 64} {
		// Linked at 0xc0100000, loaded at 0x200000: the entry is translated.
		e := elfImage{bits: bits, entry: 0xc010000c, multi: true, loads: []testLoad{
			{0xc0100000, 0x200000, 0x2000, []byte("code")}, {0xc0110000, 0x210000, 0x10, []byte("data")},
		}}
		g, err := Load("dir/kernel.flat", e.bytes(), Options{Append: "one two", Env: "NR_CPUS=2\n"})
		if err != nil {
			t.Fatalf("%d bits: %v", bits, err)
		}
		if g.Format != Multiboot || g.Entry() != 0x20000c {
			t.Errorf("%d bits: format %v, entry %#x, want multiboot at 0x20000c", bits, g.Format, g.Entry())
		}
		mem := ram(bytes.Repeat([]byte{0xaa}, 4<<20))
		if err := g.Place(mem); err != nil {
			t.Fatal(err)
		}
		if got := string(mem[0x20000c:0x200010]); got != "code" {
			t.Errorf("%d bits: loaded %q at the entry, want %q", bits, got, "code")
		}
		if mem[0x200010] != 0 || mem[0x201fff] != 0 || mem[0x202000] != 0xaa {
			t.Errorf("%d bits: memory behind the file's bytes is not cleared up to the segment's end, or beyond", bits)
		}
		r := g.Boot()
		if r.GPR[vmm.RAX] != mbBootMagic || r.GPR[vmm.RBX] != BootInfo || r.CR0&cr0PG != 0 || r.CR0&cr0PE == 0 {
			t.Errorf("%d bits: EAX %#x EBX %#x CR0 %#x, want the multiboot entry state", bits, r.GPR[vmm.RAX], r.GPR[vmm.RBX], r.CR0)
		}
		checkBootInfo(t, mem, BootInfo, "kernel.flat one two", "NR_CPUS=2\n")
	}
}

// checkBootInfo reads the multiboot information as a guest would.
func checkBootInfo(t *testing.T, mem ram, at uint64, args, env string) {
	t.Helper()
	le := binary.LittleEndian
	info := mem[at:]
	str := func(at uint32) string { s, _, _ := strings.Cut(string(mem[at:at+256]), "\x00"); return s }
	if f := le.Uint32(info); f != 1|4|8|64|512 {
		t.Errorf("boot information flags %#x, want memory, command line, modules, map and loader", f)
	}
	if got := str(le.Uint32(info[16:])); got != args {
		t.Errorf("command line %q, want %q", got, args)
	}
	if lower, upper := le.Uint32(info[4:]), le.Uint32(info[8:]); lower != 639 || upper != 3<<10 {
		t.Errorf("memory %d and %d KiB, want 639 and %d", lower, upper, 3<<10)
	}
	mod := mem[le.Uint32(info[24:]):]
	if got := string(mem[le.Uint32(mod):le.Uint32(mod[4:])]); le.Uint32(info[20:]) != 1 || got != env {
		t.Errorf("module %q, want %q", got, env)
	}
	var end uint64
	m := mem[le.Uint32(info[48:]):][:le.Uint32(info[44:])]
	for len(m) > 0 {
		size := le.Uint32(m)
		if le.Uint32(m[20:]) == 1 {
			end = le.Uint64(m[4:]) + le.Uint64(m[12:])
		}
		m = m[4+size:]
	}
	if end != mem.Size() {
		t.Errorf("the memory map's last usable byte is before %#x, want %#x", end, mem.Size())
	}
}

func TestBootInformationMovesOutOfTheImagesWay(t *testing.T) {
	e := elfImage{bits: 32, entry: 0x800c, multi: true, loads: []testLoad{{0x8000, 0x8000, 0xa000, []byte("code")}}}
	g, err := Load("low", e.bytes(), Options{Env: "A=1"})
	if err != nil {
		t.Fatal(err)
	}
	mem := make(ram, 4<<20)
	if err := g.Place(mem); err != nil {
		t.Fatal(err)
	}
	at := g.Boot().GPR[vmm.RBX]
	if at != BootInfo+BootMoved || mem[BootInfo] != 0 {
		t.Errorf("boot information at %#x, byte %#x in its usual place, want it moved", at, mem[BootInfo])
	}
	checkBootInfo(t, mem, at, "low", "A=1")
	e.loads[0].memsz = 0x90000
	if _, err := Load("low", e.bytes(), Options{}); err == nil || !strings.Contains(err.Error(), "overlaps") {
		t.Errorf("an image that fills both places: %v, want a refusal", err)
	}
}

func TestMultibootAddressesOverrideELF(t *testing.T) {
	const load = 0x300000
	header := multibootHeader(mbAddresses, load+16, load, load+64, load+0x1000, load+60)
	file := append(make([]byte, 16), header...)
	file = append(file, bytes.Repeat([]byte{0x90}, 100)...)
	g, err := Load("raw", file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	mem := ram(bytes.Repeat([]byte{0xaa}, 4<<20))
	if err := g.Place(mem); err != nil {
		t.Fatal(err)
	}
	if g.Entry() != load+60 || mem[load+63] != 0x90 || mem[load+64] != 0 || mem[load+0x1000] != 0xaa {
		t.Errorf("entry %#x, bytes at the load end %x, want the header's addresses obeyed", g.Entry(), mem[load+62:load+66])
	}
}

func TestELF64StartsInLongMode(t *testing.T) {
	e := elfImage{bits: 64, entry: 0x200000, loads: []testLoad{{0x200000, 0x200000, 0x10, []byte{0xf4}}}}
	g, err := Load("k", e.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	mem := make(ram, 4<<20)
	if err := g.Place(mem); err != nil {
		t.Fatal(err)
	}
	r := g.Boot()
	if r.EFER&eferLMA == 0 || r.CS.Attr&(1<<13) == 0 || r.RIP != 0x200000 || r.GPR[vmm.RSP] != StackTop {
		t.Errorf("EFER %#x, CS %#x, RIP %#x, RSP %#x, want long mode at the entry", r.EFER, r.CS.Attr, r.RIP, r.GPR[vmm.RSP])
	}
	le := binary.LittleEndian
	for _, addr := range []uint64{0, 0x200000, 0xfee00000, 0xffffffff} {
		e := le.Uint64(mem[r.CR3+8*(addr>>39):])
		e = le.Uint64(mem[e&^0xfff+8*(addr>>30&511):])
		e = le.Uint64(mem[e&^0xfff+8*(addr>>21&511):])
		if e&0x83 != 0x83 || e&^0x1fffff != addr&^0x1fffff {
			t.Errorf("%#x: page directory entry %#x, want a present, writable 2 MiB page mapped to itself", addr, e)
		}
	}
	gdt := mem[r.GDTR.Base:]
	if code := le.Uint64(gdt[selCode64:]); code>>53&1 != 1 || code>>47&1 != 1 {
		t.Errorf("descriptor %#x of the code segment, want a present 64-bit one", code)
	}
}

func TestRawFormats(t *testing.T) {
	sector := make([]byte, 512)
	sector[510], sector[511] = 0x55, 0xaa
	tests := []struct {
		name   string
		file   string
		data   []byte
		as     Format
		format Format
		entry  uint64
		pe     uint64
	}{
		{"by extension", "x.BIN", []byte{0xf4}, BadFormat, Flat, CodeBase, 1},
		{"by request", "x", []byte{0xf4}, Flat, Flat, CodeBase, 1},
		{"boot sector", "x", sector, BadFormat, BootRecord, 0x7c00, 0},
		{"real mode by request", "x", []byte{0xf4}, BootRecord, BootRecord, 0x7c00, 0},
	}
	for _, tt := range tests {
		g, err := Load(tt.file, tt.data, Options{Format: tt.as})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if r := g.Boot(); g.Format != tt.format || r.RIP != tt.entry || r.CR0&cr0PE != tt.pe {
			t.Errorf("%s: %v at %#x, CR0 %#x, want %v at %#x", tt.name, g.Format, r.RIP, r.CR0, tt.format, tt.entry)
		}
		mem := make(ram, 2<<20)
		if err := g.Place(mem); err != nil || mem[tt.entry] != tt.data[0] {
			t.Errorf("%s: Place: %v, first byte %#x, want %#x", tt.name, err, mem[tt.entry], tt.data[0])
		}
	}
}

func TestBadImagesAreRefusedInOneSentence(t *testing.T) {
	good := func() elfImage {
		return elfImage{bits: 32, entry: 0x20000c, multi: true, loads: []testLoad{{0x200000, 0x200000, 0x100, []byte("code")}}}
	}
	patch := func(off int, v ...byte) []byte { b := good().bytes(); copy(b[off:], v); return b }
	tests := []struct {
		name string
		data []byte
		o    Options
		want string
	}{
		{"empty", nil, Options{}, "is empty"},
		{"text", []byte("hello, world"), Options{}, "begins with 68 65 6c 6c"},
		{"shell script", []byte("#!/bin/sh\nexit"), Options{}, "neither an ELF nor a multiboot header"},
		{"cut in the identification", []byte("\x7fELF\x02\x01"), Options{}, "cut off at 6 bytes"},
		{"cut in the header", good().bytes()[:40], Options{}, "cut off at 40 of 52 bytes"},
		{"class", patch(4, 7), Options{}, "offset 4: ELF class 7"},
		{"byte order", patch(5, 2), Options{}, "offset 5: byte order 2"},
		{"relocatable", patch(16, 1), Options{}, "offset 16: ELF type 1"},
		{"position-independent", patch(16, 3), Options{}, "-pie"},
		{"another machine", patch(18, 40), Options{}, "offset 18: machine 40, expected 3"},
		{"no program headers", patch(44, 0, 0), Options{}, "no program headers"},
		{"huge number of program headers", patch(44, 0xff, 0xff), Options{}, "65535 program headers at offset 0x34 lie outside"},
		{"program header size", patch(42, 7), Options{}, "program headers of 7 bytes, expected 32"},
		{"program headers beyond the file", patch(28, 0xff, 0xff, 0xff, 0x7f), Options{}, "lie outside the file"},
		{"nothing to load", patch(52, 6), Options{}, "no segment to load"},
		{"segment beyond the file", patch(52+16, 0, 1, 0, 0), Options{}, "lie outside the file"},
		{"more in the file than in memory", patch(52+20, 1, 0, 0, 0), Options{}, "only 1 in memory"},
		{"entry outside", patch(24, 0, 0, 0, 0x10), Options{}, "entry point 0x10000000 lies in no segment"},
		{"32-bit ELF without multiboot", elfImage{bits: 32, loads: good().loads}.bytes(), Options{}, "without a multiboot header"},
		{"64-bit address overflow", elfImage{bits: 64, loads: []testLoad{{0, ^uint64(0) - 5, 0x100, []byte("x")}}}.bytes(), Options{},
			"pass the end of memory"},
		{"64-bit high half", elfImage{bits: 64, entry: 0xffff800000200000, loads: []testLoad{
			{0xffff800000200000, 0x200000, 0x100, []byte("x")}}}.bytes(), Options{}, "map addresses to themselves"},
		{"overlap", elfImage{bits: 64, entry: 0x200000, loads: []testLoad{
			{0x200000, 0x200000, 0x100, []byte("x")}, {0x2000ff, 0x2000ff, 1, []byte("y")}}}.bytes(), Options{},
			"segment 1 at 0x2000ff–0x2000ff overlaps segment 0 at 0x200000–0x2000ff"},
		{"on the loader's page tables", elfImage{bits: 64, entry: 0x2000, loads: []testLoad{
			{0x2000, 0x2000, 0x100, []byte("x")}}}.bytes(), Options{}, "overlaps the loader's page tables"},
		{"on the ACPI tables", elfImage{bits: 64, entry: 0xf8000, loads: []testLoad{
			{0xf8000, 0xf8000, 0x100, []byte("x")}}}.bytes(), Options{}, "overlaps the ACPI tables"},
		{"multiboot features", append(multibootHeader(4), make([]byte, 100)...), Options{}, "requires features 0x4"},
		{"multiboot without addresses", append(multibootHeader(0), make([]byte, 100)...), Options{}, "not ELF"},
		{"multiboot addresses cut off", multibootHeader(mbAddresses, 1, 2), Options{}, "cut off"},
		{"multiboot load address", append(multibootHeader(mbAddresses, 0x100000, 0x200000, 0, 0, 0), 0), Options{}, "does not fit"},
		{"multiboot load end", append(multibootHeader(mbAddresses, 0x200000, 0x200000, 0x300000, 0, 0x200000), 0), Options{},
			"load end 0x300000 lies outside"},
		{"multiboot entry", append(multibootHeader(mbAddresses, 0x200000, 0x200000, 0, 0, 0x100000), 0), Options{}, "entry 0x100000 lies outside"},
		{"long command line", good().bytes(), Options{Append: strings.Repeat("x", 4000)}, "command line has 4006 bytes"},
		{"zero byte in the command line", good().bytes(), Options{Append: "a\x00b"}, "zero byte"},
		{"long environment", good().bytes(), Options{Env: strings.Repeat("x", EnvTextMax+1)}, "environment text has"},
		{"large real-mode code", make([]byte, 1<<20), Options{Format: BootRecord}, "does not fit between"},
	}
	for _, tt := range tests {
		_, err := Load("guest", tt.data, tt.o)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", tt.name, err, tt.want)
		}
	}
}

func TestGuestLargerThanRAMIsRefused(t *testing.T) {
	e := elfImage{bits: 64, entry: 0x200000, loads: []testLoad{{0x200000, 0x200000, 1 << 40, []byte("x")}}}
	g, err := Load("big", e.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = g.Place(make(ram, 4<<20))
	if err == nil || !strings.Contains(err.Error(), "but the guest has 4 MiB of RAM") {
		t.Errorf("Place of a 1 TiB segment: %v, want a sentence with the size of RAM", err)
	}
}

func TestOpenNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "absent"): "absent", dir: "is a directory", empty: "empty is empty",
	} {
		if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%s) = %v, want %q", path, err, want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte("\x7fELF"))
	f.Add(elfImage{bits: 32, entry: 0x20000c, multi: true, loads: []testLoad{{0x200000, 0x200000, 0x100, []byte("code")}}}.bytes())
	f.Add(elfImage{bits: 64, entry: 0x200000, loads: []testLoad{{0x200000, 0x200000, 0x100, []byte("x")}, {0, 0x201000, 9, nil}}}.bytes())
	f.Add(append(multibootHeader(mbAddresses, 0x200000, 0x200000, 0, 0x300000, 0x200000), 1, 2, 3))
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := Load("fuzz", data, Options{Append: "x"})
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		mem := make(ram, 4<<20)
		if err := g.Place(mem); err != nil {
			return
		}
		if g.Entry() >= mem.Size() {
			t.Errorf("placed, but the entry %#x lies outside RAM", g.Entry())
		}
		g.Boot()
	})
}
