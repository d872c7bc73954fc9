package kernel

import (
	"slices"
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// Every clause of every predicate of every release has words, and stands in its
// predicate once.
func TestEveryClauseHasWords(t *testing.T) {
	for _, r := range Mainlines(Oldest, Newest) {
		for _, x := range []Vendor{Intel, AMD} {
			k := At(r, x)
			all := []Predicate{k.ExitTest(), k.UseHV(), k.CanPost(), k.Direct(), k.WaitFor()}
			for e := trace.ExitReason(1); e < trace.NumExits; e++ {
				for _, msr := range []uint64{0, msrDeadline, msrICR} {
					all = append(all, k.Fastpath.Fast(e, msr))
				}
			}
			for _, p := range all {
				for i, c := range p {
					if TermOf(c) == (Term{}) {
						t.Errorf("%s, %s: %s has no words", r, x, c)
					}
					if slices.Contains(p[:i], c) {
						t.Errorf("%s, %s: %v asks for %s twice", r, x, p, c)
					}
				}
			}
		}
	}
}

func TestFastpathPredicates(t *testing.T) {
	none := Predicate{trace.ClauseKnobOff, trace.ClauseNoHandler}
	with := func(cs ...trace.Clause) Predicate { return append(append(none[:2:2], cs...), exitTest...) }
	for _, tt := range []struct {
		name    string
		release Release
		vendor  Vendor
		exit    trace.ExitReason
		msr     uint64
		want    Predicate
	}{
		{"no fastpath yet", v(5, 4), Intel, trace.ExitMSRWrite, msrDeadline, none},
		{"0x6e0", v(5, 8), Intel, trace.ExitMSRWrite, msrDeadline, with(useHV...)},
		{"0x6e0, 6.12", v(6, 12), Intel, trace.ExitMSRWrite, msrDeadline, with(useHV...)},
		{"0x6e0 without a condition", v(6, 18), Intel, trace.ExitMSRWrite, msrDeadline, with()},
		{"HLT, 6.11", v(6, 11), Intel, trace.ExitHLT, 0, none},
		{"HLT", v(6, 12), Intel, trace.ExitHLT, 0, with(trace.ClauseNotRunnable)},
		{"preemption timer", v(6, 8), Intel, trace.ExitPreemptionTimer, 0, with(trace.ClauseImmediateExit, trace.ClauseSoftDisabled)},
		{"preemption timer, 6.9", v(6, 9), Intel, trace.ExitPreemptionTimer, 0, with(trace.ClauseImmediateExit)},
		{"CPUID", v(6, 12), Intel, trace.ExitCPUID, 0, none},
		{"another MSR", v(6, 12), Intel, trace.ExitMSRWrite, 0x10, with(trace.ClauseOtherMSR)},
		{"no preemption timer there", v(6, 12), AMD, trace.ExitPreemptionTimer, 0, none},
	} {
		k := At(tt.release, tt.vendor)
		if got := k.Fastpath.Fast(tt.exit, tt.msr); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	posted := At(v(5, 7), Intel)
	posted = posted.With(TimerFastpathV3)
	got := posted.Fastpath.Fast(trace.ExitPreemptionTimer, 0)
	want := append(append(none[:2:2], trace.ClauseAPICvOff), exitTest...)
	want = append(want, trace.ClauseImmediateExit, trace.ClauseSoftDisabled)
	if !slices.Equal(got, want) {
		t.Errorf("as posted: %v, want %v", got, want)
	}
}

func TestPostingAsksForExitsFromItsRelease(t *testing.T) {
	for r, want := range map[Release]bool{v(5, 3): false, v(5, 8): false, v(5, 19): true, v(6, 12): true} {
		k := At(r, Intel)
		if got := slices.Contains(k.CanPost(), trace.ClauseExitsOn); got != want {
			t.Errorf("%s asks for disabled exits: %v, want %v", r, got, want)
		}
	}
}

func TestFirstAndSuspects(t *testing.T) {
	p := Predicate{trace.ClauseNoHVTimer, trace.ClauseHVOff, trace.ClauseMWAITInGuest, trace.ClausePostable}
	fails := func(c trace.Clause) bool { return c != trace.ClauseMWAITInGuest && c != trace.ClausePostable }
	if c := p.First(fails); c != trace.ClauseMWAITInGuest {
		t.Errorf("first failure %s", c)
	}
	if c := p.First(func(trace.Clause) bool { return true }); c != trace.ClauseNone {
		t.Errorf("all hold, and %s is named", c)
	}
	known := map[trace.Clause]bool{trace.ClauseNoHVTimer: true, trace.ClauseMWAITInGuest: false}
	got := p.Suspects(func(c trace.Clause) (bool, bool) { held, ok := known[c]; return held, ok })
	if want := []trace.Clause{trace.ClauseHVOff, trace.ClauseMWAITInGuest}; !slices.Equal(got, want) {
		t.Errorf("suspects %v, want %v", got, want)
	}
}

func TestICRClauses(t *testing.T) {
	for _, tt := range []struct {
		icr  uint64
		want trace.Clause
		fast trace.Clause // 6.18
	}{
		{0x50, trace.ClauseNone, trace.ClauseNone},
		{1<<18 | 0x50, trace.ClauseShorthand, trace.ClauseNone},
		{3<<18 | 0x50, trace.ClauseShorthand, trace.ClauseWouldBlock},
		{1<<11 | 0x50, trace.ClauseLogical, trace.ClauseNone},
		{1<<11 | 4<<8, trace.ClauseLogical, trace.ClauseNone},
		{4<<8 | 2, trace.ClauseNotFixed, trace.ClauseNone},
		{0xffffffff<<32 | 0x50, trace.ClauseBroadcast, trace.ClauseWouldBlock},
	} {
		holds := func(c trace.Clause) bool { held, known := ICRHolds(tt.icr, c); return held || !known }
		old, now := At(v(6, 12), Intel), At(v(6, 18), Intel)
		if c := old.Fastpath.icr().First(holds); c != tt.want {
			t.Errorf("6.12: ICR %#x fails %s, want %s", tt.icr, c, tt.want)
		}
		if c := now.Fastpath.icr().First(holds); c != tt.fast {
			t.Errorf("6.18: ICR %#x fails %s, want %s", tt.icr, c, tt.fast)
		}
	}
}

func TestWaitIsTestedInTheKernelsOrder(t *testing.T) {
	for name, want := range map[string][]string{
		"4.14": {"a deadline has expired", "its vector is injected"},
		"5.9":  {"the advance is not 0", "a deadline has expired", "its vector is injected"},
		"5.10": {"a deadline has expired", "the advance is not 0", "its vector is injected"},
		"6.12": {"a deadline has expired", "the advance is not 0", "its vector is injected"},
	} {
		n, err := Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		k := At(n.Release, Intel)
		if got := k.waitDecision().Clauses; !slices.Equal(got, want) {
			t.Errorf("%s tests %q, want %q", name, got, want)
		}
	}
}
