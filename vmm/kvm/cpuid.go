//go:build linux && amd64

package kvm

import "fmt"

// CPUID bits that are set or cleared here. Intel SDM vol. 2A, CPUID.
const (
	leafFeatures  = 1
	leafTopology  = 0xb
	leafTopology2 = 0x1f
	leafKVM       = 0x40000000
	leafKVMLast   = 0x400000ff
	leafSizes     = 0x80000008 // EAX[7:0]: MAXPHYADDR

	featureX2APIC      = 1 << 21 // leaf 1 ECX
	featureTSCDeadline = 1 << 24 // leaf 1 ECX
	featureMWAIT       = 1 << 3  // leaf 1 ECX
	featureHypervisor  = 1 << 31 // leaf 1 ECX
)

// setCPUID gives the vCPU what KVM supports, with its APIC ID and the timer
// features of the placement.
func (c *CPU) setCPUID() error {
	if err := c.enforceParavirtual(); err != nil {
		return err
	}
	id := &cpuid2{Nent: maxCPUID}
	if _, err := ioctlPtr(c.vm.sys.fd, _KVM_GET_SUPPORTED_CPUID, id); err != nil {
		return fmt.Errorf("asking for the supported CPUID: %w", err)
	}
	kept := uint32(0)
	for _, e := range id.Entries[:id.Nent] {
		// KVM's paravirtual devices expect its own LAPIC.
		if c.vm.opts.Placement == InVMM && e.Function >= leafKVM && e.Function <= leafKVMLast {
			continue
		}
		c.adjustCPUID(&e)
		id.Entries[kept] = e
		kept++
	}
	id.Nent = kept
	if _, err := ioctlPtr(c.fd, _KVM_SET_CPUID2, id); err != nil {
		return fmt.Errorf("setting CPUID: %w", err)
	}
	return nil
}

func (c *CPU) adjustCPUID(e *cpuidEntry2) {
	switch e.Function {
	case leafFeatures:
		e.EBX = e.EBX&0x0000ffff | uint32(c.id)<<24 | uint32(c.vm.opts.VCPUs)<<16
		e.ECX |= featureX2APIC | featureTSCDeadline | featureHypervisor
		e.ECX &^= featureMWAIT
		if c.vm.opts.Hide.X2APIC {
			e.ECX &^= featureX2APIC
		}
		if c.vm.opts.Hide.TSCDeadline {
			e.ECX &^= featureTSCDeadline
		}
	case leafSizes:
		c.vm.physBits = uint8(e.EAX)
	case leafTopology, leafTopology2:
		e.EDX = uint32(c.id)
	}
}

// enforceParavirtual takes away the hypercalls and MSRs that CPUID does not show.
// Without it KVM would answer them all the same, past a LAPIC in user space.
// That needs KVM_CAP_X86_USER_SPACE_MSR.
func (c *CPU) enforceParavirtual() error {
	if c.vm.sys.Check(_KVM_CAP_ENFORCE_PV_FEATURE_CPUID) <= 0 {
		return nil
	}
	e := enableCap{Cap: _KVM_CAP_ENFORCE_PV_FEATURE_CPUID, Args: [4]uint64{1}}
	if _, err := ioctlPtr(c.fd, _KVM_ENABLE_CAP, &e); err != nil {
		return fmt.Errorf("hiding paravirtual features: %w", err)
	}
	return nil
}
