package lapic

import (
	"math"
	"math/bits"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

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
	numVerdicts
)

// VerdictNames names the verdicts.
var VerdictNames = [numVerdicts]string{"bad", "armed", "expired", "zero", "out-of-range", "pending", "mode", "no-hv-timer",
	"no-frequency"}

// String returns the short name.
func (v Verdict) String() string {
	if v < numVerdicts {
		return VerdictNames[v]
	}
	return VerdictNames[BadVerdict]
}

// HV describes the preemption timer as the loop finds it.
type HV struct {
	// Usable is kvm_can_use_hv_timer: the hook exists, MWAIT exits and the timer
	// is not posted.
	Usable bool
	// Multi is IA32_VMX_MISC bits 4:0: one tick is 2^Multi host TSC cycles.
	Multi uint8
	// Ratio is the TSC scaling ratio with Frac fraction bits; 0 or 1.0 means no
	// scaling.
	Ratio uint64
	Frac  uint8
	// Max is the largest VMCS timer value (eras with HVMaxValue); 0 means all
	// ones.
	Max uint32
}

// scaled reports whether the guest's TSC runs at another rate than the host's.
func (h HV) scaled() bool { return h.Ratio != 0 && h.Ratio != 1<<h.Frac }

// Soft is the outcome of SoftStart.
type Soft struct {
	Verdict Verdict
	// FireAt is when the hrtimer is due, host monotonic time. It counts with
	// StartArmed, and with StartExpired if Rearm is true.
	FireAt clock.Nanos
	// Rearm is true for a periodic timer that was late: after its expiry it is
	// armed for the next period.
	Rearm bool
	// Wrapped is true if the kernel's arithmetic overflowed: the timer fires
	// far too early. (deadline − now) × 10^6 does so from 1.84e13 cycles on,
	// about 2 h at 2.5 GHz.
	Wrapped bool
}

// SoftStart computes the hrtimer of the present mode. It changes nothing but a
// periodic target that has passed.
//
// Source: arch/x86/kvm/lapic.c, start_sw_timer, start_sw_tscdeadline and
// start_sw_period. Only TSC-deadline mode subtracts the advance.
func (a *APIC) SoftStart(now Sample) Soft {
	t := &a.Timer
	switch {
	case t.Mode != Periodic && t.Pending:
		return Soft{Verdict: StartPending}
	case t.Mode.counts():
		return a.softPeriod(now)
	case t.Mode == TSCDeadline:
		return a.softDeadline(now)
	}
	return Soft{Verdict: StartMode}
}

func (a *APIC) softDeadline(now Sample) Soft {
	t := &a.Timer
	if t.Deadline == 0 {
		return Soft{Verdict: StartZero}
	}
	if t.KHz == 0 {
		return Soft{Verdict: StartNoFreq}
	}
	guest := now.Guest.Add(t.EntryCycles)
	if t.Deadline <= guest {
		return Soft{Verdict: StartExpired}
	}
	hi, lo := bits.Mul64(uint64(t.Deadline-guest), 1_000_000)
	ns := lo / uint64(t.KHz)
	if a.rules().SWAdvanceTest && ns <= uint64(t.Advance) {
		return Soft{Verdict: StartExpired, Wrapped: hi != 0}
	}
	fire := now.Mono + clock.Nanos(ns)
	return Soft{
		Verdict: StartArmed, FireAt: fire - t.Advance,
		Wrapped: hi != 0 || ns > math.MaxInt64 || fire < now.Mono,
	}
}

func (a *APIC) softPeriod(now Sample) Soft {
	t := &a.Timer
	switch {
	case t.Period == 0:
		return Soft{Verdict: StartZero}
	case now.Mono <= t.Target:
		return Soft{Verdict: StartArmed, FireAt: t.Target}
	case t.Mode == OneShot:
		return Soft{Verdict: StartExpired}
	}
	a.AdvancePeriodic(now)
	return Soft{Verdict: StartExpired, FireAt: t.Target, Rearm: true}
}

// HVStart computes the preemption timer for the present deadline: the host TSC at
// which it is due. expired is true if that is now. It changes nothing.
//
//	delta    = max(deadline, guest) − guest       guest includes the entry advance
//	delta    = delta > advance ? delta − advance : 0
//	delta    = (delta << frac) / ratio            if the guest's TSC is scaled
//	deadline = host + delta
//
// Source: arch/x86/kvm/lapic.c, start_hv_timer; arch/x86/kvm/vmx/vmx.c,
// vmx_set_hv_timer.
func (a *APIC) HVStart(now Sample, hv HV) (deadline clock.TSC, expired bool, v Verdict) {
	t, r := &a.Timer, a.rules()
	switch {
	case !hv.Usable:
		return 0, false, StartNoHV
	case t.Mode == ReservedMode, t.Mode != TSCDeadline && !r.HVAllModes:
		return 0, false, StartMode
	case t.Deadline == 0:
		return 0, false, StartZero
	}
	guest := now.Guest.Add(t.EntryCycles)
	delta := uint64(max(t.Deadline, guest) - guest)
	if r.HVAdvance {
		adv := uint64(t.Scale.Cycles(uint64(t.Advance)))
		delta = max(delta, adv) - adv
	}
	if hv.scaled() && delta != 0 {
		hi, lo := delta>>(64-hv.Frac), delta<<hv.Frac
		if hi >= hv.Ratio {
			return 0, false, StartRange
		}
		delta, _ = bits.Div64(hi, lo, hv.Ratio)
	}
	if delta>>hv.Multi > hv.limit(r) {
		return 0, false, StartRange
	}
	return now.Host + clock.TSC(delta), delta == 0, StartArmed
}

