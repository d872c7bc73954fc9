package query

import (
	"errors"
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
)

func TestConditionsSeeWhatAnEventCompleted(t *testing.T) {
	exit := &trace.ExitRecord{Reason: trace.ExitMSRWrite, HasFast: true, Result: trace.FastHandled,
		Clause: trace.ClauseRequest, At: 1000, EntryAt: 3500}
	chain := &trace.Chain{Outcome: trace.OutcomeDone, VCPU: 1, Late: 60_000, Num: 7}
	entry := Moment{Event: trace.Event{Kind: trace.KindEntry}, Exit: exit}
	isr := Moment{Event: trace.Event{Kind: trace.KindGuestIRQ, VCPU: 1, A: 0x40}, Chain: chain}
	kick := Moment{Event: trace.Event{Kind: trace.KindKick, A: uint64(trace.KickIPI)}}
	knob := Moment{Event: trace.Event{Kind: trace.KindKnob, A: uint64(trace.KnobAPICv), VCPU: trace.NoCPU}}
	tests := []struct {
		src  string
		m    Moment
		want bool
	}{
		{"late > 20us && vcpu == 1", isr, true}, // 60 000 cycles are 24 us at 2.5 GHz
		{"late > 25us && vcpu == 1", isr, false},
		{"late > 20us && vcpu == 0", isr, false},
		{"late > 20us", entry, false}, // no deadline here
		{"late < 20us", entry, false},
		{"exit == MSR_WRITE && fastpath == bail", entry, true},
		{"exit == HLT", entry, false},
		{"clause == request-pending", entry, true},
		{"cycles >= 2500", entry, true},
		{"cycles > 1us", entry, false},
		{"kick == ipi", kick, true},
		{"kick == wake", kick, false},
		{"knob changed", knob, true},
		{"knob changed", kick, false},
		{"knob == apicv", knob, true},
		{"vcpu == 0", knob, false}, // a knob belongs to no vCPU
		{"deadline == 7", isr, true},
	}
	for _, tt := range tests {
		c, err := ParseCondition(tt.src)
		if err != nil {
			t.Errorf("ParseCondition(%q): %v", tt.src, err)
			continue
		}
		if got := c.Eval(tt.m, 2_500_000_000); got != tt.want {
			t.Errorf("%q on %s = %v, want %v", tt.src, tt.m.Event.Kind, got, tt.want)
		}
	}
}

func TestConditionErrorsPointAtTheColumn(t *testing.T) {
	for src, col := range map[string]int{
		"late >": 7, "latt > 5us": 1, "exit == NOSUCH": 9, "late > 5us && (kick == ipi": 27, "vcpu == 3us": 9,
	} {
		_, err := ParseCondition(src)
		var e *Error
		if !errors.As(err, &e) || e.Col != col {
			t.Errorf("ParseCondition(%q) = %v, want an error at column %d", src, err, col)
		}
	}
}
