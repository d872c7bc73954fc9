package trace

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// Chain is one deadline and its whole life:
//
//	arm → (re-arm | host fire) → expire → wait → deliver → inject → entry →
//	guest handler → EOI
//
// A TSC of 0 means that the step did not happen or is not known. A periodic
// timer begins a new chain at each expiry.
type Chain struct {
	// Num is the deadline's ordinal in the run, NoNum if there is none.
	Num     Num
	VCPU    uint8
	Vector  uint8 // known from the delivery on
	Mode    TimerMode
	Outcome Outcome
	// Backing is the host timer that backs it now or backed it last; Clause
	// says why that is not the preemption timer.
	Backing Backing
	Clause  Clause
	// Route and RouteClause are those of the expiry, Deliver and DeliverClause
	// those of the delivery.
	Route         ExpireRoute
	RouteClause   Clause
	Callback      bool // expired in the timer callback
	Deliver       DeliverRoute
	DeliverClause Clause
	Place         Placement // of the wait, BadPlacement if there was none
	Verdict       TuneVerdict
	Virtual       bool // delivered by virtual-interrupt delivery
	Inferred      bool // a step was deduced
	// Switches counts the changes of Backing.
	Switches uint8
	// FirePCPU is the host CPU on which the host timer fired, FireVCPU the one on
	// which the vCPU ran or had run last; NoCPU if not known. FireGuest says that
	// the vCPU was in the guest then.
	FirePCPU, FireVCPU uint8
	FireGuest          bool

	Target clock.TSC
	Value  uint64 // as the guest wrote it; 0 in the later chains of a periodic timer
	Period clock.Nanos

	ArmAt     clock.TSC
	BackedAt  clock.TSC // when Backing was last chosen
	Fire      clock.TSC // when the host timer was to fire
	FireAt    clock.TSC // when it did
	ExpireAt  clock.TSC
	WaitAt    clock.TSC // arrival at the wait
	DeliverAt clock.TSC
	SyncAt    clock.TSC // PIR moved to IRR
	InjectAt  clock.TSC
	EntryAt   clock.TSC // last VM-entry before the handler
	ISRAt     clock.TSC // first instruction of the handler
	EOIAt     clock.TSC

	Advance   clock.Cycles // Target minus Fire
	AdvanceNS clock.Nanos  // timer_advance_ns when it was armed
	Delta     clock.Cycles // guest TSC minus deadline at the wait
	Waited    clock.Cycles
	// Late is ISRAt minus Target: negative is early. It is valid once ISRAt is.
	Late clock.Cycles

	// ArmExit, FireExit and EntryExit are the exits (State.Exits) in which it was
	// armed, expired, and after which the last entry happened.
	ArmExit, FireExit, EntryExit Num
}

// Outcome is what became of a deadline.
type Outcome uint8

// The outcomes.
const (
	BadOutcome       Outcome = iota
	OutcomeOpen              // still armed or on its way
	OutcomeDone              // its handler ran
	OutcomeRearmed           // the guest set another one before it expired
	OutcomeCancelled         // the guest disarmed it before it expired
	OutcomeMerged            // expired while an earlier expiry was outstanding
	OutcomeLost              // expired with LVTT masked or the APIC disabled
	OutcomeDropped           // expired, but the guest armed again before it was injected
	OutcomeUnknown           // events are missing
	OutcomeReset             // INIT, or the VMM restored the LAPIC, before its handler ran
	OutcomeHeld              // its handler ran, but the debugger held the vCPU on the way: no lateness is counted
	OutcomeWithheld          // its handler ran, but its deadline cannot be true
	NumOutcomes
)

// OutcomeNames names the outcomes.
var OutcomeNames = []string{"bad", "open", "done", "rearmed", "cancelled", "merged", "lost", "dropped", "unknown",
	"reset", "held", "withheld"}

// String returns the short name.
func (o Outcome) String() string { return nameOf(OutcomeNames, uint64(o)) }

// Ran reports whether the deadline's handler ran, so that Late is valid.
func (c *Chain) Ran() bool { return c.Outcome == OutcomeDone }
