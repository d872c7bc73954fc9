// Command fit writes the cost profiles of the machines on which figures were
// published. It starts from assumed costs (profile generic) and moves them as
// little as it takes for the calibrating rows to come out: the sum of the squared
// logarithms of all changes is least, among the costs that give those rows.
//
// Run it from the module's root: go run ./vmm/model/fit. It is deterministic; a
// test runs it and compares the committed profiles.
package main
