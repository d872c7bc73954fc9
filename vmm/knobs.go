package vmm

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// RuleSet is the fastpath of one kernel era: which exits it takes, on which
// conditions, and where it tests for a bail-out.
type RuleSet uint8

// The rule sets. BadRuleSet is the invalid zero value.
const (
	BadRuleSet RuleSet = iota
	RulesOff           // no fastpath at all
	RulesS004          // the series as posted: gated by APICv, test before the handler
	Rules58            // 5.8: test after the handler, then PIR sync
	Rules515           // 5.15.85, 5.17 on: PIR sync, then test
	Rules618           // 6.18: no condition on TSC-deadline writes, HLT and INVD
	numRuleSets
)

// KickRules is one column of the kick's decision table.
type KickRules uint8

// The kick algorithms. BadKickRules is the invalid zero value.
const (
	BadKickRules KickRules = iota
	KickKA                 // up to 5.14
	KickKB                 // 5.15, the base of S002
	KickKC                 // S002: the tax cut as posted
	KickKD                 // 5.17 on: the tax cut as merged
	numKickRules
)

// Shortcut is what posted delivery does when the target is the vCPU that runs on
// the sender's CPU.
type Shortcut uint8

// The shortcuts. BadShortcut is the invalid zero value.
const (
	BadShortcut     Shortcut = iota
	ShortcutOff              // treated as any other target (up to 5.7, 5.15)
	ShortcutAlways           // S004 patch 3, 5.8–5.14: nothing more is done
	ShortcutInGuest          // 5.19 on: only if IN_GUEST_MODE
	numShortcuts
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
// DefaultKnobs.
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
	Tuning          uint8 // a lapic.TuneEra
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
