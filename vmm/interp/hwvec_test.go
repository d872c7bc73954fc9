package interp

import (
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/interp/interptest"
)

// The physical layout of the machine that runs vectors.
const (
	vecPML4    = 0x1000 // and the tables after it, and at 0xb000
	vecIDT     = 0x8000
	vecGDT     = 0x9000
	vecTSS     = 0x9800
	vecHandler = 0xa000 // 16 bytes per exception, a HLT each
	vecStack   = 0xf000
	vecCode    = 0x10000
	vecData    = 0x11000
	vecRAM     = 0x20000

	// vecBase is the linear address of physical 0, for the supervisor only.
	vecBase = 0xffffffff80000000
)

// vectorMachine is a CPU with a user-mode address space as the vectors want it:
// flat segments with Linux's selectors, and every exception ends in a HLT.
type vectorMachine struct {
	mem  *Memory
	cpu  *CPU
	regs vmm.Registers
}

func newVectorMachine(t testing.TB) *vectorMachine {
	mem, err := NewMemory(vecRAM)
	if err != nil {
		t.Fatal(err)
	}
	m := &vectorMachine{mem: mem, cpu: New(mem, Config{Costs: DefaultCosts()})}
	m.cpu.SetIntercepts(vmm.Intercepts{HLT: true, MWAIT: true})
	const (
		present, writable, user = 1, 2, 4
		rwu                     = present | writable | user
	)
	m.put(t, vecPML4, 0x2000|rwu)
	m.put(t, 0x2000, 0x3000|rwu)
	m.put(t, vecPML4+511*8, 0x7000|rwu)
	m.put(t, 0x7000+510*8, 0xb000|rwu)
	m.put(t, 0xb000, 0x4000|rwu)
	for i := uint64(0); i < vecRAM; i += 0x1000 {
		m.put(t, 0x4000+i/0x1000*8, i|present|writable)
	}
	m.put(t, 0x3000+interptest.CodeBase>>21*8, 0x5000|rwu)
	m.put(t, 0x5000, vecCode|rwu)
	m.put(t, 0x3000+interptest.Scratch>>21*8, 0x6000|rwu)
	m.put(t, 0x6000, vecData|rwu)
	for v := uint64(0); v < 256; v++ {
		dpl := uint64(0)
		if v == 3 || v == 4 {
			dpl = 3
		}
		at := vecBase + vecHandler + v%32*16
		m.put(t, vecIDT+v*16, at&0xffff|0x10<<16|(0x8e|dpl<<5)<<40|at>>16<<48)
		m.put(t, vecIDT+v*16+8, at>>32)
	}
	hlt := make([]byte, 32*16)
	for i := range hlt {
		hlt[i] = 0xf4
	}
	m.write(t, vecHandler, hlt)
	for i, d := range map[uint64]uint64{2: 0x00af9b000000ffff, 3: 0x00cf93000000ffff, 4: 0x00cffb000000ffff, 5: 0x00cff3000000ffff,
		6: 0x00affb000000ffff, 8: 0x80008b0000000067 | vecTSS<<16, 9: vecBase >> 32} {
		m.put(t, vecGDT+i*8, d)
	}
	m.put(t, vecTSS+4, vecBase+vecStack)
	m.put(t, vecTSS+96, 0x68<<48) // no I/O permission bitmap
	data := vmm.Segment{Selector: 0x2b, Limit: 0xffffffff, Attr: 0xc0f3}
	null := vmm.Segment{Attr: 1 << 16}
	m.regs = vmm.Registers{
		CS: vmm.Segment{Selector: 0x33, Limit: 0xffffffff, Attr: 0xa0fb}, SS: data, DS: data, ES: data, FS: null, GS: null,
		TR: vmm.Segment{Selector: 0x40, Base: vecBase + vecTSS, Limit: 0x67, Attr: 0x8b}, LDTR: null,
		GDTR: vmm.Table{Base: vecBase + vecGDT, Limit: 127}, IDTR: vmm.Table{Base: vecBase + vecIDT, Limit: 0xfff},
		CR0: cr0PE | cr0MP | cr0NE | cr0WP | cr0PG, CR3: vecPML4, CR4: cr4PAE | cr4PGE | cr4OSFXSR | cr4OSXMMEXCPT | cr4OSXSAVE,
		EFER: eferSCE | eferLME | eferLMA | eferNXE, XCR0: 3,
	}
	return m
}

