package vmm

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// Engine is one run of a guest. Its events go to the sink that it was made with,
// from within Run. It belongs to one goroutine.
type Engine interface {
	// Header describes the run at its start.
	Header() trace.Header
	// Run lets the guest run until done returns true, the guest ends, or the
	// common TSC line reaches until. done is asked often, and cheaply.
	Run(until clock.TSC, done func() bool)
	// Now is the position on the common TSC line.
	Now() clock.TSC
	// Ended reports whether, how and with which status the guest has stopped.
	Ended() (how trace.EndKind, code uint32, ended bool)
	// Stop ends the guest.
	Stop(how trace.EndKind)
	// SetKnob turns a knob between two exits.
	SetKnob(k trace.Knob, value uint64) error
	// Knobs are the knobs with what this engine can do about them.
	Knobs() []KnobState
	// CPUs appends what is known of the vCPUs' registers and code.
	CPUs(dst []CPUFrame) []CPUFrame
	// Close frees what the run holds. It may be called twice.
	Close() error
}

// Rewinder is an Engine that can go back exactly.
type Rewinder interface {
	Engine
	// Checkpoint returns the whole state, guest memory included; Rewind brings
	// one back, any number of times.
	Checkpoint() any
	Rewind(any) error
	// Position counts what the engine has done since its start, in units in
	// which Run stops: the same position is the same state.
	Position() uint64
}

// Exacter is an Engine in real time: its guest runs on for a moment when Run has
// been told to stop, unless it is asked to be exact, which costs time.
type Exacter interface {
	Engine
	Exact(bool)
}

// Witness is an Engine that watches its guest from outside: it says what each
// figure rests on, and how far its guest has run on beyond the events handed on.
type Witness interface {
	Engine
	Figures() KnownFigures
	Ahead() Ahead
}
