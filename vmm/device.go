package vmm

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// Bus is the platform beside the vCPUs: ports, memory-mapped devices and their
// timers. Calls come from the goroutine that owns the machine.
type Bus interface {
	// In and Out access an I/O port of 1, 2 or 4 bytes. An unclaimed port reads
	// as all ones.
	In(now clock.TSC, port uint16, size uint8) (v uint32, where Where)
	Out(now clock.TSC, port uint16, size uint8, v uint32) Where
	// ReadMem and WriteMem access device memory of 1, 2, 4 or 8 bytes (the
	// local APIC's page never comes here). Unclaimed memory reads as all ones.
	ReadMem(now clock.TSC, gpa uint64, size uint8) (v uint64, where Where)
	WriteMem(now clock.TSC, gpa uint64, size uint8, v uint64) Where
	// NextTimer is the host TSC of the earliest device timer, or clock.Never.
	NextTimer() clock.TSC
	// RunTimers lets the timers act that are due at now.
	RunTimers(now clock.TSC)
	// AckPIC is the INTA cycle of the PIC pair: the vector of its highest
	// request, which goes into service.
	AckPIC(now clock.TSC) (vector uint8)
	// EOI tells the I/O APIC of an EOI of a level-triggered vector.
	EOI(now clock.TSC, vector uint8)
	// Save returns a copy of all device state, Restore brings one back.
	Save() any
	Restore(any)
}

// Where is the place in which an access was emulated: it decides its cost.
type Where uint8

// The places.
const (
	BadWhere Where = iota
	InKernel       // a device that KVM emulates: PIC, PIT, I/O APIC
	InUser         // a device of the VMM
	Unclaimed
)

// Lines is what devices do to the rest of the machine. The machine implements
// it and gives it to the bus.
type Lines interface {
	// Message delivers an interrupt message to the local APICs (I/O APIC, MSI).
	Message(Message)
	// SetINTR sets the PIC pair's output, which reaches LVT0 of the boot CPU.
	SetINTR(level bool)
	// SetNMI pulses LINT1.
	PulseNMI()
	// Console takes a byte that the guest wrote to its serial port.
	Console(b byte)
	// Reset resets the machine.
	Reset()
	// Exit ends the guest: a write of v to the debug-exit port, or power off.
	Exit(v uint32, powerOff bool)
}

// IRQLines is a Lines whose interrupt controllers are elsewhere: devices drive
// them through it, and the bus's own see nothing.
type IRQLines interface {
	Lines
	// IRQLine sets the level of an interrupt line, 0–23.
	IRQLine(line uint8, level bool)
}

// Message is an interrupt message. Intel SDM vol. 3A, 10.11 "Message Signalled
// Interrupts".
type Message struct {
	Dest     uint32
	Logical  bool
	Delivery uint8 // delivery mode, as in ICR bits 10:8
	Vector   uint8
	Level    bool // level-triggered
	Assert   bool
}
