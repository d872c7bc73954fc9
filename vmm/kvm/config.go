package kvm

import (
	"fmt"

	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/board"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
)

// Config is what a run on KVM is made of.
type Config struct {
	// Guest is the image; Frequency tells what its TSC will count.
	Guest     *guest.Image
	Placement Placement
	VCPUs     int
	RAM       uint64 // bytes, a multiple of 4096
	// Kernel gives the rules of the loop with the LAPIC in this program; the zero
	// value chooses vmm.DefaultKernel.
	Kernel kernel.Kernel
	Knobs  vmm.Knobs
	// Unobserved leaves the kernel's loop alone with LAPIC=kernel: only the exits
	// that reach user space are seen.
	Unobserved bool
	// Untraced leaves out all events but those that happen once or because
	// somebody asked: console, knobs, the guest's own samples, the end. LAPIC=vmm
	// only.
	Untraced bool
	// TestDevice adds the unit tests' device to the platform.
	TestDevice bool
	// Hide are features that the guest's CPUID does not show.
	Hide vmm.Features
	// Inputs are what is typed at the serial port.
	Inputs []board.Input
}

// Placement is where the local APICs are.
type Placement uint8

// The placements. BadPlacement is the invalid zero value.
const (
	BadPlacement Placement = iota
	InVMM                  // package lapic, driven by package vmm's loop
	InKernel               // KVM_CREATE_IRQCHIP
)

// String returns the value of --lapic.
func (p Placement) String() string { return [...]string{"bad", "vmm", "kernel"}[p] }

// ParsePlacement reads a value of --lapic.
func ParsePlacement(s string) (Placement, error) {
	for p := InVMM; p <= InKernel; p++ {
		if p.String() == s {
			return p, nil
		}
	}
	return BadPlacement, fmt.Errorf("local APIC placement %q: want vmm or kernel", s)
}

// check refuses what cannot be.
func (c *Config) check() error {
	if c.Guest == nil {
		panic("BUG: a KVM run without a guest")
	}
	if c.VCPUs < 1 || c.VCPUs > vmm.MaxVCPUs {
		return fmt.Errorf("%d vCPUs: want 1 to %d", c.VCPUs, vmm.MaxVCPUs)
	}
	if n := c.Guest.MinVCPUs(); c.VCPUs < n {
		return fmt.Errorf("guest %s needs at least %d vCPUs, have %d", c.Guest.Name, n, c.VCPUs)
	}
	return nil
}
