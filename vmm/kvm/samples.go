package kvm

import (
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
)

// tap follows the samples that a built-in guest leaves in its memory.
type tap struct {
	on   bool // the guest is a built-in one
	next uint64
}

// maxSamples bounds what one look reports.
const maxSamples = 256

// read reports the samples taken since the last look. Those that the guest has
// overwritten since are left out.
func (t *tap) read(mem vmm.Memory, emit func(trace.Event)) {
	if !t.on {
		return
	}
	taken, err := guest.Taken(mem)
	if err != nil || taken < t.next {
		return
	}
	if taken-t.next > guest.RingSamples/2 {
		t.next = taken - guest.RingSamples/2
	}
	for n := 0; t.next < taken && n < maxSamples; n++ {
		s, err := guest.ReadSample(mem, t.next)
		if err != nil {
			return
		}
		emit(trace.Event{TSC: s.Seen, Kind: trace.KindSample, VCPU: 0, PCPU: trace.NoCPU, A: t.next, B: uint64(s.Due),
			C: uint64(s.Seen)})
		t.next++
	}
}
