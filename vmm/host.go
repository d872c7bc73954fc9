package vmm

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// PCPU is the number of a host CPU.
type PCPU int

// NoPCPU is "no host CPU".
const NoPCPU PCPU = -1

// Host gives the loop time, timers and threads. Whatever takes time says which
// host CPU it runs on.
type Host interface {
	// Now is the host TSC on p, Mono its CLOCK_MONOTONIC at the same moment.
	Now(p PCPU) clock.TSC
	Mono(p PCPU) clock.Nanos
	// Spend accounts one piece of host work and returns what it took. A virtual
	// host lets that much time pass; a real one measures since the last call.
	Spend(p PCPU, ph trace.Phase) clock.Cycles
	// Delay busy-waits on p.
	Delay(p PCPU, c clock.Cycles)

	// CatchUp lets every other CPU of a virtual host act up to the time of p, before
	// p does something that another vCPU can see.
	CatchUp(p PCPU)

	// Ran says that guest code ran on p up to the given host TSC.
	Ran(p PCPU, at clock.TSC)
	// Until is the latest time to which guest code may run on p before the loop
	// must look again: an interrupt for p, or another CPU that lags behind.
	Until(p PCPU) clock.TSC
	// Interrupted reports whether an interrupt is pending on p, which, and the
	// vCPU that it concerns.
	Interrupted(p PCPU) (k IRQ, v int, ok bool)
	// AckNotification consumes the pending IRQNotify that Interrupted reported.
	AckNotification(p PCPU)

	// StartTimer arms the hrtimer behind the guest timer of vCPU v, from p; it
	// replaces an armed one. When it fires, Machine.TimerFired is called.
	StartTimer(p PCPU, v int, at clock.Nanos)
	CancelTimer(p PCPU, v int)

	// SendIPI sends a reschedule IPI (kick) or a posted-interrupt notification
	// from one CPU to the one that vCPU v is loaded on.
	SendIPI(from, to PCPU, k IRQ, v int)
	// Asleep reports whether the thread of v sleeps.
	Asleep(v int) bool
	// Wake makes the sleeping thread of v runnable; false if it was not asleep.
	Wake(from PCPU, v int) bool
	// Sleep ends the running of v's thread on p until it is woken. It is the
	// last thing the loop does in a step.
	Sleep(p PCPU, v int)
	// NeedResched and SignalPending are what the task's "work before guest"
	// flags say. Yield is schedule(): the last thing the loop does in a step.
	NeedResched(p PCPU, v int) bool
	SignalPending(p PCPU, v int) bool
	Yield(p PCPU, v int)
	// MoveTimer moves the armed hrtimer of v to p.
	MoveTimer(p PCPU, v int)
	// Idle lets a virtual host skip turns of a polling loop in which nothing can
	// happen: it moves the clock of p to its next interrupt, to the latest moment
	// up to which it may run ahead, or to until. A real one returns false.
	Idle(p PCPU, until clock.TSC) bool
	// OtherRunnable reports whether another task wants p: halt polling stops.
	OtherRunnable(p PCPU) bool
	// HasPreemptionTimer reports whether the CPU has the VMX preemption timer.
	HasPreemptionTimer() bool
}

// IRQ is a host interrupt.
type IRQ uint8

// The host interrupts. BadIRQ is the invalid zero value.
const (
	BadIRQ     IRQ = iota
	IRQTimer       // local APIC timer: an hrtimer or the tick
	IRQResched     // reschedule IPI
	IRQNotify      // posted-interrupt notification
	IRQDevice      // a device of the platform
	IRQSignal      // a signal for the vCPU thread
)

// vectors are Linux's vectors of these interrupts, for the exit's information
// (arch/x86/include/asm/irq_vectors.h).
var irqVectors = [...]uint8{IRQTimer: 0xec, IRQResched: 0xfd, IRQNotify: 0xf2, IRQDevice: 0x30, IRQSignal: 0}
