package kvm

import (
	"sync/atomic"

	"ticktrap/trace"
)

// ring carries events from the vCPU threads to the goroutine that runs the
// engine. There is one producer at a time (the holder of the engine's lock) and
// one consumer. Pushing neither locks nor allocates; what does not fit is
// counted, and reported by the next event that does.
type ring struct {
	buf  []trace.Event
	head atomic.Uint64 // next to be read
	tail atomic.Uint64 // next to be written
	lost uint64        // the producer's
	// wake is sent to when the ring was empty.
	wake chan struct{}
}

// ringSize is a power of two: 64 Ki events, 3 MiB.
const ringSize = 1 << 16

func newRing() *ring {
	return &ring{buf: make([]trace.Event, ringSize), wake: make(chan struct{}, 1)}
}

// Emit implements trace.Sink.
func (r *ring) Emit(e trace.Event) {
	t := r.tail.Load()
	free := ringSize - (t - r.head.Load())
	need := uint64(1)
	if r.lost > 0 {
		need = 2
	}
	if free < need {
		r.lost++
		return
	}
	if r.lost > 0 {
		r.buf[t&(ringSize-1)] = trace.Event{TSC: e.TSC, Kind: trace.KindLost, VCPU: trace.NoCPU, PCPU: trace.NoCPU, A: r.lost}
		r.lost = 0
		t++
	}
	r.buf[t&(ringSize-1)] = e
	r.tail.Store(t + 1)
	if t-r.head.Load() >= ringSize/2 {
		r.nudge()
	}
}

// nudge makes the consumer look.
func (r *ring) nudge() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// next takes the oldest event.
func (r *ring) next() (e trace.Event, ok bool) {
	h := r.head.Load()
	if h == r.tail.Load() {
		return e, false
	}
	e = r.buf[h&(ringSize-1)]
	r.head.Store(h + 1)
	return e, true
}

func (r *ring) empty() bool { return r.head.Load() == r.tail.Load() }
