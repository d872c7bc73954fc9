package vmm

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

func TestPollingTimeFollowsTheLengthOfHalts(t *testing.T) {
	const limit = 200_000
	for _, tt := range []struct {
		name               string
		kernel             string
		poll, halted, want clock.Nanos
	}{
		{"first short halt", "5.19", 0, 50_000, 10_000},
		{"longer than polled", "5.19", 40_000, 50_000, 80_000},
		{"at most the limit", "5.19", 160_000, 170_000, limit},
		{"within the polling", "5.19", 80_000, 50_000, 80_000},
		{"too long, up to 6.10", "6.10", 80_000, 300_000, 0},
		{"too long, from 6.11", "6.11", 80_000, 300_000, 40_000},
		{"too long for the little that was left", "6.11", 16_000, 300_000, 0},
		{"too long, nothing polled", "6.11", 0, 300_000, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, v := &Machine{}, &vcpu{haltPoll: tt.poll}
			m.cfg.Kernel, m.st.knobs.HaltPoll = kernelOf(t, tt.kernel), limit
			if m.adjustPoll(v, tt.halted); v.haltPoll != tt.want {
				t.Errorf("polled %d, halted %d: now %d, want %d", tt.poll, tt.halted, v.haltPoll, tt.want)
			}
		})
	}
}
