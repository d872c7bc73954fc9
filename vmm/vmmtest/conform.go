package vmmtest

import (
	"encoding/binary"
	"fmt"
	"slices"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
)

// Target makes engines of one kind for the suite.
type Target struct {
	Name string
	// Hz is the guest's TSC frequency.
	Hz clock.Hz
	// New makes an engine with 16 MiB of RAM. Without observed its events need
	// not be complete.
	New func(img *guest.Image, sink trace.Sink, observed bool) (Engine, error)
	// Limit is the longest that a guest may run, on the common line.
	Limit clock.TSC
}

// Engine is an engine whose guest memory can be read.
type Engine interface {
	vmm.Engine
	Memory() vmm.Memory
}

// Outcome is what a guest left: the same on every engine.
type Outcome struct {
	How     trace.EndKind
	Code    uint32
	Results []uint64
	Log     []byte
}

// RunProbe runs a probe on an engine.
func RunProbe(t *Target, p *Probe) (Outcome, error) {
	img, err := guest.Load(p.Name, p.Image(), guest.Options{Format: guest.Flat})
	if err != nil {
		return Outcome{}, err
	}
	e, err := t.New(img, trace.SinkFunc(func(trace.Event) {}), false)
	if err != nil {
		return Outcome{}, err
	}
	defer e.Close()
	e.Run(t.Limit, func() bool { return false })
	var o Outcome
	var ended bool
	if o.How, o.Code, ended = e.Ended(); !ended {
		return o, fmt.Errorf("the probe did not end within %d cycles", t.Limit)
	}
	return o, o.read(e.Memory(), len(p.Want))
}

func (o *Outcome) read(mem vmm.Memory, n int) error {
	b := make([]byte, 8*n)
	if err := mem.ReadAt(b, results); err != nil {
		return err
	}
	for ; len(b) > 0; b = b[8:] {
		o.Results = append(o.Results, binary.LittleEndian.Uint64(b))
	}
	var count [8]byte
	if err := mem.ReadAt(count[:], logCount); err != nil {
		return err
	}
	o.Log = make([]byte, min(binary.LittleEndian.Uint64(count[:]), maxLog))
	return mem.ReadAt(o.Log, logBytes)
}

// Check compares an outcome with what the probe wants. It returns a sentence
// for each difference.
func (p *Probe) Check(o *Outcome) (wrong []string) {
	if o.How != trace.EndExit || o.Code != 0 {
		wrong = append(wrong, fmt.Sprintf("ended by %v, status %d; want a clean exit", o.How, o.Code))
	}
	for i, want := range p.Want {
		got := o.Results[i]
		if j, may := p.May[i]; may {
			if !j.OK(o.Results, got) {
				wrong = append(wrong, fmt.Sprintf("result %d is %#x, which cannot be (%s)", i, got, j.Why))
			}
			continue
		}
		if got != want {
			wrong = append(wrong, fmt.Sprintf("result %d is %#x, want %#x", i, got, want))
		}
	}
	if !slices.Equal(o.Log, p.Log) {
		wrong = append(wrong, fmt.Sprintf("handlers ran in the order %x, want %x", o.Log, p.Log))
	}
	return wrong
}

// RunRandom runs a random program and returns the words that it stored.
func RunRandom(t *Target, p *RandomProgram) ([]uint64, error) {
	img, err := guest.Load("random", p.Image(), guest.Options{Format: guest.Flat})
	if err != nil {
		return nil, err
	}
	e, err := t.New(img, trace.SinkFunc(func(trace.Event) {}), false)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	e.Run(t.Limit, func() bool { return false })
	var o Outcome
	if how, code, ended := e.Ended(); !ended || how != trace.EndExit || code != 0 {
		return nil, fmt.Errorf("the program ended %v by %v, status %d; want a clean exit", ended, how, code)
	}
	err = o.read(e.Memory(), randomWords)
	return o.Results, err
}
