package model

import "codeberg.org/ticktrap/ticktrap/vmm/interp"

// The bits of CPUID leaf 1 that the machine adds to what the interpreter can do.
// Intel SDM vol. 2A, CPUID "CPU Identification".
const (
	cpuidX2APIC      = 1 << 21 // ECX
	cpuidTSCDeadline = 1 << 24 // ECX
	cpuidHypervisor  = 1 << 31 // ECX
	cpuidAPIC        = 1 << 9  // EDX
	cpuidTSCAdjust   = 1 << 1  // leaf 7 EBX
	cpuidARAT        = 1 << 2  // leaf 6 EAX
)

// cpuid answers CPUID for vCPU v: the interpreter's features, the local APIC,
// topology, and an invariant TSC.
func (e *Engine) cpuid(v int, leaf, sub uint32) [4]uint32 {
	r := interp.CPUID(leaf, sub)
	n := uint32(e.cfg.VCPUs)
	switch leaf {
	case 1:
		r[1] = r[1]&0x0000ffff | min(n, 255)<<16 | uint32(v)<<24
		r[2] |= cpuidHypervisor
		if !e.cfg.Hide.X2APIC {
			r[2] |= cpuidX2APIC
		}
		if !e.cfg.Hide.TSCDeadline {
			r[2] |= cpuidTSCDeadline
		}
		if e.m.APICEnabled(v) {
			r[3] |= cpuidAPIC
		}
	case 6:
		r[0] |= cpuidARAT
	case 7:
		if sub == 0 {
			r[1] |= cpuidTSCAdjust
		}
	case 0xb:
		return topology(v, n, sub)
	case 0x15:
		// TSC frequency = crystal × EBX / EAX.
		return [4]uint32{1, 1, uint32(e.cfg.Profile.Hz), 0}
	case 0x16:
		mhz := uint32(e.cfg.Profile.Hz / 1_000_000)
		return [4]uint32{mhz, mhz, 100, 0}
	case 0x40000000:
		// A hypervisor without paravirtual interface.
		return [4]uint32{0x40000000, 0x6b636974, 0x70617274, 0x00000000} // "ticktrap"
	case 0x80000007:
		r[3] |= 1 << 8 // invariant TSC
	}
	return r
}

// topology is leaf 0xb: one thread a core, all cores in one package.
func topology(v int, n, sub uint32) [4]uint32 {
	shift := uint32(0)
	for 1<<shift < n {
		shift++
	}
	switch sub {
	case 0:
		return [4]uint32{0, 1, 1<<8 | sub, uint32(v)}
	case 1:
		return [4]uint32{shift, n, 2<<8 | sub, uint32(v)}
	}
	return [4]uint32{0, 0, sub, uint32(v)}
}
