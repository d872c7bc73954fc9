//go:build linux && amd64

package kvm

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

func TestHiddenFeaturesAreNotInCPUID(t *testing.T) {
	code := []byte{
		0x66, 0xb8, 0x01, 0x00, 0x00, 0x00, // mov eax, 1
		0x66, 0x31, 0xc9, // xor ecx, ecx
		0x0f, 0xa2, // cpuid
		0xe6, 0x10, // out 0x10, al
	}
	for _, tt := range []struct {
		name string
		hide vmm.Features
		want uint32 // of the two bits in ECX
	}{
		{"nothing hidden", vmm.Features{}, featureX2APIC | featureTSCDeadline},
		{"no x2APIC", vmm.Features{X2APIC: true}, featureTSCDeadline},
		{"no TSC-deadline", vmm.Features{TSCDeadline: true}, featureX2APIC},
		{"neither", vmm.Features{X2APIC: true, TSCDeadline: true}, 0},
	} {
		for p := InVMM; p <= InKernel; p++ {
			t.Run(p.String()+"/"+tt.name, func(t *testing.T) {
				vm, c := boot(t, Options{Placement: p, Hide: tt.hide}, code)
				if e := c.Run(vm.Now(), clock.Never); e.Reason != vmm.ExitIO || e.Addr != 0x10 {
					t.Fatalf("exit %+v, want OUT to 0x10", e)
				}
				if got := uint32(c.GPR(vmm.RCX)) & (featureX2APIC | featureTSCDeadline); got != tt.want {
					t.Errorf("CPUID.1:ECX shows %#x of the two features, want %#x", got, tt.want)
				}
			})
		}
	}
}

// KVM carries out its hypercalls itself, on its own local APICs. Where the APICs
// are the loop's, no hypercall may exist.
func TestHypercallsDoNotPassALAPICInUserSpace(t *testing.T) {
	const sendIPI, noSuchCall = 10, -1000 // KVM_HC_SEND_IPI, −KVM_ENOSYS
	s := needKVM(t)
	if s.Check(_KVM_CAP_ENFORCE_PV_FEATURE_CPUID) <= 0 {
		t.Skip("this kernel cannot take hypercalls away")
	}
	last := byte(0xc1) // vmcall
	if s.Vendor == AMD {
		last = 0xd9 // vmmcall
	}
	code := []byte{
		0x66, 0xb8, sendIPI, 0x00, 0x00, 0x00, // mov eax, 10
		0x66, 0x31, 0xdb, // xor ebx, ebx: no destination
		0x66, 0x31, 0xc9, // xor ecx, ecx
		0x66, 0x31, 0xd2, // xor edx, edx
		0x66, 0x31, 0xf6, // xor esi, esi
		0x0f, 0x01, last,
		0xe6, 0x10, // out 0x10, al
	}
	vm, c := boot(t, Options{Placement: InVMM}, code)
	if e := c.Run(vm.Now(), clock.Never); e.Reason != vmm.ExitIO || e.Addr != 0x10 {
		t.Fatalf("exit %+v, want OUT to 0x10", e)
	}
	if got := int32(c.GPR(vmm.RAX)); got != noSuchCall {
		t.Errorf("send-IPI hypercall returned %d, want %d", got, noSuchCall)
	}
}
