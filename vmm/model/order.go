package model

import (
	"ticktrap/internal/clock"
	"ticktrap/trace"
)

// order hands events on in the order of their times. Each CPU emits in order,
// but their clocks differ by up to the lookahead.
type order struct {
	out     trace.Sink
	waiting []trace.Event
}

// Emit keeps the event until no earlier one can come.
func (o *order) Emit(e trace.Event) {
	o.waiting = append(o.waiting, e)
	for n := len(o.waiting) - 1; n > 0 && o.waiting[n-1].TSC > e.TSC; n-- {
		o.waiting[n-1], o.waiting[n] = o.waiting[n], o.waiting[n-1]
	}
}

// release hands on everything up to t.
func (o *order) release(t clock.TSC) {
	n := 0
	for n < len(o.waiting) && o.waiting[n].TSC <= t {
		o.out.Emit(o.waiting[n])
		n++
	}
	if n > 0 {
		o.waiting = o.waiting[:copy(o.waiting, o.waiting[n:])]
	}
}
