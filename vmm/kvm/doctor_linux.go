//go:build linux && amd64

package kvm

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Doctor finds out what this host can do. As root it makes a tracefs instance
// with its probes for a moment; nothing else is changed, but for what killed
// runs left behind, which is removed.
func Doctor() *Report {
	r := &Report{}
	r.host()
	done, err := Recover()
	for _, d := range done {
		r.add(secHost, "cleaned up", Good, d, "")
	}
	if err != nil {
		r.add(secHost, "cleaning up", Missing, err.Error(), "run as root")
	}
	sys, err := Open()
	if err != nil {
		r.addError(secDevice, "/dev/kvm", err)
	} else {
		defer sys.Close()
		r.device(sys)
	}
	r.parameters()
	obs, facts := r.tracing(), kernelFacts{}
	facts.at(kernelRelease())
	if sys != nil {
		facts = findFacts(sys)
		r.knobs(&facts)
	}
	r.figures(&hostFacts{facts, obs})
	return r
}

func (r *Report) host() {
	r.add(secHost, "kernel", Good, kernelRelease()+" on "+runtime.GOARCH, "")
	cpu := cpuInfo{model: "unknown CPU", flags: map[string]bool{}}
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		cpu = parseCPUInfo(f)
		f.Close()
	}
	r.add(secHost, "CPU", Good, cpu.model, "")
	switch {
	case cpu.flags["vmx"]:
		r.add(secHost, "virtualization", Good, "VT-x", "")
	case cpu.flags["svm"]:
		r.add(secHost, "virtualization", Good, "AMD-V", "")
	default:
		r.add(secHost, "virtualization", Missing, "neither VT-x nor AMD-V",
			"turn it on in the firmware, or let the hypervisor above expose it (nested virtualization)")
	}
	for _, f := range []struct{ flag, means string }{
		{"constant_tsc", "the TSC keeps its rate"}, {"nonstop_tsc", "the TSC does not stop in deep idle states"},
		{"tsc_deadline_timer", "the host's own timers are TSC deadlines"},
	} {
		if cpu.flags[f.flag] {
			r.add(secHost, f.flag, Good, f.means, "")
		} else {
			r.add(secHost, f.flag, Limited, "not true here: "+f.means, "")
		}
	}
	const clocks = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
	b, err := os.ReadFile(clocks)
	switch src := strings.TrimSpace(string(b)); {
	case err != nil:
		r.add(secHost, "clock source", Limited, plain(err).Error(), "")
	case src == "tsc":
		r.add(secHost, "clock source", Good, src, "")
	default:
		r.add(secHost, "clock source", Limited, src+": the kernel does not trust the TSC, so times across CPUs may disagree",
			"boot with tsc=reliable if the TSC is known to be good")
	}
}

// capability is a row of the table of capabilities that matter.
type capability struct {
	name   string
	number uintptr
	use    string
	since  string
}

var capabilities = []capability{
	{"KVM_CAP_IRQCHIP", _KVM_CAP_IRQCHIP, "LAPIC=kernel", kernel.Capability("KVM_CAP_IRQCHIP")},
	{"KVM_CAP_PIT2", _KVM_CAP_PIT2, "LAPIC=kernel", kernel.Capability("KVM_CAP_PIT2")},
	{"KVM_CAP_TSC_DEADLINE_TIMER", _KVM_CAP_TSC_DEADLINE_TIMER, "TSC-deadline mode with LAPIC=kernel", kernel.Capability("KVM_CAP_TSC_DEADLINE_TIMER")},
	{"KVM_CAP_IMMEDIATE_EXIT", _KVM_CAP_IMMEDIATE_EXIT, "kicks without a race", kernel.Capability("KVM_CAP_IMMEDIATE_EXIT")},
	{"KVM_CAP_SYNC_REGS", _KVM_CAP_SYNC_REGS, "RIP of every exit at no cost", kernel.Capability("KVM_CAP_SYNC_REGS")},
	{"KVM_CAP_X86_USER_SPACE_MSR", _KVM_CAP_X86_USER_SPACE_MSR, "LAPIC=vmm", kernel.Capability("KVM_CAP_X86_USER_SPACE_MSR")},
	{"KVM_CAP_X86_MSR_FILTER", _KVM_CAP_X86_MSR_FILTER, "LAPIC=vmm, TSC-deadline mode", kernel.Capability("KVM_CAP_X86_MSR_FILTER")},
	{"KVM_CAP_X86_DISABLE_EXITS", _KVM_CAP_X86_DISABLE_EXITS, "knob exits-disabled", kernel.Capability("KVM_CAP_X86_DISABLE_EXITS")},
	{"KVM_CAP_HALT_POLL", _KVM_CAP_HALT_POLL, "knob halt-poll with LAPIC=kernel", kernel.Capability("KVM_CAP_HALT_POLL")},
	{"KVM_CAP_HYPERV_SYNIC", _KVM_CAP_HYPERV_SYNIC, "knob apicv with LAPIC=kernel", kernel.Capability("KVM_CAP_HYPERV_SYNIC")},
	{"KVM_CAP_BINARY_STATS_FD", _KVM_CAP_BINARY_STATS_FD, "the kernel's counters without root", kernel.Capability("KVM_CAP_BINARY_STATS_FD")},
	{"KVM_CAP_TSC_CONTROL", _KVM_CAP_TSC_CONTROL, "guests with another TSC frequency", "CPU"},
}

