package interp

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// The layout of the machines that tests run on.
const (
	testTables = 0x1000 // page tables, 0x1000–0x5fff
	testGDT    = 0x6000
	testIDT    = 0x7000
	testTSS    = 0x8000
	testStack  = 0xf000
	testCode   = 0x10000
	testData   = 0x20000
	testRAM    = 8 << 20
)

// The selectors of the test GDT.
const (
	selCode64  = 0x08
	selData    = 0x10
	selCode32  = 0x18
	selUser32  = 0x23
	selUserDS  = 0x2b
	selUser64  = 0x33
	selTSS     = 0x38
	selCode16  = 0x48
	selData16  = 0x50
	selMissing = 0x58 // not present
	selGate    = 0x60 // call gate, two slots
)

// machine is a CPU with memory, in a mode of choice, at testCode.
type machine struct {
	t   testing.TB
	mem *Memory
	cpu *CPU
	now clock.TSC
}

// assemble turns hex with blanks, line ends and # comments into bytes.
func assemble(text string) []byte {
	var b strings.Builder
	for line := range strings.Lines(text) {
		code, _, _ := strings.Cut(line, "#")
		b.WriteString(strings.Join(strings.Fields(code), ""))
	}
	p, err := hex.DecodeString(b.String())
	if err != nil {
		panic("BUG: test code: " + err.Error())
	}
	return p
}

func newMachine(t testing.TB, mode codeMode, code string) *machine {
	t.Helper()
	return newMachineWith(t, mode, code, Config{Costs: DefaultCosts()})
}

func newMachineWith(t testing.TB, mode codeMode, code string, cfg Config) *machine {
	t.Helper()
	mem, err := NewMemory(testRAM)
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, mem: mem, cpu: New(mem, cfg)}
	m.tables()
	m.write(testCode, assemble(code))
	r := m.cpu.Registers()
	r.RIP = testCode
	r.GPR[vmm.RSP] = testStack
	r.GDTR = vmm.Table{Base: testGDT, Limit: 0x7f}
	r.IDTR = vmm.Table{Base: testIDT, Limit: 0xfff}
	data := vmm.Segment{Selector: selData, Limit: 0xffffffff, Attr: 0xc093}
	r.TR = vmm.Segment{Selector: selTSS, Base: testTSS, Limit: 0x67, Attr: 0x8b}
	r.CR0 = cr0PE | cr0ET | cr0NE
	switch mode {
	case mode64:
		r.CR0 |= cr0PG | cr0WP
		r.CR4, r.CR3, r.EFER = cr4PAE, testTables, eferLME|eferLMA|eferNXE|eferSCE
		r.CS = vmm.Segment{Selector: selCode64, Limit: 0xffffffff, Attr: 0xa09b}
	case mode32:
		r.CS = vmm.Segment{Selector: selCode32, Limit: 0xffffffff, Attr: 0xc09b}
	case mode16: // real mode, at a segment of its own
		r.CR0 = cr0ET
		r.CS = vmm.Segment{Selector: testCode >> 4, Base: testCode, Limit: 0xffff, Attr: 0x9b}
		r.RIP = 0
		data = vmm.Segment{Limit: 0xffff, Attr: 0x93}
		r.IDTR = vmm.Table{Limit: 0x3ff}
	}
	r.SS, r.DS, r.ES, r.FS, r.GS = data, data, data, data, data
	if err := m.cpu.SetRegisters(&r); err != nil {
		t.Fatal(err)
	}
	m.cpu.SetIntercepts(vmm.Intercepts{HLT: true, MWAIT: true})
	return m
}

