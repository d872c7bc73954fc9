// Package interptest reads and writes hardware vectors: single instructions with
// the state before and after them as a real processor showed it.
//
// A vector is one line of text. Its input state is not written out but derived
// from a seed, with the few values that matter to the instruction set
// explicitly; its output lists what differs from the input. So a vector is some
// 80 bytes long, and a person can read it.
//
// The generator (vmm/interp/testdata/generators/hwvec) and the replaying test of
// vmm/interp share this package. It is pure and knows no interpreter.
package interptest
