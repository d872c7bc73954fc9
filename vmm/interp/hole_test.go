package interp

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// mapHole maps 3 GiB on to the same physical address, where no RAM is.
func (m *machine) mapHole() {
	m.put64(testTables+0x1018, testTables+0x3000|7)
	for i := uint64(0); i < 512; i++ {
		m.put64(testTables+0x3000+i*8, hole+i<<21|0x87)
	}
}

const hole = 0xc0000000

// TestNoRAMUnderTheProcessor: what KVM's emulator does not do outside RAM, and the
// delivery of events, ends in an internal error that names the place.
func TestNoRAMUnderTheProcessor(t *testing.T) {
	at := func(f func(r *vmm.Registers)) func(m *machine) { return func(m *machine) { m.change(f) } }
	stackInHole := at(func(r *vmm.Registers) { r.GPR[vmm.RSP] = hole + 0x1000 })
	idtInHole := at(func(r *vmm.Registers) { r.IDTR.Base = hole })
	gdtInHole := at(func(r *vmm.Registers) { r.GDTR.Base = hole })
	areaInHole := at(func(r *vmm.Registers) {
		r.GPR[vmm.RDI] = hole + 0x40
		r.CR4 |= cr4OSFXSR | cr4OSXSAVE
		r.XCR0 = 3
		r.GPR[vmm.RAX] = 3
	})
	halfInHole := at(func(r *vmm.Registers) { r.GPR[vmm.RDI] = testRAM - 0x100; r.CR4 |= cr4OSFXSR })
	tests := []struct {
		name, code string
		mode       codeMode
		setup      func(m *machine)
		sub        vmm.InternalError
		gpa        uint64
	}{
		{"#UD with the stack in a hole", "0f0b", mode64, stackInHole, vmm.InternalDelivery, hole + 0x1000 - 8},
		{"#UD with the IDT in a hole", "0f0b", mode64, idtInHole, vmm.InternalDelivery, hole + excUD*16},
		{"#GP with the IDT in a hole", "48b80000000000800000 8b00", mode64, idtInHole, vmm.InternalDelivery, hole + excGP*16},
		{"#DE with the GDT in a hole", "31c0 f7f0", mode64, gdtInHole, vmm.InternalDelivery, hole + selCode64},
		{"INT with the IDT in a hole", "cd40", mode64, idtInHole, vmm.InternalDelivery, hole + 0x40*16},
		{"INT with the stack in a hole, 32-bit", "cd40", mode32, stackInHole, vmm.InternalDelivery, hole + 0x1000 - 4},
		{"real-mode INT with the table in a hole", "cd40", mode16, idtInHole, vmm.InternalDelivery, hole + 0x40*4},
		{"FXSAVE", "0fae07", mode64, areaInHole, vmm.InternalEmulation, hole + 0x40},
		{"FXRSTOR", "0fae0f", mode64, areaInHole, vmm.InternalEmulation, hole + 0x40},
		{"XSAVE", "0fae27", mode64, areaInHole, vmm.InternalEmulation, hole + 0x40},
		{"XRSTOR", "0fae2f", mode64, areaInHole, vmm.InternalEmulation, hole + 0x40},
		{"FNSAVE", "dd37", mode64, areaInHole, vmm.InternalEmulation, hole + 0x40 + 7*4 + 7*10 + 8},
		{"FRSTOR", "dd27", mode64, areaInHole, vmm.InternalEmulation, hole + 0x40 + 7*4},
		{"FNSTENV", "d937", mode64, areaInHole, vmm.InternalEmulation, hole + 0x40 + 6*4},
		{"FLDENV", "d927", mode64, areaInHole, vmm.InternalEmulation, hole + 0x40},
		{"FXSAVE with its end in a hole", "0fae07", mode64, halfInHole, vmm.InternalEmulation, testRAM + 0xf8},
		{"ENTER with 31 levels", "c80000 1f", mode64, at(func(r *vmm.Registers) { r.GPR[vmm.RBP] = hole + 0x800 }),
			vmm.InternalEmulation, 0},
		{"a jump to a hole", "b8000000c0 ffe0", mode64, func(*machine) {}, vmm.InternalEmulation, hole},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, tt.mode, tt.code+"f4")
			m.mapHole()
			for v := range uint64(256) {
				if tt.mode == mode32 {
					m.gate32(uint8(v), selCode32, testHandler(v), 0x8e)
				}
			}
			tt.setup(m)
			var e vmm.Exit
			for range 40 {
				if e = m.run(100000); e.Reason != vmm.ExitMMIO {
					break
				}
				m.cpu.CompleteRead(0)
			}
			if e.Reason != vmm.ExitInternal || vmm.InternalError(e.Addr) != tt.sub || tt.gpa != 0 && e.Data != tt.gpa {
				t.Fatalf("exit %d, suberror %d at %#x; want an internal error, %d at %#x", e.Reason, e.Addr, e.Data, tt.sub, tt.gpa)
			}
		})
	}
}

// An interrupt is delivered outside of any instruction.
func TestNoRAMUnderAnInterrupt(t *testing.T) {
	m := newMachine(t, mode64, "fb 90 f4")
	m.mapHole()
	m.change(func(r *vmm.Registers) { r.GPR[vmm.RSP] = hole + 0x1000; r.RFLAGS |= flagIF })
	m.cpu.Inject(vmm.Event{Kind: vmm.EventInterrupt, Vector: 0x40})
	e := m.runTo(vmm.ExitInternal)
	if vmm.InternalError(e.Addr) != vmm.InternalDelivery || e.Data != hole+0x1000-8 {
		t.Errorf("suberror %d at %#x, want %d at %#x", e.Addr, e.Data, vmm.InternalDelivery, hole+0x1000-8)
	}
}

// A task switch is emulated, so it needs RAM even where no event is delivered.
func TestTaskSwitchNeedsRAM(t *testing.T) {
	m := newMachine(t, mode32, "ea 00000000 3800 f4") // jmp 38:0
	m.put64(testGDT+selTSS, 0xc000890000000067)       // an available TSS at the hole
	e := m.runTo(vmm.ExitInternal)
	if vmm.InternalError(e.Addr) != vmm.InternalEmulation || e.Data < hole {
		t.Errorf("suberror %d at %#x, want %d in the hole", e.Addr, e.Data, vmm.InternalEmulation)
	}
	// The next access of a guest that does not need RAM is a device access again.
	m.change(func(r *vmm.Registers) { r.RIP = testCode + 0x100 })
	m.write(testCode+0x100, assemble("a1000000c0 f4"))
	m.runTo(vmm.ExitMMIO)
}

// A busy wait that stores what is there already is skipped in page 0 as elsewhere.
func TestBusyWaitStoresToPageZero(t *testing.T) {
	run := func(noSkip bool) (*machine, vmm.Exit) {
		m := newMachineWith(t, mode16, "c606000500 f390 ebf7", Config{Costs: DefaultCosts(), NoSkip: noSkip})
		m.write(0x600, assemble("c606000500 f390 ebf7"))
		m.change(func(r *vmm.Registers) { r.CS, r.RIP = vmm.Segment{Limit: 0xffff, Attr: 0x9b}, 0x600 })
		return m, m.run(100_000)
	}
	a, x := run(false)
	b, y := run(true)
	if x != y || a.cpu.Registers() != b.cpu.Registers() || a.mem.Hash() != b.mem.Hash() {
		t.Errorf("skipping ends at %+v, executing at %+v", x, y)
	}
	if a.cpu.Stats().Skips == 0 {
		t.Error("nothing was skipped")
	}
}
