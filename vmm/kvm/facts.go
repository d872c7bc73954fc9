//go:build linux && amd64

package kvm

import (
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"

	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/ftrace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// kernelFacts are what this host's KVM is and does.
type kernelFacts struct {
	release string
	version ftrace.Version
	vendor  Vendor
	// hasAPICv is enable_apicv or avic.
	hasAPICv bool
	exits    vmm.ExitsDisabled // that can be disabled
	synic    bool
	haltPoll bool
	hv       bool // preemption_timer
}

// parseRelease reads the version in front of a release such as
// "6.12.117+deb12-cloud-amd64".
func parseRelease(s string) ftrace.Version {
	var major, minor uint8
	if n, _ := fmt.Sscanf(s, "%d.%d", &major, &minor); n != 2 {
		return 0
	}
	return ftrace.V(major, minor)
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
	f := kernelFacts{release: kernelRelease(), vendor: s.Vendor}
	f.version = parseRelease(f.release)
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

// knobs sets the knobs that this kernel fixes to what it does. Sources: the
// releases in which kvm_vcpu_kick, vmx_exit_handlers_fastpath and their kin
// changed.
func (f *kernelFacts) knobs(k *vmm.Knobs) {
	k.APICv = f.hasAPICv
	v, _ := parameter("kvm", "pi_inject_timer")
	k.PostedTimer = v != "" && v != "0"
	k.Advance = f.advance()
	k.VMEntryAdvance = 0
	k.WaitPlacement = trace.WaitLate
	k.PreemptionTimer = f.hv
	k.Fastpath = pick(f.version, ruleEras)
	k.Kick = pick(f.version, kickEras)
	k.Tuning = pick(f.version, tuneEras)
	k.Shortcut = pick(f.version, shortcutEras)
	k.ExitsDisabled &= f.exits
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

// since is a value that holds from a release on.
type since[T any] struct {
	v     ftrace.Version
	value T
}

// pick returns the value of the last row that v has reached; the first row is
// for all older releases.
func pick[T any](v ftrace.Version, rows []since[T]) T {
	r := rows[0].value
	for _, row := range rows {
		if v >= row.v {
			r = row.value
		}
	}
	return r
}

var (
	ruleEras = []since[vmm.RuleSet]{{0, vmm.RulesOff}, {ftrace.V(5, 8), vmm.Rules58}, {ftrace.V(5, 15), vmm.Rules515},
		{ftrace.V(6, 18), vmm.Rules618}}
	kickEras = []since[vmm.KickRules]{{0, vmm.KickKA}, {ftrace.V(5, 15), vmm.KickKB}, {ftrace.V(5, 17), vmm.KickKD}}
	tuneEras = []since[uint8]{{0, uint8(lapic.Tune4_20)}, {ftrace.V(5, 2), uint8(lapic.Tune5_2)},
		{ftrace.V(5, 3), uint8(lapic.Tune5_3)}, {ftrace.V(5, 4), uint8(lapic.Tune5_4)}, {ftrace.V(6, 10), uint8(lapic.Tune6_10)}}
	shortcutEras = []since[vmm.Shortcut]{{0, vmm.ShortcutOff}, {ftrace.V(5, 8), vmm.ShortcutAlways},
		{ftrace.V(5, 15), vmm.ShortcutOff}, {ftrace.V(5, 19), vmm.ShortcutInGuest}}
)

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
