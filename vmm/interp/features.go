package interp

// familyModel is CPUID.1:EAX: family 6, model 85 (0x55), stepping 4.
const familyModel = 0x00050654

// The feature bits of CPUID that the interpreter implements. Intel SDM vol. 2A,
// "CPUID—CPU Identification".
const (
	feature1EDX = 1<<0 | // FPU
		1<<2 | // DE
		1<<3 | // PSE
		1<<4 | // TSC
		1<<5 | // MSR
		1<<6 | // PAE
		1<<8 | // CX8
		1<<11 | // SEP
		1<<12 | // MTRR
		1<<13 | // PGE
		1<<14 | // MCA
		1<<15 | // CMOV
		1<<16 | // PAT
		1<<17 | // PSE36
		1<<19 | // CLFSH
		1<<23 | // MMX
		1<<24 | // FXSR
		1<<25 | // SSE
		1<<26 // SSE2
	feature1ECX = 1<<0 | // SSE3
		1<<9 | // SSSE3
		1<<13 | // CMPXCHG16B
		1<<19 | // SSE4.1
		1<<20 | // SSE4.2
		1<<22 | // MOVBE
		1<<23 | // POPCNT
		1<<26 // XSAVE
	feature7EBX = 1<<0 | // FSGSBASE
		1<<7 | // SMEP
		1<<20 | // SMAP
		1<<23 // CLFLUSHOPT
	feature80000001EDX = 1<<11 | // SYSCALL
		1<<20 | // NX
		1<<26 | // 1 GiB pages
		1<<27 | // RDTSCP
		1<<29 // long mode
	feature80000001ECX = 1<<0 | // LAHF in 64-bit mode
		1<<5 | // LZCNT
		1<<8 // PREFETCHW
)

// CPUID returns EAX, EBX, ECX and EDX of the processor that the interpreter is.
// Timers, APICs, topology and hypervisor leaves are the machine's to add, and so
// is the bit that mirrors CR4.OSXSAVE. Leaves it does not have are zero.
func CPUID(leaf, subleaf uint32) [4]uint32 {
	switch leaf {
	case 0:
		return [4]uint32{0x16, 0x756e6547, 0x6c65746e, 0x49656e69} // GenuineIntel
	case 1:
		return [4]uint32{familyModel, 8 << 8, feature1ECX, feature1EDX}
	case 7:
		if subleaf == 0 {
			return [4]uint32{0, feature7EBX, 0, 0}
		}
	case 0xd:
		switch subleaf {
		case 0:
			return [4]uint32{3, 576, 576, 0}
		}
	case 0x80000000:
		return [4]uint32{0x80000008}
	case 0x80000001:
		return [4]uint32{0, 0, feature80000001ECX, feature80000001EDX}
	case 0x80000002, 0x80000003, 0x80000004:
		return brand[leaf-0x80000002]
	case 0x80000008:
		return [4]uint32{physBits | 48<<8}
	}
	return [4]uint32{}
}

// brand is the processor's name, "ticktrap interpreter", in the three leaves.
var brand = [3][4]uint32{
	{0x6b636974, 0x70617274, 0x746e6920, 0x72707265}, // "tick" "trap" " int" "erpr"
	{0x72657465}, // "eter"
}
