package interp

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// newFloatMachine is a 64-bit machine whose system supports SSE and XSAVE.
func newFloatMachine(t *testing.T, code string) *machine {
	m := newMachine(t, mode64, code+" f4")
	m.change(func(r *vmm.Registers) {
		r.CR0 |= cr0MP
		r.CR4 |= cr4OSFXSR | cr4OSXMMEXCPT | cr4OSXSAVE
		r.XCR0 = 3
		r.FPU = vmm.FPU{Control: fcwReset, MXCSR: mxcsrReset}
	})
	m.set(vmm.RDI, testData)
	m.set(vmm.RAX, 3)
	m.set(vmm.RDX, 0)
	return m
}

// fault runs and returns the vector of the exception that ends it.
func (m *machine) fault() int {
	m.t.Helper()
	e := m.runTo(vmm.ExitHLT)
	if e.RIP < testHandler(0) {
		return -1
	}
	return int(e.RIP-testHandler(0)) / 16
}

func TestFloatInstructionsNeedTheirControlBits(t *testing.T) {
	const none = -1
	tests := []struct {
		name  string
		code  string
		cr0   uint64 // bits to set
		clear uint64 // bits of CR4 to clear
		want  int
	}{
		{"FADD", "d8c1", 0, 0, none},
		{"FADD with TS", "d8c1", cr0TS, 0, excNM},
		{"FADD with EM", "d8c1", cr0EM, 0, excNM},
		{"FNINIT with TS", "dbe3", cr0TS, 0, excNM},
		{"FNSTSW with EM", "dfe0", cr0EM, 0, excNM},
		{"FWAIT with TS and MP", "9b", cr0TS, 0, excNM},
		{"FWAIT with EM", "9b", cr0EM, 0, none},
		{"MMX with TS", "0f6fc1", cr0TS, 0, excNM},
		{"MMX with EM", "0f6fc1", cr0EM, 0, excUD},
		{"EMMS with EM", "0f77", cr0EM, 0, excUD},
		{"SSE", "0f58c1", 0, 0, none},
		{"SSE with TS", "0f58c1", cr0TS, 0, excNM},
		{"SSE with EM", "0f58c1", cr0EM, 0, excUD},
		{"SSE with EM and TS", "0f58c1", cr0EM | cr0TS, 0, excUD},
		{"SSE without OSFXSR", "0f58c1", 0, cr4OSFXSR, excUD},
		{"LDMXCSR without OSFXSR", "0fae17", 0, cr4OSFXSR, excUD},
		{"FXSAVE without OSFXSR", "0fae07", 0, cr4OSFXSR, none},
		{"FXSAVE with TS", "0fae07", cr0TS, 0, excNM},
		{"FXRSTOR with EM", "0fae0f", cr0EM, 0, excNM},
		{"FXSAVE misaligned", "0fae4708", 0, 0, excGP},
		{"XSAVE", "0fae27", 0, 0, none},
		{"XSAVE with TS", "0fae27", cr0TS, 0, excNM},
		{"XSAVE without OSXSAVE", "0fae27", 0, cr4OSXSAVE, excUD},
		{"XSAVE aligned to 16 only", "0fae6710", 0, 0, excGP},
		{"XSAVEOPT, which CPUID lacks", "0fae37", 0, 0, excUD},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newFloatMachine(t, tt.code)
			m.change(func(r *vmm.Registers) {
				r.CR0 |= tt.cr0
				r.CR4 &^= tt.clear
			})
			if got := m.fault(); got != tt.want {
				t.Errorf("exception %d, want %d", got, tt.want)
			}
		})
	}
}

// someFPU is a state with something in every field.
func someFPU() vmm.FPU {
	f := vmm.FPU{Control: 0x27f, Status: 0x4122, Top: 3, Tag: 0xf8, Opcode: 0x1d8, LastIP: 0x123456789abc, LastDP: 0xfedcba987654, MXCSR: 0x3fa1}
	for i := range f.ST {
		f.ST[i] = vmm.X87{Mant: 1<<63 | uint64(i), Exp: uint16(0x3fff + i)}
	}
	for i := range f.XMM {
		f.XMM[i] = [2]uint64{uint64(i) * 0x1111, ^uint64(i)}
	}
	return f
}

func TestSavedStateComesBack(t *testing.T) {
	tests := []struct {
		name string
		code string // saves at [rdi], destroys, restores
		// narrow state loses what it has no room for
		lose func(f *vmm.FPU)
	}{
		{"FXSAVE64", "480fae07 dbe3 0f57c0 480fae0f", func(*vmm.FPU) {}},
		{"FXSAVE", "0fae07 dbe3 0f57c0 0fae0f", func(f *vmm.FPU) { f.LastIP &= 0xffffffff; f.LastDP &= 0xffffffff }},
		{"XSAVE64", "480fae27 dbe3 0f57c0 480fae2f", func(*vmm.FPU) {}},
		{"FNSAVE", "dd37 dd27", func(f *vmm.FPU) { f.LastIP &= 0xffffffff; f.LastDP &= 0xffffffff }},
		{"FNSTENV", "d937 db2f d927", func(f *vmm.FPU) {
			f.LastIP &= 0xffffffff
			f.LastDP &= 0xffffffff
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newFloatMachine(t, tt.code)
			want := someFPU()
			m.change(func(r *vmm.Registers) { r.FPU = want })
			if v := m.fault(); v >= 0 {
				t.Fatalf("exception %d", v)
			}
			tt.lose(&want)
			got := m.cpu.Registers().FPU
			if tt.name == "FNSTENV" {
				want.ST[7] = got.ST[7] // pushed by FLD in between
			}
			if got != want {
				t.Errorf("restored\n%+v, want\n%+v", got, want)
			}
		})
	}
}