// limit returns the largest VMCS timer value that the kernel accepts.
func (h HV) limit(r *Rules) uint64 {
	if r.HVMaxValue && h.Max != 0 {
		return uint64(h.Max)
	}
	return math.MaxUint32
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
//  2. Expire: handle an expiry (from_timer_fn is false); then, unless the timer is
//     periodic, call CancelHV.
//  3. Backing BackSW: arm the hrtimer for FireAt.
//
// The timer's fields HVInUse and HVDeadline are set already; in step 2 HVInUse is
// still true if the preemption timer was what had expired, as the kernel has it.
type Plan struct {
	Backing  Backing
	HV       Verdict // StartArmed, StartExpired, or why not the preemption timer
	SW       Verdict // the same for the hrtimer; BadVerdict if it was not tried
	CancelSW bool
	Expire   bool
	FireAt   clock.Nanos // hrtimer, host monotonic time
	HVFire   clock.TSC   // preemption timer, host TSC
	Wrapped  bool        // see Soft
}

// Restart is restart_apic_timer: the preemption timer if it can be used, else the
// hrtimer. With a pending expiry a timer that is not periodic is left as it is.
func (a *APIC) Restart(now Sample, hv HV) Plan {
	t := &a.Timer
	if t.Mode != Periodic && t.Pending {
		return Plan{HV: StartPending, SW: StartPending}
	}
	deadline, expired, v := a.HVStart(now, hv)
	if v != StartArmed {
		p := a.startSoft(now)
		p.HV = v
		return p
	}
	t.HVInUse, t.HVDeadline = true, deadline
	p := Plan{Backing: BackHV, HV: v, CancelSW: true, HVFire: deadline}
	if expired && t.Mode != Periodic {
		p.Backing, p.HV, p.Expire = BackNone, StartExpired, true
	}
	return p
}

// SwitchToSoft is kvm_lapic_switch_to_sw_timer: the vCPU is about to block. ok is
// false if the preemption timer is not in use: nothing changes.
func (a *APIC) SwitchToSoft(now Sample) (p Plan, ok bool) {
	if !a.Timer.HVInUse {
		return Plan{}, false
	}
	return a.startSoft(now), true
}

// startSoft is start_sw_timer.
func (a *APIC) startSoft(now Sample) Plan {
	a.CancelHV()
	s := a.SoftStart(now)
	p := Plan{SW: s.Verdict, FireAt: s.FireAt, Wrapped: s.Wrapped, Expire: s.Verdict == StartExpired}
	if s.Verdict == StartArmed || s.Rearm {
		p.Backing = BackSW
	}
	return p
}

// CancelHV marks the preemption timer unused.
func (a *APIC) CancelHV() {
	a.Timer.HVInUse = false
	a.Timer.HVDeadline = clock.Never
}

// PreemptionTicks is the VMCS timer value at an entry at host time now for a
// timer due at deadline: max(0, deadline − now) >> multi. The shift truncates,
// so it fires up to 2^multi − 1 cycles early. ok is false if deadline is
// clock.Never: the timer is off.
//
// Source: arch/x86/kvm/vmx/vmx.c, vmx_update_hv_timer.
func PreemptionTicks(deadline, now clock.TSC, multi uint8) (ticks uint32, ok bool) {
	if deadline == clock.Never {
		return 0, false
	}
	return uint32((max(deadline, now) - now) >> multi), true
}

// AdvancePeriodic moves a periodic timer's target to its next period. With
// PeriodicFromNow a target that has passed becomes now: missed periods are not
// caught up. Without, the time to go is negative then, and the deadline for the preemption
// timer comes out absurdly far ahead.
//
// Source: arch/x86/kvm/lapic.c, advance_periodic_target_expiration.
func (a *APIC) AdvancePeriodic(now Sample) {
	t := &a.Timer
	t.Target += t.Period
	if a.rules().PeriodicFromNow {
		t.Target = max(t.Target, now.Mono)
	}
	t.Deadline = now.Guest + t.Scale.Cycles(uint64(t.Target-now.Mono))
}

// NextHrtimer is the restart rule of apic_timer_fn: after the expiry of an
// hrtimer that had been due at fired, again is true if it is armed again, for
// fireAt. It advances the periodic target.
func (a *APIC) NextHrtimer(fired clock.Nanos, now Sample) (fireAt clock.Nanos, again bool) {
	t := &a.Timer
	if t.Mode != Periodic || t.Period == 0 {
		return 0, false
	}
	a.AdvancePeriodic(now)
	if a.rules().PeriodicFromNow {
		return t.Target, true
	}
	return fired + t.Period, true
}
