package lapic

// EffectKind is a set of things that a register write leaves for the run loop.
type EffectKind uint16

// The effects, in the order in which the loop should act on them. A write can
// have several.
const (
	EffectModeChange EffectKind = 1 << iota // IA32_APIC_BASE: mode or base changed
	EffectSPIV                              // the software-enable bit changed
	EffectCancelSW                          // cancel the hrtimer
	EffectCancelHV                          // turn the preemption timer off; Timer says so already
	EffectArm                               // call Restart and do what it says
	EffectTPR                               // TPR has another value: CR8 follows
	EffectPPR                               // PPR fell: more may be deliverable (KVM_REQ_EVENT)
	EffectLVT0                              // LVT0 changed: evaluate LINT0 again
	EffectEOI                               // Vector left service, if InService
	EffectIPI                               // send ICR
	EffectSelfIPI                           // deliver Vector to this vCPU, fixed and edge
	EffectError                             // an error was recorded: deliver LVTError
	EffectLDR                               // ID, LDR or DFR changed: destinations differ

	// EffectNone is the effect of a write that concerns nobody else.
	EffectNone EffectKind = 0
	// EffectCancel cancels both host timers.
	EffectCancel = EffectCancelSW | EffectCancelHV
)

// Effect is what a register write leaves for the run loop.
type Effect struct {
	Do  EffectKind
	ICR ICR // of EffectIPI, with the destination in place for the APIC's mode
	// Vector is that of EffectEOI or EffectSelfIPI.
	Vector Vector
	// InService is false for an EOI with nothing in service.
	InService bool
	// Level is true if the vector of an EOI was level-triggered.
	Level bool
	// Broadcast is true if I/O APICs have to be told of the EOI: Level, and not
	// suppressed by SPIV bit 12.
	Broadcast bool
}

// Has reports whether all of k is among the effects.
func (e Effect) Has(k EffectKind) bool { return e.Do&k == k }
