// Package session runs a guest for a user: run and pause, steps, knob turns at a
// given deadline, recording, and the pace at which virtual time passes.
//
// A Runner is the synchronous part, for headless runs and tests. Live puts a
// Runner into a goroutine of its own and implements vmm.Session for the screen.
// The wall clock comes in as a Wall.
package session
