package explain

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// advice is a knob that would change a cause; Knob is BadKnob if none would.
type advice struct {
	knob  trace.Knob
	value uint64
}

var noAdvice = advice{}

// knows reports whether the source tells knob k: an imported trace does not.
func (b *builder) knows(k trace.Knob) bool {
	_, known := b.s.Knob(k)
	return known
}

// to proposes a value unless the knob has it already, or is not known.
func (b *builder) to(k trace.Knob, v uint64) advice {
	if !b.knows(k) || b.s.Knobs[k] == v {
		return noAdvice
	}
	return advice{k, v}
}

// canAdvance reports whether the timer advance acts on the deadline: the hrtimer
// behind one-shot and periodic timers is never programmed early
// (arch/x86/kvm/lapic.c, start_sw_period).
func (b *builder) canAdvance() bool {
	return b.c.Mode == trace.TSCDeadline || b.c.Backing == trace.BackHV
}

// adviseAdvance hides what happens before the wait behind a timer advance: adaptive
// where it was off or fixed, and where it was adaptive the value that would have
// been enough.
func adviseAdvance(b *builder) advice {
	if !b.canAdvance() {
		return adviseTimer(b)
	}
	if b.s.Knobs[trace.KnobAdvance] != trace.AdvanceAdaptive {
		return b.to(trace.KnobAdvance, trace.AdvanceAdaptive)
	}
	if b.c.Delta <= 0 && b.c.WaitAt != 0 {
		return noAdvice
	}
	if ns := b.enough(); ns <= maxAdvance && b.s.Hz != 0 {
		return b.to(trace.KnobAdvance, uint64(ns))
	}
	return noAdvice // no advance is meant for that
}

// maxAdvance is LAPIC_TIMER_ADVANCE_NS_MAX (arch/x86/kvm/lapic.c): what adaptive
// tuning takes for the way into the guest. Above it something else delays.
const maxAdvance clock.Nanos = 5000

// roundNS is the step in which proposals of times are made.
const roundNS = 50

// enough is the advance that would have covered the way to the wait, rounded up.
func (b *builder) enough() clock.Nanos {
	need := b.c.Delta
	if b.c.WaitAt == 0 {
		need = b.end.Sub(b.c.Target)
	}
	ns := b.c.AdvanceNS + clock.Nanos(b.nanos(need))
	return max(roundNS, (ns+roundNS-1)/roundNS*roundNS)
}

// adviseTimer makes the preemption timer the backing where a knob keeps it from
// being that; else a timer that fires on the vCPU's own CPU is hidden behind the
// advance.
func adviseTimer(b *builder) advice {
	if b.c.Backing == trace.BackSW {
		switch b.c.Clause {
		case trace.ClauseHVOff:
			return b.to(trace.KnobPreemptionTimer, 1)
		case trace.ClauseMWAITInGuest:
			return b.to(trace.KnobExitsDisabled, b.s.Knobs[trace.KnobExitsDisabled]&^1)
		case trace.ClauseBlocked:
			return b.to(trace.KnobExitsDisabled, b.s.Knobs[trace.KnobExitsDisabled]|exitsHLT)
		}
	}
	if b.canAdvance() {
		return adviseAdvance(b)
	}
	return noAdvice
}

// exitsHLT is the bit of KnobExitsDisabled for HLT.
const exitsHLT = 1 << 1

// adviseIdle keeps the vCPU in guest mode while it halts. More halt polling would
// help too, but it grows over many halts and not with one.
func adviseIdle(b *builder) advice {
	if b.c.Clause != trace.ClauseBlocked {
		return noAdvice
	}
	return b.to(trace.KnobExitsDisabled, b.s.Knobs[trace.KnobExitsDisabled]|exitsHLT)
}

// adviseOuter gets the vCPU back into the guest without the outer loop.
func adviseOuter(b *builder) advice {
	if b.s.KnobIs(trace.KnobAPICv, 0) {
		return b.to(trace.KnobAPICv, 1)
	}
	if x := b.exit(b.c.FireExit); x != nil && x.Clause == trace.ClauseKnobOff {
		return b.to(trace.KnobFastpath, fastpathDefault)
	}
	if b.c.Backing == trace.BackSW && b.c.RouteClause == trace.ClausePIOff && b.someExitsOff() {
		return b.to(trace.KnobPostedTimer, 1)
	}
	return adviseAdvance(b)
}

// someExitsOff reports whether exits are known to be disabled.
func (b *builder) someExitsOff() bool {
	v, known := b.s.Knob(trace.KnobExitsDisabled)
	return known && v != 0
}

// fastpathDefault is the rule set "5.15" of trace.RuleSetNames.
const fastpathDefault = 4

func adviseInject(b *builder) advice {
	if b.s.KnobIs(trace.KnobAPICv, 0) {
		return b.to(trace.KnobAPICv, 1)
	}
	return adviseAdvance(b)
}

// adviseKick proposes the kick as merged in 5.17 ("kd") for a vCPU that kicks
// itself.
func adviseKick(b *builder) advice {
	const kd = 4
	if k := b.kick(); k != nil && k.From == k.Target && b.s.Knobs[trace.KnobKick] < kd {
		return b.to(trace.KnobKick, kd)
	}
	return adviseOuter(b)
}

// adviseEarlyGap puts the wait behind the gap; there the advance hides it.
func adviseEarlyGap(b *builder) advice {
	if b.c.Place == trace.WaitEarly {
		return b.to(trace.KnobWaitPlacement, uint64(trace.WaitLate))
	}
	return adviseAdvance(b)
}

// adviseEntry lets the wait end earlier by what lies between it and the handler.
func adviseEntry(b *builder) advice {
	c := b.c
	from := c.WaitAt.Add(c.Waited)
	if c.WaitAt == 0 || c.Delta > 0 || c.ISRAt <= from {
		return adviseAdvance(b)
	}
	have, known := b.s.Knob(trace.KnobVMEntryAdvance)
	if !known {
		return noAdvice
	}
	ns := clock.Nanos(have) + clock.Nanos(b.nanos(c.ISRAt.Sub(c.Target)))
	ns -= ns % roundNS
	if ns <= clock.Nanos(have) {
		return noAdvice
	}
	return b.to(trace.KnobVMEntryAdvance, uint64(ns))
}

// adviseLessEntry takes back as much of the VM-entry advance as made it early.
func adviseLessEntry(b *builder) advice {
	have := clock.Nanos(b.s.Knobs[trace.KnobVMEntryAdvance])
	ns := have - clock.Nanos(b.nanos(b.c.Target.Sub(b.c.ISRAt)))
	ns = max(0, ns-ns%roundNS)
	if have == 0 || !trace.KnobVMEntryAdvance.Known(uint64(have)) {
		return noAdvice
	}
	return b.to(trace.KnobVMEntryAdvance, uint64(ns))
}

func adviseCap(b *builder) advice { return b.to(trace.KnobAdvance, uint64(b.c.AdvanceNS)) }

func adviseNoWait(b *builder) advice {
	if b.skippedEarlyWait() {
		return b.to(trace.KnobWaitPlacement, uint64(trace.WaitLate))
	}
	return b.to(trace.KnobAdvance, 0)
}

// adviseShortcut proposes the restricted shortcut of 5.19 on ("in-guest").
func adviseShortcut(b *builder) advice { return b.to(trace.KnobRunningShort, 3) }

// adviseBarrier proposes a kick that has the barrier.
func adviseBarrier(b *builder) advice { return b.to(trace.KnobKick, 4) }
