package lapic

import (
	"math/bits"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// TimerMode is the LVTT mode field, bits 18:17; values are the field's.
type TimerMode uint8

// The timer modes.
const (
	OneShot      TimerMode = 0
	Periodic     TimerMode = 1
	TSCDeadline  TimerMode = 2
	ReservedMode TimerMode = 3 // accepted where TSC-deadline is; arms nothing
)

// TimerModeNames names the timer modes by value.
var TimerModeNames = [4]string{"one-shot", "periodic", "TSC-deadline", "reserved"}

// String returns the manual's name.
func (m TimerMode) String() string { return TimerModeNames[m&3] }

// counts reports whether the mode counts TMICT down.
func (m TimerMode) counts() bool { return m == OneShot || m == Periodic }

// Timer is the state of the APIC timer (struct kvm_timer).
type Timer struct {
	Mode TimerMode // LVTT bits 18:17 as last applied
	// Period is TMICT in nanoseconds, raised to the minimum in periodic mode;
	// 0 if no count is programmed.
	Period clock.Nanos
	// Target is target_expiration, host monotonic time; one-shot and periodic.
	Target clock.Nanos
	// Deadline is tscdeadline, guest TSC: the MSR's value, or the target of the
	// other modes for the sake of the preemption timer. 0 is none.
	Deadline clock.TSC
	// Expired is expired_tscdeadline, guest TSC: the deadline of the expiry that
	// has still to be waited for. 0 is none.
	Expired clock.TSC
	Pending bool // expired, not injected yet
	// HVInUse is true while the preemption timer is the backing.
	HVInUse bool
	// HVDeadline is hv_deadline_tsc, host TSC; clock.Never if off.
	HVDeadline clock.TSC

	// Advance is timer_advance_ns: how early host timers are programmed. It is
	// 32 bits wide, as in the kernel.
	Advance clock.Nanos
	// Tuning says whether Advance adapts, TuneRules how.
	Tuning    Tuning
	TuneRules TuneRules
	// AdjustDone is true when tuning has stopped for good (TuneRules.Stops, or
	// TuneOff).
	AdjustDone bool

	// EntryAdvance is vmentry_advance_ns and EntryCycles the same in guest
	// cycles; set them by SetEntryAdvance.
	EntryAdvance clock.Nanos
	EntryCycles  clock.Cycles

	// KHz and Scale are the guest's TSC frequency as KVM keeps it; set them by
	// SetFrequency.
	KHz   uint32
	Scale clock.Scale
}

// reset stops the timer; its settings stay.
func (t *Timer) reset() {
	*t = Timer{
		HVDeadline: clock.Never, Advance: t.Advance, Tuning: t.Tuning, TuneRules: t.TuneRules, AdjustDone: t.AdjustDone,
		EntryAdvance: t.EntryAdvance, EntryCycles: t.EntryCycles, KHz: t.KHz, Scale: t.Scale,
	}
}

// timerMask returns the mode bits that stick in LVTT: bit 18 needs TSC-deadline.
func (a *APIC) timerMask() uint32 {
	if a.Config.TSCDeadline {
		return timerModes
	}
	return timerMode1
}

// updateMode applies the mode that LVTT asks for.
//
//	change                   SwitchCancelsAll   else
//	one-shot ↔ periodic      hrtimer cancelled  keeps running, period clamped
//	to or from TSC-deadline  hrtimer cancelled  cancelled; TMICT, period, deadline := 0
//
// Source: arch/x86/kvm/lapic.c, apic_update_lvtt.
func (a *APIC) updateMode() EffectKind {
	t, r := &a.Timer, a.rules()
	mode := TimerMode(a.reg(LVTT) & a.timerMask() >> 17)
	if mode == t.Mode {
		return EffectNone
	}
	crosses := (mode == TSCDeadline) != (t.Mode == TSCDeadline)
	t.Mode = mode
	if r.SwitchCancelsAll {
		return EffectCancelSW
	}
	do := EffectNone
	if crosses {
		do = a.cancelTimers(r.SwitchCancelsHV)
		a.Page[TMICT>>4] = 0
		t.Period, t.Deadline = 0, 0
	}
	a.clampPeriod()
	return do
}

// cancelTimers is cancel_apic_timer: the hrtimer, with hv the preemption timer
// too, and a pending expiry with CancelDropsPending.
func (a *APIC) cancelTimers(hv bool) EffectKind {
	if a.rules().CancelDropsPending {
		a.Timer.Pending = false
	}
	if !hv {
		return EffectCancelSW
	}
	a.CancelHV()
	return EffectCancel
}

// clampPeriod raises a periodic timer's period to the minimum. TMICT keeps its
// value, but TMCCT counts through the longer period.
func (a *APIC) clampPeriod() {
	t := &a.Timer
	if t.Mode == Periodic && t.Period != 0 {
		t.Period = max(t.Period, a.minPeriod())
	}
}

func (a *APIC) minPeriod() clock.Nanos {
	if a.Config.MinPeriod != 0 {
		return a.Config.MinPeriod
	}
	return a.rules().MinPeriod
}

// countNanos converts a timer count: count × bus cycle × divisor, wrapping in 64
// bits only for bus cycles that Config.Check refuses.
func (a *APIC) countNanos(count uint32) clock.Nanos {
	return clock.Nanos(uint64(count) * a.busCycle() * uint64(Divisor(a.reg(TDCR))))
}

// writeCount is a write to TMICT: it stops the timer and, unless x is 0, starts
// it anew. In TSC-deadline mode it is dropped.
func (a *APIC) writeCount(x uint32, now Sample) Effect {
	if a.Timer.Mode == TSCDeadline {
		return Effect{}
	}
	do := a.cancelTimers(true)
	a.Page[TMICT>>4] = x
	return Effect{Do: do | a.start(x, false, now)}
}

// start is start_apic_timer: it drops a pending expiry and computes the target of
// the modes that count; EffectArm says that there is something to arm. restored
// says that count was saved in TMCCT and not written to TMICT.
func (a *APIC) start(count uint32, restored bool, now Sample) EffectKind {
	t := &a.Timer
	t.Pending = false
	if !t.Mode.counts() {
		return EffectArm
	}
	t.Period = a.countNanos(a.reg(TMICT))
	if t.Period <= 0 {
		t.Period, t.Deadline = 0, 0
		return EffectNone
	}
	a.clampPeriod()
	d := t.Period
	if restored {
		d = a.restoredCount(count)
	}
	t.Deadline = now.Guest + t.Scale.Cycles(uint64(d))
	t.Target = now.Mono + d
	return EffectArm
}

// restoredCount returns how long a timer has to run whose current count was
// saved: an impossible count means the full period, 0 in one-shot mode "at
// once".
func (a *APIC) restoredCount(count uint32) clock.Nanos {
	t := &a.Timer
	d := a.countNanos(count)
	switch {
	case d <= 0 && t.Mode == OneShot && a.rules().RestoreZero:
		return 0
	case d <= 0, d > t.Period:
		return t.Period
	}
	return d
}

// CurrentCount returns TMCCT at host time now:
//
//	(max(0, target − now) mod period) / (bus cycle × divisor)
//
// so it reads 0, not TMICT, at the very moment of the start. It is 0 in
// TSC-deadline mode and without a count.
//
// Source: arch/x86/kvm/lapic.c, apic_get_tmcct.
func (a *APIC) CurrentCount(now clock.Nanos) uint32 {
	t := &a.Timer
	if t.Mode == TSCDeadline || a.reg(TMICT) == 0 || t.Period <= 0 {
		return 0
	}
	left := max(0, t.Target-now) % t.Period
	return uint32(uint64(left) / (a.busCycle() * uint64(Divisor(a.reg(TDCR)))))
}

// writeDivide is a write to TDCR. With a new divisor the remaining time of a
// running timer is rescaled and the timer restarted (RescaleTDCR).
//
// Source: arch/x86/kvm/lapic.c, update_target_expiration.
func (a *APIC) writeDivide(x uint32, now Sample) Effect {
	t, r := &a.Timer, a.rules()
	old := Divisor(a.reg(TDCR))
	if !r.RawTDCR {
		x &= 0xb
	}
	a.Page[TDCR>>4] = x
	div := Divisor(x)
	if div == old || t.Period == 0 || !r.RescaleTDCR {
		return Effect{}
	}
	t.Period = a.countNanos(a.reg(TMICT))
	a.clampPeriod()
	before := max(0, t.Target-now.Mono)
	hi, lo := bits.Mul64(uint64(before), uint64(div))
	q, _ := bits.Div64(hi%uint64(old), lo, uint64(old))
	after := clock.Nanos(q)
	t.Deadline += t.Scale.Cycles(uint64(after)) - t.Scale.Cycles(uint64(before))
	t.Target = now.Mono + after
	return Effect{Do: EffectCancelSW | EffectArm}
}
