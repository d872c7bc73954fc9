// Package rerun runs a model run again, up to one of its deadlines, and from
// there on with a knob turned: what would have become of that deadline. It works
// on engines that can go back exactly; a run that does not repeat itself is
// refused.
//
// A Run belongs to one goroutine.
package rerun
