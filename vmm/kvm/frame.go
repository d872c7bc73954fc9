//go:build linux && amd64

package kvm

import "codeberg.org/ticktrap/ticktrap/vmm"

// frame is a vCPU for the screen. Only a vCPU that is out of KVM_RUN has all of
// its registers; of a running one the general ones of its last exit are known.
func frame(c *CPU, stopped bool) vmm.CPUFrame {
	var f vmm.CPUFrame
	if stopped {
		f.Regs = c.Registers()
		if c.vm.opts.Placement == InKernel {
			f.APIC = c.readAPIC()
		}
	} else {
		regs := &c.page.Sync.Regs
		for n := range f.Regs.GPR {
			f.Regs.GPR[n] = *regs.gpr(n)
		}
		f.Regs.RIP, f.Regs.RFLAGS = regs.RIP, regs.RFLAGS
	}
	f.Bits = bitsOf(&f.Regs)
	f.CodeAt = f.Regs.CS.Base + f.Regs.RIP
	if f.Bits == 64 {
		f.CodeAt = f.Regs.RIP
	}
	var code [codeBytes]byte
	if c.vm.mem.ReadAt(code[:], f.CodeAt) == nil { // built-in guests map linear to physical
		f.Code = code[:]
	}
	return f
}

const codeBytes = 64

// bitsOf is the operand size of the present code. Intel SDM vol. 3A, 5.2.1
// "Code-Segment Descriptor in 64-bit Mode".
func bitsOf(r *vmm.Registers) int {
	const lma, long, big = 1 << 10, 1 << 13, 1 << 14
	switch {
	case r.EFER&lma != 0 && r.CS.Attr&long != 0:
		return 64
	case r.CS.Attr&big != 0:
		return 32
	}
	return 16
}
