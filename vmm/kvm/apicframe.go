//go:build linux && amd64

package kvm

import (
	"encoding/binary"
	"math/bits"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// readAPIC reads the in-kernel local APIC of a vCPU that is out of KVM_RUN.
//
// The guest does not notice. KVM moves PIR into IRR first, as the next VM-entry
// would; an expiry in lapic_timer.pending stays there, so the timer's vector is
// not in IRR while its deadline has passed (arch/x86/kvm/x86.c,
// kvm_vcpu_ioctl_get_lapic; arch/x86/kvm/lapic.c, kvm_apic_get_state,
// kvm_get_lapic_tscdeadline_msr). The MP state is not read: reading it carries
// out an INIT or a SIPI that waits (kvm_arch_vcpu_ioctl_get_mpstate).
func (c *CPU) readAPIC() (f vmm.APICFrame) {
	var s lapicState
	if _, err := ioctlPtr(c.fd, _KVM_GET_LAPIC, &s); err != nil {
		return f
	}
	f = apicFrame(&s)
	f.At = c.vm.Now()
	f.Regs.Deadline, _ = c.ReadMSR(msrTSCDeadline)
	if f.Regs.Deadline != 0 {
		f.Deadline = max(1, clock.TSC(f.Regs.Deadline).Add(-c.guestOffset()))
	}
	return f
}

// apicFrame decodes the register page.
func apicFrame(s *lapicState) vmm.APICFrame {
	reg := func(r lapic.Reg) uint32 { return binary.LittleEndian.Uint32(s.Regs[r:]) }
	set := func(r lapic.Reg) (v trace.Vectors) {
		for i := range 8 {
			w := reg(r + lapic.Reg(i)<<4)
			for ; w != 0; w &= w - 1 {
				v.Add(uint8(32*i + bits.TrailingZeros32(w)))
			}
		}
		return v
	}
	return vmm.APICFrame{Known: true, TMCCT: reg(lapic.TMCCT), PPR: uint8(reg(lapic.PPR)),
		IRR: set(lapic.IRR), ISR: set(lapic.ISR), TMR: set(lapic.TMR),
		Regs: trace.APICRegisters{LVTT: reg(lapic.LVTT), LVT0: reg(lapic.LVT0), LVT1: reg(lapic.LVT1), LVTErr: reg(lapic.LVTError),
			LVTPerf: reg(lapic.LVTPC), LVTThermal: reg(lapic.LVTThermal), SPIV: reg(lapic.SPIV), TPR: reg(lapic.TPR),
			TMICT: reg(lapic.TMICT), TDCR: reg(lapic.TDCR), LDR: reg(lapic.LDR), DFR: reg(lapic.DFR), ID: reg(lapic.ID),
			ESR: reg(lapic.ESR), ICR: uint64(reg(lapic.ICR2))<<32 | uint64(reg(lapic.ICRLow))}}
}
