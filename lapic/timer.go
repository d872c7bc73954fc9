package lapic

import "ticktrap/internal/clock"

// TimerMode is the LVTT mode field, bits 18:17; values are the field's.
type TimerMode uint8

// The timer modes.
const (
	OneShot      TimerMode = 0
	Periodic     TimerMode = 1
	TSCDeadline  TimerMode = 2
	ReservedMode TimerMode = 3 // arms nothing
)

// TimerModeNames names the timer modes by value.
var TimerModeNames = [4]string{"one-shot", "periodic", "TSC-deadline", "reserved"}

// String returns the manual's name.
func (m TimerMode) String() string { return TimerModeNames[m&3] }

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
	// 32 bits wide in the kernel.
	Advance clock.Nanos
	// Tuning says whether Advance adapts; Tune how.
	Tuning Tuning
	Era    TuneEra
	// AdjustDone is true when tuning has stopped for good (4.20–5.3).
	AdjustDone bool

	// EntryAdvance is vmentry_advance_ns and EntryCycles the same in guest
	// cycles; set them by SetEntryAdvance.
	EntryAdvance clock.Nanos
	EntryCycles  clock.Cycles
}
