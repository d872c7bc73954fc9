package guest

import (
	"encoding/binary"
	"fmt"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// The results part of the parameter block, and the ring.
const (
	resultsAt   = 0x80
	takenAt     = 0x88
	resultsEnd  = 0x100
	RingSamples = 1 << 15 // samples in the ring; older ones are overwritten
	sampleSize  = 16
	RingEnd     = RingBase + RingSamples*sampleSize
)

// Sample is one measurement of a built-in guest, both times on its own TSC. What
// they are is said by Description.Sample.
type Sample struct {
	Due, Seen clock.TSC
}

// Lateness is Seen less Due: negative is early.
func (s Sample) Lateness() clock.Cycles { return s.Seen.Sub(s.Due) }

// Results are what a built-in guest has left in its memory.
type Results struct {
	Done  bool
	Taken uint64 // samples taken since the start
	Extra uint64 // what the guest's source says
	// IPI and EOI are the cycles that vmexit's last round spent in sends and
	// EOIs.
	IPI, EOI clock.Cycles
	// Fault is the vector of an exception that the guest did not expect, with
	// the two words on top of its stack: error code and RIP, or RIP and CS.
	// It is -1 if there was none.
	Fault      int
	FaultStack [2]uint64
	// Samples are the last ones, up to RingSamples, oldest first.
	Samples []Sample
}

// ReadResults reads the parameter block and the ring of a built-in guest.
func ReadResults(mem vmm.Memory) (*Results, error) {
	var b [resultsEnd]byte
	if err := mem.ReadAt(b[:], ParamBlock); err != nil {
		return nil, fmt.Errorf("reading results of the guest: %w", err)
	}
	word := func(off int) uint64 { return binary.LittleEndian.Uint64(b[off:]) }
	if word(0) != paramMagic {
		return nil, fmt.Errorf("no parameter block at %#x: not a built-in guest", ParamBlock)
	}
	r := &Results{
		Done: word(resultsAt) != 0, Taken: word(0x88), Extra: word(0x90), Fault: int(uint8(word(0x98))) - 1,
		FaultStack: [2]uint64{word(0xa0), word(0xa8)}, IPI: clock.Cycles(word(0xb0)), EOI: clock.Cycles(word(0xb8)),
	}
	ring := make([]byte, RingSamples*sampleSize)
	if err := mem.ReadAt(ring, RingBase); err != nil {
		return nil, fmt.Errorf("reading samples of the guest: %w", err)
	}
	n := min(r.Taken, RingSamples)
	r.Samples = make([]Sample, n)
	for i := range r.Samples {
		at := (r.Taken - n + uint64(i)) % RingSamples * sampleSize
		r.Samples[i] = Sample{
			Due:  clock.TSC(binary.LittleEndian.Uint64(ring[at:])),
			Seen: clock.TSC(binary.LittleEndian.Uint64(ring[at+8:])),
		}
	}
	return r, nil
}

// Score is vmexit's result: cycles per iteration of its last round, and those of
// them in sends and in EOIs, rounded down as the original prints them. ok is
// false before the first round's end.
func (r *Results) Score() (total, ipi, eoi clock.Cycles, ok bool) {
	if len(r.Samples) == 0 {
		return 0, 0, 0, false
	}
	last := r.Samples[len(r.Samples)-1]
	n := clock.Cycles(max(last.Due, 1))
	return clock.Cycles(last.Seen) / n, r.IPI / n, r.EOI / n, true
}

// Samples reads the samples of a built-in guest, oldest first.
func Samples(mem vmm.Memory) ([]Sample, error) {
	r, err := ReadResults(mem)
	if err != nil {
		return nil, err
	}
	return r.Samples, nil
}

// Taken reads how many samples a built-in guest has taken so far.
func Taken(mem vmm.Memory) (uint64, error) {
	var b [8]byte
	if err := mem.ReadAt(b[:], ParamBlock+takenAt); err != nil {
		return 0, fmt.Errorf("reading the number of samples: %w", err)
	}
	return binary.LittleEndian.Uint64(b[:]), nil
}

// ReadSample reads sample number i, counted from 0, of a built-in guest that has
// taken it and not RingSamples more.
func ReadSample(mem vmm.Memory, i uint64) (Sample, error) {
	var b [sampleSize]byte
	if err := mem.ReadAt(b[:], RingBase+i%RingSamples*sampleSize); err != nil {
		return Sample{}, fmt.Errorf("reading sample %d: %w", i, err)
	}
	return Sample{Due: clock.TSC(binary.LittleEndian.Uint64(b[:])), Seen: clock.TSC(binary.LittleEndian.Uint64(b[8:]))}, nil
}
