package kvm

import (
	"structs"
	"unsafe"
)

// The part of linux/kvm.h and asm/kvm.h that is used, grouped by the kind of
// file descriptor. Constants and structs have the kernel's names here and
// nowhere else.

// Directions of _IOC (asm-generic/ioctl.h).
//
//	31  30 29           16 15      8 7       0
//	+-----+---------------+---------+---------+
//	| dir |     size      |  0xAE   | number  |
//	+-----+---------------+---------+---------+
const (
	iocNone  = 0
	iocWrite = 1
	iocRead  = 2

	kvmIO = 0xAE
)

func ioc(dir, nr, size uintptr) uintptr { return dir<<30 | size<<16 | kvmIO<<8 | nr }
func ioNone(nr uintptr) uintptr         { return ioc(iocNone, nr, 0) }
func ior[T any](nr uintptr) uintptr     { var t T; return ioc(iocRead, nr, unsafe.Sizeof(t)) }
func iow[T any](nr uintptr) uintptr     { var t T; return ioc(iocWrite, nr, unsafe.Sizeof(t)) }
func iowr[T any](nr uintptr) uintptr    { var t T; return ioc(iocRead|iocWrite, nr, unsafe.Sizeof(t)) }

// ioctls of /dev/kvm.
var (
	_KVM_GET_API_VERSION     = ioNone(0x00)
	_KVM_CREATE_VM           = ioNone(0x01)
	_KVM_GET_MSR_INDEX_LIST  = iowr[uint32](0x02)
	_KVM_CHECK_EXTENSION     = ioNone(0x03)
	_KVM_GET_VCPU_MMAP_SIZE  = ioNone(0x04)
	_KVM_GET_SUPPORTED_CPUID = iowr[uint64](0x05)
)

// ioctls of a VM.
var (
	_KVM_CREATE_VCPU            = ioNone(0x41)
	_KVM_SET_USER_MEMORY_REGION = iow[userspaceMemoryRegion](0x46)
	_KVM_SET_TSS_ADDR           = ioNone(0x47)
	_KVM_SET_IDENTITY_MAP_ADDR  = iow[uint64](0x48)
	_KVM_CREATE_IRQCHIP         = ioNone(0x60)
	_KVM_REINJECT_CONTROL       = ioNone(0x71) // takes a reinjectControl all the same
	_KVM_IRQ_LINE               = iow[irqLevel](0x61)
	_KVM_GET_IRQCHIP            = iowr[irqchip](0x62)
	_KVM_SET_IRQCHIP            = ior[irqchip](0x63)
	_KVM_CREATE_PIT2            = iow[pitConfig](0x77)
	_KVM_SET_CLOCK              = iow[clockData](0x7b)
	_KVM_GET_CLOCK              = ior[clockData](0x7c)
	_KVM_GET_PIT2               = ior[pitState2](0x9f)
	_KVM_SET_PIT2               = iow[pitState2](0xa0)
	_KVM_ENABLE_CAP             = iow[enableCap](0xa3)
	_KVM_X86_SET_MSR_FILTER     = iow[msrFilter](0xc6)
)

// ioctls of a vCPU; KVM_GET_STATS_FD is one of the VM too.
var (
	_KVM_RUN             = ioNone(0x80)
	_KVM_GET_REGS        = ior[kvmRegs](0x81)
	_KVM_SET_REGS        = iow[kvmRegs](0x82)
	_KVM_GET_SREGS       = ior[kvmSregs](0x83)
	_KVM_SET_SREGS       = iow[kvmSregs](0x84)
	_KVM_INTERRUPT       = iow[uint32](0x86)
	_KVM_GET_MSRS        = iowr[uint64](0x88)
	_KVM_SET_MSRS        = iow[uint64](0x89)
	_KVM_GET_FPU         = ior[kvmFPU](0x8c)
	_KVM_SET_FPU         = iow[kvmFPU](0x8d)
	_KVM_GET_LAPIC       = ior[lapicState](0x8e)
	_KVM_SET_LAPIC       = iow[lapicState](0x8f)
	_KVM_SET_CPUID2      = iow[uint64](0x90)
	_KVM_GET_MP_STATE    = ior[uint32](0x98)
	_KVM_SET_MP_STATE    = iow[uint32](0x99)
	_KVM_NMI             = ioNone(0x9a)
	_KVM_GET_VCPU_EVENTS = ior[vcpuEvents](0x9f)
	_KVM_SET_VCPU_EVENTS = iow[vcpuEvents](0xa0)
	_KVM_GET_DEBUGREGS   = ior[debugregs](0xa1)
	_KVM_SET_DEBUGREGS   = iow[debugregs](0xa2)
	_KVM_GET_TSC_KHZ     = ioNone(0xa3)
	_KVM_GET_XSAVE       = ior[xsave](0xa4)
	_KVM_SET_XSAVE       = iow[xsave](0xa5)
	_KVM_GET_XCRS        = ior[xcrs](0xa6)
	_KVM_SET_XCRS        = iow[xcrs](0xa7)
	_KVM_GET_SREGS2      = ior[kvmSregs2](0xcc)
	_KVM_SET_SREGS2      = iow[kvmSregs2](0xcd)
	_KVM_GET_STATS_FD    = ioNone(0xce)
	_KVM_SET_DEVICE_ATTR = iow[deviceAttr](0xe1)
	_KVM_GET_DEVICE_ATTR = iow[deviceAttr](0xe2)
	_KVM_HAS_DEVICE_ATTR = iow[deviceAttr](0xe3)
)

