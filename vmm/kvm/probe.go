//go:build linux && amd64

package kvm

import (
	"fmt"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// ProbeDeadline finds out by trial how the TSC-deadline MSR can be trapped on
// this kernel: a guest writes it once per way, and either the write arrives or
// it does not.
func (s *System) ProbeDeadline() (DeadlineCure, error) {
	tries := []DeadlineCure{CureNone}
	if s.Check(_KVM_CAP_X86_DISABLE_EXITS)&_KVM_X86_DISABLE_EXITS_MWAIT != 0 {
		tries = append(tries, CureMWAIT)
	}
	for _, cure := range tries {
		ok, err := s.deadlineArrives(cure)
		if err != nil {
			return BadCure, fmt.Errorf("trying to trap the TSC-deadline MSR: %w", err)
		}
		if ok {
			return cure, nil
		}
	}
	return CureHide, nil
}

// probeCode writes 0 to the TSC-deadline MSR and halts, in real mode.
var probeCode = []byte{
	0x66, 0xb9, 0xe0, 0x06, 0x00, 0x00, // mov ecx, 0x6e0
	0x66, 0x31, 0xc0, // xor eax, eax
	0x66, 0x31, 0xd2, // xor edx, edx
	0x0f, 0x30, // wrmsr
	0xf4, // hlt
}

const (
	probeRAM   = 64 << 10
	probeStart = 0x1000
)

func (s *System) deadlineArrives(cure DeadlineCure) (bool, error) {
	mem, err := NewMemory(probeRAM)
	if err != nil {
		return false, err
	}
	defer mem.Close()
	if err := mem.WriteAt(probeCode, probeStart); err != nil {
		return false, err
	}
	vm, err := s.NewVM(mem, Options{Placement: InVMM, VCPUs: 1, HaltPoll: -1, Deadline: cure})
	if err != nil {
		return false, err
	}
	defer vm.Close()
	c := vm.CPU(0)
	if err := c.startReal(probeStart); err != nil {
		return false, err
	}
	type result struct {
		exit vmm.Exit
		err  error
	}
	done := make(chan result)
	go func() { // the goroutine's thread ends with it
		if err := c.Bind(); err != nil {
			done <- result{err: err}
			return
		}
		defer c.Unbind()
		done <- result{exit: c.Run(0, clock.Never)}
	}()
	r := <-done
	return r.exit.Reason == vmm.ExitWRMSR, r.err
}

// Frequency is the TSC frequency that guests see on this machine.
func Frequency() (clock.Hz, error) {
	s, err := Open()
	if err != nil {
		return 0, err
	}
	defer s.Close()
	mem, err := NewMemory(probeRAM)
	if err != nil {
		return 0, err
	}
	defer mem.Close()
	vm, err := s.NewVM(mem, Options{Placement: InVMM, VCPUs: 1, HaltPoll: -1, Deadline: CureNone})
	if err != nil {
		return 0, err
	}
	defer vm.Close()
	return vm.Hz(), nil
}

// startReal makes the vCPU start in real mode at 0:ip, interrupts off.
func (c *CPU) startReal(ip uint16) error {
	r := c.Registers()
	r = *resetRegisters(&r, true)
	r.CS.Selector, r.CS.Base, r.RIP = 0, 0, uint64(ip)
	return c.SetRegisters(&r)
}