// tables writes page tables (identity, 2 MiB pages, user), GDT, IDT and TSS. The
// handler of vector n is at testCode + 0x8000 + 16n, a HLT.
func (m *machine) tables() {
	m.put64(testTables, testTables+0x1000|7)
	m.put64(testTables+0x1000, testTables+0x2000|7)
	for i := uint64(0); i < 512; i++ {
		m.put64(testTables+0x2000+i*8, i<<21|0x87)
	}
	for i, d := range []uint64{
		0, 0x00af9b000000ffff, 0x00cf93000000ffff, 0x00cf9b000000ffff, 0x00cffb000000ffff, 0x00cff3000000ffff,
		0x00affb000000ffff, 0x00008b0000000067 | testTSS<<16, 0, 0x00009b000000ffff, 0x000093000000ffff,
		0x00cf13000000ffff, 0, 0,
	} {
		m.put64(testGDT+uint64(i)*8, d)
	}
	m.put64(testTSS+4, testStack-0x1000)    // RSP0, ESP0
	m.put64(testTSS+0x24, testStack-0x2000) // IST1
	for v := uint64(0); v < 256; v++ {
		m.gate(uint8(v), selCode64, testHandler(v), 0x8e, 0)
	}
	for v := uint64(0); v < 256; v++ {
		m.write(testHandler(v), []byte{0xf4})
	}
}

func testHandler(v uint64) uint64 { return testCode + 0x8000 + 16*v }

// gate writes a 64-bit IDT gate.
func (m *machine) gate(v uint8, sel uint16, off uint64, attr, ist uint8) {
	m.put64(testIDT+uint64(v)*16, off&0xffff|uint64(sel)<<16|uint64(ist)<<32|uint64(attr)<<40|off>>16&0xffff<<48)
	m.put64(testIDT+uint64(v)*16+8, off>>32)
}

// gate32 writes a 32-bit IDT gate.
func (m *machine) gate32(v uint8, sel uint16, off uint64, attr uint8) {
	m.put64(testIDT+uint64(v)*8, off&0xffff|uint64(sel)<<16|uint64(attr)<<40|off>>16&0xffff<<48)
}

func (m *machine) write(at uint64, p []byte) {
	m.t.Helper()
	if err := m.mem.WriteAt(p, at); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) put64(at, v uint64) {
	m.t.Helper()
	m.write(at, binary.LittleEndian.AppendUint64(nil, v))
}

func (m *machine) get64(at uint64) uint64 {
	m.t.Helper()
	var b [8]byte
	if err := m.mem.ReadAt(b[:], at); err != nil {
		m.t.Fatal(err)
	}
	return binary.LittleEndian.Uint64(b[:])
}

func (m *machine) set(reg int, v uint64) { m.cpu.SetGPR(reg, v) }

// change edits the registers.
func (m *machine) change(f func(r *vmm.Registers)) {
	m.t.Helper()
	r := m.cpu.Registers()
	f(&r)
	if err := m.cpu.SetRegisters(&r); err != nil {
		m.t.Fatal(err)
	}
}

// run executes for n cycles at most.
func (m *machine) run(n clock.TSC) vmm.Exit {
	e := m.cpu.Run(m.now, m.now+n)
	m.now = e.At
	return e
}

// runTo runs and fails unless the exit is for the given reason.
func (m *machine) runTo(want vmm.ExitKind) vmm.Exit {
	m.t.Helper()
	e := m.run(100000)
	if e.Reason != want {
		m.t.Fatalf("Run: exit %d at RIP %#x (% x), want %d", e.Reason, e.RIP, e.Bytes[:e.NBytes], want)
	}
	return e
}

// user makes the machine run at level 3.
func user(r *vmm.Registers) {
	r.SS = vmm.Segment{Selector: selUserDS, Limit: 0xffffffff, Attr: 0xc0f3}
	r.DS, r.ES, r.FS, r.GS = r.SS, r.SS, r.SS, r.SS
	if r.EFER&eferLMA != 0 && r.CS.Attr&attrL != 0 {
		r.CS = vmm.Segment{Selector: selUser64, Limit: 0xffffffff, Attr: 0xa0fb}
	} else {
		r.CS = vmm.Segment{Selector: selUser32, Limit: 0xffffffff, Attr: 0xc0fb}
	}
}
