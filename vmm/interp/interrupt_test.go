package interp

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// frame reads n 8-byte words of the stack.
func (m *machine) frame(n int) []uint64 {
	w := make([]uint64, n)
	for i := range w {
		w[i] = m.get64(m.cpu.GPR(vmm.RSP) + uint64(i)*8)
	}
	return w
}

func TestExceptionsInLongMode(t *testing.T) {
	tests := []struct {
		name, code string
		user       bool
		vector     uint64
		hasCode    bool
		errorCode  uint64
		rip        uint64 // offset of the pushed RIP
	}{
		{"divide by zero", "90 31c9 f7f1", false, excDE, false, 0, 3},
		{"int3 is a trap", "90 cc", true, excBP, false, 0, 2},
		{"int n of a user gate", "cd 81", true, 0x81, false, 0, 2},
		{"int n of a system gate", "cd 80", true, excGP, true, 0x80*8 + 2, 0},
		{"ud2", "90 0f0b", false, excUD, false, 0, 1},
		{"hlt at level 3", "90 f4", true, excGP, true, 0, 1},
		{"cli at level 3", "fa", true, excGP, true, 0, 0},
		{"in at level 3", "ec", true, excGP, true, 0, 0},
		{"non-canonical read", "48b8 0000000000008000 8b00", false, excGP, true, 0, 10},
		{"non-canonical stack", "48bc 0000000000008000 50", true, excSS, true, 0, 10},
		{"absent page", "8b04 25 00000080", false, excPF, true, 0, 0},
		{"wrmsr of a non-canonical base", "b9 010100c0 ba 00800000 0f30", false, excGP, true, 0, 10},
		{"null selector to ss at level 3", "31c0 8ed0", true, excGP, true, 0, 2},
		{"selector beyond the table", "b8 f8000000 8ed8", false, excGP, true, 0xf8, 5},
		{"absent segment", "b8 58000000 8ee0", false, excNP, true, 0x58, 5},
		{"code selector to ss", "b8 08000000 8ed0", false, excGP, true, 8, 5},
		{"ltr of a busy TSS", "b8 38000000 0f00d8", false, excGP, true, 0x38, 5},
		{"jump to a data segment", "ff2c25 00000200", false, excGP, true, 0x10, 0},
		{"cr4 with a reserved bit", "b8 00000080 0f22e0", false, excGP, true, 0, 5},
		{"clearing PAE in long mode", "31c0 0f22e0", false, excGP, true, 0, 2},
		{"paging off in 64-bit code", "b8 01000000 0f22c0", false, excGP, true, 0, 5},
		{"cr8 above 15", "b8 10000000 440f22c0", false, excGP, true, 0, 5},
		{"too long", "66666666666666666666666666666690", false, excGP, true, 0, 0},
		{"fetch from an absent page", "b8 00000080 ffe0", false, excPF, true, 0x10, 0x80000000 - testCode},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, mode64, tt.code)
			m.gate(0x81, selCode64, testHandler(0x81), 0xee, 0)
			m.gate(excBP, selCode64, testHandler(excBP), 0xee, 0)
			m.put64(testTables+0x2000+0x400*8, 0) // nothing at 2 GiB
			m.put64(testTables+0x1010, 0)
			m.write(testData, []byte{0, 0, 0, 0, selData, 0})
			if tt.user {
				m.change(user)
			}
			before := m.cpu.Registers()
			e := m.runTo(vmm.ExitHLT)
			if e.RIP != testHandler(tt.vector) {
				t.Fatalf("ended at %#x (vector %d), want the handler of vector %d", e.RIP, (e.RIP-testHandler(0))/16, tt.vector)
			}
			w := m.frame(6)
			if tt.hasCode {
				if w[0] != tt.errorCode {
					t.Errorf("error code %#x, want %#x", w[0], tt.errorCode)
				}
				w = w[1:]
			}
			if w[0] != testCode+tt.rip || w[1] != uint64(before.CS.Selector) || w[4] != uint64(before.SS.Selector) {
				t.Errorf("pushed RIP %#x, CS %#x, SS %#x; want %#x, %#x, %#x", w[0], w[1], w[4], testCode+tt.rip,
					before.CS.Selector, before.SS.Selector)
			}
			r := m.cpu.Registers()
			if tt.user && (r.SS.Selector != 0 || r.GPR[vmm.RSP]>>12 != (testStack-0x1000)>>12-1) {
				t.Errorf("SS %#x, RSP %#x: want the null selector and the stack of the TSS", r.SS.Selector, r.GPR[vmm.RSP])
			}
			if r.RFLAGS&(flagTF|flagIF|flagNT) != 0 {
				t.Errorf("RFLAGS %#x in the handler", r.RFLAGS)
			}
		})
	}
}

