// Package model is a deterministic host for the loop of package vmm: virtual
// CPUs with their own clocks, timers, inter-processor interrupts, a scheduler,
// and a cost profile that says how many cycles each named phase of host work
// takes.
//
// Time is conservative: the CPU whose clock is lowest acts next, and guest code
// runs ahead of the other CPUs by no more than the shortest time in which one
// can reach another (the flight of an IPI). Same guest, same settings, same
// knob turns, same seed: the same events to the byte.
//
// An Engine belongs to one goroutine.
package model
