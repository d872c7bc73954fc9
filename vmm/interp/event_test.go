package interp

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

func TestLimitIsExact(t *testing.T) {
	// Each instruction costs one cycle, but for RDTSC.
	k := DefaultCosts()
	for n := clock.TSC(0); n <= 30; n++ {
		m := newMachineWith(t, mode64, "ffc0 ffc0 ffc0 0f31 ffc3 ffc3 ffc3 ffc3 ffc3 ebfe", Config{Costs: k, NoSkip: true})
		m.now = 1000
		e := m.run(n)
		inc := min(n, 3)
		end := 1000 + inc
		if n > 3 {
			end += clock.TSC(k.RDTSC)
			if want := uint64(1003); m.cpu.GPR(vmm.RAX) != want {
				t.Errorf("limit %d: RDTSC gave %d, want %d", n, m.cpu.GPR(vmm.RAX), want)
			}
			if left := n - 3 - min(n-3, clock.TSC(k.RDTSC)); left > 0 {
				end += left
			}
		} else if m.cpu.GPR(vmm.RAX) != uint64(inc) {
			t.Errorf("limit %d: EAX %d, want %d", n, m.cpu.GPR(vmm.RAX), inc)
		}
		if e.Reason != vmm.StopLimit || e.At != end {
			t.Errorf("limit %d: exit %d at %d, want StopLimit at %d", n, e.Reason, e.At, end)
		}
	}
}

// The same guest run in slices of any length ends in the same state.
func TestSlicesChangeNothing(t *testing.T) {
	guest := `
		be 00000300 bf 00000500 b9 25000000 f3a4  # rep movsb of 0x25 bytes
		0f31 8904 25 00000200                     # the TSC goes to memory
		b9 07000000 f3ab 31c9                     # rep stosd
		6bc003 f7e0 89c1 50 5b                    # imul, mul, push, pop
		ebd2                                      # jmp to the start`
	whole := newMachine(t, mode64, guest)
	whole.run(50_000)
	for _, slice := range []clock.TSC{1, 3, 7, 50, 999} {
		m := newMachine(t, mode64, guest)
		for m.now < whole.now {
			m.run(min(slice, whole.now-m.now))
		}
		if a, b := whole.cpu.Registers(), m.cpu.Registers(); a != b || m.now != whole.now || whole.mem.Hash() != m.mem.Hash() {
			t.Errorf("slices of %d end at %d with\n%+v\nwhole run at %d with\n%+v", slice, m.now, b, whole.now, a)
		}
	}
}

func TestSaveAndRestore(t *testing.T) {
	m := newMachine(t, mode64, benchGuests[0].code)
	m.run(5000)
	state, mem, now := m.cpu.Save(), m.mem.Snapshot(), m.now
	m.run(7777)
	r, h := m.cpu.Registers(), m.mem.Hash()
	for range 2 {
		m.cpu.Restore(state)
		if err := m.mem.Restore(mem); err != nil {
			t.Fatal(err)
		}
		m.now = now
		if m.run(7777); m.cpu.Registers() != r || m.mem.Hash() != h {
			t.Fatalf("after Restore the run ends differently:\n%+v\nwant\n%+v", m.cpu.Registers(), r)
		}
	}
}

func TestInterruptWindow(t *testing.T) {
	tests := []struct {
		name, code string
		rip        uint64 // offset at which the window is open
		why        vmm.NotReady
	}{
		{"sti blocks for one instruction", "fa 90 fb 90 90 90", 4, vmm.NotReadyIF},
		{"a second sti does not block again", "fa fb fb 90 90", 3, vmm.NotReadyIF},
		{"mov ss blocks", "fb 90 8ed0 90 90", 2, vmm.NotReadyIF},
		{"popf does not block", "68 02020000 9d 90 90", 6, vmm.NotReadyIF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, mode64, tt.code+"f4")
			if ok, why := m.cpu.Interruptible(); ok || why != tt.why {
				t.Errorf("Interruptible() = %v, %v before the run, want false, %v", ok, why, tt.why)
			}
			m.cpu.WantWindow(true, false)
			if e := m.run(1000); e.Reason != vmm.StopWindow || e.RIP != testCode+tt.rip {
				t.Errorf("exit %d at offset %#x, want StopWindow at %#x", e.Reason, e.RIP-testCode, tt.rip)
			}
			if ok, _ := m.cpu.Interruptible(); !ok {
				t.Error("the window is open, but Interruptible says no")
			}
		})
	}
	t.Run("in the shadow of mov ss", func(t *testing.T) {
		m := newMachine(t, mode64, "8ed0 90 90 f4")
		m.set(vmm.RAX, selData)
		m.change(func(r *vmm.Registers) { r.RFLAGS |= flagIF })
		m.run(1)
		if ok, why := m.cpu.Interruptible(); ok || why != vmm.NotReadyShadow || m.cpu.NMIReady() {
			t.Errorf("Interruptible() = %v, %v, NMIReady() = %v after MOV SS", ok, why, m.cpu.NMIReady())
		}
		m.cpu.WantWindow(true, false)
		if e := m.run(1000); e.Reason != vmm.StopWindow || e.RIP != testCode+3 {
			t.Errorf("exit %d at offset %#x, want StopWindow at 3", e.Reason, e.RIP-testCode)
		}
	})
}

