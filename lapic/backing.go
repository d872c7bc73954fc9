package lapic

import "ticktrap/internal/clock"

// Verdict says what became of starting a host timer, or why it was not.
type Verdict uint8

// The verdicts. BadVerdict is the invalid zero value.
const (
	BadVerdict   Verdict = iota
	StartArmed           // armed
	StartExpired         // already due, or within the advance
	StartZero            // no deadline or no count
	StartRange           // too far ahead for the preemption timer
	StartPending         // an expiry is pending already
	StartMode            // the timer mode arms nothing, or not on this backing
	StartNoHV            // HV.Usable is false
	StartNoFreq          // the guest's TSC frequency is 0
)

// HV describes the preemption timer as the loop finds it.
type HV struct {
	// Usable is kvm_can_use_hv_timer: the hook exists, MWAIT exits and the timer
	// is not posted.
	Usable bool
	// Multi is the shift of IA32_VMX_MISC bits 4:0: one tick is 2^Multi cycles.
	Multi uint8
	// Ratio and Frac are the TSC scaling ratio; 0 means no scaling.
	Ratio uint64
	Frac  uint8
	// Max is the largest VMCS timer value (eras with HVMaxValue); 0 means all ones.
	Max uint32
}

// Soft is the outcome of SoftStart.
type Soft struct {
	Verdict Verdict
	// FireAt is when the hrtimer is due, host monotonic time. It counts with
	// StartArmed, and in periodic mode with StartExpired too: the timer is armed
	// for the next period after the expiry.
	FireAt clock.Nanos
	Rearm  bool // StartExpired and FireAt counts
	// Wrapped is true if (deadline − now) × 10^6 overflowed 64 bits, as it does
	// from 1.84e13 cycles on: the timer fires far too early.
	Wrapped bool
}

// SoftStart computes the hrtimer of the present mode (start_sw_tscdeadline,
// start_sw_period). It changes nothing but a periodic target that has passed.
func (a *APIC) SoftStart(now Sample) Soft { return Soft{} }

// HVStart computes the preemption timer for the present deadline
// (vmx_set_hv_timer): the host TSC at which it is due. expired is true if that is
// now. It changes nothing.
func (a *APIC) HVStart(now Sample, hv HV) (deadline clock.TSC, expired bool, v Verdict) {
	return 0, false, 0
}

// Backing is the host timer behind the APIC timer.
type Backing uint8

// The backings.
const (
	BackNone Backing = iota
	BackHV           // VMX preemption timer
	BackSW           // hrtimer
)

// Plan is what restart_apic_timer decided. The loop carries it out in this order:
//
//  1. CancelSW: cancel the hrtimer.
//  2. Backing BackSW: arm the hrtimer for FireAt, after step 3 if Expire is set.
//  3. Expire: handle an expiry (from_timer_fn false), then call CancelHV.
//
// With BackHV the timer's fields are set already.
type Plan struct {
	Backing  Backing
	HV       Verdict // StartArmed, StartExpired, or why not the preemption timer
	SW       Verdict // the same for the hrtimer; BadVerdict if not tried
	CancelSW bool
	Expire   bool
	FireAt   clock.Nanos // hrtimer, host monotonic time
	HVFire   clock.TSC   // preemption timer, host TSC
	Wrapped  bool        // see Soft
}

// Restart is restart_apic_timer: the preemption timer if it can be used, else the
// hrtimer.
func (a *APIC) Restart(now Sample, hv HV) Plan { return Plan{} }

// SwitchToSoft is start_sw_timer: the vCPU is about to block. It does nothing
// unless the preemption timer is in use.
func (a *APIC) SwitchToSoft(now Sample) Plan { return Plan{} }

// CancelHV marks the preemption timer unused.
func (a *APIC) CancelHV() {}

// PreemptionTicks is the VMCS timer value at an entry at host time now for a
// timer due at deadline: max(0, deadline − now) >> multi. Programmed ticks fire up
// to 2^multi − 1 cycles early. ok is false if deadline is clock.Never: the timer
// is off.
func PreemptionTicks(deadline, now clock.TSC, multi uint8) (ticks uint32, ok bool) {
	return 0, false
}

// AdvancePeriodic moves a periodic timer's target to its next period
// (advance_periodic_target_expiration).
func (a *APIC) AdvancePeriodic(now Sample) {}

// NextHrtimer is the restart rule of apic_timer_fn: after the expiry of an
// hrtimer that had been due at fired, again is true if it is armed again, for
// fireAt. It advances the periodic target.
func (a *APIC) NextHrtimer(fired clock.Nanos, now Sample) (fireAt clock.Nanos, again bool) {
	return 0, false
}
