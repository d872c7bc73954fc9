package interp

import (
	"fmt"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// state is everything that Save keeps: plain values, comparable.
type state struct {
	r      [numRegs]uint64
	cc     lazy
	rflags uint64
	seg    [6]vmm.Segment
	tr     vmm.Segment
	ldtr   vmm.Segment
	gdtr   vmm.Table
	idtr   vmm.Table

	cr0, cr2, cr3, cr4 uint64
	cr8                uint8
	efer, xcr0         uint64
	dr                 [8]uint64
	msr                msrs
	fpu                vmm.FPU

	shadow bool
	// shadowSS is true if the shadow is that of MOV SS or POP SS, which holds
	// back debug traps, too.
	shadowSS   bool
	nmiBlocked bool
	halted     bool
	dead       bool   // shutdown after a triple fault
	hits       uint64 // data breakpoints met by the current instruction, or by the MOV SS before it
	event      vmm.Event
	wantIRQ    bool
	wantNMI    bool

	tprThreshold uint8
	intercepts   vmm.Intercepts
	tscOffset    clock.Cycles
	pending      completion
	log          accessLog
	ple          pauseLoop
	monitor      monitor
}

// msrs are the model-specific registers that belong to the CPU proper.
type msrs struct {
	star, lstar, cstar, sfmask           uint64
	kernelGSBase, tscAux                 uint64
	sysenterCS, sysenterESP, sysenterEIP uint64
	pat                                  uint64
}

// completion is what the last exit waits for.
type completion struct {
	kind waitKind
	// next is RIP after the instruction, where Skip moves it.
	next uint64
	size uint8
	// leaf is the leaf of CPUID.
	leaf uint32
}

// waitKind says which answer completes the last exit.
type waitKind uint8

// The kinds of answer.
const (
	waitNone   waitKind = iota
	waitPort            // IN: CompleteRead to AL, AX, EAX
	waitMSR             // RDMSR: CompleteRead to EDX:EAX
	waitCPUID           // CompleteCPUID
	waitAccess          // CompleteRead appends to the access log
	waitSkip            // Skip only
)

// pauseLoop is the state of pause-loop exiting. Intel SDM vol. 3C, 26.1.3.
type pauseLoop struct {
	first, last clock.TSC
	valid       bool
}

// Save returns a copy of the state.
func (c *CPU) Save() any {
	s := c.state
	return &s
}

// Restore brings back what Save returned.
func (c *CPU) Restore(s any) {
	c.state = *s.(*state)
	c.flushTLB()
	c.refresh()
}

// The bits of CR0, CR4 and EFER. Intel SDM vol. 3A, 2.5 "Control Registers" and
// 2.2.1 "Extended Feature Enable Register".
const (
	cr0PE = 1 << 0
	cr0MP = 1 << 1
	cr0EM = 1 << 2
	cr0TS = 1 << 3
	cr0ET = 1 << 4
	cr0NE = 1 << 5
	cr0WP = 1 << 16
	cr0AM = 1 << 18
	cr0NW = 1 << 29
	cr0CD = 1 << 30
	cr0PG = 1 << 31

	cr4VME        = 1 << 0
	cr4PVI        = 1 << 1
	cr4TSD        = 1 << 2
	cr4DE         = 1 << 3
	cr4PSE        = 1 << 4
	cr4PAE        = 1 << 5
	cr4MCE        = 1 << 6
	cr4PGE        = 1 << 7
	cr4PCE        = 1 << 8
	cr4OSFXSR     = 1 << 9
	cr4OSXMMEXCPT = 1 << 10
	cr4FSGSBASE   = 1 << 16
	cr4OSXSAVE    = 1 << 18
	cr4SMEP       = 1 << 20
	cr4SMAP       = 1 << 21

	cr4Valid = cr4TSD | cr4DE | cr4PSE | cr4PAE | cr4MCE | cr4PGE | cr4PCE | cr4OSFXSR |
		cr4OSXMMEXCPT | cr4FSGSBASE | cr4OSXSAVE | cr4SMEP | cr4SMAP

	eferSCE = 1 << 0
	eferLME = 1 << 8
	eferLMA = 1 << 10
	eferNXE = 1 << 11
)

// patReset is the page attribute table after a reset. Intel SDM vol. 3A, 12.12
// "Page Attribute Table (PAT)".
const patReset = 0x0007040600070406

// Reset puts the CPU into its state after power-up or INIT. Intel SDM vol. 3A,
// 9.1.1 "Processor State After Reset".
func (c *CPU) Reset(powerUp bool) {
	old := c.state
	c.state = state{
		rflags: flagOne,
		cr0:    old.cr0&(cr0CD|cr0NW) | cr0ET,
		xcr0:   old.xcr0,
		msr:    old.msr,
		fpu:    old.fpu,

		wantIRQ: old.wantIRQ, wantNMI: old.wantNMI,
		tprThreshold: old.tprThreshold, intercepts: old.intercepts, tscOffset: old.tscOffset,
	}
	if powerUp {
		c.cr0 = cr0CD | cr0NW | cr0ET
		c.xcr0 = 1
		c.msr = msrs{pat: patReset}
		c.fpu = vmm.FPU{Control: 0x40, MXCSR: 0x1f80, Tag: 0xff}
	}
	c.r[vmm.RDX] = familyModel
	c.r[regIP] = 0xfff0
	for i := range c.seg {
		c.seg[i] = vmm.Segment{Limit: 0xffff, Attr: 0x93}
	}
	c.seg[segCS] = vmm.Segment{Selector: 0xf000, Base: 0xffff0000, Limit: 0xffff, Attr: 0x9b}
	c.tr = vmm.Segment{Limit: 0xffff, Attr: 0x8b}
	c.ldtr = vmm.Segment{Limit: 0xffff, Attr: 0x82}
	c.gdtr.Limit, c.idtr.Limit = 0xffff, 0xffff
	c.dr[6], c.dr[7] = dr6Fixed, dr7Fixed
	c.flushTLB()
	c.refresh()
}

// Registers returns a copy of the register state.
func (c *CPU) Registers() vmm.Registers {
	r := vmm.Registers{
		RIP: c.r[regIP], RFLAGS: c.flags(),
		ES: c.seg[segES], CS: c.seg[segCS], SS: c.seg[segSS], DS: c.seg[segDS], FS: c.seg[segFS], GS: c.seg[segGS],
		TR: c.tr, LDTR: c.ldtr, GDTR: c.gdtr, IDTR: c.idtr,
		CR0: c.cr0, CR2: c.cr2, CR3: c.cr3, CR4: c.cr4, CR8: uint64(c.cr8),
		EFER: c.efer, XCR0: c.xcr0, DR: c.dr,
		STAR: c.msr.star, LSTAR: c.msr.lstar, CSTAR: c.msr.cstar, SFMASK: c.msr.sfmask,
		KernelGSBase: c.msr.kernelGSBase, TSCAux: c.msr.tscAux,
		SysenterCS: c.msr.sysenterCS, SysenterESP: c.msr.sysenterESP, EIP: c.msr.sysenterEIP,
		FPU: c.fpu, Shadow: c.shadow, NMIBlocked: c.nmiBlocked,
	}
	copy(r.GPR[:], c.r[:16])
	return r
}

// SetRegisters replaces the register state. It returns an error, and changes
// nothing, if the control registers contradict each other.
func (c *CPU) SetRegisters(r *vmm.Registers) error {
	switch {
	case r.CR0&cr0PG != 0 && r.CR0&cr0PE == 0:
		return fmt.Errorf("setting registers: CR0 %#x has PG without PE", r.CR0)
	case r.EFER&eferLMA != 0 && (r.CR0&cr0PG == 0 || r.CR4&cr4PAE == 0 || r.EFER&eferLME == 0):
		return fmt.Errorf("setting registers: EFER %#x has LMA without CR0.PG, CR4.PAE and LME", r.EFER)
	case r.CR4&^cr4Valid != 0:
		return fmt.Errorf("setting registers: CR4 %#x has bits this processor lacks", r.CR4)
	case r.CR8 > 15:
		return fmt.Errorf("setting registers: CR8 %#x is above 15", r.CR8)
	}
	copy(c.r[:16], r.GPR[:])
	c.r[regIP] = r.RIP
	c.setFlags(r.RFLAGS)
	c.seg = [6]vmm.Segment{r.ES, r.CS, r.SS, r.DS, r.FS, r.GS}
	c.tr, c.ldtr, c.gdtr, c.idtr = r.TR, r.LDTR, r.GDTR, r.IDTR
	c.cr0, c.cr2, c.cr3, c.cr4, c.cr8 = r.CR0|cr0ET, r.CR2, r.CR3, r.CR4, uint8(r.CR8)
	c.efer, c.xcr0, c.dr = r.EFER, r.XCR0, r.DR
	c.msr.star, c.msr.lstar, c.msr.cstar, c.msr.sfmask = r.STAR, r.LSTAR, r.CSTAR, r.SFMASK
	c.msr.kernelGSBase, c.msr.tscAux = r.KernelGSBase, r.TSCAux
	c.msr.sysenterCS, c.msr.sysenterESP, c.msr.sysenterEIP = r.SysenterCS, r.SysenterESP, r.EIP
	c.fpu, c.shadow, c.nmiBlocked = r.FPU, r.Shadow, r.NMIBlocked
	c.halted, c.dead, c.event = false, false, vmm.Event{}
	c.pending, c.log = completion{}, accessLog{}
	c.flushTLB()
	c.refresh()
	return nil
}
