package session

import "ticktrap/trace"

// steps counts the stops of a run: a stop is the moment at which a vCPU has
// finished with an exit, by entering the guest again or by halting. It is a pure
// function of the events, so the n-th stop of a run is always the same moment.
type steps struct {
	n    uint64
	open [trace.NoCPU + 1]bool // vCPUs between an exit and its stop
}

// apply takes the next event and reports whether it is a stop.
func (s *steps) apply(e *trace.Event) bool {
	switch e.Kind {
	case trace.KindExit:
		s.open[e.VCPU] = true
	case trace.KindEntry, trace.KindHalt:
		if s.open[e.VCPU] {
			s.open[e.VCPU] = false
			s.n++
			return true
		}
	}
	return false
}
