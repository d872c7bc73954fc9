// Package scenario is a library of real bugs of kernels and VMMs as deterministic
// runs: each shows on the model what the bug looks like, says what explain must
// find, and can be run repaired, where it must not be found.
//
// The bugs are made with what the machine has anyway (a knob, an era of kernels,
// the order of a VMM's calls) where that is enough, and else with one of
// vmm.Faults. docs/scenarios has a page for each.
package scenario
