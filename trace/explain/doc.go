// Package explain says why one deadline was late, early or never taken: the
// chain in words, and the time between the deadline and its handler divided
// among causes, each with the decision behind it and the knob that would change
// it.
//
// The shares are a partition: every cycle between the deadline and the first
// instruction of the handler belongs to exactly one cause, so they add up to
// the lateness, to the cycle. What happened before the deadline costs nothing;
// that is what the timer advance is for.
//
// It works on a trace.State alone, so on live runs, recordings and imported
// traces alike. Where events are missing the time stays with the step that is
// known, and Withheld says what cannot be told.
package explain