func (r *Report) device(s *System) {
	r.Usable = true
	r.add(secDevice, "/dev/kvm", Good, s.Vendor.String(), "")
	if hz, err := Frequency(); err == nil {
		r.add(secDevice, "guest TSC", Good, fmt.Sprintf("%.6g MHz", float64(hz)/1e6), "")
	} else {
		r.Usable = false
		r.addError(secDevice, "making a VM", err)
	}
	cure, err := s.ProbeDeadline()
	switch {
	case err != nil:
		r.addError(secDevice, "TSC-deadline, LAPIC=vmm", err)
	case cure == CureHide:
		r.add(secDevice, "TSC-deadline, LAPIC=vmm", Limited, cure.Sentence(), "use --lapic=kernel")
	default:
		r.add(secDevice, "TSC-deadline, LAPIC=vmm", Good, cure.Sentence(), "")
	}
	for _, c := range capabilities {
		if s.Check(c.number) > 0 {
			r.add(secCaps, c.name, Good, c.use, "")
			continue
		}
		cure := "Linux " + c.since + " or later"
		if c.since == "CPU" {
			cure = ""
		}
		r.add(secCaps, c.name, Missing, "needed for: "+c.use, cure)
	}
}

// shownParameters are the module parameters that change what timers do.
var shownParameters = []struct{ module, name string }{
	{"kvm", "pi_inject_timer"}, {"kvm", "lapic_timer_advance_ns"}, {"kvm", "lapic_timer_advance"},
	{"kvm", "min_timer_period_us"}, {"kvm", "halt_poll_ns"}, {"kvm", "halt_poll_ns_grow"},
	{"kvm", "halt_poll_ns_shrink"}, {"kvm", "vector_hashing"}, {"kvm", "tsc_tolerance_ppm"},
	{"kvm_intel", "preemption_timer"}, {"kvm_intel", "enable_apicv"}, {"kvm_intel", "enable_ipiv"},
	{"kvm_intel", "ple_window"}, {"kvm_amd", "avic"}, {"kvm_amd", "force_avic"}, {"kvm_amd", "enable_ipiv"},
	{"kvm_amd", "npt"},
}

func (r *Report) parameters() {
	for _, p := range shownParameters {
		v, ok := parameter(p.module, p.name)
		if !ok {
			continue
		}
		detail := v + ", fixed until the module is reloaded"
		if writable(p.module, p.name) {
			detail = v + ", writable by root"
		}
		r.add(secParams, p.module+"."+p.name, Good, detail, "")
	}
}

// tracing makes an observer for a moment.
func (r *Report) tracing() observed {
	var o observed
	root, err := findTracefs()
	if err != nil {
		r.addError(secTrace, "tracefs", err)
	} else {
		r.add(secTrace, "tracefs", Good, root, "")
		if b, err := os.ReadFile(root + "/trace_clock"); err == nil && strings.Contains(string(b), "x86-tsc") {
			r.add(secTrace, "trace clock x86-tsc", Good, "ties the trace to the guest's TSC", "")
		} else {
			r.add(secTrace, "trace clock x86-tsc", Missing, "the trace cannot be tied to the guest's TSC", "")
		}
		obs, err := newObserver()
		if err != nil {
			r.addError(secTrace, "tracefs instance", err)
		} else {
			o.tracefs, o.probes = true, obs.probes
			r.add(secTrace, "tracefs instance", Good, "kvm events", "")
			for _, m := range obs.Missing {
				r.add(secTrace, "kprobes", Limited, m, "")
			}
			r.add(secTrace, "kprobes", Good, strings.Join(obs.probes, " "), "")
			if err := obs.close(); err != nil {
				r.add(secTrace, "removing the instance", Missing, err.Error(), "")
			}
		}
	}
	if _, err := os.ReadDir(debugfsKVM); err == nil {
		o.debugfs = true
		r.add(secTrace, "debugfs", Good, debugfsKVM, "")
	} else {
		r.add(secTrace, "debugfs", Missing, "the timer advance of a vCPU is not seen",
			"mount -t debugfs debugfs /sys/kernel/debug and run as root")
	}
	return o
}

// tagFindings say how good a knob's tag is.
var tagFindings = map[vmm.Tag]Finding{vmm.TagLive: Good, vmm.TagRebuild: Good, vmm.TagHostWide: Limited,
	vmm.TagFixed: Missing, vmm.TagGone: Missing}

func (r *Report) knobs(f *kernelFacts) {
	for k := trace.BadKnob + 1; k < trace.NumKnobs; k++ {
		finding := Good
		if fixedInLoop[k] != "" {
			finding = Missing
		}
		tag, why := loopKnob(k)
		r.add(secVMM, k.String(), finding, tagged(tag, why), "")
	}
	for k := trace.BadKnob + 1; k < trace.NumKnobs; k++ {
		row := f.knobRow(k)
		r.add(secKernel, k.String(), tagFindings[row.tag], tagged(vmm.TagNames[row.tag], row.why), "")
	}
}

func tagged(tag, why string) string {
	if why == "" {
		return tag
	}
	return tag + ": " + why
}

// basisFindings say how good a figure's basis is.
var basisFindings = map[vmm.Basis]Finding{vmm.OnMeasure: Good, vmm.OnInference: Limited, vmm.OnNothing: Missing}

// figures says how each figure is known.
func (r *Report) figures(f *hostFacts) {
	for n := vmm.BadFigure + 1; n < vmm.NumFigures; n++ {
		r.figure(secLoopFigures, n, loopFigures[n], "")
	}
	for n := vmm.BadFigure + 1; n < vmm.NumFigures; n++ {
		k, cure := f.figure(n)
		r.figure(secKernelFigures, n, k, cure)
	}
}

func (r *Report) figure(section string, n vmm.Figure, k vmm.Known, cure string) {
	spec := &vmm.FigureSpecs[n]
	finding := basisFindings[k.Basis]
	if finding == Good && cure != "" { // it could be more
		finding = Limited
	}
	r.add(section, spec.Topic+": "+spec.Name, finding, k.Basis.String()+": "+k.By, cure)
}