func TestFXSAVELayout(t *testing.T) {
	m := newFloatMachine(t, "480fae07")
	m.put64(testData+464, 0x5555)
	m.change(func(r *vmm.Registers) { r.FPU = someFPU() })
	m.runTo(vmm.ExitHLT)
	for _, w := range []struct {
		name    string
		at, val uint64
	}{
		{"control, status with TOP, tag, opcode", 0, 0x01d800f85922027f},
		{"instruction pointer", 8, 0x123456789abc},
		{"data pointer", 16, 0xfedcba987654},
		{"MXCSR and its mask", 24, 0x0000ffff00003fa1},
		{"ST1", 48, 1<<63 | 1},
		{"exponent of ST1", 56, 0x4000},
		{"XMM15, high half", 160 + 15*16 + 8, ^uint64(15)},
		{"available to software", 464, 0x5555},
	} {
		if got := m.get64(testData + w.at); got != w.val {
			t.Errorf("%s: %#x, want %#x", w.name, got, w.val)
		}
	}
}

func TestXRSTORInitialisesWhatIsNotThere(t *testing.T) {
	tests := []struct {
		name      string
		rfbm, bv  uint64
		x87, sse  bool // reset
		exception int
	}{
		{"both there", 3, 3, false, false, -1},
		{"none there", 3, 0, true, true, -1},
		{"x87 asked for, SSE there", 1, 2, true, false, -1},
		{"SSE asked for, none there", 2, 0, false, true, -1},
		{"nothing asked for", 0, 0, false, false, -1},
		{"a component beyond XCR0", 3, 7, false, false, excGP},
		{"compacted", 3, 1<<63 | 3, false, false, excGP},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newFloatMachine(t, "480fae27 f4 4889f0 480fae2f")
			m.change(func(r *vmm.Registers) { r.FPU = someFPU() })
			m.set(vmm.RSI, tt.rfbm)
			m.runTo(vmm.ExitHLT)
			m.cpu.Skip()
			m.put64(testData+512, tt.bv&^(1<<63))
			m.put64(testData+520, tt.bv&(1<<63))
			if got := m.fault(); got != tt.exception {
				t.Fatalf("exception %d, want %d", got, tt.exception)
			}
			f := m.cpu.Registers().FPU
			if got := f.Control == fcwReset && f.Tag == 0; got != tt.x87 {
				t.Errorf("x87 reset is %t, want %t: %+v", got, tt.x87, f)
			}
			if got := f.XMM == [16][2]uint64{}; got != tt.sse {
				t.Errorf("XMM cleared is %t, want %t", got, tt.sse)
			}
		})
	}
}

func TestFXRSTORRefusesReservedMXCSR(t *testing.T) {
	m := newFloatMachine(t, "480fae0f")
	m.put64(testData+24, 1<<16)
	before := m.cpu.Registers().FPU
	if got := m.fault(); got != excGP {
		t.Fatalf("exception %d, want #GP", got)
	}
	if got := m.cpu.Registers().FPU; got != before {
		t.Errorf("state changed to %+v", got)
	}
}

func TestUnmaskedSSEExceptionWithoutSupportIsUndefined(t *testing.T) {
	for _, tt := range []struct {
		name string
		cr4  uint64
		want int
	}{{"supported", cr4OSXMMEXCPT, excXM}, {"not supported", 0, excUD}} {
		t.Run(tt.name, func(t *testing.T) {
			m := newFloatMachine(t, "0f5ec1") // 0 / 0
			m.change(func(r *vmm.Registers) {
				r.CR4 = r.CR4&^cr4OSXMMEXCPT | tt.cr4
				r.FPU.MXCSR = 0
			})
			if got := m.fault(); got != tt.want {
				t.Errorf("exception %d, want %d", got, tt.want)
			}
		})
	}
}

func TestPendingX87ExceptionWaitsForNE(t *testing.T) {
	for _, tt := range []struct {
		name string
		ne   uint64
		want int
	}{{"NE", cr0NE, excMF}, {"no NE", 0, -1}} {
		t.Run(tt.name, func(t *testing.T) {
			m := newFloatMachine(t, "d8c1")
			m.change(func(r *vmm.Registers) {
				r.CR0 = r.CR0&^cr0NE | tt.ne
				r.FPU.Control, r.FPU.Status = 0x37e, fswES|fswB|fswInvalid
			})
			if got := m.fault(); got != tt.want {
				t.Errorf("exception %d, want %d", got, tt.want)
			}
		})
	}
}

func TestEnvironmentFormats(t *testing.T) {
	tests := []struct {
		name string
		mode codeMode
		code string
		want []uint64 // the first quadwords
	}{
		{"32 bits, protected", mode64, "d937", []uint64{0xffff5922ffff027f, 0x56789abcffff003f, 0xba98765401d80000}},
		{"16 bits, protected", mode64, "66d937", []uint64{0x9abc003f5922027f, 0x0000000076540000}},
		{"16 bits, real", mode16, "d935", []uint64{0x9abc003f5922027f, 0x000080007654c1d8}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, tt.mode, tt.code+" f4")
			at := uint64(testData)
			m.change(func(r *vmm.Registers) {
				r.FPU = someFPU()
				r.FPU.LastIP, r.FPU.LastDP = 0x56789abc, 0xba987654
				if tt.mode == mode16 {
					at = 0x800
					r.FPU.LastIP, r.FPU.LastDP = 0xc9abc, 0x87654
				}
				r.GPR[vmm.RDI] = at
			})
			m.runTo(vmm.ExitHLT)
			for i, w := range tt.want {
				if got := m.get64(at + uint64(i)*8); got != w {
					t.Errorf("quadword %d is %#x, want %#x", i, got, w)
				}
			}
		})
	}
}
