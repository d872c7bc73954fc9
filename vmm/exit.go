package vmm

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// Exit is why a CPU stopped executing guest code. It is a value of fixed size.
type Exit struct {
	Reason ExitKind
	// At is the host TSC when guest execution stopped.
	At clock.TSC
	// RIP is the instruction that exited: not yet executed for faults and
	// intercepts, the next one for asynchronous exits.
	RIP uint64
	// Len is the length of the intercepted instruction in bytes, 0 if the exit
	// was not caused by one, or the CPU has advanced RIP already.
	Len uint8
	// Size is the width of a port or memory access in bytes.
	Size uint8
	// Write is true for OUT, memory writes and WRMSR.
	Write bool
	// String is true for INS and OUTS.
	String bool
	// Addr is the port, guest-physical address, MSR index, CPUID leaf (EAX),
	// control or debug register number, or an InternalError.
	Addr uint64
	// Data is the value written, or CPUID's ECX.
	Data uint64
	// Bytes holds the first bytes of an unknown encoding, NBytes of them.
	Bytes  [15]byte
	NBytes uint8
}

// ExitKind says why a CPU stopped. Most are exits that a real CPU takes; a few
// only return control to the loop.
type ExitKind uint8

// The kinds of exit.
const (
	BadExitKind   ExitKind = iota
	StopLimit              // the clock reached the limit of Run
	StopSignal             // a signal interrupted KVM_RUN
	StopWindow             // the interrupt window asked for is open
	StopNMIWindow          // the NMI window asked for is open
	ExitHLT                // HLT
	ExitCPUID              // CPUID
	ExitRDMSR              // RDMSR of an MSR that is not passed through
	ExitWRMSR              // WRMSR of an MSR that is not passed through
	ExitIO                 // IN, OUT, INS, OUTS
	ExitMMIO               // a memory access outside RAM
	ExitVMCALL             // VMCALL, VMMCALL
	ExitPause              // PAUSE, if asked for
	ExitMWAIT              // MWAIT
	ExitMONITOR            // MONITOR
	ExitINVD               // INVD
	ExitWBINVD             // WBINVD
	ExitXSETBV             // XSETBV
	ExitRDPMC              // RDPMC
	ExitTriple             // triple fault
	ExitUnknown            // encoding without a row in the interpreter's table
	ExitSetTPR             // CR8 set below the threshold; the write has happened
	ExitInternal           // KVM_EXIT_INTERNAL_ERROR
	ExitFailEntry          // KVM_EXIT_FAIL_ENTRY
	numExitKinds
)

// InternalError is the suberror of ExitInternal, which is its Addr; Data is the
// guest-physical address that it is about. include/uapi/linux/kvm.h.
type InternalError uint64

// The internal errors that a guest can cause.
const (
	// InternalEmulation is KVM_INTERNAL_ERROR_EMULATION: an instruction that KVM would
	// have to emulate and does not.
	InternalEmulation InternalError = 1
	// InternalDelivery is KVM_INTERNAL_ERROR_DELIVERY_EV: an access outside RAM while an
	// event was delivered (vmx_handle_exit in arch/x86/kvm/vmx/vmx.c).
	InternalDelivery InternalError = 3
)

// exitReasons maps kinds to the reasons that events carry.
var exitReasons = [numExitKinds]trace.ExitReason{
	StopLimit: trace.ExitExternalInterrupt, StopSignal: trace.ExitExternalInterrupt,
	StopWindow: trace.ExitInterruptWindow, StopNMIWindow: trace.ExitNMIWindow,
	ExitHLT: trace.ExitHLT, ExitCPUID: trace.ExitCPUID, ExitRDMSR: trace.ExitMSRRead, ExitWRMSR: trace.ExitMSRWrite,
	ExitIO: trace.ExitIO, ExitMMIO: trace.ExitMMIO, ExitVMCALL: trace.ExitVMCALL, ExitPause: trace.ExitPause,
	ExitMWAIT: trace.ExitMWAIT, ExitMONITOR: trace.ExitMONITOR, ExitINVD: trace.ExitINVD, ExitWBINVD: trace.ExitWBINVD,
	ExitXSETBV: trace.ExitXSETBV, ExitRDPMC: trace.ExitRDPMC, ExitTriple: trace.ExitTripleFault,
	ExitUnknown: trace.ExitUnknownInstruction, ExitSetTPR: trace.ExitTPRBelow, ExitInternal: trace.ExitInternalError,
	ExitFailEntry: trace.ExitEntryFailure,
}