func TestInterruptStackTable(t *testing.T) {
	m := newMachine(t, mode64, "fb 90 ebfd")
	m.gate(0x40, selCode64, testHandler(0x40), 0x8e, 1)
	m.run(100)
	m.cpu.Inject(vmm.Event{Kind: vmm.EventInterrupt, Vector: 0x40})
	if m.runTo(vmm.ExitHLT); m.cpu.GPR(vmm.RSP) != testStack-0x2000-40 {
		t.Errorf("RSP %#x, want five words below IST1, %#x", m.cpu.GPR(vmm.RSP), testStack-0x2000-40)
	}
}

func TestTrapGateLeavesInterruptsOn(t *testing.T) {
	for _, tt := range []struct {
		attr uint8
		want uint64
	}{{0x8e, 0}, {0x8f, flagIF}} {
		m := newMachine(t, mode64, "fb 90 cd40")
		m.gate(0x40, selCode64, testHandler(0x40), tt.attr, 0)
		m.runTo(vmm.ExitHLT)
		if got := m.cpu.Registers().RFLAGS & flagIF; got != tt.want {
			t.Errorf("gate %#x: IF %#x in the handler, want %#x", tt.attr, got, tt.want)
		}
	}
}

func TestIRETUndoesDelivery(t *testing.T) {
	for _, level := range []string{"supervisor", "user"} {
		t.Run(level, func(t *testing.T) {
			m := newMachine(t, mode64, "90 cd81 ffc0 ebfe")
			m.gate(0x81, selCode64, testHandler(0x81), 0xee, 0)
			m.write(testHandler(0x81), assemble("48cf"))
			if level == "user" {
				m.change(user)
			}
			before := m.cpu.Registers()
			m.run(2000)
			after := m.cpu.Registers()
			before.RIP, before.GPR[vmm.RAX], before.RFLAGS = testCode+5, 1, after.RFLAGS
			before.SS.Attr, before.CS.Attr = after.SS.Attr, after.CS.Attr // accessed bits
			if before != after {
				t.Errorf("after IRET\n%+v\nwant\n%+v", after, before)
			}
		})
	}
}

func TestExceptionsInProtectedMode(t *testing.T) {
	tests := []struct {
		name, code string
		user       bool
		gate       uint8
		words      []uint32 // from the top of the stack
	}{
		{"same level, 32-bit gate", "90 0f0b", false, 0x8e, []uint32{testCode + 1, selCode32, 0x10002}},
		{"inner level, 32-bit gate", "90 0f0b", true, 0x8e, []uint32{testCode + 1, selUser32, 0x10002, testStack, selUserDS}},
		{"same level, 16-bit gate", "90 0f0b", false, 0x86, []uint32{selCode32<<16 | (testCode+1)&0xffff, 0x0002}},
		{"error code", "90 b8 f8000000 8ed8", false, 0x8e, []uint32{0xf8, testCode + 6, selCode32, 0x10002}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, mode32, tt.code)
			for _, v := range []uint8{excUD, excGP} {
				m.gate32(v, selCode32, 0x9000, tt.gate)
			}
			m.write(0x9000, []byte{0xf4})
			m.put64(testTSS+4, testStack-0x1000|selData<<32) // ESP0, SS0
			if tt.user {
				m.change(user)
			}
			if e := m.runTo(vmm.ExitHLT); e.RIP != 0x9000 {
				t.Fatalf("ended at %#x, want the handler", e.RIP)
			}
			for i, want := range tt.words {
				if got := uint32(m.get64(m.cpu.GPR(vmm.RSP) + uint64(i)*4)); got != want {
					t.Errorf("word %d of the frame is %#x, want %#x", i, got, want)
				}
			}
		})
	}
}