func TestNMIsAreBlockedUntilIRET(t *testing.T) {
	m := newMachine(t, mode64, "90 90 90 ebfd")
	m.write(testHandler(2), assemble("90 90 48cf"))
	m.cpu.Inject(vmm.Event{Kind: vmm.EventNMI})
	m.run(clock.TSC(DefaultCosts().Vectoring) + 1)
	if m.cpu.NMIReady() || !m.cpu.Registers().NMIBlocked {
		t.Error("in the NMI handler another NMI could be taken")
	}
	m.cpu.WantWindow(false, true)
	if e := m.run(1000); e.Reason != vmm.StopNMIWindow || e.RIP != testCode {
		t.Errorf("exit %d at %#x, want StopNMIWindow after IRET at %#x", e.Reason, e.RIP, testCode)
	}
}

func TestHaltIdlesWithoutIntercept(t *testing.T) {
	for _, code := range []string{"fb f4 ffc0 ebfe", "fb 0f01c8 0f01c9 ffc0 ebfe"} {
		m := newMachine(t, mode64, code)
		m.write(testHandler(0x40), assemble("48cf"))
		m.cpu.SetIntercepts(vmm.Intercepts{})
		if e := m.run(5000); e.Reason != vmm.StopLimit || e.At != 5000 || m.cpu.GPR(vmm.RAX) != 0 {
			t.Fatalf("%s: exit %d at %d with EAX %d, want to idle until 5000", code, e.Reason, e.At, m.cpu.GPR(vmm.RAX))
		}
		m.cpu.WantWindow(true, false)
		if e := m.run(5000); e.Reason != vmm.StopWindow || e.At != 5000 {
			t.Errorf("%s: exit %d at %d, want StopWindow at once", code, e.Reason, e.At)
		}
		m.cpu.WantWindow(false, false)
		m.cpu.Inject(vmm.Event{Kind: vmm.EventInterrupt, Vector: 0x40})
		if m.run(1000); m.cpu.GPR(vmm.RAX) != 1 {
			t.Errorf("%s: the event did not end the idling: EAX %d", code, m.cpu.GPR(vmm.RAX))
		}
	}
}

func TestMWAITEndsWithAWrite(t *testing.T) {
	m := newMachine(t, mode64, "0f01c8 31c0 0f01c9 ffc0 ebfe") // monitor; xor; mwait; inc; jmp .
	m.cpu.SetIntercepts(vmm.Intercepts{})
	m.set(vmm.RAX, testData+8)
	m.run(1000)
	m.put64(testData+0x40, 1) // another line
	if m.run(1000); m.cpu.GPR(vmm.RAX) != 0 {
		t.Error("a write beside the line ended the wait")
	}
	m.put64(testData+0x38, 1)
	if m.run(1000); m.cpu.GPR(vmm.RAX) != 1 {
		t.Error("a write to the line did not end the wait")
	}
	t.Run("not armed", func(t *testing.T) {
		m := newMachine(t, mode64, "0f01c9 ffc0 ebfe")
		m.cpu.SetIntercepts(vmm.Intercepts{})
		if m.run(1000); m.cpu.GPR(vmm.RAX) != 1 {
			t.Error("MWAIT waits without MONITOR")
		}
	})
}

