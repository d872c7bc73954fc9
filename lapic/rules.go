package lapic

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// Rules are the ways in which kernels differ: what a release has of them is in
// the history of kernels. The zero value is not valid, for it lacks MinPeriod.
type Rules struct {
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
