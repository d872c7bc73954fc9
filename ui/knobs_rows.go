package ui

import (
	"fmt"
	"strings"

	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// knobRow is how the screen turns one knob.
type knobRow struct {
	knob   trace.Knob
	action keymap.Action
	// turn is the value that the knob's key takes next; back is true where the
	// user asks for the one before.
	turn func(cur uint64, back bool) uint64
	// values are those that the palette offers.
	values []string
}

// knobRows are the knobs in the order of the Knobs pane.
var knobRows = []knobRow{
	{trace.KnobAPICv, keymap.APICv, flip, onOff},
	{trace.KnobPostedTimer, keymap.PostedTimer, flip, onOff},
	{trace.KnobPreemptionTimer, keymap.PreemptionTimer, flip, onOff},
	{trace.KnobAdvance, keymap.AdvanceUp, turnAdvance, []string{"adaptive", "off", "1000ns", "5000ns"}},
	{trace.KnobVMEntryAdvance, keymap.VMEntryAdvance, ladder(0, 25, 300), []string{"off", "25ns", "300ns"}},
	{trace.KnobWaitPlacement, keymap.WaitPlacement, ladder(uint64(trace.WaitEarly), uint64(trace.WaitLate)),
		[]string{"early", "late"}},
	{trace.KnobFastpath, keymap.FastpathEra, through(trace.RuleSetNames), trace.RuleSetNames[1:]},
	{trace.KnobKick, keymap.KickEra, through(trace.KickRulesNames), trace.KickRulesNames[1:]},
	{trace.KnobExitsDisabled, keymap.ExitsDisabled, turnHLT, []string{"none", "hlt", "mwait", "pause", "mwait|hlt"}},
	{trace.KnobHaltPoll, keymap.HaltPoll, ladder(0, 50_000, 200_000, 400_000), []string{"off", "50us", "200us", "400us"}},
	{trace.KnobTuning, keymap.TuningEra, through(trace.TuneEraNames), trace.TuneEraNames[1:]},
	{trace.KnobRunningShort, keymap.Shortcut, through(trace.ShortcutNames), trace.ShortcutNames[1:]},
}

var onOff = []string{"on", "off"}

func flip(cur uint64, _ bool) uint64 {
	if cur == 0 {
		return 1
	}
	return 0
}

// ladder goes through fixed values in ascending order; from any other value it
// goes to the next higher or lower one.
func ladder(vs ...uint64) func(uint64, bool) uint64 {
	return func(cur uint64, back bool) uint64 {
		if back {
			for i := len(vs) - 1; i >= 0; i-- {
				if vs[i] < cur {
					return vs[i]
				}
			}
			return vs[len(vs)-1]
		}
		for _, v := range vs {
			if v > cur {
				return v
			}
		}
		return vs[0]
	}
}

// through goes through the values of an enumeration, whose 0 is invalid.
func through(names []string) func(uint64, bool) uint64 {
	vs := make([]uint64, len(names)-1)
	for i := range vs {
		vs[i] = uint64(i) + 1
	}
	return ladder(vs...)
}

func turnHLT(cur uint64, _ bool) uint64 { return cur ^ uint64(vmm.DisableHLT) }

// advanceStep is what one press of the advance keys changes, in ns.
const advanceStep = 100

// turnAdvance moves a fixed advance by a step.
func turnAdvance(cur uint64, back bool) uint64 {
	switch {
	case !back:
		return cur + advanceStep
	case cur < advanceStep:
		return 0
	}
	return cur - advanceStep
}

// knobRowOf returns the row of a knob, nil if the screen has none.
func knobRowOf(k trace.Knob) *knobRow {
	for i := range knobRows {
		if knobRows[i].knob == k {
			return &knobRows[i]
		}
	}
	return nil
}

// showKnob writes a knob's value.
func showKnob(k trace.Knob, v uint64) string {
	s := trace.FormatKnob(k, v)
	if strings.HasSuffix(s, "ns") {
		return group3(v) + " ns"
	}
	if k == trace.KnobKick && v != trace.UnknownKnob {
		return strings.ToUpper(s)
	}
	return s
}

// parseKnob reads "knob=value" as the palette takes it.
func parseKnob(text string) (trace.Knob, uint64, error) {
	name, val, ok := strings.Cut(text, "=")
	if !ok {
		return 0, 0, fmt.Errorf("%q is no action and not of the form knob=value", text)
	}
	return trace.ParseKnob(strings.TrimSpace(name), strings.TrimSpace(val))
}
