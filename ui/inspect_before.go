package ui

import (
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// changed is the look of a register that an exit changed.
const changed = warn | strong

// exitRegs are the registers of a vCPU as a frame showed them after an exit.
type exitRegs struct {
	exit trace.Num
	regs vmm.Registers
}

// regsBefore holds for each vCPU the registers that were shown at another exit
// than the present one, most recently: stepping tells what an exit changed.
type regsBefore []exitRegs

// take notes the registers of the frame that goes, where the new one stands at
// another exit. Those of a guest that is ahead of what was shown belong to none.
func (b *regsBefore) take(was, now *vmm.Frame) {
	if was == nil || was == now || was.Status.Ahead.Exits > 0 {
		return
	}
	for i := range min(len(was.CPUs), len(now.CPUs), len(was.State.VCPUs), len(now.State.VCPUs)) {
		n := was.State.VCPUs[i].Exit
		if n == trace.NoNum || n == now.State.VCPUs[i].Exit {
			continue
		}
		for len(*b) <= i {
			*b = append(*b, exitRegs{})
		}
		(*b)[i] = exitRegs{n, was.CPUs[i].Regs}
	}
}

// of is what is known of a vCPU, nil if nothing is.
func (b regsBefore) of(vcpu uint8) *exitRegs {
	if int(vcpu) >= len(b) || b[vcpu].exit == trace.NoNum {
		return nil
	}
	return &b[vcpu]
}
