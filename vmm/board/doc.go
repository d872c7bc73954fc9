// Package board is the platform beside the vCPUs: the devices of a plain PC with
// the few paravirtual ones that guests without firmware use.
//
// One file holds one device. A device is a plain value with methods; all of them
// together are the state that Save copies. Which port or address reaches which
// device is said by two tables, portTable and memTable, which In, Out, ReadMem,
// WriteMem and the documentation walk.
//
// No device reads a clock. Time comes in as the host TSC of each access, and
// device clocks are derived from it in 128-bit arithmetic, so a device that
// nobody looks at costs nothing. The only device timer is the PIT's channel 0,
// and it exists only while an interrupt controller lets it through.
//
// A Board belongs to one goroutine at a time.
package board
