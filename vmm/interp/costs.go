package interp

import "reflect"

// Costs are the cycles that instructions take, by class. Every field must be at
// least 1, or a guest could loop without time passing. What an exit costs is not
// here: it belongs to the host.
type Costs struct {
	// Insn is the cost of every instruction that no other field is for.
	Insn uint32
	// Mul and Div are integer multiplication and division.
	Mul, Div uint32
	// Locked is a LOCKed read-modify-write, XCHG with memory included.
	Locked uint32
	// String is one iteration of a string instruction, with or without REP.
	String uint32
	// RDTSC is RDTSC, RDTSCP and a RDMSR of the TSC that does not exit.
	RDTSC uint32
	// Pause is PAUSE.
	Pause uint32
	// Fence is LFENCE, SFENCE, MFENCE and cache-line flushes.
	Fence uint32
	// System is a move to or from control and debug registers, a descriptor
	// table load, INVLPG and other serialising instructions.
	System uint32
	// MSR is a RDMSR or WRMSR that does not exit.
	MSR uint32
	// Far is a far transfer, SYSCALL, SYSRET, SYSENTER, SYSEXIT.
	Far uint32
	// IRET is a return from an interrupt.
	IRET uint32
	// Vectoring is the delivery of an interrupt or exception through the IDT.
	Vectoring uint32
	// Float is an x87 or SSE instruction.
	Float uint32
}

// DefaultCosts returns one cycle for a plain instruction, and round figures of
// the order that recent server processors show for the others.
func DefaultCosts() Costs {
	return Costs{
		Insn: 1, Mul: 3, Div: 20, Locked: 18, String: 1, RDTSC: 20, Pause: 40, Fence: 10,
		System: 30, MSR: 60, Far: 60, IRET: 80, Vectoring: 120, Float: 2,
	}
}

// costClass is the column of the table that selects a field of Costs.
type costClass uint8

// The classes, in the order of the fields of Costs.
const (
	costInsn costClass = iota
	costMul
	costDiv
	costLocked
	costString
	costRDTSC
	costPause
	costFence
	costSystem
	costMSR
	costFar
	costIRET
	costVectoring
	costFloat
	numCosts
)

// array returns the costs indexed by class.
func (k Costs) array() (a [numCosts]uint32) {
	v := reflect.ValueOf(k)
	for i := range a {
		a[i] = uint32(v.Field(i).Uint())
		if a[i] == 0 {
			panic("BUG: interp: cost " + v.Type().Field(i).Name + " is 0")
		}
	}
	return a
}
