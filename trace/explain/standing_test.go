package explain

import (
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

func standing(change func(*trace.State)) []Finding {
	var s trace.State
	s.Reset(&trace.Header{Hz: 1_000_000_000, VCPUs: 3})
	for i := range s.VCPUs {
		s.VCPUs[i].MP = trace.MPRunnable
	}
	s.Now = 100_000_000
	change(&s)
	return Standing(&s)
}

func TestStandingFindings(t *testing.T) {
	chain := func(o trace.Outcome) trace.Chain {
		return trace.Chain{Num: 7, VCPU: 1, Outcome: o, Target: 5000, ExpireAt: 5100}
	}
	tests := []struct {
		name   string
		change func(*trace.State)
		id     string // "" for none
		words  string
	}{
		{"nothing", func(*trace.State) {}, "", ""},
		{"lost", func(s *trace.State) {
			s.Deadlines.Outcomes[trace.OutcomeLost] = 2
			s.Chains.Push(chain(trace.OutcomeLost))
		}, "deadline-lost", "2 deadlines expired without an interrupt"},
		{"dropped", func(s *trace.State) { s.Deadlines.Outcomes[trace.OutcomeDropped] = 1 }, "deadline-dropped", "a deadline expired, but the guest armed"},
		{"merged", func(s *trace.State) { s.Deadlines.Outcomes[trace.OutcomeMerged] = 3 }, "deadline-merged", "3 deadlines expired while"},
		{"rearmed ones are not lost", func(s *trace.State) { s.Deadlines.Outcomes[trace.OutcomeRearmed] = 9 }, "", ""},
		{"armed and overdue", func(s *trace.State) {
			s.VCPUs[1].Chain = trace.Chain{Num: 3, Outcome: trace.OutcomeOpen, Target: 1000}
			s.VCPUs[1].Armed = true
		}, "deadline-overdue", "host timer has not fired"},
		{"not yet overdue", func(s *trace.State) {
			s.VCPUs[1].Chain = trace.Chain{Num: 3, Outcome: trace.OutcomeOpen, Target: s.Now - 1000}
		}, "", ""},
		{"expired and not injected", func(s *trace.State) {
			s.VCPUs[0].Flight[0], s.VCPUs[0].NFlight = trace.Chain{Num: 3, Outcome: trace.OutcomeOpen, Target: 1000, ExpireAt: 1100}, 1
		}, "deadline-overdue", "has not injected it"},
		{"delivered and held back", func(s *trace.State) {
			s.VCPUs[0].Flight[0], s.VCPUs[0].NFlight = trace.Chain{Num: 3, Outcome: trace.OutcomeOpen, Target: 1000, ExpireAt: 1100, DeliverAt: 1200}, 1
		}, "deadline-overdue", "no handler has run"},
		{"not started", func(s *trace.State) {
			s.VCPUs[2].MP = trace.MPUninitialized
			s.Deadlines.Outcomes[trace.OutcomeDone] = 100
		}, "waits-for-sipi", "vCPU 2 waits for its SIPI"},
		{"about to be started", func(s *trace.State) { s.VCPUs[2].MP = trace.MPUninitialized }, "", ""},
		{"fastpath without effect", func(s *trace.State) {
			s.Knobs[trace.KnobFastpath] = 3
			x := &s.ExitStats[trace.ExitMSRWrite]
			x.Count, x.Results[trace.FastNone], x.Clauses[trace.ClauseNoHVTimer] = 300, 300, 300
		}, "fastpath-without-effect", trace.ClauseNoHVTimer.String()},
		{"fastpath that is off", func(s *trace.State) {
			s.Knobs[trace.KnobFastpath] = 1
			x := &s.ExitStats[trace.ExitMSRWrite]
			x.Count, x.Results[trace.FastNone], x.Clauses[trace.ClauseKnobOff] = 300, 300, 300
		}, "", ""},
		{"fastpath that nobody tells of", func(s *trace.State) {
			s.Knobs[trace.KnobFastpath] = trace.UnknownKnob
			x := &s.ExitStats[trace.ExitMSRWrite]
			x.Count, x.Results[trace.FastNone], x.Clauses[trace.ClauseNoHVTimer] = 300, 300, 300
		}, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := standing(tt.change)
			if tt.id == "" {
				if len(got) != 0 {
					t.Errorf("found %+v, want nothing", got)
				}
				return
			}
			if len(got) != 1 || got[0].ID != tt.id || !strings.Contains(got[0].Words, tt.words) || got[0].Rule == "" {
				t.Errorf("found %+v, want %s: %q", got, tt.id, tt.words)
			}
		})
	}
}

func TestLostDeadlineIsFoundInTheRing(t *testing.T) {
	var s trace.State
	s.Reset(&trace.Header{Hz: 1_000_000_000, VCPUs: 1})
	if c := LastOf(&s, trace.OutcomeLost); c != nil {
		t.Errorf("an empty ring has %+v", c)
	}
	for n := range trace.Num(5) {
		o := trace.OutcomeDone
		if n%2 == 1 {
			o = trace.OutcomeLost
		}
		s.Chains.Push(trace.Chain{Num: n + 1, Outcome: o, Target: clock.TSC(n)})
	}
	if c := LastOf(&s, trace.OutcomeLost); c == nil || c.Num != 4 {
		t.Errorf("the last lost deadline is %+v, want number 4", c)
	}
}