func (m *vectorMachine) put(t testing.TB, at, v uint64) {
	m.write(t, at, binary.LittleEndian.AppendUint64(nil, v))
}

func (m *vectorMachine) write(t testing.TB, at uint64, p []byte) {
	if err := m.mem.WriteAt(p, at); err != nil {
		t.Fatal(err)
	}
}

// run executes v's code from its input state. unknown is true if the
// interpreter has no such instruction.
func (m *vectorMachine) run(t testing.TB, v *interptest.Vector) (got interptest.Outcome, unknown bool) {
	code := make([]byte, 4096)
	for i := range code {
		code[i] = 0xcc
	}
	copy(code[v.In.RIP-interptest.CodeBase:], v.Code)
	m.write(t, vecCode, code)
	data := make([]byte, 4096)
	copy(data[interptest.Scratch&0xfff:], v.In.Mem[:])
	m.write(t, vecData, data)
	r := m.regs
	r.GPR, r.RIP, r.RFLAGS = v.In.GPR, v.In.RIP, v.In.Flags
	if v.Mode != 64 {
		for i := range r.GPR {
			r.GPR[i] = uint64(uint32(r.GPR[i]))
		}
	}
	switch v.Mode {
	case 16:
		r.RIP -= interptest.CodeBase
		r.CS = vmm.Segment{Selector: 7, Base: interptest.CodeBase, Limit: 0xfff, Attr: 0xfb}
		data := vmm.Segment{Selector: 15, Base: interptest.Scratch &^ 0xfff, Limit: 0xfff, Attr: 0xf3}
		r.SS, r.DS, r.ES = data, data, data
	case 32:
		r.CS = vmm.Segment{Selector: 0x23, Limit: 0xffffffff, Attr: 0xc0fb}
	}
	r.FPU = vmm.FPU{Control: v.In.FCW, Status: v.In.FSW &^ 0x3800, Top: uint8(v.In.FSW >> 11 & 7), Tag: v.In.FTW,
		XMM: v.In.XMM, MXCSR: v.In.MXCSR}
	for i, x := range v.In.ST {
		r.FPU.ST[i] = vmm.X87{Mant: x.Mant, Exp: x.Exp}
	}
	if err := m.cpu.SetRegisters(&r); err != nil {
		t.Fatal(err)
	}
	x := m.cpu.Run(0, clock.TSC(1<<20))
	if x.Reason == vmm.ExitUnknown {
		return got, true
	}
	if x.Reason != vmm.ExitHLT || x.RIP-vecBase < vecHandler || x.RIP-vecBase >= vecHandler+32*16 {
		t.Fatalf("%s: exit %+v, want the HLT of an exception handler", v, x)
	}
	got = m.outcome(t, uint8((x.RIP-vecBase-vecHandler)/16))
	if v.Mode == 16 {
		got.RIP += interptest.CodeBase
	}
	return got, false
}

// outcome collects the state after exception vector.
func (m *vectorMachine) outcome(t testing.TB, vector uint8) interptest.Outcome {
	r := m.cpu.Registers()
	frame := make([]byte, 48)
	if err := m.mem.ReadAt(frame, r.GPR[vmm.RSP]-vecBase); err != nil {
		t.Fatal(err)
	}
	o := interptest.Outcome{Vector: vector}
	if withCode>>vector&1 != 0 {
		o.Code = binary.LittleEndian.Uint32(frame)
		frame = frame[8:]
	}
	o.GPR, o.XMM, o.MXCSR = r.GPR, r.FPU.XMM, r.FPU.MXCSR
	o.RIP = binary.LittleEndian.Uint64(frame)
	o.Flags = binary.LittleEndian.Uint64(frame[16:])
	o.GPR[vmm.RSP] = binary.LittleEndian.Uint64(frame[24:])
	if vector == excBP {
		o.RIP--
	}
	if vector == excPF {
		o.CR2 = r.CR2
	}
	o.FCW, o.FSW, o.FTW = r.FPU.Control, r.FPU.Status|uint16(r.FPU.Top)<<11, r.FPU.Tag
	for i, x := range r.FPU.ST {
		o.ST[i] = interptest.X87{Mant: x.Mant, Exp: x.Exp}
	}
	data := make([]byte, 4096)
	if err := m.mem.ReadAt(data, vecData); err != nil {
		t.Fatal(err)
	}
	copy(o.Mem[:], data[interptest.Scratch&0xfff:])
	return o
}

