//go:build linux && amd64

package kvm

import (
	"encoding/binary"
	"fmt"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// gpr returns the field of a register by its encoding number.
func (r *kvmRegs) gpr(n int) *uint64 {
	switch n {
	case vmm.RAX:
		return &r.RAX
	case vmm.RCX:
		return &r.RCX
	case vmm.RDX:
		return &r.RDX
	case vmm.RBX:
		return &r.RBX
	case vmm.RSP:
		return &r.RSP
	case vmm.RBP:
		return &r.RBP
	case vmm.RSI:
		return &r.RSI
	case vmm.RDI:
		return &r.RDI
	}
	high := [...]*uint64{&r.R8, &r.R9, &r.R10, &r.R11, &r.R12, &r.R13, &r.R14, &r.R15}
	return high[n-vmm.R8]
}

func segmentFrom(s kvmSegment) vmm.Segment {
	attr := uint32(s.Type) | uint32(s.S)<<4 | uint32(s.DPL)<<5 | uint32(s.Present)<<7 | uint32(s.AVL)<<12 |
		uint32(s.L)<<13 | uint32(s.DB)<<14 | uint32(s.G)<<15 | uint32(s.Unusable_)<<16
	return vmm.Segment{Selector: s.Selector, Base: s.Base, Limit: s.Limit, Attr: attr}
}

func segmentTo(s vmm.Segment) kvmSegment {
	bit := func(n int) uint8 { return uint8(s.Attr >> n & 1) }
	return kvmSegment{Base: s.Base, Limit: s.Limit, Selector: s.Selector, Type: uint8(s.Attr & 15), S: bit(4),
		DPL: uint8(s.Attr >> 5 & 3), Present: bit(7), AVL: bit(12), L: bit(13), DB: bit(14), G: bit(15), Unusable_: bit(16)}
}

// callMSRs are the MSRs that vmm.Registers holds.
var callMSRs = []uint32{msrSTAR, msrLSTAR, msrCSTAR, msrSFMASK, msrKernelGS, msrTSCAux, msrSysenterCS,
	msrSysenterESP, msrSysenterEIP}

func callMSRFields(r *vmm.Registers) []*uint64 {
	return []*uint64{&r.STAR, &r.LSTAR, &r.CSTAR, &r.SFMASK, &r.KernelGSBase, &r.TSCAux, &r.SysenterCS,
		&r.SysenterESP, &r.EIP}
}

// Registers implements vmm.CPU.
func (c *CPU) Registers() vmm.Registers {
	var r vmm.Registers
	c.must("reading registers", func() error { return c.getRegisters(&r) })
	return r
}

func (c *CPU) getRegisters(r *vmm.Registers) error {
	var regs kvmRegs
	if _, err := ioctlPtr(c.fd, _KVM_GET_REGS, &regs); err != nil {
		return err
	}
	for n := range r.GPR {
		r.GPR[n] = *regs.gpr(n)
	}
	r.RIP, r.RFLAGS = regs.RIP, regs.RFLAGS
	var s kvmSregs
	if _, err := ioctlPtr(c.fd, _KVM_GET_SREGS, &s); err != nil {
		return err
	}
	r.ES, r.CS, r.SS, r.DS = segmentFrom(s.ES), segmentFrom(s.CS), segmentFrom(s.SS), segmentFrom(s.DS)
	r.FS, r.GS, r.TR, r.LDTR = segmentFrom(s.FS), segmentFrom(s.GS), segmentFrom(s.TR), segmentFrom(s.LDT)
	r.GDTR, r.IDTR = vmm.Table{Base: s.GDT.Base, Limit: s.GDT.Limit}, vmm.Table{Base: s.IDT.Base, Limit: s.IDT.Limit}
	r.CR0, r.CR2, r.CR3, r.CR4, r.CR8, r.EFER = s.CR0, s.CR2, s.CR3, s.CR4, s.CR8, s.EFER
	if c.vm.opts.Placement == InVMM {
		r.CR8 = c.page.CR8
	}
	var ev vcpuEvents
	if _, err := ioctlPtr(c.fd, _KVM_GET_VCPU_EVENTS, &ev); err != nil {
		return err
	}
	r.Shadow, r.NMIBlocked = ev.InterruptShadow != 0, ev.NMIMasked != 0
	var d debugregs
	if _, err := ioctlPtr(c.fd, _KVM_GET_DEBUGREGS, &d); err != nil {
		return err
	}
	copy(r.DR[:4], d.DB[:])
	r.DR[6], r.DR[7] = d.DR6, d.DR7
	if err := c.getMSRs(r); err != nil {
		return err
	}
	if c.hasXCRs {
		var x xcrs
		if _, err := ioctlPtr(c.fd, _KVM_GET_XCRS, &x); err != nil {
			return err
		}
		r.XCR0 = x.XCRs[0].Value
	}
	var f kvmFPU
	if _, err := ioctlPtr(c.fd, _KVM_GET_FPU, &f); err != nil {
		return err
	}
	r.FPU = fpuFrom(&f)
	return nil
}

func (c *CPU) getMSRs(r *vmm.Registers) error {
	m := &msrs{NMSRs: uint32(len(callMSRs))}
	for i, index := range callMSRs {
		m.Entries[i].Index = index
	}
	n, err := ioctlPtr(c.fd, _KVM_GET_MSRS, m)
	if err != nil {
		return err
	}
	for i, p := range callMSRFields(r)[:n] {
		*p = m.Entries[i].Data
	}
	return nil
}

// SetRegisters implements vmm.CPU. The APIC base stays as it is.
func (c *CPU) SetRegisters(r *vmm.Registers) error {
	var s kvmSregs
	if _, err := ioctlPtr(c.fd, _KVM_GET_SREGS, &s); err != nil {
		return fmt.Errorf("reading system registers: %w", err)
	}
	s.ES, s.CS, s.SS, s.DS = segmentTo(r.ES), segmentTo(r.CS), segmentTo(r.SS), segmentTo(r.DS)
	s.FS, s.GS, s.TR, s.LDT = segmentTo(r.FS), segmentTo(r.GS), segmentTo(r.TR), segmentTo(r.LDTR)
	s.GDT, s.IDT = kvmDtable{Base: r.GDTR.Base, Limit: r.GDTR.Limit}, kvmDtable{Base: r.IDTR.Base, Limit: r.IDTR.Limit}
	s.CR0, s.CR2, s.CR3, s.CR4, s.CR8, s.EFER = r.CR0, r.CR2, r.CR3, r.CR4, r.CR8, r.EFER
	s.InterruptBitmap = [4]uint64{}
	if _, err := ioctlPtr(c.fd, _KVM_SET_SREGS, &s); err != nil {
		return fmt.Errorf("setting system registers: %w", err)
	}
	c.page.CR8 = r.CR8 & 15
	var regs kvmRegs
	for n := range r.GPR {
		*regs.gpr(n) = r.GPR[n]
	}
	regs.RIP, regs.RFLAGS = r.RIP, r.RFLAGS
	if _, err := ioctlPtr(c.fd, _KVM_SET_REGS, &regs); err != nil {
		return fmt.Errorf("setting registers: %w", err)
	}
	c.page.Sync.Regs, c.stale = regs, false
	if err := c.setEvents(r); err != nil {
		return err
	}
	if err := c.setMSRs(r); err != nil {
		return err
	}
	d := debugregs{DR6: r.DR[6], DR7: r.DR[7]}
	copy(d.DB[:], r.DR[:4])
	if _, err := ioctlPtr(c.fd, _KVM_SET_DEBUGREGS, &d); err != nil {
		return fmt.Errorf("setting debug registers: %w", err)
	}
	if c.hasXCRs && r.XCR0 != 0 {
		x := xcrs{NrXCRs: 1}
		x.XCRs[0].Value = r.XCR0
		if _, err := ioctlPtr(c.fd, _KVM_SET_XCRS, &x); err != nil {
			return fmt.Errorf("setting XCR0 to %#x: %w", r.XCR0, err)
		}
	}
	f := fpuTo(&r.FPU)
	if _, err := ioctlPtr(c.fd, _KVM_SET_FPU, &f); err != nil {
		return fmt.Errorf("setting the FPU: %w", err)
	}
	return nil
}

func (c *CPU) setEvents(r *vmm.Registers) error {
	var ev vcpuEvents
	if _, err := ioctlPtr(c.fd, _KVM_GET_VCPU_EVENTS, &ev); err != nil {
		return fmt.Errorf("reading events: %w", err)
	}
	ev.InterruptShadow, ev.NMIMasked = b2u8(r.Shadow), b2u8(r.NMIBlocked)
	ev.Flags |= _KVM_VCPUEVENT_VALID_SHADOW
	if _, err := ioctlPtr(c.fd, _KVM_SET_VCPU_EVENTS, &ev); err != nil {
		return fmt.Errorf("setting events: %w", err)
	}
	return nil
}

func (c *CPU) setMSRs(r *vmm.Registers) error {
	m := &msrs{}
	for i, p := range callMSRFields(r) {
		m.Entries[m.NMSRs] = msrEntry{Index: callMSRs[i], Data: *p}
		m.NMSRs++
	}
	// KVM stops at the first MSR that it lacks: skip that one if it is zero.
	for at := uint32(0); at < m.NMSRs; {
		part := &msrs{NMSRs: m.NMSRs - at}
		copy(part.Entries[:], m.Entries[at:m.NMSRs])
		n, err := ioctlPtr(c.fd, _KVM_SET_MSRS, part)
		if err != nil {
			return fmt.Errorf("setting MSRs: %w", err)
		}
		at += uint32(n)
		if at < m.NMSRs {
			if e := m.Entries[at]; e.Data != 0 {
				return fmt.Errorf("setting MSR %#x to %#x: KVM refuses it", e.Index, e.Data)
			}
			at++
		}
	}
	return nil
}

// ReadMSR implements vmm.CPU.
func (c *CPU) ReadMSR(index uint32) (uint64, bool) {
	m := &msrs{NMSRs: 1}
	m.Entries[0].Index = index
	n, err := ioctlPtr(c.fd, _KVM_GET_MSRS, m)
	return m.Entries[0].Data, err == nil && n == 1
}

// WriteMSR implements vmm.CPU.
func (c *CPU) WriteMSR(index uint32, v uint64) bool {
	m := &msrs{NMSRs: 1}
	m.Entries[0] = msrEntry{Index: index, Data: v}
	n, err := ioctlPtr(c.fd, _KVM_SET_MSRS, m)
	return err == nil && n == 1
}

func fpuFrom(f *kvmFPU) vmm.FPU {
	v := vmm.FPU{Control: f.FCW, Status: f.FSW &^ topMask, Top: uint8(f.FSW & topMask >> 11), Tag: f.FTWX,
		Opcode: f.LastOpcode, LastIP: f.LastIP, LastDP: f.LastDP, MXCSR: f.MXCSR}
	for i := range v.ST {
		v.ST[i] = vmm.X87{Mant: binary.LittleEndian.Uint64(f.FPR[i][:]), Exp: binary.LittleEndian.Uint16(f.FPR[i][8:])}
	}
	for i := range v.XMM {
		v.XMM[i] = [2]uint64{binary.LittleEndian.Uint64(f.XMM[i][:]), binary.LittleEndian.Uint64(f.XMM[i][8:])}
	}
	return v
}

const topMask = 7 << 11

func fpuTo(v *vmm.FPU) kvmFPU {
	f := kvmFPU{FCW: v.Control, FSW: v.Status&^topMask | uint16(v.Top)<<11, FTWX: v.Tag,
		LastOpcode: v.Opcode, LastIP: v.LastIP, LastDP: v.LastDP, MXCSR: v.MXCSR}
	for i, s := range v.ST {
		binary.LittleEndian.PutUint64(f.FPR[i][:], s.Mant)
		binary.LittleEndian.PutUint16(f.FPR[i][8:], s.Exp)
	}
	for i, x := range v.XMM {
		binary.LittleEndian.PutUint64(f.XMM[i][:], x[0])
		binary.LittleEndian.PutUint64(f.XMM[i][8:], x[1])
	}
	return f
}

// cpuState is what Save returns: the registers and what waits for delivery.
type cpuState struct {
	regs   vmm.Registers
	events vcpuEvents
	offset clock.Cycles
}

// Save implements vmm.CPU.
func (c *CPU) Save() any {
	s := &cpuState{regs: c.Registers(), offset: c.offset}
	c.must("reading events", func() error { _, err := ioctlPtr(c.fd, _KVM_GET_VCPU_EVENTS, &s.events); return err })
	return s
}

// Restore implements vmm.CPU.
func (c *CPU) Restore(v any) {
	s := v.(*cpuState)
	c.must("restoring registers", func() error { return c.SetRegisters(&s.regs) })
	ev := s.events
	c.must("restoring events", func() error { _, err := ioctlPtr(c.fd, _KVM_SET_VCPU_EVENTS, &ev); return err })
	c.SetTSCOffset(s.offset)
}

// Reset implements vmm.CPU.
func (c *CPU) Reset(powerUp bool) {
	r := c.Registers()
	c.must("resetting", func() error { return c.SetRegisters(resetRegisters(&r, powerUp)) })
	c.pio, c.pending = portRun{}, pendNothing
}

// resetRegisters is the state after INIT or power-up. Intel SDM vol. 3A, table
// 10-1 "IA-32 and Intel 64 Processor States Following Power-up, Reset, or INIT".
func resetRegisters(old *vmm.Registers, powerUp bool) *vmm.Registers {
	const presentData, presentCode, tss, ldt = 0x93, 0x9b, 0x8b, 0x82
	data := vmm.Segment{Limit: 0xffff, Attr: presentData}
	r := &vmm.Registers{
		RIP: 0xfff0, RFLAGS: 2, CR0: 0x60000010,
		CS: vmm.Segment{Selector: 0xf000, Base: 0xffff0000, Limit: 0xffff, Attr: presentCode},
		DS: data, ES: data, FS: data, GS: data, SS: data,
		TR: vmm.Segment{Limit: 0xffff, Attr: tss}, LDTR: vmm.Segment{Limit: 0xffff, Attr: ldt},
		GDTR: vmm.Table{Limit: 0xffff}, IDTR: vmm.Table{Limit: 0xffff},
		DR: [8]uint64{6: 0xffff0ff0, 7: 0x400}, XCR0: 1,
		FPU: vmm.FPU{Control: 0x40, MXCSR: 0x1f80},
	}
	if !powerUp { // INIT keeps the FPU and the MSRs, and CD and NW of CR0
		r.FPU, r.XCR0 = old.FPU, old.XCR0
		r.CR0 = 0x10 | old.CR0&0x60000000
		src, dst := callMSRFields(old), callMSRFields(r)
		for i := range dst {
			*dst[i] = *src[i]
		}
	}
	return r
}
