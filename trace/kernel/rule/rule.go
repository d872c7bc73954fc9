// Package rule names the alternatives that Linux has had for one decision of its
// timer path: fastpaths, kicks, running-vCPU shortcuts and tunings. Their numbers
// are the values of the knobs in a recording, so a new one goes to the end. What
// an alternative does is in package kernel.
package rule

// Fastpath is a set of fastpath handlers, named by the release that brought it.
type Fastpath uint8

// The fastpaths. BadFastpath is the invalid zero value.
const (
	BadFastpath  Fastpath = iota
	FastOff               // no fastpath at all
	FastS004              // the TSC-deadline fastpath as first posted: gated by APICv, test before the handler
	FastTest              // exit test after the handler, then PIR sync
	FastSync              // PIR sync, then the exit test
	FastAny               // no condition on TSC-deadline writes; ICR by the APIC map; INVD
	FastICR               // ICR writes only
	FastTimer             // forced and spurious preemption-timer exits end in the fastpath
	FastHalt              // HLT too, and ICR re-enters
	FastPMU               // instructions are left to the handler while a mediated PMU counts them
	NumFastpaths          // number of fastpaths
)

// FastpathNames names the fastpaths.
var FastpathNames = []string{"bad", "off", "s004v3", "5.8", "5.15", "6.18", "5.6", "6.9", "6.12", "7.2"}

// String returns the name.
func (f Fastpath) String() string { return name(FastpathNames, int(f)) }

// FastpathOrder is the fastpaths in the order in which a list shows them.
var FastpathOrder = []Fastpath{FastOff, FastICR, FastTest, FastSync, FastTimer, FastHalt, FastAny, FastPMU, FastS004}

// Kick is one column of the kick's decision table.
type Kick uint8

// The kicks. BadKick is the invalid zero value.
const (
	BadKick  Kick = iota
	KickKA        // the CPU is compared before the mode is exchanged
	KickKB        // the mode is exchanged for every target
	KickKC        // "vCPU kick tax cut for running vCPU" as posted
	KickKD        // the running vCPU stores its own mode
	NumKicks      // number of kicks
)

// KickNames names the kicks.
var KickNames = []string{"bad", "ka", "kb", "kc", "kd"}

// String returns the name.
func (k Kick) String() string { return name(KickNames, int(k)) }

// Shortcut is what posted delivery does when the target is the vCPU that runs on
// the sender's CPU.
type Shortcut uint8

// The shortcuts. BadShortcut is the invalid zero value.
const (
	BadShortcut     Shortcut = iota
	ShortcutOff              // like any other target; outside the guest it is kicked
	ShortcutAlways           // nothing more is done
	ShortcutInGuest          // nothing more is done in IN_GUEST_MODE; outside it is woken
	ShortcutWake             // like any other target; outside the guest it is woken, not kicked
	NumShortcuts             // number of shortcuts
)

// ShortcutNames names the shortcuts.
var ShortcutNames = []string{"bad", "off", "always", "in-guest", "wake-only"}

// String returns the name.
func (s Shortcut) String() string { return name(ShortcutNames, int(s)) }

// Tuning is an algorithm of adaptive timer advance, named by its first release.
type Tuning uint8

// The tunings. BadTuning is the invalid zero value.
const (
	BadTuning  Tuning = iota
	TuneGlobal        // one advance for all VMs, no ceiling
	TuneStop          // per vCPU; beyond the ceiling the advance is off for good
	TuneReset         // per vCPU; beyond the ceiling the advance starts anew
	TuneBand          // steps of an eighth of the error, outside a band none
	TuneSwitch        // the same, and the advance can only be on or off
	TuneNone          // none: the advance is a fixed number
	NumTunings        // number of tunings
)

// TuningNames names the tunings.
var TuningNames = []string{"bad", "4.20", "5.2", "5.3", "5.4", "6.10", "none"}

// String returns the name.
func (t Tuning) String() string { return name(TuningNames, int(t)) }

// name returns names[i], or the first name for a number without one.
func name(names []string, i int) string {
	if i >= len(names) {
		i = 0
	}
	return names[i]
}
