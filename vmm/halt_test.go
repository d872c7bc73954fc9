package vmm

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
)

func TestPollingTimeFollowsTheLengthOfHalts(t *testing.T) {
	const limit = 200_000
	for _, tt := range []struct {
		name               string
		era                lapic.Era
		poll, halted, want clock.Nanos
	}{
		{"first short halt", lapic.Era5_19, 0, 50_000, pollGrowStart},
		{"longer than polled", lapic.Era5_19, 40_000, 50_000, 80_000},
		{"at most the limit", lapic.Era5_19, 160_000, 170_000, limit},
		{"within the polling", lapic.Era5_19, 80_000, 50_000, 80_000},
		{"too long, up to 6.10", lapic.Era5_19, 80_000, 300_000, 0},
		{"too long, from 6.11", lapic.Era6_10, 80_000, 300_000, 40_000},
		{"too long for the little that was left", lapic.Era6_10, 16_000, 300_000, 0},
		{"too long, nothing polled", lapic.Era6_10, 0, 300_000, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, v := &Machine{}, &vcpu{haltPoll: tt.poll}
			m.cfg.APIC.Era, m.st.knobs.HaltPoll = tt.era, limit
			if m.adjustPoll(v, tt.halted); v.haltPoll != tt.want {
				t.Errorf("polled %d, halted %d: now %d, want %d", tt.poll, tt.halted, v.haltPoll, tt.want)
			}
		})
	}
}
