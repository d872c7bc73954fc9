package bench

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// edit changes a kernel.
type edit func(*Machine)

// with returns m with changes.
func (m Machine) with(edits ...edit) Machine {
	for _, e := range edits {
		e(&m)
	}
	return m
}

// kernel makes a kernel from its era and its knobs: APICv and the preemption
// timer on, adaptive advance, no fastpath for timers.
func kernel(name string, era lapic.Era, tune lapic.TuneEra, edits ...edit) Machine {
	k := vmm.DefaultKnobs()
	k.Fastpath, k.Kick, k.Shortcut, k.Tuning = vmm.RulesOff, vmm.KickKA, vmm.ShortcutOff, uint8(tune)
	return Machine{Kernel: name, Era: era, Knobs: k}.with(edits...)
}

// The kernels on which the rows were measured. The series' base kernels follow
// from their dates; where a kernel has an ICR fastpath but none for timers, the
// rule set is off: no row sends an IPI there.
var (
	kernel52  = kernel("5.2", lapic.Era5_2, lapic.Tune5_2, waitEarly)
	kernel53  = kernel("5.3", lapic.Era5_3, lapic.Tune5_3)
	kernel57  = kernel("5.7", lapic.Era5_6, lapic.Tune5_4)
	kernelS4  = kernel("5.7 + S004 v3", lapic.Era5_8, lapic.Tune5_4, rules(vmm.RulesS004))
	kernelS4b = kernel("5.7 + S004 v4", lapic.Era5_8, lapic.Tune5_4, rules(vmm.Rules58))
	kernel515 = kernel("5.15", lapic.Era5_14, lapic.Tune5_4, rules(vmm.Rules58), kick(vmm.KickKB))
)

func waitEarly(m *Machine) { m.Knobs.WaitPlacement = trace.WaitEarly }
func apicvOff(m *Machine)  { m.Knobs.APICv = false }
func advanceOff(m *Machine) {
	m.Knobs.Advance = 0
}
func noPreemptionTimer(m *Machine) { m.Knobs.PreemptionTimer = false }

func vmentryAdvance(ns clock.Nanos) edit { return func(m *Machine) { m.Knobs.VMEntryAdvance = ns } }
func kick(k vmm.KickRules) edit          { return func(m *Machine) { m.Knobs.Kick = k } }

// rules chooses a fastpath; the series brought the running-vCPU shortcut too.
func rules(r vmm.RuleSet) edit {
	return func(m *Machine) { m.Knobs.Fastpath, m.Knobs.Shortcut = r, vmm.ShortcutAlways }
}
