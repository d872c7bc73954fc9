//go:build linux && amd64

package kvm

import (
	"slices"
	"strings"

	"codeberg.org/ticktrap/ticktrap/trace/ftrace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// hostFacts are what a host's KVM does and what of it can be observed.
type hostFacts struct {
	kernelFacts
	observed
}

// observed is what a run with the LAPIC in the kernel could see here.
type observed struct {
	tracefs bool
	probes  []string
	debugfs bool
}

// condition is something that holds on a host or not.
type condition struct {
	words string // after "where"
	// cure is what makes it hold where it does not; empty if nothing does.
	cure  string
	holds func(*hostFacts) bool
}

// The releases that the tables' words name.
var (
	noNumber = kernel.First(kernel.Intel, func(k *kernel.Kernel) bool { return !k.Advance.Fixed })
	haltFast = kernel.First(kernel.AMD, func(k *kernel.Kernel) bool { return k.Fastpath.HLT })
	requests = kernel.First(kernel.Intel, func(k *kernel.Kernel) bool { return k.Trace.Requests })
)

// The conditions of the tables of knobs and figures.
var (
	traced = condition{"a tracefs instance is available", "mount tracefs and run as root", func(f *hostFacts) bool { return f.tracefs }}
	looked = condition{"debugfs can be read", "mount -t debugfs debugfs /sys/kernel/debug and run as root",
		func(f *hostFacts) bool { return f.debugfs }}
	onAMD     = condition{"the CPU is AMD's", "", func(f *hostFacts) bool { return f.vendor == AMD }}
	noAPICv   = condition{"APICv or AVIC is off", "", func(f *hostFacts) bool { return !f.hasAPICv }}
	noSynIC   = condition{"KVM_CAP_HYPERV_SYNIC is missing", "", func(f *hostFacts) bool { return !f.synic }}
	noExits   = condition{"KVM_CAP_X86_DISABLE_EXITS is missing", "", func(f *hostFacts) bool { return f.exits == 0 }}
	noPolling = condition{"KVM_CAP_HALT_POLL is missing", "", func(f *hostFacts) bool { return !f.haltPoll }}
	noPosting = condition{"kvm.pi_inject_timer is missing or read-only", "", func(*hostFacts) bool { return !writable("kvm", "pi_inject_timer") }}
	noLookup  = condition{"Linux is " + noNumber.String() + " or later", "", func(f *hostFacts) bool { return !f.kernel.Advance.Fixed }}
	oldAMD    = condition{"the CPU is AMD's and Linux older than " + amdTimers.String(), "", func(f *hostFacts) bool {
		return f.vendor == AMD && f.name.Release != kernel.Release{} && f.kernel.Fastpath.DeadlineHV
	}}
)

// probed holds where a kprobe of ftrace.Probes could be made.
func probed(name string) condition {
	i := slices.IndexFunc(ftrace.Probes, func(p ftrace.Probe) bool { return p.Name == name })
	if i < 0 {
		panic("BUG: no probe is called " + name)
	}
	return condition{strings.Join(ftrace.Probes[i].Symbols, " or ") + " can be probed",
		"mount tracefs and run as root, on a kernel with kprobe events", func(f *hostFacts) bool { return f.tracefs && slices.Contains(f.probes, name) }}
}

// where writes conditions as one clause; empty if there are none.
func where(cs []condition) string {
	var words []string
	for i := range cs {
		words = append(words, cs[i].words)
	}
	return strings.Join(words, " and ")
}

// first is the index of the first of n rows whose conditions all hold.
func first(f *hostFacts, n int, conditions func(i int) []condition) int {
	for i := range n {
		if !slices.ContainsFunc(conditions(i), func(c condition) bool { return !c.holds(f) }) {
			return i
		}
	}
	panic("BUG: a table whose last row has conditions")
}

// figureRow is one way in which a figure may be known.
type figureRow struct {
	where []condition
	known vmm.Known
}

func is(b vmm.Basis, by string, where ...condition) figureRow {
	return figureRow{where, vmm.Known{Basis: b, By: by}}
}

// reading is a measurement that is made with every frame.
func reading(by string) figureRow {
	return figureRow{known: vmm.Known{Basis: vmm.OnMeasure, By: by, Reading: true}}
}
