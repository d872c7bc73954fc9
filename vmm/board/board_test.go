package board

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

var _ vmm.Bus = (*Board)(nil)

func TestTablesAreAscendingWithoutOverlap(t *testing.T) {
	rs := Ranges()
	for i, r := range rs {
		if r.First > r.Last || r.Name == "" || r.Doc == "" || r.Where != vmm.InKernel && r.Where != vmm.InUser {
			t.Errorf("row %+v is incomplete", r)
		}
		if i > 0 && r.Memory == rs[i-1].Memory && r.First <= rs[i-1].Last {
			t.Errorf("%s at %#x is not behind %s, which ends at %#x", r.Name, r.First, rs[i-1].Name, rs[i-1].Last)
		}
	}
	for i, r := range portTable {
		if r.in == nil || r.out == nil || r.width == 0 || r.last > 0xffff {
			t.Errorf("port row %d (%s) lacks a handler or width", i, r.name)
		}
	}
	for i, r := range memTable {
		if r.read == nil || r.write == nil {
			t.Errorf("memory row %d (%s) lacks a handler", i, r.name)
		}
	}
}

func TestEveryPortAnswersEverySize(t *testing.T) {
	b, _ := newBoard(t)
	for port := range 1 << 16 {
		for _, size := range []uint8{1, 2, 4} {
			b.Out(5, uint16(port), size, 0)
			v, where := b.In(5, uint16(port), size)
			if v&^ones32(size) != 0 || where == vmm.BadWhere {
				t.Fatalf("In(%#x, %d bytes) = %#x, %d: wider than asked for, or nowhere", port, size, v, where)
			}
		}
	}
}

func TestUnclaimedReadsAllOnes(t *testing.T) {
	b, _ := newBoard(t)
	for _, tt := range []struct {
		size uint8
		want uint32
	}{{1, 0xff}, {2, 0xffff}, {4, 0xffffffff}} {
		if v, where := b.In(0, 0x1234, tt.size); v != tt.want || where != vmm.Unclaimed {
			t.Errorf("In(0x1234, %d) = %#x at %d, want %#x unclaimed", tt.size, v, where, tt.want)
		}
	}
	if v, where := b.ReadMem(0, 0xfed00000, 8); v != ^uint64(0) || where != vmm.Unclaimed {
		t.Errorf("ReadMem of nothing = %#x at %d, want all ones, unclaimed", v, where)
	}
	if where := b.Out(0, 0x1234, 4, 0); where != vmm.Unclaimed {
		t.Errorf("Out to nothing is at %d, want unclaimed", where)
	}
}

func TestPlaceOfEmulation(t *testing.T) {
	b, _ := newBoard(t)
	tests := []struct {
		port uint16
		size uint8
		want vmm.Where
	}{{0x20, 1, vmm.InKernel}, {0xa1, 1, vmm.InKernel}, {0x40, 1, vmm.InKernel}, {0x61, 1, vmm.InKernel}, {0x4d0, 1, vmm.InKernel},
		{0x3f8, 1, vmm.InUser}, {0x608, 4, vmm.InUser}, {0x510, 2, vmm.InUser}, {0xcfc, 4, vmm.InUser}}
	for _, tt := range tests {
		if _, where := b.In(0, tt.port, tt.size); where != tt.want {
			t.Errorf("port %#x is emulated at %d, want %d", tt.port, where, tt.want)
		}
	}
	if _, where := b.ReadMem(0, 0xfec00000, 4); where != vmm.InKernel {
		t.Errorf("the I/O APIC is emulated at %d, want in the kernel", where)
	}
}

