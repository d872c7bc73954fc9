package lapic

import (
	"fmt"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// Era is a range of kernel releases in which the timer code behaves alike.
type Era uint8

// The eras, named by their first release. BadEra is the invalid zero value.
const (
	BadEra  Era = iota
	Era4_9      // 4.9
	Era4_10     // 4.10–4.14
	Era4_19     // 4.19–5.0
	Era5_2      // 5.2
	Era5_3      // 5.3, 5.4
	Era5_6      // 5.6, 5.7
	Era5_8      // 5.8, 5.9
	Era5_10     // 5.10 (stable), 5.11
	Era5_14     // 5.14–5.17
	Era5_19     // 5.19–6.9
	Era6_10     // 6.10–6.18
	Era6_19     // 6.19–7.2
	Era7_3      // 7.3 on
	numEras
)

// Rules are the ways in which eras differ.
type Rules struct {
	Name string // range of releases, for people
	// MinPeriod is the default of min_timer_period_us.
	MinPeriod clock.Nanos
	// SwitchCancelsAll: any change of the timer mode cancels the hrtimer and
	// does nothing else.
	SwitchCancelsAll bool
	// SwitchCancelsHV: entering or leaving TSC-deadline mode cancels the
	// preemption timer too.
	SwitchCancelsHV bool
	// CancelDropsPending: cancelling the timers clears Pending.
	CancelDropsPending bool
	// RawTDCR: TDCR is stored without the mask 0xb.
	RawTDCR bool
	// RescaleTDCR: a new divisor rescales the remaining time and restarts.
	RescaleTDCR bool
	// HVAllModes: the preemption timer backs one-shot and periodic too.
	HVAllModes bool
	// HVAdvance: the preemption timer is programmed early by the advance.
	HVAdvance bool
	// SWAdvanceTest: an hrtimer that would be due within the advance expires at
	// once; before, it was armed in the past.
	SWAdvanceTest bool
	// ExpiredIfHV: an expiry backed by the preemption timer is waited for in
	// every mode; before, only in TSC-deadline mode.
	ExpiredIfHV bool
	// GuardEnabled: MSR 0x6e0 also needs the APIC enabled by IA32_APIC_BASE.
	GuardEnabled bool
	// DirectInject: expiries on the vCPU's thread inject at once with APICv.
	DirectInject bool
	// PostedTimer: pi_inject_timer exists.
	PostedTimer bool
	// ExpireFirst: at the preemption timer's exit the expiry is handled before
	// the timer is marked unused.
	ExpireFirst bool
	// KickCallbackOnly: a pending expiry kicks only from the timer callback.
	KickCallbackOnly bool
	// RestoreZero: restoring a one-shot count of 0 expires at once; before, the
	// full period began.
	RestoreZero bool
	// RestoreDropsExpired: restoring clears Expired.
	RestoreDropsExpired bool
	// WaitAlways: the wait is entered with an advance of 0 too.
	WaitAlways bool
	// WaitInNanos: with TSC scaling the wait is counted in nanoseconds.
	WaitInNanos bool
	// TuneFirst: tuning comes before the wait, so the cap is the new advance.
	TuneFirst bool
	// PeriodicFromNow: a periodic target that has passed becomes now.
	PeriodicFromNow bool
	// BusyExits: an interrupt that finds the VM-entry field taken forces an
	// immediate exit; before, it waited for its window.
	BusyExits bool
	// ModifiedInhibits: an xAPIC ID or a base address that is not the default one
	// inhibits APICv for the VM; ModifiedIDClears: no longer once the ID is right.
	ModifiedInhibits, ModifiedIDClears bool
	// DisabledDropsAPICv: a vCPU whose APIC IA32_APIC_BASE disables has no APICv.
	DisabledDropsAPICv bool
	// HVMaxValue: the preemption timer's range comes from HV.Max.
	HVMaxValue bool
}

const microsecond clock.Nanos = 1000

// eraRules holds one row per era. Each row repeats what stays true.
var eraRules = [numEras]Rules{
	Era4_9: {Name: "4.9", MinPeriod: 500 * microsecond, SwitchCancelsAll: true, RawTDCR: true, WaitAlways: true},
	Era4_10: {Name: "4.10–4.14", MinPeriod: 500 * microsecond, SwitchCancelsAll: true, RawTDCR: true, WaitAlways: true,
		HVAllModes: true},
	Era4_19: {Name: "4.19–5.0", MinPeriod: 200 * microsecond, RawTDCR: true, RescaleTDCR: true, HVAllModes: true,
		HVAdvance: true},
	Era5_2: {Name: "5.2", MinPeriod: 200 * microsecond, RawTDCR: true, RescaleTDCR: true, HVAllModes: true,
		HVAdvance: true, SWAdvanceTest: true, ExpiredIfHV: true, WaitInNanos: true},
	Era5_3: {Name: "5.3–5.4", MinPeriod: 200 * microsecond, RawTDCR: true, RescaleTDCR: true, HVAllModes: true,
		HVAdvance: true, SWAdvanceTest: true, ExpiredIfHV: true, WaitInNanos: true, PostedTimer: true},
	Era5_6: {Name: "5.6–5.7", MinPeriod: 200 * microsecond, RawTDCR: true, RescaleTDCR: true, HVAllModes: true,
		HVAdvance: true, SWAdvanceTest: true, ExpiredIfHV: true, WaitInNanos: true, PostedTimer: true,
		SwitchCancelsHV: true},
	Era5_8: {Name: "5.8–5.9", MinPeriod: 200 * microsecond, RawTDCR: true, RescaleTDCR: true, HVAllModes: true,
		HVAdvance: true, SWAdvanceTest: true, ExpiredIfHV: true, WaitInNanos: true, PostedTimer: true,
		SwitchCancelsHV: true, DirectInject: true, BusyExits: true},
	Era5_10: {Name: "5.10–5.11", MinPeriod: 200 * microsecond, RescaleTDCR: true, HVAllModes: true, HVAdvance: true,
		SWAdvanceTest: true, ExpiredIfHV: true, WaitInNanos: true, PostedTimer: true, SwitchCancelsHV: true,
		DirectInject: true, BusyExits: true, GuardEnabled: true, ExpireFirst: true, KickCallbackOnly: true},
	Era5_14: {Name: "5.14–5.17", MinPeriod: 200 * microsecond, RescaleTDCR: true, HVAllModes: true, HVAdvance: true,
		SWAdvanceTest: true, ExpiredIfHV: true, WaitInNanos: true, PostedTimer: true, SwitchCancelsHV: true,
		DirectInject: true, BusyExits: true, GuardEnabled: true, ExpireFirst: true, KickCallbackOnly: true, CancelDropsPending: true,
		RestoreZero: true, RestoreDropsExpired: true},
	Era5_19: {Name: "5.19–6.9", MinPeriod: 200 * microsecond, RescaleTDCR: true, HVAllModes: true, HVAdvance: true,
		SWAdvanceTest: true, ExpiredIfHV: true, WaitInNanos: true, PostedTimer: true, SwitchCancelsHV: true,
		DirectInject: true, BusyExits: true, GuardEnabled: true, ExpireFirst: true, KickCallbackOnly: true, CancelDropsPending: true,
		RestoreZero: true, RestoreDropsExpired: true, TuneFirst: true,
		ModifiedInhibits: true, DisabledDropsAPICv: true},
	Era6_10: {Name: "6.10–6.18", MinPeriod: 200 * microsecond, RescaleTDCR: true, HVAllModes: true, HVAdvance: true,
		SWAdvanceTest: true, ExpiredIfHV: true, WaitInNanos: true, PostedTimer: true, SwitchCancelsHV: true,
		DirectInject: true, BusyExits: true, GuardEnabled: true, ExpireFirst: true, KickCallbackOnly: true, CancelDropsPending: true,
		RestoreZero: true, RestoreDropsExpired: true, TuneFirst: true,
		ModifiedInhibits: true, ModifiedIDClears: true, DisabledDropsAPICv: true},
	Era6_19: {Name: "6.19–7.2", MinPeriod: 200 * microsecond, RescaleTDCR: true, HVAllModes: true, HVAdvance: true,
		SWAdvanceTest: true, ExpiredIfHV: true, WaitInNanos: true, PostedTimer: true, SwitchCancelsHV: true,
		DirectInject: true, BusyExits: true, GuardEnabled: true, ExpireFirst: true, KickCallbackOnly: true, CancelDropsPending: true,
		RestoreZero: true, RestoreDropsExpired: true, TuneFirst: true,
		ModifiedInhibits: true, ModifiedIDClears: true, DisabledDropsAPICv: true, PeriodicFromNow: true},
	Era7_3: {Name: "7.3", MinPeriod: 200 * microsecond, RescaleTDCR: true, HVAllModes: true, HVAdvance: true,
		SWAdvanceTest: true, ExpiredIfHV: true, WaitInNanos: true, PostedTimer: true, SwitchCancelsHV: true,
		DirectInject: true, BusyExits: true, GuardEnabled: true, ExpireFirst: true, KickCallbackOnly: true, CancelDropsPending: true,
		RestoreZero: true, RestoreDropsExpired: true, TuneFirst: true,
		ModifiedInhibits: true, ModifiedIDClears: true, DisabledDropsAPICv: true, PeriodicFromNow: true, HVMaxValue: true},
}

// Rules returns the row of e. An era that does not exist, BadEra included, gets
// that of the newest.
func (e Era) Rules() *Rules {
	if e == BadEra || e >= numEras {
		e = numEras - 1
	}
	return &eraRules[e]
}

// String returns the range of releases.
func (e Era) String() string { return e.Rules().Name }

// First returns the era's first release, by which it is chosen.
func (e Era) First() string {
	first, _, _ := strings.Cut(e.Rules().Name, "–")
	return first
}

// EraNames lists the first releases of the eras, oldest first.
func EraNames() []string {
	var names []string
	for e := BadEra + 1; e < numEras; e++ {
		names = append(names, e.First())
	}
	return names
}

// ParseEra returns the era whose first release has this name.
func ParseEra(name string) (Era, error) {
	for e := BadEra + 1; e < numEras; e++ {
		if e.First() == name {
			return e, nil
		}
	}
	return BadEra, fmt.Errorf("no LAPIC era %q: there are %s", name, strings.Join(EraNames(), ", "))
}

// rules returns the row of the APIC's era.
func (a *APIC) rules() *Rules { return a.Config.Era.Rules() }
