// Package bench reproduces published measurements on the model: the rows of four
// patch series to KVM's timer code, each before and after its change, with the
// mechanics of the benchmark that was used.
//
// A row is compared by its change. Profiles (package vmm/model) name the rows that
// their costs were fitted to; all other rows are predictions. A prediction that
// misses stays a miss and says why.
//
// All functions are safe for concurrent use; each measurement has an engine of its
// own.
package bench
