package vmmtest

// Probe is a small guest that asks the machine one question about its
// interrupts or timers. Every engine must give the same answer.
type Probe struct {
	Name string
	// Want are the results, in the order in which the probe keeps them.
	Want []uint64
	// Log are the vectors whose handlers ran, in order.
	Log []byte
	// May are results by index that are judged instead of compared, with the
	// reason.
	May   map[int]Judge
	build func(*asm)
}

// Judge accepts or refuses a result that need not be the same everywhere.
type Judge struct {
	Why string
	OK  func(all []uint64, v uint64) bool
}

const farDeadline = 1 << 60

// Probes is the table of architecture probes. Values and rules are those of the
// Intel SDM vol. 3A, chapter 11 "Advanced Programmable Interrupt Controller
// (APIC)", or, where KVM differs, KVM's.
var Probes = []Probe{
	{Name: "LVT timer is masked after reset", Want: []uint64{0x10000, 0, 0},
		build: func(a *asm) {
			a.x2apic()
			a.keepMSR(0x832)
			a.keepMSR(0x838)
			a.keepMSR(0x6e0)
		}},
	{Name: "deadline is kept in TSC-deadline mode, and lost by the way out", Want: []uint64{farDeadline, 0x40040, 0, 0},
		build: func(a *asm) {
			a.x2apic()
			a.wrmsr(0x832, 0x40040)
			a.wrmsr(0x6e0, farDeadline)
			a.keepMSR(0x6e0)
			a.keepMSR(0x832)
			a.wrmsr(0x832, 0x40) // one-shot
			a.keepMSR(0x6e0)
			a.wrmsr(0x832, 0x40040)
			a.keepMSR(0x6e0)
		}},
	{Name: "deadline MSR is inert in one-shot mode", Want: []uint64{0},
		build: func(a *asm) {
			a.x2apic()
			a.wrmsr(0x832, 0x40)
			a.wrmsr(0x6e0, 5)
			a.keepMSR(0x6e0)
		}},
	{Name: "initial count is inert in TSC-deadline mode", Want: []uint64{0, 0},
		build: func(a *asm) {
			a.x2apic()
			a.wrmsr(0x832, 0x40040)
			a.wrmsr(0x838, 1000)
			a.keepMSR(0x838)
			a.keepMSR(0x839)
		}},
	{Name: "current count runs down from the initial count", Want: []uint64{0xffffff00, 0},
		May: map[int]Judge{1: {"it counts in real time", func(_ []uint64, v uint64) bool { return v > 0 && v <= 0xffffff00 }}},
		build: func(a *asm) {
			a.x2apic()
			a.wrmsr(0x832, 0x10040) // masked, one-shot
			a.wrmsr(0x83e, 0xb)     // divide by 1
			a.wrmsr(0x838, 0xffffff00)
			a.keepMSR(0x838)
			for range 64 { // a count is a nanosecond
				a.rdtsc()
			}
			a.keepMSR(0x839)
		}},
	{Name: "divide configuration reads back", Want: []uint64{0xb, 0x3},
		build: func(a *asm) {
			a.x2apic()
			a.wrmsr(0x83e, 0xb)
			a.keepMSR(0x83e)
			a.wrmsr(0x83e, 0x3)
			a.keepMSR(0x83e)
		}},
	{Name: "past deadline interrupts at once and reads 0 after", Want: []uint64{1, 0}, Log: []byte{0x40},
		build: func(a *asm) {
			a.x2apic()
			a.wrmsr(0x832, 0x40040)
			a.sti()
			a.wrmsr(0x6e0, 1)
			a.nop()
			a.keepLogged()
			a.keepMSR(0x6e0)
		}},
	{Name: "HLT ends with the deadline's interrupt", Want: []uint64{1, 0}, Log: []byte{0x40},
		build: func(a *asm) {
			a.x2apic()
			a.wrmsr(0x832, 0x40040)
			a.rdtsc()
			a.b(0x48, 0x05) // add rax, 3000000
			a.imm32(3_000_000)
			a.b(0x48, 0x89, 0xc2, 0x48, 0xc1, 0xea, 0x20) // mov rdx, rax; shr rdx, 32
			a.b(0xb9)
			a.imm32(0x6e0)
			a.b(0x0f, 0x30) // wrmsr
			a.sti()
			a.hlt()
			a.cli()
			a.keepLogged()
			a.keepMSR(0x6e0)
		}},
	{Name: "higher of two pending vectors comes first", Want: []uint64{0, 2}, Log: []byte{0x61, 0x41},
		build: func(a *asm) {
			a.x2apic()
			a.self(0x41)
			a.self(0x61)
			a.keepLogged()
			a.sti()
			a.nop()
			a.nop()
			a.cli()
			a.keepLogged()
		}},
	{Name: "task priority holds back its class", Want: []uint64{1, 0x50, 2}, Log: []byte{0x61, 0x41},
		build: func(a *asm) {
			a.x2apic()
			a.wrmsr(0x808, 0x50)
			a.self(0x41)
			a.self(0x61)
			a.sti()
			a.nop()
			a.nop()
			a.keepLogged()
			a.keepMSR(0x80a) // PPR
			a.wrmsr(0x808, 0)
			a.nop()
			a.nop()
			a.keepLogged()
		}},
	{Name: "STI holds interrupts back for one instruction", Want: []uint64{0, 1}, Log: []byte{0x41},
		build: func(a *asm) {
			a.x2apic()
			a.self(0x41)
			a.sti()
			a.b(0x48, 0x8b, 0x04, 0x25) // mov rax, [logCount]: in the shadow
			a.imm32(logCount)
			a.cli()
			a.keep()
			a.keepLogged()
		}},
	{Name: "interrupt in service holds back its class until EOI", Want: []uint64{1, 4, 1, 2, 0}, Log: []byte{0x42, 0x41},
		build: func(a *asm) {
			a.x2apic()
			a.sti()
			a.self(0x42) // its handler writes no EOI
			a.nop()
			a.keepLogged()
			a.keepMSR(0x812) // ISR, vectors 0x40–0x5f
			a.self(0x41)
			a.nop()
			a.nop()
			a.keepLogged()
			a.wrmsr(0x80b, 0)
			a.nop()
			a.nop()
			a.cli()
			a.keepLogged()
			a.keepMSR(0x812)
		}},
	{Name: "request register shows what is pending", Want: []uint64{2, 0}, Log: []byte{0x41},
		build: func(a *asm) {
			a.x2apic()
			a.self(0x41)
			a.keepMSR(0x822) // IRR, vectors 0x40–0x5f
			a.sti()
			a.nop()
			a.nop()
			a.cli()
			a.keepMSR(0x822)
		}},
	{Name: "SELF_IPI register interrupts", Want: []uint64{1}, Log: []byte{0x43},
		build: func(a *asm) {
			a.x2apic()
			a.wrmsr(0x83f, 0x43)
			a.sti()
			a.nop()
			a.nop()
			a.cli()
			a.keepLogged()
		}},
	{Name: "ICR reads back", Want: []uint64{1<<18 | 1<<14 | 0x41},
		build: func(a *asm) {
			a.x2apic()
			a.self(0x41)
			a.keepMSR(0x830)
		}},
	{Name: "software disable masks the local vectors", Want: []uint64{0x40040, 0x50040, 0x50040},
		build: func(a *asm) {
			a.x2apic()
			a.wrmsr(0x832, 0x40040)
			a.keepMSR(0x832)
			a.wrmsr(0x80f, 0xff)
			a.keepMSR(0x832)
			a.wrmsr(0x80f, 0x1ff)
			a.keepMSR(0x832)
		}},
	{Name: "masked deadline does not interrupt", Want: []uint64{0},
		build: func(a *asm) {
			a.x2apic()
			a.wrmsr(0x832, 0x50040)
			a.sti()
			a.wrmsr(0x6e0, 1)
			a.nop()
			a.nop()
			a.cli()
			a.keepLogged()
		}},
	{Name: "register that does not exist faults", Want: []uint64{1}, Log: []byte{vectorGP},
		build: func(a *asm) {
			a.x2apic()
			a.b(0xb9) // mov ecx, 0x8ff
			a.imm32(0x8ff)
			a.b(0x0f, 0x32) // rdmsr
			a.keepLogged()
		}},
	{Name: "value that an MSR cannot have faults", Want: []uint64{1}, Log: []byte{vectorGP},
		build: func(a *asm) {
			a.x2apic()
			a.wrmsr(0x401, 1) // IA32_MC0_STATUS takes 0 only
			a.keepLogged()
		}},
	{Name: "APIC base beyond the physical address width faults", Want: []uint64{1, 0xfee00d00}, Log: []byte{vectorGP},
		build: func(a *asm) {
			a.x2apic()
			a.b(0xb8) // mov eax, 0x80000008
			a.imm32(0x80000008)
			a.b(0x0f, 0xa2) // cpuid
			a.b(0x88, 0xc1) // mov cl, al: the width
			a.raxIs(1)
			a.b(0x48, 0xd3, 0xe0)                         // shl rax, cl
			a.b(0x48, 0x89, 0xc2, 0x48, 0xc1, 0xea, 0x20) // mov rdx, rax; shr rdx, 32
			a.b(0xb8)                                     // mov eax, 0xfee00d00
			a.imm32(0xfee00d00)
			a.b(0xb9) // mov ecx, 0x1b
			a.imm32(0x1b)
			a.b(0x0f, 0x30) // wrmsr
			a.keepLogged()
			a.keepMSR(0x1b)
		}},
	{Name: "CR8 is the task priority's upper half", Want: []uint64{0x70, 9},
		build: func(a *asm) {
			a.x2apic()
			a.raxIs(7)
			a.b(0x44, 0x0f, 0x22, 0xc0) // mov cr8, rax
			a.keepMSR(0x808)
			a.wrmsr(0x808, 0x95)
			a.b(0x44, 0x0f, 0x20, 0xc0) // mov rax, cr8
			a.keep()
			a.wrmsr(0x808, 0)
		}},
	{Name: "lowering CR8 lets a held interrupt through", Want: []uint64{0, 1}, Log: []byte{0x41},
		build: func(a *asm) {
			a.x2apic()
			a.raxIs(15)
			a.b(0x44, 0x0f, 0x22, 0xc0)
			a.self(0x41)
			a.sti()
			a.nop()
			a.nop()
			a.keepLogged()
			a.raxIs(0)
			a.b(0x44, 0x0f, 0x22, 0xc0)
			a.nop()
			a.nop()
			a.cli()
			a.keepLogged()
		}},
	{Name: "TSC_ADJUST moves the TSC", Want: []uint64{0, 1 << 40, 0},
		May: map[int]Judge{
			0: {"a time", func([]uint64, uint64) bool { return true }},
			2: {"a time", func(all []uint64, v uint64) bool { return v-all[0] > 1<<40 && v-all[0] < 1<<41 }},
		},
		build: func(a *asm) {
			a.rdtsc()
			a.keep()
			a.wrmsr(0x3b, 1<<40)
			a.keepMSR(0x3b)
			a.rdtsc()
			a.keep()
		}},
}

// Image assembles the probe.
func (p *Probe) Image() []byte {
	a := &asm{}
	a.lidt()
	for _, v := range []byte{0x40, 0x41, 0x43, 0x61, vectorGP} {
		a.handler(v, v != vectorGP)
	}
	a.handler(0x42, false)
	a.handler(0xff, false) // spurious
	p.build(a)
	a.end()
	return a.image()
}
