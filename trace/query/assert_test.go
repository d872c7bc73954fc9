package query

import (
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// testRun is a run with known figures: latenesses 10, 20, … 1000 cycles at 2
// GHz, so p99 is 990 cycles or 495 ns.
func testRun() (*trace.Header, *trace.State) {
	h := &trace.Header{Hz: hz, VCPUs: 1, Provenance: trace.Modelled}
	h.Knobs[trace.KnobFastpath], h.Knobs[trace.KnobAPICv], h.Knobs[trace.KnobAdvance] = 3, 1, 1000
	s := new(trace.State)
	s.Reset(h)
	for i := range 100 {
		s.Deadlines.Late.Add(clock.Cycles(10 * (i + 1)))
	}
	s.Deadlines.Outcomes[trace.OutcomeDone], s.Deadlines.Outcomes[trace.OutcomeRearmed] = 100, 7
	s.Deadlines.Opened = 108
	msr := &s.ExitStats[trace.ExitMSRWrite]
	msr.Count, msr.Results[trace.FastReenter], msr.Results[trace.FastHandled], msr.Results[trace.FastNone] = 100, 80, 15, 5
	msr.Clauses[trace.ClauseRequest] = 20
	s.ExitStats[trace.ExitHLT].Count = 100
	s.Kicks.Decisions[trace.KickIPI], s.Kicks.Decisions[trace.KickWake] = 3, 4
	s.Expiries[trace.RoutePendKick] = 5
	s.Deliveries[trace.DeliverNotify] = 6
	s.End = trace.End{How: trace.EndExit, Code: 2}
	return h, s
}

func TestAssertions(t *testing.T) {
	h, s := testRun()
	tests := []struct {
		src  string
		want string // why it fails, "" if it holds
	}{
		{"p99(late) < 1us", ""},
		{"p99(late) < 0.4us", "p99(late) is 495ns, not < 0.4us"},
		{"p99(late) == 990", ""},
		{"p50(late) == 500 cycles", ""},
		{"p99.9(late) == 1000", ""},
		{"p999(late) == 1000", ""},
		{"p100(late) == 1000 && p0(late) == 10", ""},
		{"min(late) == 10 && max(late) == 1000 && mean(late) == 505", ""},
		{"count(late) == 100", ""},
		{"count(samples) == 0", ""},
		{"p50(samples) < 1us", "p50(samples) has no value"},
		{"deadlines == 100 && deadlines.rearmed == 7 && deadlines(open) == 1", ""},
		{"exits == 200 && exits.HLT == 100 && exits.CPUID == 0", ""},
		{"exits.HLT < 10", "exits.HLT is 100, not < 10"},
		{"fastpath(MSR_WRITE) == 95%", ""},
		{"fastpath(MSR_WRITE) > 96%", "fastpath(MSR_WRITE) is 95%, not > 96%"},
		{"fastpath == 47.5%", ""},
		{"fastpath(CPUID) > 0%", "fastpath(CPUID) has no value"},
		{"reenter(MSR_WRITE) == 80%", ""},
		{"bails.request-pending == 20", ""},
		{"kicks == 7 && kicks.ipi == 3 && kicks(wake) == 4", ""},
		{"expiries.pending+kick == 5 && deliveries.pir+ipi == 6", ""},
		{"end == exit && status == 2", ""},
		{"end == timeout", "end is exit, not timeout"},
		{"knobs.fastpath == 5.8 && knobs.apicv == on && knobs.timer-advance == 1000ns", ""},
		{"advance == 1us", ""},
		{"lost == 0 && gaps == 0 && knob-turns == 0", ""},
		{"max(late) < 0.5us || exits.HLT == 0", "max(late) is 500ns, not < 0.5us; exits.HLT is 100, not == 0"},
	}
	for _, tt := range tests {
		a, err := ParseAssertion(tt.src)
		if err != nil {
			t.Errorf("%s: %v", tt.src, err)
			continue
		}
		if ok, why := a.Check(h, s); why != tt.want || ok != (tt.want == "") {
			t.Errorf("%s: %v, %q, want %q", tt.src, ok, why, tt.want)
		}
	}
}

func TestBadAssertionsAreRefused(t *testing.T) {
	tests := []struct{ src, want string }{
		{"p99 < 5us", "p99 needs one of late, since-knob, samples, as in p99(late)"},
		{"p101(late) < 5us", "nothing is called"},
		{"p(late) < 5us", "nothing is called"},
		{"p9.9.9(late) < 5us", "nothing is called"},
		{"fastpath(MSR_WRITE) > 0.9", "such as 90%"},
		{"exits.FOO == 0", `exits has no "FOO"`},
		{"bails > 0", "bails needs one of"},
		{"end == later", "is no end"},
	}
	for _, tt := range tests {
		if _, err := ParseAssertion(tt.src); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.src, err, tt.want)
		}
	}
}

func TestRunVocabularyIsComplete(t *testing.T) {
	h, s := testRun()
	seen := map[string]bool{}
	for _, v := range RunVocabulary().Vars {
		if v.Word == "" || v.Doc == "" || seen[v.Word] {
			t.Errorf("row %q is double or has no doc", v.Word)
		}
		seen[v.Word] = true
		if (v.Number == nil) == (v.Name == nil) {
			t.Errorf("%s: neither a number nor a word, or both", v.Word)
		}
		if (v.Number != nil) != (v.Unit != BadUnit) {
			t.Errorf("%s: unit %d", v.Word, v.Unit)
		}
		for k := range v.Keys {
			if v.Number != nil {
				v.Number(Run{h, s}, k)
			} else if w, ok := v.Name(Run{h, s}, k); !ok || w == "" {
				t.Errorf("%s(%s) has no value", v.Word, v.Keys[k])
			}
		}
	}
}
