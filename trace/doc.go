// Package trace is the event stream that everything in ticktrap speaks: engines
// and importers produce Events, and panes, reports, recordings, exports and
// assertions are computed from them alone.
//
// State is a pure fold over events. Nothing here knows a clock, a terminal, KVM
// or the interpreter. Values may be used from one goroutine at a time unless a
// type says otherwise.
package trace
