package vmm

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel/rule"
)

// The alternatives of the decisions that differ between kernels; package kernel
// knows which release has which.
type (
	RuleSet   = rule.Fastpath
	KickRules = rule.Kick
	Shortcut  = rule.Shortcut
)

// The alternatives that code names.
const (
	RulesOff  = rule.FastOff
	RulesS004 = rule.FastS004
	Rules58   = rule.FastTest
	Rules515  = rule.FastSync
	Rules618  = rule.FastAny

	KickKA = rule.KickKA
	KickKB = rule.KickKB
	KickKC = rule.KickKC
	KickKD = rule.KickKD

	ShortcutOff     = rule.ShortcutOff
	ShortcutAlways  = rule.ShortcutAlways
	ShortcutInGuest = rule.ShortcutInGuest
	ShortcutWake    = rule.ShortcutWake
)

// ExitsDisabled is the set of exits that the VM does without
// (KVM_CAP_X86_DISABLE_EXITS; the bits are the kernel's).
type ExitsDisabled uint8

// The exits that can be disabled.
const (
	DisableMWAIT ExitsDisabled = 1 << iota
	DisableHLT
	DisablePause
)

// Knobs are the settings of a run. The zero value is not valid; start from
// DefaultKnobs or KnobsOf.
type Knobs struct {
	APICv           bool
	PostedTimer     bool   // pi_inject_timer
	Advance         uint64 // ns, 0 off, trace.AdvanceAdaptive
	VMEntryAdvance  clock.Nanos
	WaitPlacement   trace.Placement
	PreemptionTimer bool
	Fastpath        RuleSet
	Kick            KickRules
	ExitsDisabled   ExitsDisabled
	HaltPoll        clock.Nanos
	Tuning          rule.Tuning
	Shortcut        Shortcut
}

// Tag says how an engine can turn a knob.
type Tag uint8

// The tags. BadTag is the invalid zero value.
const (
	BadTag      Tag = iota
	TagLive         // takes effect at the next exit
	TagRebuild      // the running guest is moved into a new VM
	TagHostWide     // a host setting: asks first, restored at exit
	TagFixed        // fixed by the kernel or the hardware
	TagGone         // no longer in this kernel
)

// TagNames names the tags as screens show them.
var TagNames = []string{"bad", "live", "rebuild", "host-wide", "fixed", "gone"}

// KnobState is a knob as an engine offers it.
type KnobState struct {
	Knob  trace.Knob
	Value uint64
	Tag   Tag
	// Why says why the knob cannot be turned, or what turning it costs; empty
	// for a plain live one.
	Why string
}
