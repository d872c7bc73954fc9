package session

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
)

func TestPlaceSaysWhatAConditionStoppedAt(t *testing.T) {
	var st trace.State
	st.Reset(&trace.Header{VCPUs: 2, Hz: 2_500_000_000})
	for _, e := range []trace.Event{
		{Kind: trace.KindExit, TSC: 50, VCPU: 1, A: uint64(trace.ExitHLT)},
	} {
		st.Apply(&e)
	}
	st.Scatter.Push(trace.LatePoint{At: 1_234_567, Late: -1500, Deadline: 2222, VCPU: 1})
	tests := []struct {
		name string
		e    trace.Event
		want string
	}{
		{"a deadline", trace.Event{Kind: trace.KindGuestIRQ, TSC: 1_234_567, VCPU: 1, A: 0xb0},
			"deadline 2,222 on v1, 1,500 cycles early, TSC 1,234,567"},
		{"another handler", trace.Event{Kind: trace.KindGuestIRQ, TSC: 9, VCPU: 0, A: 0xb0}, "handler of vector 0xb0 on v0, TSC 9"},
		{"an exit", trace.Event{Kind: trace.KindExit, TSC: 50, VCPU: 1, A: uint64(trace.ExitHLT)}, "exit 1, HLT on v1, TSC 50"},
		{"a kick", trace.Event{Kind: trace.KindKick, TSC: 7, VCPU: 1, A: uint64(trace.KickIPI)}, "kick of v1: ipi, TSC 7"},
		{"a knob", trace.Event{Kind: trace.KindKnob, TSC: 7, VCPU: trace.NoCPU, A: uint64(trace.KnobAPICv)}, "apicv is turned, TSC 7"},
	}
	for _, tt := range tests {
		if got := placeOf(&tt.e, &st); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
