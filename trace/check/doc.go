// Package check compares what a kernel did with what the history of KVM says that
// its release does. A Checker folds the events of a run; for each decision whose
// inputs and outcome the events tell, it evaluates the predicate on those inputs
// and compares.
//
// Only what a source states counts as an outcome. Where an importer deduced one
// from the rules of a release the comparison would compare the rules with
// themselves; such a decision is not decidable, and the result says why.
package check