// A restored CPU runs what its own page tables map, not what was found there
// under others.
func TestRestoreForgetsMappings(t *testing.T) {
	m := newMachine(t, mode64, "ffc0 ebfe")
	m.write(0x400000+testCode, assemble("ffc3 ebfe"))
	m.put64(0x100000, 0x101007)
	m.put64(0x101000, 0x102007)
	m.put64(0x102000, 0x400087)
	start := m.cpu.Save()
	m.run(100)
	m.change(func(r *vmm.Registers) { r.CR3, r.RIP = 0x100000, testCode })
	m.run(100)
	other := m.cpu.Save()
	if m.cpu.GPR(vmm.RBX) != 1 {
		t.Fatalf("the other mapping's code did not run: EBX %d", m.cpu.GPR(vmm.RBX))
	}
	m.cpu.Restore(start)
	if m.run(100); m.cpu.GPR(vmm.RAX) != 1 || m.cpu.GPR(vmm.RBX) != 0 {
		t.Errorf("after Restore EAX %d, EBX %d, want 1, 0", m.cpu.GPR(vmm.RAX), m.cpu.GPR(vmm.RBX))
	}
	m.cpu.Restore(other)
	m.set(vmm.RBX, 0)
	m.cpu.state.r[regIP] = testCode
	if m.run(100); m.cpu.GPR(vmm.RBX) != 1 {
		t.Errorf("after the second Restore EBX %d, want 1", m.cpu.GPR(vmm.RBX))
	}
}

func TestIntercepts(t *testing.T) {
	tests := []struct {
		name, code string
		want       vmm.ExitKind
		length     uint8
		addr, data uint64
	}{
		{"hlt", "f4", vmm.ExitHLT, 1, 0, 0},
		{"cpuid", "0fa2", vmm.ExitCPUID, 2, 0x1234, 0x6e0},
		{"rdmsr", "0f32", vmm.ExitRDMSR, 2, 0x6e0, 0},
		{"wrmsr", "0f30", vmm.ExitWRMSR, 2, 0x6e0, 0x7700001234},
		{"out imm", "e680", vmm.ExitIO, 2, 0x80, 0x34},
		{"in dx", "66ed", vmm.ExitIO, 2, 0x77, 0},
		{"vmcall", "0f01c1", vmm.ExitVMCALL, 3, 0, 0},
		{"mwait", "0f01c9", vmm.ExitMWAIT, 3, 0, 0},
		{"monitor", "0f01c8", vmm.ExitMONITOR, 3, 0, 0},
		{"invd", "0f08", vmm.ExitINVD, 2, 0, 0},
		{"wbinvd", "0f09", vmm.ExitWBINVD, 2, 0, 0},
		{"rdpmc", "0f33", vmm.ExitRDPMC, 2, 0x6e0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, mode64, "90"+tt.code+"ffc6 ebfe")
			m.set(vmm.RAX, 0x1234)
			m.set(vmm.RCX, 0x6e0)
			m.set(vmm.RDX, 0x77)
			e := m.runTo(tt.want)
			if e.RIP != testCode+1 || e.Len != tt.length || e.Addr != tt.addr || e.Data != tt.data {
				t.Errorf("exit %+v; want RIP %#x, length %d, address %#x, data %#x", e, testCode+1, tt.length, tt.addr, tt.data)
			}
			m.cpu.Skip()
			if m.run(5); m.cpu.GPR(vmm.RSI) == 0 {
				t.Error("after Skip the next instruction was not executed")
			}
		})
	}
}

func TestCompletions(t *testing.T) {
	m := newMachine(t, mode64, "ec 66ed ed 0f32 0fa2 f4")
	m.set(vmm.RAX, 0x1122334455667788)
	steps := []struct {
		complete func()
		rax      uint64
	}{
		{func() { m.cpu.CompleteRead(0xffffffaa) }, 0x11223344556677aa},
		{func() { m.cpu.CompleteRead(0xbbbb) }, 0x112233445566bbbb},
		{func() { m.cpu.CompleteRead(0xcccccccc) }, 0xcccccccc},
		{func() { m.cpu.CompleteRead(0x77_00001234) }, 0x1234},
		{func() { m.cpu.CompleteCPUID([4]uint32{1, 2, 3, 4}) }, 1},
	}
	for i, s := range steps {
		m.run(1000)
		s.complete()
		m.cpu.Skip()
		if got := m.cpu.GPR(vmm.RAX); got != s.rax {
			t.Errorf("step %d: RAX %#x, want %#x", i, got, s.rax)
		}
	}
	if m.runTo(vmm.ExitHLT); m.cpu.GPR(vmm.RDX) != 4 || m.cpu.GPR(vmm.RBX) != 2 || m.cpu.GPR(vmm.RCX) != 3 {
		t.Errorf("CPUID left %#x %#x %#x", m.cpu.GPR(vmm.RBX), m.cpu.GPR(vmm.RCX), m.cpu.GPR(vmm.RDX))
	}
}