func TestRealModeInterrupt(t *testing.T) {
	m := newMachine(t, mode16, "fb 90 cd10 f4")
	m.write(0x10*4, []byte{0x34, 0x12, 0x00, 0x20}) // 2000:1234
	m.write(0x21234, assemble("40 cf"))             // inc %ax; iret
	e := m.runTo(vmm.ExitHLT)
	if e.RIP != 4 || m.cpu.GPR(vmm.RAX) != 1 || m.cpu.GPR(vmm.RSP) != testStack {
		t.Errorf("ended at %#x with AX %#x, SP %#x; want 4, 1, %#x", e.RIP, m.cpu.GPR(vmm.RAX), m.cpu.GPR(vmm.RSP), testStack)
	}
	if ip, cs := m.get64(testStack-6)&0xffff, m.get64(testStack-4)&0xffff; ip != 4 || cs != testCode>>4 {
		t.Errorf("pushed %#x:%#x, want %#x:4", cs, ip, testCode>>4)
	}
}

func TestDoubleAndTripleFault(t *testing.T) {
	t.Run("a fault while delivering #GP is a double fault", func(t *testing.T) {
		m := newMachine(t, mode64, "cd 80")
		m.change(user)
		m.gate(excGP, selMissing, 0, 0x8e, 0)
		if e := m.runTo(vmm.ExitHLT); e.RIP != testHandler(excDF) || m.frame(1)[0] != 0 {
			t.Errorf("ended at %#x with code %#x, want #DF with code 0", e.RIP, m.frame(1)[0])
		}
	})
	t.Run("a fault while delivering #UD is just delivered", func(t *testing.T) {
		m := newMachine(t, mode64, "0f0b")
		m.gate(excUD, selMissing, 0, 0x8e, 0)
		if e := m.runTo(vmm.ExitHLT); e.RIP != testHandler(excGP) {
			t.Errorf("ended at %#x, want #GP", e.RIP)
		}
	})
	t.Run("without an IDT everything is a triple fault", func(t *testing.T) {
		m := newMachine(t, mode64, "90 0f0b")
		m.change(func(r *vmm.Registers) { r.IDTR.Limit = 0 })
		if e := m.runTo(vmm.ExitTriple); e.RIP != testCode+1 {
			t.Errorf("exit at %#x, want %#x", e.RIP, testCode+1)
		}
		if e := m.run(100); e.Reason != vmm.ExitTriple {
			t.Errorf("the next Run ends with %d, want ExitTriple again", e.Reason)
		}
		m.cpu.Reset(false)
		if m.cpu.RIP() != 0xfff0 {
			t.Errorf("RIP %#x after reset", m.cpu.RIP())
		}
	})
}

func TestSyscallAndSysret(t *testing.T) {
	m := newMachine(t, mode64, "90 0f05 ffc0 ebfe")
	m.change(func(r *vmm.Registers) {
		user(r)
		r.RFLAGS |= flagIF
		r.STAR = selCode64<<32 | (selUser32-0)<<48
		r.LSTAR = testHandler(0)
		r.SFMASK = flagIF
	})
	m.write(testHandler(0), assemble("9c 5b 480f07")) // pushf; pop %rbx; sysretq
	m.run(1000)
	r := m.cpu.Registers()
	if r.GPR[vmm.RAX] != 1 || r.GPR[vmm.RCX] != testCode+3 || r.GPR[vmm.RBX]&flagIF != 0 || r.RFLAGS&flagIF == 0 {
		t.Errorf("RAX %d, RCX %#x, flags in the kernel %#x, after %#x", r.GPR[vmm.RAX], r.GPR[vmm.RCX], r.GPR[vmm.RBX], r.RFLAGS)
	}
	if r.CS.Selector != selUser64 || r.SS.Selector != selUserDS || m.cpu.w.cpl != 3 {
		t.Errorf("CS %#x, SS %#x, level %d after SYSRET", r.CS.Selector, r.SS.Selector, m.cpu.w.cpl)
	}
}

