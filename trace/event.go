package trace

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// Event is one thing that happened in a run. It is a small value: it can be
// copied, compared with == and kept. What A to D mean is said by the row of the
// event's Kind in Specs; unused arguments are zero.
//
//	 0        8      9     10     11   12   16       24       32       40       48
//	+--------+------+------+------+----+----+--------+--------+--------+--------+
//	|  TSC   | Kind | VCPU | PCPU |Flag| –  |   A    |   B    |   C    |   D    |
//	+--------+------+------+------+----+----+--------+--------+--------+--------+
type Event struct {
	// TSC is the time on the virtual machine's common line: the guest TSC
	// before any offset that a guest wrote to one vCPU's TSC or TSC_ADJUST.
	TSC  clock.TSC
	Kind Kind
	// VCPU is the vCPU concerned, or NoCPU.
	VCPU uint8
	// PCPU is the host CPU on which it happened, or NoCPU if unknown.
	PCPU uint8
	// Flags holds FlagInferred where the fact was deduced.
	Flags      Flags
	A, B, C, D uint64
}

// NoCPU is the VCPU or PCPU of an event that has none.
const NoCPU = 0xff

// Flags qualify an event.
type Flags uint8

// FlagInferred marks an event that its source does not state: it was deduced
// from others.
const FlagInferred Flags = 1 << 0

// FlagGap marks the KindLost event that stands for the events of damaged blocks in a
// recording that was opened. It has the numbers of all of them. No file holds it.
const FlagGap Flags = 1 << 1

// Sink takes the events of a run in order. Implementations must not block.
// Emit is called from the goroutine that owns the engine.
type Sink interface {
	Emit(Event)
}

// BatchSink is a Sink that takes events by the hundred. EmitBatch takes them in
// order until done says to stop, which it asks as often as it wants, and returns
// how many it took. It does not keep the slice.
type BatchSink interface {
	Sink
	EmitBatch(events []Event, done func() bool) (taken int)
}

// EmitAll hands events to a Sink, as EmitBatch does, and asks done after each.
func EmitAll(s Sink, events []Event, done func() bool) (taken int) {
	if b, ok := s.(BatchSink); ok {
		return b.EmitBatch(events, done)
	}
	for i := range events {
		s.Emit(events[i])
		if done() {
			return i + 1
		}
	}
	return len(events)
}

// SinkFunc makes a Sink of a function.
type SinkFunc func(Event)

// Emit calls f.
func (f SinkFunc) Emit(e Event) { f(e) }

// Provenance says where the figures of a run come from.
type Provenance uint8

// The provenances. BadProvenance is the invalid zero value.
const (
	BadProvenance Provenance = iota
	Measured                 // a real clock was read when it happened
	Modelled                 // virtual clock and a cost profile
	Inferred                 // deduced from a trace that does not say it
)

var provenanceNames = []string{"bad", "measured", "modelled", "inferred"}

// String returns the lower-case word that screens and reports show.
func (p Provenance) String() string { return nameOf(provenanceNames, uint64(p)) }

// byteOf is the number of an enumeration, 255 for those that cannot be one.
func byteOf(v uint64) uint8 { return uint8(min(v, 0xff)) }

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
