//go:build linux && amd64

package kvm

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/ftrace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// kernelFacts are what this host's KVM is and does.
type kernelFacts struct {
	release string
	name    kernel.Name   // as read; its release is zero if it could not be
	kernel  kernel.Kernel // what the release does
	vendor  Vendor
	// hasAPICv is enable_apicv or avic.
	hasAPICv bool
	exits    vmm.ExitsDisabled // that can be disabled
	synic    bool
	haltPoll bool
	hv       bool // preemption_timer
}

// at sets the facts that follow from the kernel's release; a release that cannot
// be read is taken as the default.
func (f *kernelFacts) at(release string) {
	f.release = release
	f.name, _ = kernel.Parse(release)
	r := f.name.Release
	if (r == kernel.Release{}) {
		r = kernel.Default
	}
	f.kernel = kernel.At(r, f.vendor.history())
}

// version is the release as the decoder of traces takes it; 0 is any.
func (f *kernelFacts) version() ftrace.Version {
	return ftrace.V(uint8(f.name.Release.Major), uint8(f.name.Release.Minor))
}

func kernelRelease() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(u.Release[:])
}

// on reports whether a boolean parameter is set ("Y" or "1").
func on(module, name string) bool {
	v, _ := parameter(module, name)
	return v == "Y" || v == "1"
}

func findFacts(s *System) kernelFacts {
	f := kernelFacts{vendor: s.Vendor}
	f.at(cmp.Or(kernelStable(), kernelRelease()))
	f.release = kernelRelease()
	f.exits = vmm.ExitsDisabled(s.Check(_KVM_CAP_X86_DISABLE_EXITS)) & (vmm.DisableMWAIT | vmm.DisableHLT | vmm.DisablePause)
	f.synic = s.Check(_KVM_CAP_HYPERV_SYNIC) > 0
	f.haltPoll = s.Check(_KVM_CAP_HALT_POLL) > 0
	switch s.Vendor {
	case Intel:
		f.hasAPICv, f.hv = on("kvm_intel", "enable_apicv"), on("kvm_intel", "preemption_timer")
	case AMD:
		f.hasAPICv = on("kvm_amd", "avic")
	}
	return f
}

// apicv is APICv's state in a new VM: nothing inhibits it there, see
// setUpPlacement.
func (f *kernelFacts) apicv() ftrace.Known {
	if f.hasAPICv {
		return ftrace.Yes
	}
	return ftrace.No
}

// nextRIP is whether an AMD CPU gives the next RIP, which its fastpath needs.
func (f *kernelFacts) nextRIP() ftrace.Known {
	switch {
	case f.vendor != AMD:
		return ftrace.NotKnown
	case on("kvm_amd", "nrips"):
		return ftrace.Yes
	}
	return ftrace.No
}

// knobs sets the knobs that this kernel fixes to what it does.
func (f *kernelFacts) knobs(k *vmm.Knobs) {
	exits, poll := k.ExitsDisabled&f.exits, k.HaltPoll
	*k = vmm.KnobsOf(&f.kernel)
	k.APICv, k.PreemptionTimer = f.hasAPICv, f.hv
	v, _ := parameter("kvm", "pi_inject_timer")
	k.PostedTimer = v != "" && v != "0"
	k.Advance = f.advance()
	k.ExitsDisabled, k.HaltPoll = exits, poll
}

func (f *kernelFacts) advance() uint64 {
	if v, ok := parameter("kvm", "lapic_timer_advance"); ok {
		if v == "N" {
			return 0
		}
		return trace.AdvanceAdaptive
	}
	v, _ := parameter("kvm", "lapic_timer_advance_ns")
	var ns uint64
	if v == "-1" || v == "4294967295" {
		return trace.AdvanceAdaptive
	}
	_, _ = fmt.Sscan(v, &ns)
	return ns
}

// hostSentence names the kernel, with the stable release that a distribution's
// name for it does not tell, the module and the CPU.
func hostSentence(s *System) string {
	kernel := "Linux " + kernelRelease()
	if stable := kernelStable(); stable != "" {
		kernel += " (" + stable + ")"
	}
	module := s.Vendor.String()
	if s.Vendor == AMD && !on("kvm_amd", "nrips") {
		module += " " + WithoutNextRIP
	}
	return strings.Join([]string{kernel, module, cpuModel()}, ", ")
}

// debianVersion finds the upstream release in Debian's version, such as
// "#1 SMP Debian 5.10.223-1 (2024-08-10)": its uname -r is 5.10.0-32-amd64.
var debianVersion = regexp.MustCompile(`\bDebian (\d+\.\d+\.\d+)-`)

// kernelStable is the stable release, where uname -r names another; else empty.
func kernelStable() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return stableRelease(unix.ByteSliceToString(u.Release[:]), unix.ByteSliceToString(u.Version[:]))
}

func stableRelease(release, version string) string {
	m := debianVersion.FindStringSubmatch(version)
	if m == nil || strings.HasPrefix(release, m[1]) {
		return ""
	}
	return m[1]
}
