package main

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
)

// spec is a profile to be fitted.
type spec struct {
	name, about string
	hz          clock.Hz
	hzSource    string
	base        string // the profile whose costs are the prior
	// generic takes the priors of host work from profile generic: only the guest's
	// costs are base's.
	generic bool
	// free are the costs that may move: phases, or guest costs as guest/NAME.
	free []string
	// calibrates are the rows that must come out, predicts the machine's others.
	calibrates, predicts []model.RowRef
}

// inner are the costs on the way of an exit that a timer write or expiry takes.
var inner = []string{"exit", "fast-dispatch", "dispatch", "msr", "apic", "hypercall", "hv-start", "expire", "inject-timer",
	"pir-sync", "outer", "prepare", "exit-test", "early-gap", "late-gap", "entry", "post", "kick-rcu", "wait-check", "guest/vectoring",
	"guest/iret", "guest/rdtsc"}

// specs are in the order of their dependence.
var specs = []spec{
	{name: "skylake-server", about: "costs of a 2.5 GHz Skylake server under kernels 5.2 to 5.8",
		hz: 2_500_000_000, hzSource: "S000: 2.5 GHz", base: "generic", free: inner,
		calibrates: []model.RowRef{
			{ID: "s000-roundtrip", Text: "exit, entry and the loop's way round"},
			{ID: "s000-latency", Text: "what follows the wait: late-gap, entry, vectoring"},
			{ID: "s004v3-immed-off", Text: "the immediate expiry, and what the fastpath leaves out"},
			{ID: "s004v3-immed-adaptive", Text: "wait-check: adaptive scores lie 80 to 89 cycles higher with nothing to wait for"},
		},
		predicts: []model.RowRef{
			{ID: "s000-cyclictest", Text: "vmentry advance of 300 ns on the hrtimer"},
			{ID: "s000-cyclictest-hv", Text: "the same on the preemption timer"},
			{ID: "s001-cyclictest", Text: "wait placement"},
			{ID: "s004v3-tscdeadline-off", Text: "the fastpath at the preemption timer"},
			{ID: "s004v3-tscdeadline-adaptive", Text: "what the wait hides of it"},
			{ID: "s004v3-cyclictest", Text: "the fastpath in a wake-up"},
			{ID: "s004v4-immed-off", Text: "the second version: no gate, one test"},
			{ID: "s004v4-tscdeadline-off", Text: "the same at the preemption timer"},
			{ID: "s004v4-immed-adaptive", Text: "the same with advance"},
			{ID: "s004v4-tscdeadline-adaptive", Text: "the same with advance at the preemption timer"},
			{ID: "s004v4-cyclictest", Text: "the same in a wake-up"},
		}},
	{name: "haswell-desktop", about: "costs of a Haswell desktop without APICv under kernels 5.2 and 5.3",
		hz: 2_400_000_000, hzSource: "R. Krčmář on S000: 267 cycles are 111 ns; the frequency of S001's machine is not published",
		base: "skylake-server", generic: true,
		free: []string{"exit", "fast-dispatch", "dispatch", "hypercall", "outer", "prepare", "exit-test", "early-gap", "late-gap",
			"entry"},
		calibrates: []model.RowRef{
			{ID: "krcmar-vmcall", Text: "exit, entry and the loop's way round"},
			{ID: "krcmar-after-wait", Text: "late-gap and entry"},
			{ID: "s001-gap", Text: "early-gap"},
		},
		predicts: []model.RowRef{{ID: "s001-latency", Text: "wait placement"}}},
	{name: "icelake-server", about: "costs of an Ice Lake server with a preemptible RCU under kernel 5.15",
		hz: 2_500_000_000, hzSource: "assumed: the frequency is not published", base: "skylake-server",
		free:       []string{"kick-rcu", "kick-cmpxchg"},
		calibrates: []model.RowRef{{ID: "s002-self_ipi_sti_nop-apicv-off", Text: "one kick of a running vCPU: kick-rcu and kick-cmpxchg"}},
		predicts:   kicks()},
}

// kicks are the other rows of S002.
func kicks() (refs []model.RowRef) {
	for _, t := range []string{"tscdeadline_immed", "tscdeadline", "self_ipi_sti_hlt", "self_ipi_tpr", "self_ipi_tpr_sti_nop",
		"self_ipi_tpr_sti_hlt", "x2apic_self_ipi_sti_nop", "x2apic_self_ipi_sti_hlt", "x2apic_self_ipi_tpr",
		"x2apic_self_ipi_tpr_sti_nop", "x2apic_self_ipi_tpr_sti_hlt"} {
		refs = append(refs, model.RowRef{ID: "s002-" + t + "-apicv-off", Text: "its kicks"})
	}
	return refs
}
