package model

import (
	"fmt"
	"hash/fnv"
)

// Fingerprint is a hash of the whole state: registers, memory, devices, local
// APICs, host. Two runs with the same fingerprint go on in the same way.
func (e *Engine) Fingerprint() uint64 {
	h := fnv.New64a()
	for _, c := range e.cpus {
		fmt.Fprintf(h, "%+v", c.Registers())
	}
	fmt.Fprintf(h, "%x %+v %+v %+v", e.mem.Hash(), e.board.Save(), e.host.st, e.order.kept())
	e.m.Fingerprint(h)
	return h.Sum64()
}
