package trace

import "strings"

// Knob is a setting that changes a decision of the loop.
type Knob uint8

// The knobs.
const (
	BadKnob Knob = iota
	KnobAPICv
	KnobPostedTimer
	KnobAdvance        // 0 off, ns fixed; AdvanceAdaptive for adaptive
	KnobVMEntryAdvance // ns
	KnobWaitPlacement  // a Placement
	KnobPreemptionTimer
	KnobFastpath // a number of RuleSetNames
	KnobKick     // a number of KickRulesNames
	KnobExitsDisabled
	KnobHaltPoll     // ns
	KnobTuning       // a number of TuneEraNames
	KnobRunningShort // running-vCPU shortcut of posted delivery
	NumKnobs
)

// AdvanceAdaptive is the value of KnobAdvance for adaptive tuning: the −1 of
// the kernel's lapic_timer_advance_ns.
const AdvanceAdaptive = 1<<64 - 1

// UnknownKnob is the value of a switch or a time that the source does not tell.
// An enumeration's unknown value is 0.
const UnknownKnob = 1 << 63

// Known reports whether v can be a value of k: an enumeration's 0 and UnknownKnob
// are what a source gives that does not tell.
func (k Knob) Known(v uint64) bool {
	if KnobSpecs[k].form == knobEnum {
		return v != 0
	}
	return v != UnknownKnob
}

// Knob is the present value of knob k; known is false if the source does not tell
// it, and nothing may then be concluded from it.
func (s *State) Knob(k Knob) (v uint64, known bool) { return s.Knobs[k], k.Known(s.Knobs[k]) }

// KnobIs reports whether knob k is known to have value v.
func (s *State) KnobIs(k Knob, v uint64) bool { return s.Knobs[k] == v && k.Known(v) }

// UnknownKnobs are the knobs of a trace that tells none.
func UnknownKnobs() (k [NumKnobs]uint64) {
	for i := range k {
		if KnobSpecs[i].form != knobEnum {
			k[i] = UnknownKnob
		}
	}
	return k
}

// KnobNames names the knobs as the command line and the screen do.
var KnobNames = []string{"bad", "apicv", "posted-timer", "timer-advance", "vmentry-advance", "wait-placement",
	"preemption-timer", "fastpath", "kick", "exits-disabled", "halt-poll", "tuning-era", "running-shortcut"}

// String returns the knob's name.
func (k Knob) String() string { return nameOf(KnobNames, uint64(k)) }

// KnobValues says in words which values a knob takes.
func KnobValues(k Knob) string {
	sp := &KnobSpecs[k]
	switch sp.form {
	case knobSwitch:
		return "on, off"
	case knobTime:
		return "off, or a time such as 300ns"
	case knobAdvance:
		return "adaptive, off, or a time such as 1000ns"
	case knobMask:
		return "none, or names joined by '|': " + strings.Join(sp.names, ", ")
	}
	return strings.Join(sp.names[1:], ", ")
}