func TestNewRefusesBadConfigurations(t *testing.T) {
	good := Config{VCPUs: 1, RAM: 64 << 20, Hz: 1}
	for name, tt := range map[string]struct {
		edit func(*Config)
		want string
	}{
		"no vCPU":     {func(c *Config) { c.VCPUs = 0 }, "1 to 255 vCPUs, not 0"},
		"1000 vCPUs":  {func(c *Config) { c.VCPUs = 1000 }, "not 1000"},
		"no RAM":      {func(c *Config) { c.RAM = 0 }, "2 MiB to 3072 MiB"},
		"4 GiB":       {func(c *Config) { c.RAM = 4 << 30 }, "2 MiB to 3072 MiB"},
		"part pages":  {func(c *Config) { c.RAM++ }, "whole pages"},
		"unknown TSC": {func(c *Config) { c.Hz = 0 }, "frequency"},
	} {
		c := good
		tt.edit(&c)
		if _, err := New(c, &lines{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestTestDeviceIsAbsentUnlessAskedFor(t *testing.T) {
	b, err := New(Config{VCPUs: 1, RAM: 64 << 20, Hz: testHz}, &lines{})
	if err != nil {
		t.Fatal(err)
	}
	if _, where := b.In(0, 0xe0, 4); where != vmm.Unclaimed {
		t.Errorf("port 0xe0 is at %d without a test device, want unclaimed", where)
	}
}

func TestScratchReadsBack(t *testing.T) {
	b, _ := newBoard(t)
	b.Out(0, 0xe0, 4, 0x44332211)
	b.Out(0, 0xe1, 2, 0xbbaa)
	if v, _ := b.In(0, 0xe0, 4); v != 0x44bbaa11 {
		t.Errorf("scratch = %#x, want 0x44bbaa11", v)
	}
	b.WriteMem(0, 0xff00fff8, 8, 0x1122334455667788)
	b.WriteMem(0, 0xff00ffff, 1, 0x99)
	if v, _ := b.ReadMem(0, 0xff00fffc, 4); v != 0x99223344 {
		t.Errorf("test memory = %#x, want 0x99223344", v)
	}
}

func TestSavedStateDoesNotChange(t *testing.T) {
	b, _ := newBoard(t)
	b.WriteMem(0, 0xff000000, 4, 1)
	out(b, 0x21, 0x12, 0x3ff, 0x34)
	s := b.Save()
	b.WriteMem(0, 0xff000000, 4, 2)
	out(b, 0x21, 0x56, 0x3ff, 0x78)
	b.Restore(s)
	b.WriteMem(0, 0xff000004, 4, 9) // must not reach s
	b.Restore(s)
	if v, _ := b.ReadMem(0, 0xff000000, 8); v != 1 || in(b, 0x21) != 0x12 || in(b, 0x3ff) != 0x34 {
		t.Errorf("after Restore: memory %#x, IMR %#x, scratch %#x, want 1, 0x12, 0x34", v, in(b, 0x21), in(b, 0x3ff))
	}
}

func TestSerial(t *testing.T) {
	b, l := newBoard(t)
	out(b, 0x3fb, 0x80, 0x3f8, 1, 0x3f9, 0, 0x3fb, 3) // divisor 1, then data
	for _, c := range []byte("ok\n") {
		if in(b, 0x3fd)&0x60 != 0x60 {
			t.Error("LSR says that the transmitter is not empty")
		}
		out(b, 0x3f8, uint32(c))
	}
	if string(l.console) != "ok\n" {
		t.Errorf("console %q, want ok", l.console)
	}
	if n := b.Type(0, []byte("hi")); n != 2 || in(b, 0x3fd)&1 != 1 {
		t.Errorf("Type took %d bytes, LSR %#x, want 2 and data ready", n, in(b, 0x3fd))
	}
	if a, c := in(b, 0x3f8), in(b, 0x3f8); a != 'h' || c != 'i' || in(b, 0x3fd)&1 != 0 {
		t.Errorf("received %c%c, LSR %#x, want hi and nothing left", a, c, in(b, 0x3fd))
	}
	if n := b.Type(0, make([]byte, 100)); n != 64 {
		t.Errorf("Type of 100 bytes took %d, want the 64 that fit", n)
	}
	out(b, 0x3ff, 0x5a)
	if in(b, 0x3ff) != 0x5a {
		t.Error("the scratch register does not read back")
	}
}

func TestSerialInterrupts(t *testing.T) {
	b, l := newBoard(t)
	b.WriteMem(0, 0xfec00000, 4, 0x10+2*4)
	b.WriteMem(0, 0xfec00010, 4, 0x44) // pin 4: vector 0x44, edge
	out(b, 0x3f9, 2)
	if in(b, 0x3fa) != 2 || len(l.messages) != 0 {
		t.Errorf("IIR or messages %v: want THR empty, kept inside by OUT2", l.messages)
	}
	out(b, 0x3f9, 0, 0x3fc, 8, 0x3f9, 2)
	if len(l.messages) != 1 || l.messages[0].Vector != 0x44 {
		t.Fatalf("messages %v, want one of vector 0x44", l.messages)
	}
	if in(b, 0x3fa) != 2 || in(b, 0x3fa) != 1 {
		t.Error("reading IIR does not acknowledge THR empty")
	}
	out(b, 0x3f9, 1)
	b.Type(0, []byte{1})
	if len(l.messages) != 2 || in(b, 0x3fa) != 4 {
		t.Errorf("messages %v, want a second one for the received byte", l.messages)
	}
}

func TestFirmwareConfiguration(t *testing.T) {
	b, _ := newBoard(t)
	tests := []struct {
		name string
		key  uint32
		want []byte
	}{
		{"signature", 0x00, []byte("QEMU\x00")},
		{"traditional interface", 0x01, []byte{1, 0, 0, 0}},
		{"vCPUs", 0x05, []byte{2, 0, 0}},
		{"RAM", 0x03, []byte{0, 0, 0, 4, 0, 0, 0, 0, 0}},
		{"most vCPUs", 0x0f, []byte{2, 0}},
		{"no RAM limit", 0x11, make([]byte, 8)},
		{"no files", 0x19, make([]byte, 4)},
		{"unknown", 0x1234, []byte{0, 0}},
	}
	for _, tt := range tests {
		b.Out(0, 0x510, 2, tt.key)
		var got []byte
		for range tt.want {
			got = append(got, byte(in(b, 0x511)))
		}
		if !bytes.Equal(got, tt.want) {
			t.Errorf("%s: % x, want % x", tt.name, got, tt.want)
		}
	}
}

func TestWaysToEnd(t *testing.T) {
	tests := []struct {
		name string
		do   func(b *Board)
		want []string
	}{
		{"debug exit", func(b *Board) { b.Out(0, 0xf4, 4, 0x1234) }, []string{"exit 4660 false"}},
		{"debug exit, byte", func(b *Board) { b.Out(0, 0xf4, 1, 0x1234) }, []string{"exit 52 false"}},
		{"ACPI S5", func(b *Board) { b.Out(0, 0x604, 2, 0x2000) }, []string{"exit 0 true"}},
		{"ACPI S3 is not there", func(b *Board) { b.Out(0, 0x604, 2, 0x2400) }, nil},
		{"keyboard reset", func(b *Board) { out(b, 0x64, 0xd1, 0x64, 0xfe) }, []string{"reset"}},
		{"keyboard output port, bit 0 low", func(b *Board) { out(b, 0x64, 0xd1, 0x60, 0xfe) }, []string{"reset"}},
		{"keyboard output port, bit 0 high", func(b *Board) { out(b, 0x64, 0xd1, 0x60, 0xdd) }, nil},
		{"keyboard data without a command", func(b *Board) { out(b, 0x60, 0xf4) }, nil},
		{"keyboard pulse of other bits", func(b *Board) { out(b, 0x64, 0xfd) }, nil},
		{"port A rising", func(b *Board) { out(b, 0x92, 2, 0x92, 3) }, []string{"reset"}},
		{"reset control", func(b *Board) { out(b, 0xcf9, 2, 0xcf9, 6) }, []string{"reset"}},
		{"PCI address is no reset", func(b *Board) { b.Out(0, 0xcf8, 4, 0x80000604) }, nil},
		{"Bochs text", func(b *Board) {
			for _, c := range "ShShutdown" {
				out(b, 0x8900, uint32(c))
			}
		}, []string{"exit 0 true"}},
	}
	for _, tt := range tests {
		b, l := newBoard(t)
		tt.do(b)
		if got := l.take(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestPCIHasNoDevice(t *testing.T) {
	b, _ := newBoard(t)
	b.Out(0, 0xcf8, 4, 0x80001800)
	if a, _ := b.In(0, 0xcf8, 4); a != 0x80001800 {
		t.Errorf("configuration address %#x, want what was written", a)
	}
	if v, _ := b.In(0, 0xcfc, 4); v != 0xffffffff {
		t.Errorf("configuration data %#x, want all ones", v)
	}
	if v, _ := b.In(0, 0xcfe, 2); v != 0xffff {
		t.Errorf("configuration data word %#x, want all ones", v)
	}
}

// ram is guest memory for tests.
type ram []byte

func (m ram) Size() uint64                      { return uint64(len(m)) }
func (m ram) ReadAt(p []byte, gpa uint64) error { copy(p, m[gpa:]); return nil }
func (m ram) WriteAt(p []byte, gpa uint64) error {
	if gpa+uint64(len(p)) > uint64(len(m)) {
		return errors.New("outside RAM")
	}
	copy(m[gpa:], p)
	return nil
}

func TestACPITablesAreFoundFromTheRSDP(t *testing.T) {
	for _, n := range []int{1, 2, MaxVCPUs} {
		b, err := New(Config{VCPUs: n, RAM: 2 << 20, Hz: testHz}, &lines{})
		if err != nil {
			t.Fatal(err)
		}
		mem := make(ram, 2<<20)
		if err := b.Place(mem); err != nil {
			t.Fatal(err)
		}
		le := binary.LittleEndian
		rsdp := mem[ACPIBase:]
		if string(rsdp[:8]) != "RSD PTR " || checksum(rsdp[:20]) != 0 || checksum(rsdp[:36]) != 0 || rsdp[15] != 2 {
			t.Fatalf("RSDP % x: signature, sums or revision are wrong", rsdp[:36])
		}
		var viaRSDT, viaXSDT []uint64
		rsdt, xsdt := checkTable(t, mem, uint64(le.Uint32(rsdp[16:])), "RSDT"), checkTable(t, mem, le.Uint64(rsdp[24:]), "XSDT")
		for p := rsdt[36:]; len(p) > 0; p = p[4:] {
			viaRSDT = append(viaRSDT, uint64(le.Uint32(p)))
		}
		for p := xsdt[36:]; len(p) > 0; p = p[8:] {
			viaXSDT = append(viaXSDT, le.Uint64(p))
		}
		if !slices.Equal(viaRSDT, viaXSDT) || len(viaRSDT) != 2 {
			t.Fatalf("RSDT has %x, XSDT %x, want the same two tables", viaRSDT, viaXSDT)
		}
		fadt := checkTable(t, mem, viaRSDT[0], "FACP")
		if p := le.Uint32(fadt[76:]); p != 0x608 || fadt[91] != 4 || le.Uint32(fadt[64:]) != 0x604 {
			t.Errorf("FADT: PM timer at %#x of %d bytes, control at %#x, want 0x608, 4, 0x604", p, fadt[91], le.Uint32(fadt[64:]))
		}
		if le.Uint32(fadt[112:])>>10&1 != 1 || le.Uint64(fadt[120:]) != 0xcf9 || fadt[128] != 6 {
			t.Error("FADT: the reset register is not 0xcf9 := 6")
		}
		checkTable(t, mem, uint64(le.Uint32(fadt[40:])), "DSDT")
		if f := mem[le.Uint32(fadt[36:]):]; string(f[:4]) != "FACS" || le.Uint32(fadt[36:])%64 != 0 {
			t.Error("FADT: no aligned FACS")
		}
		checkMADT(t, checkTable(t, mem, viaRSDT[1], "APIC"), n)
	}
	if b, _ := newBoard(t); b.Place(make(ram, 0x1000)) == nil {
		t.Error("Place into 4 KiB of RAM reports no error")
	}
}

// checkTable returns a table after checking signature, place and sum.
func checkTable(t *testing.T, mem ram, at uint64, signature string) []byte {
	t.Helper()
	p := mem[at:]
	n := binary.LittleEndian.Uint32(p[4:])
	if string(p[:4]) != signature || at < ACPIBase || at+uint64(n) > ACPIEnd || checksum(p[:n]) != 0 {
		t.Fatalf("table at %#x: signature %q, %d bytes, sum %#x, want %s inside the ACPI area with sum 0", at, p[:4], n, checksum(p[:n]), signature)
	}
	return p[:n]
}

func checkMADT(t *testing.T, madt []byte, n int) {
	t.Helper()
	var kinds []byte
	cpus := 0
	for p := madt[44:]; len(p) > 0; p = p[p[1]:] {
		if p[0] == 0 {
			if int(p[3]) != cpus || p[4] != 1 {
				t.Errorf("MADT: local APIC %d has ID %d and flags %d, want enabled with its number", cpus, p[3], p[4])
			}
			cpus++
			continue
		}
		kinds = append(kinds, p[0])
		if p[0] == 2 && p[3] == 0 && binary.LittleEndian.Uint32(p[4:]) != 2 {
			t.Error("MADT: IRQ 0 is not overridden to pin 2")
		}
	}
	if cpus != n || !bytes.Equal(kinds, []byte{1, 2, 2, 4}) {
		t.Errorf("MADT: %d local APICs and entries %v, want %d and I/O APIC, two overrides, NMI", cpus, kinds, n)
	}
}