// apiVersion is the only value of KVM_GET_API_VERSION there ever was.
const apiVersion = 12

// Capabilities (KVM_CAP_*).
const (
	_KVM_CAP_IRQCHIP                  = 0
	_KVM_CAP_USER_MEMORY              = 3
	_KVM_CAP_NR_VCPUS                 = 9
	_KVM_CAP_MP_STATE                 = 14
	_KVM_CAP_PIT2                     = 33
	_KVM_CAP_VCPU_EVENTS              = 41
	_KVM_CAP_TSC_CONTROL              = 60
	_KVM_CAP_MAX_VCPUS                = 66
	_KVM_CAP_TSC_DEADLINE_TIMER       = 72
	_KVM_CAP_SYNC_REGS                = 74
	_KVM_CAP_HYPERV_SYNIC             = 123
	_KVM_CAP_IMMEDIATE_EXIT           = 136
	_KVM_CAP_X86_DISABLE_EXITS        = 143
	_KVM_CAP_HALT_POLL                = 182
	_KVM_CAP_X86_USER_SPACE_MSR       = 188
	_KVM_CAP_X86_MSR_FILTER           = 189
	_KVM_CAP_ENFORCE_PV_FEATURE_CPUID = 190
	_KVM_CAP_BINARY_STATS_FD          = 203
)

// Flags and arguments of capabilities.
const (
	_KVM_X86_DISABLE_EXITS_MWAIT = 1 << 0
	_KVM_X86_DISABLE_EXITS_HLT   = 1 << 1
	_KVM_X86_DISABLE_EXITS_PAUSE = 1 << 2

	_KVM_MSR_EXIT_REASON_INVAL   = 1 << 0
	_KVM_MSR_EXIT_REASON_UNKNOWN = 1 << 1
	_KVM_MSR_EXIT_REASON_FILTER  = 1 << 2

	_KVM_MSR_FILTER_READ  = 1 << 0
	_KVM_MSR_FILTER_WRITE = 1 << 1

	_KVM_SYNC_X86_REGS = 1 << 0

	_KVM_PIT_SPEAKER_DUMMY = 1

	_KVM_VCPU_TSC_CTRL   = 0
	_KVM_VCPU_TSC_OFFSET = 0
)

// Exit reasons (KVM_EXIT_*).
const (
	_KVM_EXIT_UNKNOWN         = 0
	_KVM_EXIT_EXCEPTION       = 1
	_KVM_EXIT_IO              = 2
	_KVM_EXIT_HYPERCALL       = 3
	_KVM_EXIT_DEBUG           = 4
	_KVM_EXIT_HLT             = 5
	_KVM_EXIT_MMIO            = 6
	_KVM_EXIT_IRQ_WINDOW_OPEN = 7
	_KVM_EXIT_SHUTDOWN        = 8
	_KVM_EXIT_FAIL_ENTRY      = 9
	_KVM_EXIT_INTR            = 10
	_KVM_EXIT_SET_TPR         = 11
	_KVM_EXIT_INTERNAL_ERROR  = 17
	_KVM_EXIT_SYSTEM_EVENT    = 24
	_KVM_EXIT_X86_RDMSR       = 29
	_KVM_EXIT_X86_WRMSR       = 30
)

