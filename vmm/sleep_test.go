package vmm

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// aboutToSleep makes vCPU 0 halt, up to the moment between its last check and
// schedule().
func aboutToSleep(t *testing.T, turn func(*Knobs)) *rig {
	t.Helper()
	r := newRig(t, 1, func(k *Knobs) { k.HaltPoll = 0; turn(k) })
	r.cpus[0].exits = []Exit{{Reason: ExitHLT, Len: 1}}
	r.enter(0)
	r.until(0, StageSleep)
	return r
}

// An interrupt handler on the vCPU's own CPU posts a vector after the last check:
// who follows the unrestricted shortcut for the running vCPU loses the wake-up.
func TestPostingBetweenLastCheckAndScheduleWakes(t *testing.T) {
	for _, tt := range []struct {
		rule  Shortcut
		sleep bool
	}{{ShortcutOff, false}, {ShortcutInGuest, false}, {ShortcutAlways, true}} {
		r := aboutToSleep(t, func(k *Knobs) { k.Shortcut = tt.rule })
		r.m.receive(0, &r.m.vcpus[0], lapic.Message{Vector: 0x50, Assert: true}, trace.SourceIOAPIC)
		r.m.Step(0)
		if got := r.host.asleep[0]; got != tt.sleep {
			t.Errorf("shortcut %s: asleep %v, want %v", trace.ShortcutNames[tt.rule], got, tt.sleep)
		}
		if tt.sleep {
			continue
		}
		r.until(0, StageGuest)
		if !r.m.vcpus[0].apic.IRR.Has(0x50) {
			t.Errorf("shortcut %s: the vector is not in IRR at the entry", trace.ShortcutNames[tt.rule])
		}
	}
}

// The kick that S002 posted reads the task pointer without a barrier: with the
// fault, a vCPU that checks right after it does not see the expiry.
func TestKickWithoutBarrierIsMissedByALateCheck(t *testing.T) {
	for _, tt := range []struct {
		rules KickRules
		fault Faults
		sleep bool
	}{{KickKC, FaultLateStores, true}, {KickKD, FaultLateStores, false}, {KickKC, 0, false}} {
		r := newRig(t, 1, func(k *Knobs) { k.HaltPoll, k.Kick, k.PreemptionTimer = 0, tt.rules, false })
		r.m.cfg.Faults = tt.fault
		r.cpus[0].exits = []Exit{{Reason: ExitHLT, Len: 1}}
		r.msr(0, lapic.MSRDeadline, 1_000_000)
		r.enter(0)
		r.until(0, StageBlock)
		r.m.TimerFired(1, 0, 1_000_000) // on another CPU
		r.m.Step(0)
		if r.m.vcpus[0].stage == StageSleep {
			r.m.Step(0)
		}
		if got := r.host.asleep[0]; got != tt.sleep {
			t.Errorf("kick %s, faults %d: asleep %v, want %v", trace.KickRulesNames[tt.rules], tt.fault, got, tt.sleep)
		}
	}
}
