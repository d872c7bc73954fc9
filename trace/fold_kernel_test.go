package trace

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// What the kernel's tracepoints leave out, other events tell.
func TestEventsOfTheKernelsTraceCompleteEachOther(t *testing.T) {
	s := &State{}
	s.Reset(&Header{VCPUs: 2, Hz: 1e9})
	apply := func(at uint64, v uint8, k Kind, a, b, c, d uint64) {
		s.Apply(&Event{TSC: clock.TSC(at), Kind: k, VCPU: v, A: a, B: b, C: c, D: d})
	}
	apply(10, 1, KindEntry, 0x1000, 0, 0, 0)
	if mp := s.VCPUs[1].MP; mp != MPRunnable {
		t.Errorf("MP state of a vCPU that enters the guest: %v", mp)
	}
	tests := []struct {
		name         string
		reason       ExitReason
		info1, info2 uint64 // of the exit
		write        uint64
		want1, want2 uint64
	}{
		{"write", ExitMSRWrite, 0, 0, 1, 0x80b, 7},
		{"read", ExitMSRRead, 0, 0, 0, 0x80b, 0},
		{"write that the exit names", ExitMSRWrite, 0x6e0, 99, 1, 0x6e0, 99},
		{"another exit", ExitIO, 0, 0, 1, 0, 0},
	}
	for i, tt := range tests {
		at := uint64(100 * (i + 1))
		apply(at, 1, KindExit, uint64(tt.reason), 0x1000, tt.info1, tt.info2)
		apply(at+1, 1, KindMSR, 0x80b, 7, tt.write, 0)
		x := s.Exits.Last(0)
		if x.Info1 != tt.want1 || x.Info2 != tt.want2 {
			t.Errorf("%s: information %#x, %#x; want %#x, %#x", tt.name, x.Info1, x.Info2, tt.want1, tt.want2)
		}
		apply(at+2, 1, KindEntry, 0x1000, 0, 0, 0)
	}
}
