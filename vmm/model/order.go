package model

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// order hands events on in the order of their times. Each CPU emits in order,
// but their clocks differ by up to the lookahead.
type order struct {
	out     trace.Sink
	waiting []trace.Event
	first   int // of waiting, those before have been handed on
	// handed counts the events handed on.
	handed uint64
}

// Emit keeps the event until no earlier one can come.
func (o *order) Emit(e trace.Event) {
	if o.first == len(o.waiting) {
		o.waiting, o.first = o.waiting[:0], 0
	}
	o.waiting = append(o.waiting, e)
	for n := len(o.waiting) - 1; n > o.first && o.waiting[n-1].TSC > e.TSC; n-- {
		o.waiting[n-1], o.waiting[n] = o.waiting[n], o.waiting[n-1]
	}
}

// empty reports whether everything has been handed on.
func (o *order) empty() bool { return o.first == len(o.waiting) }

// next hands on one event, if there is one up to t.
func (o *order) next(t clock.TSC) bool {
	if o.first == len(o.waiting) || o.waiting[o.first].TSC > t {
		return false
	}
	o.first++
	o.handed++
	o.out.Emit(o.waiting[o.first-1])
	return true
}

// release hands on everything up to t.
func (o *order) release(t clock.TSC) {
	for o.next(t) {
	}
}

// drop forgets what has not been handed on.
func (o *order) drop() { o.waiting, o.first = o.waiting[:0], 0 }

// kept returns what has not been handed on.
func (o *order) kept() []trace.Event { return o.waiting[o.first:] }
