package scenario

import (
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
)

// The values of knobs that scenarios use.
const (
	off          = 0
	on           = 1
	mwaitInGuest = uint64(vmm.DisableMWAIT)
)

// The changes that bugs came and went with.
var (
	periods, tuned, restarts = kernel.Find(kernel.PeriodFromNow), kernel.Find(kernel.GlobalAdvance), kernel.Find(kernel.AdvanceStarts)
	banded, taxCut, stores   = kernel.Find(kernel.AdvanceBand), kernel.Find(kernel.KickTaxCutV3), kernel.Find(kernel.KickStores)
	short, unshort           = kernel.Find(kernel.ShortcutAll), kernel.Find(kernel.ShortcutGone)
)

// table is the table of scenarios.
var table = []Scenario{
	{Name: "tsc-after-deadline", Text: "a VMM restores IA32_TSC_DEADLINE before the TSC: the timer fires an uptime too late",
		Seen:  "firecracker 4099 and 4666",
		Guest: "deadline", Args: "mode=hlt distance=200000", Deadlines: 60, Time: 100_000_000,
		Knobs: []Setting{{trace.KnobPreemptionTimer, off}},
		acts: []act{{arms: 30, do: restore(vmm.SaveOrder,
			[]vmm.StatePart{vmm.PartBase, vmm.PartLAPIC, vmm.PartDeadline, vmm.PartTSC})}},
		Finding: "deadline-before-tsc", Cause: "host-timer-mistimed",
		Rule:   "restore the TSC before the deadline",
		repair: func(s *Scenario) { s.acts[0].do = restore(vmm.SaveOrder, vmm.RestoreOrder) }},

	{Name: "zero-deadline",
		Text: "the deadline expires between KVM_GET_LAPIC and KVM_GET_MSRS: neither holds it, and the guest " +
			"hangs",
		Seen:  "firecracker 4618 and 4630",
		Guest: "deadline", Args: "mode=hlt distance=100000", Deadlines: 60, Time: 100_000_000,
		acts: []act{{arms: 30, do: restore(
			[]vmm.StatePart{vmm.PartLAPIC, vmm.PartPause, vmm.PartMove, vmm.PartDeadline, vmm.PartBase, vmm.PartTSC},
			vmm.RestoreOrder)}},
		Finding: "zero-deadline-restored", Cause: "interrupt-vanished",
		Rule: "read IA32_TSC_DEADLINE before the LAPIC, or restore 0 as the present TSC",
		repair: func(s *Scenario) {
			s.acts[0].do = restore([]vmm.StatePart{vmm.PartDeadline, vmm.PartPause, vmm.PartMove, vmm.PartBase, vmm.PartTSC,
				vmm.PartLAPIC}, vmm.RestoreOrder)
		}},

	{Name: "catch-up-storm", Text: "a periodic timer makes up for every period of a long pause, back to back",
		Seen:  "kernel 18ab3fc8e880",
		Guest: "periodic", Args: "mode=hlt distance=1000000", Kernel: periods.Since.Previous(), Deadlines: 400, Time: 600_000_000,
		acts:    []act{{arms: 20, do: suspend(100_000_000)}},
		Finding: "catch-up-storm",
		Rule:    "a kernel that advances a missed target to now (" + periods.Releases() + ")",
		repair:  func(s *Scenario) { s.Kernel = periods.Since }},

	{Name: "pir-lost-at-restore",
		Text: "KVM_SET_LAPIC clears PIR after it has restarted the timer: an interrupt posted by the restart " +
			"is lost",
		Seen:  "kernel 9cfec6d097c6",
		Guest: "oneshot", Args: "mode=hlt distance=200000", Faults: vmm.FaultClearPIR, Deadlines: 60, Time: 100_000_000,
		acts: []act{{arms: 30, do: restore(
			[]vmm.StatePart{vmm.PartPause, vmm.PartBase, vmm.PartTSC, vmm.PartLAPIC, vmm.PartDeadline}, vmm.RestoreOrder)}},
		Finding: "pir-lost-at-restore", Cause: "interrupt-vanished",
		Rule:   "clear PIR before the LAPIC's state is set",
		repair: func(s *Scenario) { s.Faults &^= vmm.FaultClearPIR }},

	{Name: "pit-reinject",
		Text: "a PIT that re-injects its ticks inhibits APICv: every timer interrupt takes the slow way (AMD " +
			"hosts)",
		Seen:  "libkrun 498, kubevirt 9781",
		Guest: "deadline", Args: "mode=spin", Deadlines: 400, Knobs: []Setting{{trace.KnobAdvance, off}},
		acts:    []act{{arms: 1, do: inhibit}},
		Finding: "apicv-inhibited", Cause: "outer-loop",
		Rule:   "KVM_REINJECT_CONTROL with pit_reinject=0 before the guest runs",
		repair: func(s *Scenario) { s.acts = nil }},

	{Name: "posted-timer-without-mwait",
		Text: "pi_inject_timer is on, but neither MWAIT nor HLT exits are disabled: nothing is ever " +
			"posted",
		Seen:  "kvm list, November 2021",
		Guest: "deadline", Args: "mode=spin", Deadlines: 400,
		Knobs:   []Setting{{trace.KnobPostedTimer, on}, {trace.KnobAdvance, off}},
		Finding: "posted-timer-not-eligible", Cause: "vm-exit",
		Rule:   "exits-disabled=mwait or hlt",
		repair: func(s *Scenario) { s.set(trace.KnobExitsDisabled, mwaitInGuest) }},

	{Name: "advance-runaway",
		Text: "the first adaptive tuning has no ceiling: the advance follows a deep idle state, and the vCPU spins with " +
			"interrupts off",
		Seen:  "kernel 57bf67e73ce9",
		Guest: "deadline", Args: "mode=hlt distance=500000", IdleExit: 60_000, Deadlines: 600, Time: 600_000_000,
		Kernel: tuned.Since, Knobs: []Setting{{trace.KnobHaltPoll, off}},
		Finding: "advance-runaway",
		Rule:    "kernel " + banded.Since.String() + " or later: deltas beyond 10000 cycles are ignored",
		repair:  func(s *Scenario) { s.Kernel = banded.Since }},

	{Name: "advance-reset",
		Text: "tuning climbs to its ceiling of 5000 ns, falls back to 1000 ns, and climbs again, for " +
			"ever",
		Seen:  "kvm list, March 2021",
		Guest: "deadline", Args: "mode=hlt distance=500000", IdleExit: 60_000, Deadlines: 600, Time: 600_000_000,
		Kernel: restarts.Since, Knobs: []Setting{{trace.KnobHaltPoll, off}},
		Finding: "advance-reset", Cause: "idle-exit",
		Rule:   "kernel " + banded.Since.String() + " or later: deltas beyond 10000 cycles are ignored",
		repair: func(s *Scenario) { s.Kernel = banded.Since }},

	{Name: "stuck-on-hrtimer",
		Text: "after a halt the timer stays on the hrtimer for good: each expiry costs a host interrupt, a " +
			"kick and the outer loop",
		Seen:  "the second half of kernel 18ab3fc8e880",
		Guest: "periodic", Args: "mode=mixed distance=1000000", Faults: vmm.FaultNoSwitchBack, Deadlines: 200,
		Knobs: []Setting{{trace.KnobHaltPoll, 2_000_000}}, Time: 600_000_000, Finding: "stuck-on-hrtimer", Cause: "host-timer-irq",
		Rule:   "restart the timer after the halt",
		repair: func(s *Scenario) { s.Faults &^= vmm.FaultNoSwitchBack }},

	{Name: "lost-wakeup",
		Text: "posted from interrupt context to the vCPU that is about to sleep on the same CPU: nobody wakes " +
			"it",
		Seen:  "kernel " + unshort.Commit + "; " + short.Since.String() + " to " + unshort.Since.Previous().String(),
		Guest: "device", Args: "mode=hlt distance=4000 spread=9000", Deadlines: 6000, Time: 600_000_000,
		MSI:    model.MSI{Every: 9007, Vector: 0xb0},
		Kernel: unshort.Since.Previous(), Knobs: []Setting{{trace.KnobHaltPoll, off}},
		Finding: "lost-wakeup",
		Rule:    "a kernel that notifies the running vCPU like any other (" + unshort.Releases() + ")",
		repair:  func(s *Scenario) { s.Kernel = unshort.Since }},

	{Name: "missing-barrier",
		Text: "the kick tax cut as posted reads the task pointer without a barrier: an expiry on another CPU " +
			"is missed by a vCPU that goes to sleep",
		Seen:  "S002 in review, October 2021",
		Guest: "deadline", Args: "mode=hlt distance=300 spread=6000", IdleExit: 50, Faults: vmm.FaultLateStores, Deadlines: 20_000,
		Time: 600_000_000, Kernel: taxCut.Base,
		Knobs: []Setting{{trace.KnobKick, uint64(vmm.KickKC)}, {trace.KnobPostedTimer, on}, {trace.KnobAdvance, off},
			{trace.KnobExitsDisabled, mwaitInGuest}, {trace.KnobHaltPoll, off}},
		Finding: "missing-barrier", Cause: "asleep-with-pending",
		Rule:   "kick=kd, as merged (" + stores.Commit + "): the barrier comes before the task pointer is read",
		repair: func(s *Scenario) { s.Kernel = stores.Since; s.set(trace.KnobKick, uint64(vmm.KickKD)) }},
}
