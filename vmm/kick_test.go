package vmm

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
)

// The letters of the kick's decision table: building blocks that were executed.
var stepLetters = map[byte]trace.KickSteps{'r': trace.StepRCU, 'a': trace.StepTask, 'c': trace.StepCmpxchg,
	's': trace.StepStore, 'i': trace.StepIPI, 'w': trace.StepWake}

func steps(letters string) (s trace.KickSteps) {
	for i := range letters {
		s |= stepLetters[letters[i]]
	}
	return s
}

// TestKickFollowsTheDecisionTable walks every row of the table: inputs T (task
// set), W (really woken), R (target is this CPU's running vCPU), M (mode is
// IN_GUEST_MODE), O (target on another CPU), then one outcome a column.
func TestKickFollowsTheDecisionTable(t *testing.T) {
	const x = -1 // both values
	type outcome struct {
		decision trace.KickDecision
		steps    string
	}
	rows := []struct {
		name       string
		t, w, r, o int
		in         bool
		want       [4]outcome // KA KB KC KD
	}{
		{"woken", 1, 1, x, x, false, [4]outcome{{trace.KickWake, "rw"}, {trace.KickWake, "rw"}, {trace.KickWake, "arw"},
			{trace.KickWake, "rw"}}},
		{"awake already, running, in guest", 1, 0, 1, 0, true, [4]outcome{{trace.KickNothing, "r"},
			{trace.KickExiting, "rc"}, {trace.KickWarn, "ar"}, {trace.KickExiting, "rs"}}},
		{"awake already, running, outside", 1, 0, 1, 0, false, [4]outcome{{trace.KickNothing, "r"},
			{trace.KickNothing, "rc"}, {trace.KickNothing, "ar"}, {trace.KickNothing, "r"}}},
		{"awake already, elsewhere, in guest", 1, 0, 0, 1, true, [4]outcome{{trace.KickIPI, "rci"},
			{trace.KickIPI, "rci"}, {trace.KickIPI, "arci"}, {trace.KickIPI, "rci"}}},
		{"awake already, same CPU, in guest", 1, 0, 0, 0, true, [4]outcome{{trace.KickNothing, "r"},
			{trace.KickExiting, "rc"}, {trace.KickExiting, "arc"}, {trace.KickExiting, "rc"}}},
		{"awake already, elsewhere, outside", 1, 0, 0, 1, false, [4]outcome{{trace.KickNothing, "rc"},
			{trace.KickNothing, "rc"}, {trace.KickNothing, "arc"}, {trace.KickNothing, "rc"}}},
		{"awake already, same CPU, outside", 1, 0, 0, 0, false, [4]outcome{{trace.KickNothing, "r"},
			{trace.KickNothing, "rc"}, {trace.KickNothing, "arc"}, {trace.KickNothing, "rc"}}},
		{"running, in guest", 0, 0, 1, 0, true, [4]outcome{{trace.KickNothing, "r"}, {trace.KickExiting, "rc"},
			{trace.KickWarn, "a"}, {trace.KickExiting, "rs"}}},
		{"running, outside", 0, 0, 1, 0, false, [4]outcome{{trace.KickNothing, "r"}, {trace.KickNothing, "rc"},
			{trace.KickNothing, "a"}, {trace.KickNothing, "r"}}},
		{"elsewhere, in guest", 0, 0, 0, 1, true, [4]outcome{{trace.KickIPI, "rci"}, {trace.KickIPI, "rci"},
			{trace.KickIPI, "aci"}, {trace.KickIPI, "rci"}}},
		{"same CPU, in guest", 0, 0, 0, 0, true, [4]outcome{{trace.KickNothing, "r"}, {trace.KickExiting, "rc"},
			{trace.KickExiting, "ac"}, {trace.KickExiting, "rc"}}},
		{"elsewhere, outside", 0, 0, 0, 1, false, [4]outcome{{trace.KickNothing, "rc"}, {trace.KickNothing, "rc"},
			{trace.KickNothing, "ac"}, {trace.KickNothing, "rc"}}},
		{"same CPU, outside", 0, 0, 0, 0, false, [4]outcome{{trace.KickNothing, "r"}, {trace.KickNothing, "rc"},
			{trace.KickNothing, "ac"}, {trace.KickNothing, "rc"}}},
	}
	both := func(v int) []bool {
		if v == x {
			return []bool{false, true}
		}
		return []bool{v == 1}
	}
	for _, row := range rows {
		modes := []trace.Mode{trace.OutsideGuestMode, trace.ExitingGuestMode, trace.ReadingShadowPageTables}
		if row.in {
			modes = []trace.Mode{trace.InGuestMode}
		}
		for _, r := range both(row.r) {
			for _, o := range both(row.o) {
				for _, mode := range modes {
					in := kickInput{task: row.t == 1, woken: row.w == 1, running: r, mode: mode, other: o}
					for i, want := range row.want {
						got := decideKick(kernel.Kick{Rules: KickKA + KickRules(i)}, in)
						if got.decision != want.decision || got.steps != steps(want.steps) {
							t.Errorf("%s: decideKick(%s, %+v) = %s, steps %06b, want %s, steps %06b", row.name,
								trace.KickRulesNames[KickKA+KickRules(i)], in, got.decision, got.steps, want.decision,
								steps(want.steps))
						}
					}
				}
			}
		}
	}
}
