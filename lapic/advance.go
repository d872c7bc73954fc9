package lapic

import "ticktrap/internal/clock"

// Tuning says how timer_advance_ns is set.
type Tuning uint8

// The tunings. BadTuning is the invalid zero value.
const (
	BadTuning Tuning = iota
	TuningOff        // no advance
	TuningFixed
	TuningAdaptive
)

// TuneEra is one column of the adaptive tuning's history.
type TuneEra uint8

// The tuning eras. BadTuneEra is the invalid zero value.
const (
	BadTuneEra TuneEra = iota
	Tune4_20           // 4.20, 5.0
	Tune5_2            // 5.2
	Tune5_3            // 5.3
	Tune5_4            // 5.4–6.9
	Tune6_10           // 6.10 on
	numTuneEras
)

// TuneEraNames names the tuning eras.
var TuneEraNames = []string{"bad", "4.20", "5.2", "5.3", "5.4", "6.10"}

// TuneVerdict is what adaptive tuning did with a delta; the order is that of the
// event's enumeration.
type TuneVerdict uint8

// The verdicts. BadTune is the invalid zero value.
const (
	BadTune     TuneVerdict = iota
	TuneLater               // late: advance enlarged
	TuneEarlier             // early: advance reduced
	TuneIgnored             // outside the band that is acted on
	TuneReset               // beyond the ceiling: back to 1000 ns
	TuneDone                // near enough: stopped for good, after a last step
	TuneOff                 // beyond the ceiling: feature turned off
)

// TuneResult is one adjustment.
type TuneResult struct {
	Old, New clock.Nanos
	Verdict  TuneVerdict
}

// SetAdvance chooses the advance: off, fixed at ns, or adaptive from 1000 ns (ns
// is not looked at). It restarts tuning.
func (a *APIC) SetAdvance(t Tuning, ns clock.Nanos, era TuneEra) {}

// SetEntryAdvance sets the time that VM-entry itself takes, vmentry_advance_ns;
// 0 turns it off.
func (a *APIC) SetEntryAdvance(ns clock.Nanos) {}

// SetFrequency changes the guest's TSC frequency; the entry advance is computed
// anew, after the change.
func (a *APIC) SetFrequency(f clock.Hz) {}