func TestTPRThreshold(t *testing.T) {
	m := newMachine(t, mode64, "b805000000 440f22c0 b802000000 440f22c0 440f20c3 f4")
	m.cpu.SetTPRThreshold(4)
	e := m.runTo(vmm.ExitSetTPR)
	if e.RIP != testCode+18 || e.Len != 0 || m.cpu.CR8() != 2 {
		t.Errorf("exit at offset %#x, length %d, CR8 %d; want 0x12, 0, 2", e.RIP-testCode, e.Len, m.cpu.CR8())
	}
	if m.runTo(vmm.ExitHLT); m.cpu.GPR(vmm.RBX) != 2 {
		t.Errorf("MOV from CR8 gave %d", m.cpu.GPR(vmm.RBX))
	}
}

func TestPauseLoopExit(t *testing.T) {
	cost := clock.Cycles(DefaultCosts().Pause)
	tests := []struct {
		name        string
		gap, window clock.Cycles
		user        bool
		want        vmm.ExitKind
	}{
		{"tight loop", 100, 1000, false, vmm.ExitPause},
		{"pauses too far apart", cost, 1000, false, vmm.StopLimit},
		{"off", 100, 0, false, vmm.StopLimit},
		{"not at level 3", 100, 1000, true, vmm.StopLimit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, mode64, "f390 ebfc")
			if tt.user {
				m.change(user)
			}
			m.cpu.SetIntercepts(vmm.Intercepts{PLEGap: tt.gap, PLEWindow: tt.window})
			e := m.run(20000)
			if e.Reason != tt.want {
				t.Fatalf("exit %d, want %d", e.Reason, tt.want)
			}
			if want := clock.TSC((1000/(cost+1) + 1) * (cost + 1)); tt.want == vmm.ExitPause && e.At != want {
				t.Errorf("exit at %d, want at the first PAUSE beyond the window, %d", e.At, want)
			}
		})
	}
}

func TestSingleStep(t *testing.T) {
	// pushf; or $0x100, (%rsp); popf; nop; nop; mov %eax, %ss; nop; hlt
	m := newMachine(t, mode64, "9c 810c24 00010000 9d 90 90 8ed0 90 f4")
	m.set(vmm.RAX, selData)
	m.write(testHandler(excDB), assemble("48ff04 25 00000200 488b1c24 48891c f5 00000000 48cf"))
	m.write(testHandler(excDB), assemble("48ff04 25 00000200 48cf"))
	m.runTo(vmm.ExitHLT)
	// after each nop, and after the nop behind MOV SS, which holds its own back
	if got := m.get64(testData); got != 3 {
		t.Errorf("%d debug traps, want 3", got)
	}
	if m.cpu.dr[6]&dr6BS == 0 {
		t.Errorf("DR6 %#x has no BS", m.cpu.dr[6])
	}
}

func TestBreakpoints(t *testing.T) {
	tests := []struct {
		name, code string
		dr0, dr7   uint64
		rip        uint64 // offset pushed by #DB, or 0 for none
	}{
		{"execution", "90 90 90 f4", testCode + 2, 0x401, 2},
		{"write", "c60425 03000200 01 90 f4", testData, 0xd0401, 8},
		{"read by a write breakpoint", "8a0425 00000200 90 f4", testData, 0x10401, 0},
		{"read", "8a0425 00000200 90 f4", testData, 0x30401, 7},
		{"beside", "8a0425 01000200 90 f4", testData, 0x30401, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, mode64, tt.code)
			m.change(func(r *vmm.Registers) { r.DR[0], r.DR[7] = tt.dr0, tt.dr7 })
			e := m.runTo(vmm.ExitHLT)
			if hit := e.RIP == testHandler(excDB); hit != (tt.rip != 0) {
				t.Fatalf("ended at %#x: #DB is %v, want %v", e.RIP, hit, tt.rip != 0)
			}
			if tt.rip != 0 && (m.frame(1)[0] != testCode+tt.rip || m.cpu.dr[6]&15 != 1) {
				t.Errorf("#DB pushed offset %#x with DR6 %#x, want %#x and bit 0", m.frame(1)[0]-testCode, m.cpu.dr[6], tt.rip)
			}
		})
	}
}

func TestTSCOffset(t *testing.T) {
	m := newMachine(t, mode64, "0f31 48c1e220 4809c2 b910000000 0f32 f4")
	m.now = 1000
	m.cpu.SetTSCOffset(1 << 33)
	m.runTo(vmm.ExitHLT)
	k := DefaultCosts()
	if got, want := m.cpu.GPR(vmm.RAX), uint64(1000+k.RDTSC+3); got != want {
		t.Errorf("RDMSR of the TSC gave %#x, want %#x", got, want)
	}
	if got := m.cpu.GPR(vmm.RDX); got != 2 {
		t.Errorf("upper half %#x, want 2", got)
	}
}