// absent are instructions that the interpreter does not have, and says so in
// CPUID.
var absent = "ADCX ADOX ANDN BEXTR BLSI BLSMSK BLSR BZHI MULX PDEP PEXT RORX SARX SHLX SHRX"

// approximate are the instructions whose results the manual gives only up to a
// relative error, with that error.
var approximate = map[string]float64{"RCPPS": 1.0 / 2048, "RCPSS": 1.0 / 2048, "RSQRTPS": 1.0 / 2048, "RSQRTSS": 1.0 / 2048,
	"FSIN": 0x1p-50, "FCOS": 0x1p-50, "FSINCOS": 0x1p-50, "FPTAN": 0x1p-50, "FPATAN": 0x1p-50, "F2XM1": 0x1p-50, "FYL2X": 0x1p-50,
	"FYL2XP1": 0x1p-50}

func TestHardwareVectors(t *testing.T) {
	files, err := filepath.Glob("testdata/hw/*.txt.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors in testdata/hw: %v", err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".txt.gz")
		t.Run(name, func(t *testing.T) { replayFile(t, f) })
	}
}

func replayFile(t *testing.T, path string) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all, err := interptest.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	m := newVectorMachine(t)
	bad, shown := map[string]int{}, map[string]int{}
	var names []string
	for _, v := range all {
		if strings.Contains(" "+absent+" ", " "+v.Name+" ") {
			continue
		}
		got, unknown := m.run(t, v)
		d := []string{"unknown instruction"}
		if !unknown {
			d = differences(v, &got)
		}
		if len(d) == 0 {
			continue
		}
		if bad[v.Name]++; bad[v.Name] == 1 {
			names = append(names, v.Name)
		}
		if shown[v.Name] < 2 {
			shown[v.Name]++
			t.Errorf("%s\n    %s", v, strings.Join(d, "\n    "))
		}
	}
	for _, n := range names {
		t.Logf("%-12s %d differ", n, bad[n])
	}
}

// differences lists what got has otherwise than the processor.
func differences(v *interptest.Vector, got *interptest.Outcome) []string {
	want := v.Out
	var d []string
	if got.Vector != want.Vector || got.Code != want.Code || got.CR2 != want.CR2 || got.RIP != want.RIP {
		d = append(d, fmt.Sprintf("exception %d (%#x, CR2 %#x) at %#x, want %d (%#x, CR2 %#x) at %#x",
			got.Vector, got.Code, got.CR2, got.RIP, want.Vector, want.Code, want.CR2, want.RIP))
	}
	g := got.State
	g.Flags = g.Flags&^v.Undef | want.Flags&v.Undef
	g.FSW = g.FSW&^v.UndefFSW | want.FSW&v.UndefFSW
	g.RIP = want.RIP
	if v.Mode != 64 {
		for i := range g.GPR {
			if g.GPR[i], want.GPR[i] = uint64(uint32(g.GPR[i])), uint64(uint32(want.GPR[i])); i >= 8 {
				g.GPR[i] = want.GPR[i]
			}
		}
	}
	if tol := approximate[v.Name]; tol != 0 {
		acceptClose(&g, &want.State, tol)
	}
	if g != want.State {
		d = append(d, "got  "+strings.Join(interptest.Diff(&want.State, &g), " "), "want "+strings.Join(interptest.Diff(&g, &want.State), " "))
	}
	return d
}

// acceptClose makes x87 registers and single-precision lanes of got those of
// want where they are within the tolerance.
func acceptClose(got, want *interptest.State, tol float64) {
	near := func(a, b float64) bool { return math.Abs(a-b) <= tol*math.Abs(b) }
	for i := range got.ST {
		if near(extendedValue(got.ST[i]), extendedValue(want.ST[i])) {
			got.ST[i] = want.ST[i]
		}
	}
	for i := range got.XMM {
		for j := range 4 {
			shift := 32 * (j & 1)
			a, b := uint32(got.XMM[i][j/2]>>shift), uint32(want.XMM[i][j/2]>>shift)
			if near(float64(math.Float32frombits(a)), float64(math.Float32frombits(b))) {
				got.XMM[i][j/2] += uint64(b)<<shift - uint64(a)<<shift
			}
		}
	}
}

func extendedValue(x interptest.X87) float64 {
	v := math.Ldexp(float64(x.Mant), int(x.Exp&0x7fff)-16383-63)
	if x.Exp>>15 != 0 {
		return -v
	}
	return v
}
