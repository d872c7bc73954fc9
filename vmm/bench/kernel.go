package bench

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
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

// machine is a release of the history on Intel's CPUs, called by its number and
// what was applied to it.
func machine(r kernel.Release, patch string) Machine {
	k := kernel.At(r, kernel.Intel)
	return Machine{Kernel: r.String() + patch, Rules: k, Knobs: vmm.KnobsOf(&k)}
}

// with a proposal applied.
func applied(m Machine, name, proposal string) Machine {
	k := m.Rules.With(proposal)
	return Machine{Kernel: m.Kernel + " + " + name, Rules: k, Knobs: vmm.KnobsOf(&k)}
}

// The kernels on which the rows were measured: those that each series changed,
// and what became of them.
var (
	wait, advance, fast, tax = kernel.Find(kernel.WaitAtEntry), kernel.Find(kernel.VMEntryAdvance),
		kernel.Find(kernel.TimerFastpathV3), kernel.Find(kernel.KickTaxCutV3)

	beforeWait  = machine(wait.Since.Previous(), "")
	afterWait   = machine(wait.Since, "")
	baseAdvance = machine(advance.Base, "")
	baseFast    = machine(fast.Base, "")
	fastV3      = applied(baseFast, "S004 v3", fast.Subject)
	// v4 is what was merged, but for the condition that APICv is active, which
	// holds in all of its rows.
	fastV4  = Machine{Kernel: baseFast.Kernel + " + S004 v4", Rules: merged.Rules, Knobs: merged.Knobs}
	merged  = machine(fast.Base.Next(), "")
	baseTax = machine(tax.Base, "")
	taxCut  = applied(baseTax, "S002 v3", tax.Subject)
)

func apicvOff(m *Machine)          { m.Knobs.APICv = false }
func advanceOff(m *Machine)        { m.Knobs.Advance = 0 }
func noPreemptionTimer(m *Machine) { m.Knobs.PreemptionTimer = false }

func vmentryAdvance(ns clock.Nanos) edit { return func(m *Machine) { m.Knobs.VMEntryAdvance = ns } }