func TestSysenterAndSysexit(t *testing.T) {
	m := newMachine(t, mode64, "90 0f34 ffc0 ebfe")
	m.change(func(r *vmm.Registers) {
		user(r)
		r.SysenterCS, r.SysenterESP, r.EIP = selCode64, testStack-0x800, testHandler(0)
	})
	m.set(vmm.RDX, testCode+3)
	m.set(vmm.RCX, testStack)
	m.write(testHandler(0), assemble("4889e3 480f35")) // mov %rsp, %rbx; sysexitq
	m.run(1000)
	if r := m.cpu.Registers(); r.GPR[vmm.RAX] != 1 || r.GPR[vmm.RBX] != testStack-0x800 || r.CS.Selector != selCode64+32|3 {
		t.Errorf("RAX %d, RSP in the kernel %#x, CS %#x", r.GPR[vmm.RAX], r.GPR[vmm.RBX], r.CS.Selector)
	}
}

func TestCallGateToInnerLevel(t *testing.T) {
	m := newMachine(t, mode64, "ff1c25 00000200 ffc0 ebfe") // call far through testData
	m.put64(testGDT+selGate, testHandler(0)&0xffff|selCode64<<16|0xec00<<32|testHandler(0)>>16<<48)
	m.put64(testGDT+selGate+8, 0)
	m.write(testData, []byte{0, 0, 0, 0, selGate | 3, 0})
	m.write(testHandler(0), assemble("8cc8 89c3 48cb")) // mov %cs, %eax; mov %eax, %ebx; retfq
	m.change(user)
	m.run(1000)
	if r := m.cpu.Registers(); r.GPR[vmm.RBX] != selCode64 || r.GPR[vmm.RAX] != selCode64+1 || r.CS.Selector != selUser64 ||
		r.GPR[vmm.RSP] != testStack {
		t.Errorf("CS in the gate %#x, EAX %#x, CS after %#x, RSP %#x", r.GPR[vmm.RBX], r.GPR[vmm.RAX], r.CS.Selector, r.GPR[vmm.RSP])
	}
}

func TestTaskSwitch(t *testing.T) {
	// call $0x60 (TSS B); B increments EAX and returns with IRET.
	m := newMachine(t, mode32, "9a 00000000 6000 ffc3 f4")
	const tssB = 0x8800
	m.put64(testGDT+0x60, 0x0000890000000067|tssB<<16)
	m.put32(tssB+tssEIP, testHandler(0))
	m.put32(tssB+tssFlags, flagOne)
	m.put32(tssB+tssGPR+4*vmm.RSP, testStack-0x1000)
	for i, s := range []uint64{selData, selCode32, selData, selData, selData, selData} {
		m.put32(tssB+tssSeg+uint64(i)*4, s)
	}
	m.write(testHandler(0), assemble("40 cf"))
	e := m.runTo(vmm.ExitHLT)
	if e.RIP != testCode+9 || m.cpu.GPR(vmm.RBX) != 1 || m.cpu.GPR(vmm.RAX) != 0 {
		t.Errorf("ended at %#x, EBX %d, EAX %d; want the first task to go on", e.RIP, m.cpu.GPR(vmm.RBX), m.cpu.GPR(vmm.RAX))
	}
	if got := m.get64(tssB+tssGPR) & 0xffffffff; got != 1 {
		t.Errorf("the other task's EAX was saved as %d, want 1", got)
	}
	if b := m.get64(testGDT+0x60) >> 40 & 0xff; b != 0x89 {
		t.Errorf("type of the other TSS is %#x, want 0x89: not busy", b)
	}
	if m.cpu.tr.Selector != selTSS || m.cpu.cr0&cr0TS == 0 {
		t.Errorf("TR %#x, CR0 %#x", m.cpu.tr.Selector, m.cpu.cr0)
	}
}
