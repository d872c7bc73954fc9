package trace

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/prose"
	"codeberg.org/ticktrap/ticktrap/trace/kernel/rule"
)

// The values of the knobs that are enumerations, by number; their order is the
// wire format. Zero is the invalid value.
var (
	// RuleSetNames names the fastpath rule sets: the first kernel that has each.
	RuleSetNames = rule.FastpathNames
	// KickRulesNames names the kick algorithms.
	KickRulesNames = rule.KickNames
	// ShortcutNames names what posted delivery does about the running vCPU.
	ShortcutNames = rule.ShortcutNames
	// TuneEraNames names the eras of adaptive tuning by the first kernel.
	TuneEraNames = rule.TuningNames
	// ExitsDisabledNames names the bits of KnobExitsDisabled.
	ExitsDisabledNames = []string{"mwait", "hlt", "pause"}

	placementKnob = PlacementNames[:WaitCallback]
	switchNames   = []string{"off", "on"}
)

// KickTaxCut is another name of KnobKick: off is kb, on is kc.
const KickTaxCut = "kick-tax-cut"

// knobForm says how a knob's value is written.
type knobForm uint8

const (
	badKnobForm knobForm = iota
	knobSwitch           // off, on
	knobTime             // off or nanoseconds
	knobAdvance          // the same, and adaptive
	knobEnum             // a name from the list, from number 1
	knobMask             // names from the list joined by '|', or none
)

// KnobSpec is the row of one knob.
type KnobSpec struct {
	form  knobForm
	names []string
	max   uint64 // of times, in ns
	// Doc says what the knob does, in one line.
	Doc string
}

// KnobSpecs is the table of knobs, indexed by Knob. Times are bounded by the
// kernel's types: lapic_timer_advance_ns is an int, the others are unsigned.
var KnobSpecs = [NumKnobs]KnobSpec{
	KnobAPICv:           {form: knobSwitch, Doc: "virtual-interrupt delivery and posted interrupts"},
	KnobPostedTimer:     {form: knobSwitch, Doc: "post expiries from the timer callback (pi_inject_timer)"},
	KnobAdvance:         {form: knobAdvance, max: math.MaxInt32, Doc: "how much earlier host timers are programmed"},
	KnobVMEntryAdvance:  {form: knobTime, max: math.MaxUint32, Doc: "VM-entry time that the wait accounts for"},
	KnobWaitPlacement:   {form: knobEnum, names: placementKnob, Doc: "where the wait for the deadline stands"},
	KnobPreemptionTimer: {form: knobSwitch, Doc: "back guest timers by the VMX preemption timer"},
	KnobFastpath:        {form: knobEnum, names: RuleSetNames, Doc: "fastpath rules, by kernel"},
	KnobKick:            {form: knobEnum, names: KickRulesNames, Doc: "kick algorithm"},
	KnobExitsDisabled:   {form: knobMask, names: ExitsDisabledNames, Doc: "instructions that do not exit"},
	KnobHaltPoll:        {form: knobTime, max: math.MaxUint32, Doc: "longest halt polling"},
	KnobTuning:          {form: knobEnum, names: TuneEraNames, Doc: "adaptive tuning, by kernel"},
	KnobRunningShort:    {form: knobEnum, names: ShortcutNames, Doc: "posted delivery to the running vCPU"},
}

// KnobWords are the values of a knob that are words, for a shell to complete;
// times and combinations of bits are not among them.
func KnobWords(k Knob) []string {
	sp := &KnobSpecs[k]
	switch sp.form {
	case knobSwitch:
		return []string{"on", "off"}
	case knobTime:
		return []string{"off"}
	case knobAdvance:
		return []string{"adaptive", "off"}
	case knobMask:
		return append([]string{"none"}, sp.names...)
	}
	return sp.names[1:]
}

// FormatKnob writes a value in words, as ParseKnob reads it. A value that the
// knob cannot have is shown as its number with a question mark, the invalid zero
// of an enumeration as "unknown".
func FormatKnob(k Knob, v uint64) string {
	if k == BadKnob || k >= NumKnobs {
		return "?" + strconv.FormatUint(v, 10)
	}
	sp := &KnobSpecs[k]
	switch {
	case v == UnknownKnob:
		return "unknown"
	case sp.form == knobSwitch:
		return nameOf(switchNames, v)
	case sp.form == knobAdvance && v == AdvanceAdaptive:
		return "adaptive"
	case sp.form == knobEnum && v == 0:
		return "unknown"
	case sp.form == knobEnum:
		return nameOf(sp.names, v)
	case sp.form == knobMask:
		return formatMask(sp.names, v, "none")
	case v == 0:
		return "off"
	}
	return strconv.FormatUint(v, 10) + "ns"
}

