// Package fuzz searches for guests that break an invariant on the model: it generates
// small guests with turns of knobs, runs each in several ways, and shrinks what it finds.
//
// A guest is a list of pieces: a few instructions each, as assembly and as bytes, so that
// a find can be read and any part of it can be left out. Two generators make them: Timer,
// guests that use their LAPIC timer as an operating system may, and Hostile, guests that
// do what none should. Everything follows from the seed.
package fuzz
