package vmm

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// CPU executes the code of one vCPU. It knows no LAPIC, no devices and no time
// but what Run is given: whatever needs the host is an Exit, and the loop
// answers through the methods below.
type CPU interface {
	// Run executes guest code from host time now until something needs the host
	// or the clock reaches until (host TSC), whichever is first. An event given
	// to Inject is delivered before the first instruction. Reaching until gives
	// StopLimit with no instruction half done; an instruction is begun only if
	// it starts before until.
	Run(now, until clock.TSC) Exit

	// WantWindow asks for StopWindow (irq) or StopNMIWindow (nmi) as soon as
	// such an event could be taken: before the next instruction if that is now.
	// The wish stands until it is changed.
	WantWindow(irq, nmi bool)
	// Interruptible reports whether a maskable interrupt could be taken now:
	// RFLAGS.IF set, no STI or MOV-SS shadow, no event waiting for delivery.
	// If not, why says which of the first two is in the way.
	Interruptible() (ok bool, why NotReady)
	// NMIReady is the same for an NMI.
	NMIReady() bool
	// Inject hands over an event for delivery at the next Run. There must be no
	// other one waiting.
	Inject(Event)

	// Skip moves RIP past the intercepted instruction of the last Exit and ends
	// the interrupt shadow. It does nothing where the CPU did it already.
	Skip()
	// CompleteRead supplies the result of the last exit's IN, memory read or
	// RDMSR. For IN and RDMSR it does not move RIP; a memory access, read or
	// write, is completed by the next Run.
	CompleteRead(v uint64)
	// CompleteCPUID supplies EAX, EBX, ECX and EDX.
	CompleteCPUID(r [4]uint32)

	// CR8 is the task priority, 0–15, as MOV to and from CR8 see it without an
	// exit (TPR shadow). A MOV to CR8 of less than the threshold of
	// SetTPRThreshold exits with ExitSetTPR after the write.
	CR8() uint8
	SetCR8(uint8)
	SetTPRThreshold(uint8)
	// SetIntercepts says which optional instructions exit.
	SetIntercepts(Intercepts)

	// Registers returns a copy of the state; SetRegisters replaces it.
	Registers() Registers
	SetRegisters(*Registers) error
	// RIP is the current instruction pointer.
	RIP() uint64
	// GPR is one general register, by encoding number; SetGPR replaces it.
	GPR(n int) uint64
	SetGPR(n int, v uint64)
	// SetXCR0 is XSETBV; ok is false if the value is invalid.
	SetXCR0(v uint64) (ok bool)
	// ReadMSR and WriteMSR access an MSR that belongs to the CPU proper (EFER,
	// STAR, FS_BASE, …). ok is false if it has none such, or the value is
	// invalid: the guest then gets #GP.
	ReadMSR(index uint32) (v uint64, ok bool)
	WriteMSR(index uint32, v uint64) (ok bool)
	// SetTSCOffset sets guest TSC minus host TSC.
	SetTSCOffset(clock.Cycles)
	// Save returns a copy of all state, registers and what waits for delivery,
	// that later calls do not change; Restore brings one back. Guest memory is
	// not part of it.
	Save() any
	Restore(any)
	// Reset puts the CPU into its state after INIT (boot is false: caches, TSC,
	// MSRs and FPU survive) or power-up. Intel SDM vol. 3A, 9.1
	// "Initialization Overview".
	Reset(powerUp bool)
}

// Intercepts are the exits that KVM_CAP_X86_DISABLE_EXITS can turn off. Where
// HLT and MWAIT do not exit they idle in guest mode: Run spends the time up to
// its limit, and an event or an open window ends the idling.
type Intercepts struct {
	HLT, MWAIT bool
	// PLEGap and PLEWindow are the pause-loop exiting limits in cycles: a run of
	// PAUSEs, each within PLEGap of the last, exits once it spans PLEWindow. A
	// window of 0 turns it off. Intel SDM vol. 3C, 26.1.3 "Instructions That
	// Cause VM Exits Conditionally".
	PLEGap, PLEWindow clock.Cycles
}

// NotReady says why a maskable interrupt cannot be taken.
type NotReady uint8

// The reasons; Ready is the zero value.
const (
	Ready NotReady = iota
	NotReadyIF
	NotReadyShadow
	NotReadyEvent
)

// Event is an interrupt or exception for the guest.
type Event struct {
	Kind   EventKind
	Vector uint8
	// Code is the error code of an exception that has one.
	Code    uint32
	HasCode bool
}

// EventKind is the type of an Event.
type EventKind uint8

// The event kinds.
const (
	BadEvent       EventKind = iota
	EventInterrupt           // external interrupt
	EventNMI                 // NMI, vector 2
	EventException           // hardware exception
)