// ParseKnob reads a knob's name and a value in words. Times are nanoseconds, or
// carry ns, us, ms or s; "off" is 0. The error is one sentence.
func ParseKnob(name, value string) (Knob, uint64, error) {
	if name == KickTaxCut {
		on, err := parseSwitch(KickTaxCut, value)
		return KnobKick, 2 + on, err
	}
	i := slices.Index(KnobNames, name)
	if i <= 0 {
		return BadKnob, 0, fmt.Errorf("no knob is called %q: the knobs are %s and %s%s", name,
			strings.Join(KnobNames[1:], ", "), KickTaxCut, prose.DidYouMean(name, KnobNames[1:]))
	}
	k := Knob(i)
	sp := &KnobSpecs[k]
	v, err := sp.parse(name, value)
	return k, v, err
}

func (sp *KnobSpec) parse(name, value string) (uint64, error) {
	switch sp.form {
	case knobSwitch:
		return parseSwitch(name, value)
	case knobEnum:
		if i := slices.Index(sp.names, value); i > 0 {
			return uint64(i), nil
		}
		return 0, fmt.Errorf("%s cannot be %q: want %s", name, value, orList(sp.names[1:]))
	case knobMask:
		return parseKnobMask(name, sp.names, value)
	case knobAdvance:
		if value == "adaptive" || value == "-1" {
			return AdvanceAdaptive, nil
		}
	}
	if value == "off" {
		return 0, nil
	}
	return parseKnobTime(name, value, sp.max)
}

func parseSwitch(name, value string) (uint64, error) {
	switch value {
	case "on", "1", "true":
		return 1, nil
	case "off", "0", "false":
		return 0, nil
	}
	return 0, fmt.Errorf("%s cannot be %q: want on or off", name, value)
}

func parseKnobMask(name string, names []string, value string) (uint64, error) {
	if value == "none" || value == "off" {
		return 0, nil
	}
	var v uint64
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == '|' || r == ',' || r == '+' }) {
		i := slices.Index(names, part)
		if i < 0 {
			return 0, fmt.Errorf("%s cannot be %q: want none, or some of %s joined by |", name, part, orList(names))
		}
		v |= 1 << i
	}
	if v == 0 {
		return 0, fmt.Errorf("%s is empty: want none, or some of %s joined by |", name, orList(names))
	}
	return v, nil
}

// timeUnits are the suffixes of times in nanoseconds, longest first where one
// ends in another.
var timeUnits = []struct {
	suffix string
	ns     uint64
}{{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}}

func parseKnobTime(name, value string, limit uint64) (uint64, error) {
	digits, unit := value, uint64(1)
	for _, u := range timeUnits {
		if d, ok := strings.CutSuffix(value, u.suffix); ok {
			digits, unit = d, u.ns
			break
		}
	}
	if strings.HasPrefix(digits, "-") {
		return 0, fmt.Errorf("%s cannot be %q: a time cannot be negative", name, value)
	}
	v, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 64)
	switch {
	case err != nil && strings.Contains(err.Error(), "range"), err == nil && v > limit/unit:
		return 0, fmt.Errorf("%s cannot be %q: at most %dns", name, value, limit)
	case err != nil:
		return 0, fmt.Errorf("%s cannot be %q: want off or a time such as 1000, 300ns or 1us", name, value)
	}
	return v * unit, nil
}

func orList(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// formatMask joins the names of the bits set in v; a bit without a name is
// written as its value. Zero gives none.
func formatMask(names []string, v uint64, none string) string {
	if v == 0 {
		return none
	}
	var b strings.Builder
	for i := range 64 {
		if v>>i&1 == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('|')
		}
		if i < len(names) {
			b.WriteString(names[i])
		} else {
			fmt.Fprintf(&b, "%#x", uint64(1)<<i)
		}
	}
	return b.String()
}
