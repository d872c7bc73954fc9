package trace

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// Two expiries of one vector that meet in IRR become one interrupt: the handler
// that runs is the first one's, and the next handler is not the second one's.
func TestExpiriesThatMeetInIRRAreOneInterrupt(t *testing.T) {
	const vec = 0xb0
	var s State
	s.Reset(&Header{VCPUs: 1, Hz: 2_500_000_000})
	at := clock.TSC(1000)
	apply := func(k Kind, a, b, c, d uint64) {
		at += 100
		s.Apply(&Event{Kind: k, TSC: at, A: a, B: b, C: c, D: d})
	}
	expiry := func(target uint64) {
		apply(KindArm, target, uint64(TSCDeadline), target, 0)
		apply(KindExpire, target, uint64(RouteDirect), 0, 0)
		apply(KindDeliver, vec, uint64(DeliverSelf), 0, uint64(SourceTimer))
		apply(KindPIRSync, 1, vec, 0, 0)
	}
	expiry(2000)
	expiry(3000) // the guest has not taken the first one
	apply(KindGuestIRQ, vec, 1, 0, 0)
	apply(KindEOI, vec, 1, 0, 0)
	expiry(4000)
	apply(KindGuestIRQ, vec, 1, 0, 0)
	want := map[Outcome]uint64{OutcomeDone: 2, OutcomeMerged: 1}
	for o, n := range want {
		if got := s.Deadlines.Outcomes[o]; got != n {
			t.Errorf("%d deadlines %s, want %d", got, o, n)
		}
	}
	if c := s.Chains.Get(uint64(s.Chains.Len() - 1)); c == nil || c.Target != 4000 {
		t.Errorf("the last handler is that of %+v, want target 4000", c)
	}
}
