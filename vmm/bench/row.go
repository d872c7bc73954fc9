package bench

import (
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Kind is the benchmark of a row.
type Kind uint8

// The kinds. BadKind is the invalid zero value.
const (
	BadKind   Kind = iota
	VMExit         // a subtest of vmexit.flat: cycles per iteration
	Latency        // tscdeadline_latency.flat: mean of handler TSC minus deadline, cycles
	Cyclic         // cyclictest: mean wake-up latency, ns
	WaitGap        // from the end of the wait to the world switch, cycles
	AfterWait      // from the end of the wait to the guest's first TSC read, cycles
	numKinds
)

// KindNames names the kinds.
var KindNames = [numKinds]string{"bad", "vmexit", "tscdeadline_latency", "cyclictest", "wait to world switch",
	"wait to guest"}

// String returns the benchmark's name.
func (k Kind) String() string { return KindNames[k%numKinds] }

// Unit is the unit of a benchmark's figures.
func (k Kind) Unit() string {
	if k == Cyclic {
		return "ns"
	}
	return "cycles"
}

// Machine is the kernel of one side of a row, by its name, and its knobs.
type Machine struct {
	Kernel string
	Rules  kernel.Kernel
	Knobs  vmm.Knobs
}

// Form says what was published for a row.
type Form uint8

// The forms. BadForm is the invalid zero value.
const (
	BadForm  Form = iota
	Pair          // a figure before and one after
	Change        // only the change; Before is 0, After the change
	Level         // one figure, in After
	NoFigure      // the mechanism is named, no figure given
	Same          // said to change little, no figure given
)

// Row is one published measurement.
type Row struct {
	ID      string
	Series  string
	Profile string // the machine it was measured on
	Kind    Kind
	Subtest string // of vmexit
	Form    Form
	// Before and After are the published figures in the unit of Kind.
	Before, After float64
	// Machines are the kernels before and after; a Level has the second only.
	Machines [2]Machine
	// Halt lets the guest wait by HLT; else it spins (latency) or polls (cyclic).
	Halt bool
	// Source says where the figure was published, Note what had to be assumed, or
	// what bounds the change.
	Source, Note string
}

// PublishedChange is after minus before, and whether there is one.
func (r *Row) PublishedChange() (float64, bool) {
	switch r.Form {
	case Pair:
		return r.After - r.Before, true
	case Change:
		return r.After, true
	}
	return 0, false
}