// userspaceMemoryRegion mirrors struct kvm_userspace_memory_region.
type userspaceMemoryRegion struct {
	_             structs.HostLayout
	Slot, Flags   uint32
	GuestPhysAddr uint64
	MemorySize    uint64
	UserspaceAddr uint64
}

// irqLevel mirrors struct kvm_irq_level.
type irqLevel struct {
	_          structs.HostLayout
	IRQ, Level uint32
}

// irqchip mirrors struct kvm_irqchip; Data is the union's 512 bytes.
type irqchip struct {
	_      structs.HostLayout
	ChipID uint32
	_      uint32
	Data   [512]byte
}

// pitConfig mirrors struct kvm_pit_config.
type pitConfig struct {
	_     structs.HostLayout
	Flags uint32
	_     [15]uint32
}

// reinjectControl mirrors struct kvm_reinject_control.
type reinjectControl struct {
	_        structs.HostLayout
	Reinject uint8
	_        [31]uint8
}

// pitState2 mirrors struct kvm_pit_state2, which is only passed on.
type pitState2 struct {
	_    structs.HostLayout
	Data [112]byte
}

// clockData mirrors struct kvm_clock_data.
type clockData struct {
	_        structs.HostLayout
	Clock    uint64
	Flags    uint32
	_        uint32
	Realtime uint64
	HostTSC  uint64
	_        [4]uint32
}

// enableCap mirrors struct kvm_enable_cap.
type enableCap struct {
	_          structs.HostLayout
	Cap, Flags uint32
	Args       [4]uint64
	_          [64]byte
}

// msrFilter mirrors struct kvm_msr_filter.
type msrFilter struct {
	_      structs.HostLayout
	Flags  uint32
	_      uint32
	Ranges [16]msrFilterRange
}

// msrFilterRange mirrors struct kvm_msr_filter_range. A clear bit of the bitmap
// denies.
type msrFilterRange struct {
	_            structs.HostLayout
	Flags, NMSRs uint32
	Base         uint32
	_            uint32
	Bitmap       uintptr
}

// deviceAttr mirrors struct kvm_device_attr.
type deviceAttr struct {
	_     structs.HostLayout
	Flags uint32
	Group uint32
	Attr  uint64
	Addr  uint64
}

// kvmRegs mirrors struct kvm_regs.
type kvmRegs struct {
	_                                      structs.HostLayout
	RAX, RBX, RCX, RDX, RSI, RDI, RSP, RBP uint64
	R8, R9, R10, R11, R12, R13, R14, R15   uint64
	RIP, RFLAGS                            uint64
}

// kvmSegment mirrors struct kvm_segment.
type kvmSegment struct {
	_                                               structs.HostLayout
	Base                                            uint64
	Limit                                           uint32
	Selector                                        uint16
	Type, Present, DPL, DB, S, L, G, AVL, Unusable_ uint8
	_                                               uint8
}

// kvmDtable mirrors struct kvm_dtable.
type kvmDtable struct {
	_     structs.HostLayout
	Base  uint64
	Limit uint16
	_     [3]uint16
}

// kvmSregs mirrors struct kvm_sregs.
type kvmSregs struct {
	_                               structs.HostLayout
	CS, DS, ES, FS, GS, SS, TR, LDT kvmSegment
	GDT, IDT                        kvmDtable
	CR0, CR2, CR3, CR4, CR8         uint64
	EFER, APICBase                  uint64
	InterruptBitmap                 [4]uint64
}

// kvmSregs2 mirrors struct kvm_sregs2.
type kvmSregs2 struct {
	_                               structs.HostLayout
	CS, DS, ES, FS, GS, SS, TR, LDT kvmSegment
	GDT, IDT                        kvmDtable
	CR0, CR2, CR3, CR4, CR8         uint64
	EFER, APICBase, Flags           uint64
	PDPTRs                          [4]uint64
}

// kvmFPU mirrors struct kvm_fpu. FPR are in stack order; FTWX is the abridged
// tag word of FXSAVE.
type kvmFPU struct {
	_              structs.HostLayout
	FPR            [8][16]byte
	FCW, FSW       uint16
	FTWX           uint8
	_              uint8
	LastOpcode     uint16
	LastIP, LastDP uint64
	XMM            [16][16]byte
	MXCSR          uint32
	_              uint32
}

// lapicState mirrors struct kvm_lapic_state: the xAPIC page's first KiB.
type lapicState struct {
	_    structs.HostLayout
	Regs [1024]byte
}

