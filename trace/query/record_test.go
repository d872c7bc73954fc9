package query

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
)

func TestFiltersSeeRecordsAsConditionsSeeMoments(t *testing.T) {
	chain := &trace.Chain{Outcome: trace.OutcomeDone, VCPU: 1, Num: 7, Vector: 0xef, Late: -1500, Backing: trace.BackSW, BackedAt: 10,
		Route: trace.RoutePosted, ExpireAt: 20, Place: trace.WaitLate, Delta: -300, Waited: 250, AdvanceNS: 1000, ArmAt: 5}
	open := &trace.Chain{Outcome: trace.OutcomeRearmed, Num: 8}
	exit := &trace.ExitRecord{Reason: trace.ExitHLT, VCPU: 1, At: 100, EntryAt: 5100}
	kick := &trace.KickRecord{Target: 3, Decision: trace.KickIPI}
	tests := []struct {
		src  string
		m    Moment
		want bool
	}{
		{"late < -1000", OfChain(chain), true},
		{"late < -1000 && backing == sw && waited > 100ns", OfChain(chain), false}, // 250 cycles are 100 ns at 2.5 GHz
		{"late < -1000 && backing == sw && waited >= 100ns", OfChain(chain), true},
		{"expire == posted", OfChain(chain), true},
		{"deliver == pir", OfChain(chain), false}, // it was not delivered
		{"delta < 0 && advance == 1us && vector == 239", OfChain(chain), true},
		{"late < 1s", OfChain(open), false}, // no handler ran: it has no lateness
		{"deadline == 8", OfChain(open), true},
		{"kick == ipi", OfChain(chain), false},
		{"exit == HLT && vcpu == 1 && cycles == 5000", OfExit(exit, nil), true},
		{"exit == HLT && late < 0", OfExit(exit, nil), false},
		{"exit == HLT && late < 0", OfExit(exit, chain), true},
		{"kick == ipi && vcpu == 3", OfKick(kick), true},
		{"!(kick == ipi)", OfKick(kick), false},
	}
	for _, tt := range tests {
		c, err := ParseCondition(tt.src)
		if err != nil {
			t.Errorf("ParseCondition(%q): %v", tt.src, err)
			continue
		}
		if got := c.Eval(tt.m, 2_500_000_000); got != tt.want {
			t.Errorf("%q = %v, want %v", tt.src, got, tt.want)
		}
	}
}
