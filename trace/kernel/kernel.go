package kernel

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel/rule"
)

// Kernel is what one release of Linux does on the CPUs of one vendor. It is the
// fold of the history's rows; see At.
type Kernel struct {
	Release Release
	Vendor  Vendor

	LAPIC    lapic.Rules
	Advance  Advance
	Fastpath Fastpath
	Kick     Kick
	Delivery Delivery
	Posted   PostedTimer
	// DirectInRun: an expiry on the vCPU's thread is injected at once only with
	// vcpu->wants_to_run: in KVM_RUN, and without immediate_exit.
	DirectInRun bool
	// WaitTests: kvm_wait_lapic_expire tests all of its conditions itself, the
	// expired deadline first; before, its caller tested the advance.
	WaitTests bool
	// Wait is where the wait for an expired deadline stands.
	Wait  trace.Placement
	Poll  Poll
	Pause Pause
	// Inhibits are the APICv inhibit reasons that exist, by number.
	Inhibits []Inhibit
	Trace    Trace
	Params   []Param
}

// Advance is the timer advance as the release offers it.
type Advance struct {
	// Exists: lapic_timer_advance_ns exists. Adaptive: it can tune itself, and
	// does so by default if ByDefault.
	Adaptive, ByDefault bool
	// Fixed: a number of nanoseconds can be chosen.
	Fixed bool
	// Start is the advance of a new vCPU by default; 0 turns the wait off.
	Start clock.Nanos
	// Global: one advance for all VMs.
	Global bool
	Tuning rule.Tuning
	Rules  lapic.TuneRules
}

// Fastpath is which exits are finished with IRQs off, on which conditions.
type Fastpath struct {
	Set rule.Fastpath
	// Gated: no exit is looked at unless APICv is active and nothing asks to
	// cancel the entry. In no release.
	Gated bool
	// TestFirst: on re-entry the exit test comes before the PIR sync.
	TestFirst bool
	// SyncActive: on re-entry PIR is synced only with APICv active.
	SyncActive bool
	// ICR is the result of an ICR write; FastNone if there is no handler.
	ICR trace.FastpathResult
	// Broadcast: an ICR write to the broadcast destination is taken too.
	Broadcast bool
	// MapICR: every ICR that fast delivery by map can do is taken, not only
	// physical fixed ones.
	MapICR bool
	// Deadline: TSC-deadline writes are taken, with DeadlineHV only where
	// kvm_can_use_hv_timer holds.
	Deadline, DeadlineHV bool
	// HVTimer: preemption-timer exits are taken. HVOther: so are exits of a
	// soft-disabled timer and forced ones, and those while L2 runs are looked at.
	HVTimer, HVOther bool
	HLT, INVD        bool
	// PMU: WRMSR, HLT and INVD are left to the handler while a mediated PMU
	// counts instructions.
	PMU bool
	// NextRIP: AMD's handlers need nrips and a valid next RIP.
	NextRIP bool
}

// Kick is how a vCPU is made to look at its requests.
type Kick struct {
	Rules rule.Kick
	// GoesOn: after a wake-up the kick goes on, instead of returning.
	GoesOn bool
}

// Delivery is posted delivery to a vCPU with APICv active.
type Delivery struct{ Shortcut rule.Shortcut }

// PostedTimer is pi_inject_timer.
type PostedTimer struct {
	Exists bool
	// NeedsExits: the VM must run with MWAIT or HLT exits disabled.
	NeedsExits bool
}

// Poll is adaptive halt polling: the parameters' defaults and the limits.
type Poll struct {
	Max       clock.Nanos // halt_poll_ns
	Grow      uint        // halt_poll_ns_grow
	GrowStart clock.Nanos // halt_poll_ns_grow_start, before it a constant
	Shrink    uint        // halt_poll_ns_shrink; 0 shrinks to nothing
}

// Pause is pause-loop exiting. On Intel the limits are TSC cycles (ple_gap,
// ple_window and its kin), on AMD the window is a number of PAUSEs
// (pause_filter_count) and the gap is cycles (pause_filter_thresh).
type Pause struct {
	Gap, Window  uint32
	Grow, Shrink uint32
	// Max bounds the window: ple_window_max, pause_filter_count_max.
	Max uint32
}

// Inhibit is one reason for which APICv is off in a VM.
type Inhibit struct {
	Bit  uint8
	Name string // of the enumeration, without APICV_INHIBIT_REASON_
}

