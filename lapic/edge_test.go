package lapic

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// A deadline that is now has passed, in the releases too that had no test of the
// advance to say so.
func TestDeadlineOfNowHasPassed(t *testing.T) {
	a := newDeadline(t, 0, inEra(Era4_19))
	now := at(1_000_000)
	for ahead, want := range map[clock.TSC]Verdict{0: StartExpired, 1: StartArmed} {
		a.WriteDeadline(now.Guest + ahead)
		if s := a.SoftStart(now); s.Verdict != want {
			t.Errorf("%d ahead: %s, want %s", ahead, s.Verdict, want)
		}
	}
}

// The division by the scaling ratio overflows 64 bits from 2^(64−frac) ratios on:
// the preemption timer is refused then, and not before.
func TestScaledDistanceThatOverflows(t *testing.T) {
	hv := HV{Usable: true, Multi: 31, Ratio: 1 << 47, Frac: 48} // the guest runs at half the rate
	now := at(1000)
	for _, tt := range []struct {
		ahead clock.TSC
		want  Verdict
	}{{1 << 40, StartArmed}, {1<<63 - 1, StartRange}, {1 << 63, StartRange}} {
		a := newDeadline(t, 0)
		a.WriteDeadline(now.Guest + tt.ahead)
		if _, _, v := a.HVStart(now, hv); v != tt.want {
			t.Errorf("%#x ahead: %s, want %s", tt.ahead, v, tt.want)
		}
	}
}
