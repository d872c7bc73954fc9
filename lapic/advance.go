package lapic

import (
	"math"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// Tuning says how timer_advance_ns is set.
type Tuning uint8

// The tunings. BadTuning is the invalid zero value.
const (
	BadTuning Tuning = iota
	TuningOff        // no advance
	TuningFixed
	TuningAdaptive
)

// TuneVerdict is what adaptive tuning did with a delta; the order is that of the
// tune event's enumeration.
type TuneVerdict uint8

// The verdicts. BadTune is the invalid zero value.
const (
	BadTune     TuneVerdict = iota
	TuneLater               // late: advance enlarged
	TuneEarlier             // early: advance reduced
	TuneIgnored             // outside the band that is acted on
	TuneReset               // beyond the Ceiling: back to 1000 ns
	TuneDone                // near enough: stopped for good, after a last step
	TuneOff                 // beyond the Ceiling: feature turned off
	numTuneVerdicts
)

// TuneVerdictNames names the verdicts.
var TuneVerdictNames = [numTuneVerdicts]string{"bad", "late", "early", "ignored", "reset", "done", "off"}

// String returns the short name.
func (v TuneVerdict) String() string { return TuneVerdictNames[v%numTuneVerdicts] }

// The constants of adaptive tuning: LAPIC_TIMER_ADVANCE_NS_INIT,
// LAPIC_TIMER_ADVANCE_NS_MAX, LAPIC_TIMER_ADVANCE_ADJUST_STEP, and the band of
// deltas that is acted on, with Band; with Stops its lower end stops tuning.
const (
	AdvanceInit clock.Nanos  = 1000
	AdvanceMax  clock.Nanos  = 5000
	AdjustMin   clock.Cycles = 100
	AdjustMax   clock.Cycles = 10000
	adjustStep               = 8
)

// TuneRules are the ways in which kernels tune the advance.
type TuneRules struct {
	// Capped: the step is at most an eighth of the advance; else it is an eighth
	// of the error.
	Capped bool
	// Band: deltas outside AdjustMin … AdjustMax are ignored.
	Band bool
	// Stops: a delta below AdjustMin ends tuning for good.
	Stops bool
	// Ceiling is what an advance above AdvanceMax leads to: TuneReset, TuneOff,
	// or BadTune for no ceiling.
	Ceiling TuneVerdict
}

// TuneResult is one adjustment.
type TuneResult struct {
	Old, New clock.Nanos
	Verdict  TuneVerdict
}

// Step returns what adaptive tuning makes of a delta (cycles; negative is
// early) with an advance of adv at a guest TSC of khz. done is true if tuning
// ends. The arithmetic is the kernel's: 64 bits for the delta in nanoseconds,
// 32 for the advance, both wrapping; a step that is not capped and larger than the
// advance wraps, exceeds the ceiling and resets.
//
//	ns   = |delta| × 10^6 / khz
//	step = min(ns, adv / 8) if Capped, else ns / 8
//
// Source: arch/x86/kvm/lapic.c, adjust_lapic_timer_advance.
func (r TuneRules) Step(adv clock.Nanos, delta clock.Cycles, khz uint32) (res TuneResult, done bool) {
	res = TuneResult{Old: adv, New: adv, Verdict: TuneIgnored}
	size := uint64(delta)
	if delta < 0 {
		size = -size
	}
	small := size < uint64(AdjustMin)
	if khz == 0 || r.Band && (small || size > uint64(AdjustMax)) {
		return res, false
	}
	ns := size * 1_000_000 / uint64(khz)
	step := uint32(ns / adjustStep)
	if r.Capped {
		step = min(uint32(ns), uint32(adv)/adjustStep)
	}
	next := uint32(adv) + step
	res.Verdict = TuneLater
	if delta < 0 {
		next, res.Verdict = uint32(adv)-step, TuneEarlier
	}
	if r.Stops && small {
		done, res.Verdict = true, TuneDone
	}
	if next > uint32(AdvanceMax) && r.Ceiling != BadTune {
		res.Verdict = r.Ceiling
		next, done = 0, true
		if r.Ceiling == TuneReset {
			next, done = uint32(AdvanceInit), false
		}
	}
	res.New = clock.Nanos(next)
	return res, done
}

// tune applies adaptive tuning to the advance; ok is false if it is off or has
// stopped.
func (a *APIC) tune(delta clock.Cycles) (res TuneResult, ok bool) {
	t := &a.Timer
	if t.Tuning != TuningAdaptive || t.AdjustDone {
		return TuneResult{}, false
	}
	res, t.AdjustDone = t.TuneRules.Step(t.Advance, delta, t.KHz)
	t.Advance = res.New
	return res, true
}

// SetAdvance chooses the advance: off, fixed at ns, or adaptive from AdvanceInit
// (ns is not looked at). It restarts tuning. ns is cut to 0 … 4294967295.
func (a *APIC) SetAdvance(mode Tuning, ns clock.Nanos, rules TuneRules) {
	t := &a.Timer
	t.Tuning, t.TuneRules, t.AdjustDone = mode, rules, false
	switch mode {
	case TuningFixed:
		t.Advance = min(max(ns, 0), math.MaxUint32)
	case TuningAdaptive:
		t.Advance = AdvanceInit
	default:
		t.Advance = 0
	}
}

// SetEntryAdvance sets the time that VM-entry itself takes, vmentry_advance_ns:
// the wait, the hrtimer and the preemption timer then act that much earlier. 0
// turns it off. As in the patch as posted, the product has 32 bits: at 2.5 GHz it
// wraps from 1718 ns on, and 2000 ns are 705 cycles.
//
// Source: the S000 series, get_vmentry_advance_cycles.
func (a *APIC) SetEntryAdvance(ns clock.Nanos) {
	a.Timer.EntryAdvance = max(ns, 0)
	a.Timer.EntryCycles = clock.Cycles(uint32(a.Timer.EntryAdvance) * a.Timer.KHz / 1_000_000)
}

// SetFrequency changes the guest's TSC frequency. A timer that is armed keeps its
// host time, as in KVM. An entry advance that is set keeps the cycles of the old
// frequency: the patch as posted computes it before virtual_tsc_khz changes.
func (a *APIC) SetFrequency(f clock.Hz) {
	a.Config.Freq = f
	a.Timer.KHz = uint32(f.KHz())
	a.Timer.Scale = clock.NewScale(f)
}