// vcpuEvents mirrors struct kvm_vcpu_events.
type vcpuEvents struct {
	_ structs.HostLayout

	ExceptionInjected, ExceptionNr, ExceptionHasErrorCode, ExceptionPending uint8
	ExceptionErrorCode                                                      uint32
	InterruptInjected, InterruptNr, InterruptSoft, InterruptShadow          uint8
	NMIInjected, NMIPending, NMIMasked                                      uint8
	_                                                                       uint8
	SIPIVector                                                              uint32
	Flags                                                                   uint32
	SMISMM, SMIPending, SMIInsideNMI, SMILatchedInit                        uint8
	TripleFaultPending                                                      uint8
	_                                                                       [26]uint8
	ExceptionHasPayload                                                     uint8
	ExceptionPayload                                                        uint64
}

// Flags of vcpuEvents.
const (
	_KVM_VCPUEVENT_VALID_NMI_PENDING = 1 << 0
	_KVM_VCPUEVENT_VALID_SHADOW      = 1 << 2
)

// debugregs mirrors struct kvm_debugregs.
type debugregs struct {
	_               structs.HostLayout
	DB              [4]uint64
	DR6, DR7, Flags uint64
	_               [9]uint64
}

// xsave mirrors struct kvm_xsave, which is only passed on.
type xsave struct {
	_      structs.HostLayout
	Region [1024]uint32
}

// xcrs mirrors struct kvm_xcrs.
type xcrs struct {
	_             structs.HostLayout
	NrXCRs, Flags uint32
	XCRs          [16]struct {
		XCR, _ uint32
		Value  uint64
	}
	_ [16]uint64
}

// msrEntry mirrors struct kvm_msr_entry.
type msrEntry struct {
	_     structs.HostLayout
	Index uint32
	_     uint32
	Data  uint64
}

// msrs mirrors struct kvm_msrs with room for the entries used here.
type msrs struct {
	_       structs.HostLayout
	NMSRs   uint32
	_       uint32
	Entries [maxMSRs]msrEntry
}

// maxMSRs bounds the list of MSRs that is saved at once; KVM's list has about
// 80 in recent kernels.
const maxMSRs = 256

// cpuidEntry2 mirrors struct kvm_cpuid_entry2.
type cpuidEntry2 struct {
	_                      structs.HostLayout
	Function, Index, Flags uint32
	EAX, EBX, ECX, EDX     uint32
	_                      [3]uint32
}

// cpuid2 mirrors struct kvm_cpuid2 with room for the entries used here.
type cpuid2 struct {
	_       structs.HostLayout
	Nent    uint32
	_       uint32
	Entries [maxCPUID]cpuidEntry2
}

// maxCPUID is KVM_MAX_CPUID_ENTRIES.
const maxCPUID = 256

// runPage mirrors struct kvm_run. The union at byte 32 is Exit, read through
// the exit* structs below.
type runPage struct {
	_                          structs.HostLayout
	RequestInterruptWindow     uint8
	ImmediateExit              uint8
	_                          [6]uint8
	ExitReason                 uint32
	ReadyForInterruptInjection uint8
	IfFlag                     uint8
	Flags                      uint16
	CR8                        uint64
	APICBase                   uint64
	Exit                       [256]byte
	ValidRegs, DirtyRegs       uint64
	Sync                       syncRegs
}

// syncRegs mirrors the used start of struct kvm_sync_regs.
type syncRegs struct {
	_    structs.HostLayout
	Regs kvmRegs
}

// exitIO mirrors kvm_run.io.
type exitIO struct {
	_               structs.HostLayout
	Direction, Size uint8
	Port            uint16
	Count           uint32
	DataOffset      uint64
}

// exitMMIO mirrors kvm_run.mmio.
type exitMMIO struct {
	_        structs.HostLayout
	PhysAddr uint64
	Data     [8]byte
	Len      uint32
	IsWrite  uint8
}

// exitMSR mirrors kvm_run.msr.
type exitMSR struct {
	_             structs.HostLayout
	Error         uint8
	_             [7]uint8
	Reason, Index uint32
	Data          uint64
}

// exitFailEntry mirrors kvm_run.fail_entry.
type exitFailEntry struct {
	_      structs.HostLayout
	Reason uint64
	CPU    uint32
}

// exitInternal mirrors kvm_run.internal.
type exitInternal struct {
	_               structs.HostLayout
	Suberror, NData uint32
	Data            [16]uint64
}