// Trace is the form of the tracepoints.
type Trace struct {
	// EntryPerRun: kvm_entry is printed at each VM-entry; before, once per
	// vcpu_enter_guest.
	EntryPerRun bool
	// WaitAtWait: kvm_wait_lapic_expire is printed at the wait; LateWait: after
	// the VM-exit that follows it. Neither: before the wait.
	WaitAtWait, LateWait bool
	// Requests: kvm_exit prints the requests.
	Requests bool
	// ExitsVCPU: kvm_exit prints the vCPU.
	ExitsVCPU bool
	// ExitError: kvm_exit prints info1, info2, intr_info and error_code.
	ExitError bool
	// EntryRIP: kvm_entry prints RIP; EntryError: intr_info and error_code.
	EntryRIP, EntryError bool
	// EntryImmediate: kvm_entry prints that the exit is forced.
	EntryImmediate bool
	// Inhibit: the event of a changed APICv inhibit; see InhibitEvent.
	Inhibit string
	// InhibitNames: it prints the reasons' names.
	InhibitNames bool
	// Posted: kvm_apicv_accept_irq exists.
	Posted bool
	// HexIRQ: kvm_inj_virq prints the vector in hex.
	HexIRQ bool
	// WideAPIC: kvm_apic prints 64 bits.
	WideAPIC bool
	// IPISend: ipi:ipi_send_cpu exists.
	IPISend bool
	// Setup: hrtimer_setup has replaced hrtimer_init.
	Setup bool
	// WasArmed: hrtimer_start prints was_armed.
	WasArmed bool
}

// Param is a module parameter.
type Param struct {
	Module   string `json:"module"`
	Name     string `json:"name"`
	Default  string `json:"default"`
	Writable bool   `json:"writable"`
}

// At returns what release r does on CPUs of vendor x. Both stands for Intel where
// the vendors differ.
func At(r Release, x Vendor) Kernel {
	if x == Both {
		x = Intel
	}
	k := Kernel{Release: r, Vendor: x}
	for i := range history {
		if c := &history[i]; c.Kind == Merged && c.Of(x) && c.in(r) && c.set != nil {
			c.set(&k)
		}
	}
	return k
}

// The changes that other packages name, by their subjects. A kernel can be built
// With a proposal.
const (
	TimerFastpathV3 = "TSC-deadline and preemption-timer fastpaths as posted in v3"
	KickTaxCutV3    = "the kick tax cut for the running vCPU as posted in v3"
	VMEntryAdvance  = "vmentry_advance_ns"
	WaitAtEntry     = "the wait stands right before VM-entry" // merged
	PeriodFromNow   = "a periodic target that has passed becomes now, and the hrtimer restarts at the target"
	GlobalAdvance   = "the advance tunes itself: one for all VMs, from 1000 ns"
	AdvanceStarts   = "an advance beyond 5000 ns starts anew from 1000 ns"
	AdvanceBand     = "each step is an eighth of the error; errors below 100 and above 10000 cycles are ignored; tuning never stops"
	ShortcutAll     = "posting to the running vCPU tells nobody"
	ShortcutGone    = "the running vCPU is notified like any other"
	KickStores      = "a kick of the running vCPU stores its mode without cmpxchg"
)

// With returns k as somebody would have built it with a proposal applied, which
// is named by its row's subject.
func (k Kernel) With(subject string) Kernel {
	for i := range history {
		if c := &history[i]; c.Subject == subject && c.set != nil {
			c.set(&k)
		}
	}
	return k
}

// FastpathAs is the fastpath of another set on this vendor's CPUs: what the knob
// fastpath turns to. The kernel's own set is the kernel's own fastpath.
func (k *Kernel) FastpathAs(set rule.Fastpath) Fastpath {
	switch set {
	case k.Fastpath.Set:
		return k.Fastpath
	case rule.FastS004:
		return k.With(TimerFastpathV3).Fastpath
	}
	for _, r := range Mainlines(Oldest, Newest) {
		if f := At(r, k.Vendor).Fastpath; f.Set == set {
			return f
		}
	}
	return Fastpath{Set: rule.FastOff}
}

// TuneRulesAs is the adaptive tuning of another set of rules: what the knob
// tuning-era turns to. Where there is none, the first that there was stands in.
func (k *Kernel) TuneRulesAs(t rule.Tuning) lapic.TuneRules {
	if t == rule.TuneNone {
		t = rule.TuneGlobal
	}
	for _, r := range Mainlines(Oldest, Newest) {
		if a := At(r, k.Vendor).Advance; a.Tuning == t {
			return a.Rules
		}
	}
	return lapic.TuneRules{}
}

// First is the first mainline release for whose kernel on x has holds; the zero
// value if none does.
func First(x Vendor, has func(*Kernel) bool) Release {
	for _, r := range Mainlines(Oldest, Newest) {
		if k := At(r, x); has(&k) {
			return r
		}
	}
	return Release{}
}
