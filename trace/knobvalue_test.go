package trace

import (
	"strings"
	"testing"
)

func TestKnobTablesAreComplete(t *testing.T) {
	if len(KnobNames) != int(NumKnobs) {
		t.Fatalf("KnobNames has %d names for %d knobs", len(KnobNames), NumKnobs)
	}
	for k := BadKnob + 1; k < NumKnobs; k++ {
		sp := KnobSpecs[k]
		if sp.form == badKnobForm || sp.Doc == "" {
			t.Errorf("%v: no row in KnobSpecs", k)
		}
		if isTime := sp.form == knobTime || sp.form == knobAdvance; isTime != (sp.max != 0) {
			t.Errorf("%v: max is %d", k, sp.max)
		}
		if (sp.form == knobEnum || sp.form == knobMask) != (len(sp.names) > 0) {
			t.Errorf("%v: names are %v", k, sp.names)
		}
	}
}

func TestKnobValuesInWordsReadBack(t *testing.T) {
	tests := []struct {
		knob  Knob
		value uint64
		words string
	}{
		{KnobAPICv, 0, "off"}, {KnobAPICv, 1, "on"},
		{KnobPostedTimer, 1, "on"},
		{KnobAdvance, 0, "off"}, {KnobAdvance, 1000, "1000ns"}, {KnobAdvance, AdvanceAdaptive, "adaptive"},
		{KnobVMEntryAdvance, 300, "300ns"}, {KnobVMEntryAdvance, 0, "off"},
		{KnobWaitPlacement, uint64(WaitEarly), "early"}, {KnobWaitPlacement, uint64(WaitLate), "late"},
		{KnobPreemptionTimer, 0, "off"},
		{KnobFastpath, 1, "off"}, {KnobFastpath, 2, "s004v3"}, {KnobFastpath, 5, "6.18"},
		{KnobKick, 1, "ka"}, {KnobKick, 4, "kd"},
		{KnobExitsDisabled, 0, "none"}, {KnobExitsDisabled, 3, "mwait|hlt"}, {KnobExitsDisabled, 7, "mwait|hlt|pause"},
		{KnobHaltPoll, 200000, "200000ns"},
		{KnobTuning, 1, "4.20"}, {KnobTuning, 5, "6.10"},
		{KnobRunningShort, 3, "in-guest"},
	}
	for _, tt := range tests {
		if got := FormatKnob(tt.knob, tt.value); got != tt.words {
			t.Errorf("FormatKnob(%v, %d) = %q, want %q", tt.knob, tt.value, got, tt.words)
		}
		k, v, err := ParseKnob(tt.knob.String(), tt.words)
		if k != tt.knob || v != tt.value || err != nil {
			t.Errorf("ParseKnob(%v, %q) = %v, %d, %v, want %v, %d", tt.knob, tt.words, k, v, err, tt.knob, tt.value)
		}
	}
}

func TestKnobValuesHaveOtherSpellings(t *testing.T) {
	tests := []struct {
		name, value string
		knob        Knob
		want        uint64
	}{
		{"kick-tax-cut", "on", KnobKick, 3},
		{"kick-tax-cut", "off", KnobKick, 2},
		{"timer-advance", "1us", KnobAdvance, 1000},
		{"timer-advance", "300", KnobAdvance, 300},
		{"timer-advance", "-1", KnobAdvance, AdvanceAdaptive},
		{"halt-poll", "2 ms", KnobHaltPoll, 2_000_000},
		{"halt-poll", "1s", KnobHaltPoll, 1_000_000_000},
		{"exits-disabled", "hlt,pause", KnobExitsDisabled, 6},
		{"exits-disabled", "off", KnobExitsDisabled, 0},
		{"apicv", "1", KnobAPICv, 1},
	}
	for _, tt := range tests {
		if k, v, err := ParseKnob(tt.name, tt.value); k != tt.knob || v != tt.want || err != nil {
			t.Errorf("ParseKnob(%q, %q) = %v, %d, %v, want %v, %d", tt.name, tt.value, k, v, err, tt.knob, tt.want)
		}
	}
}

func TestBadKnobValuesAreRefusedInOneSentence(t *testing.T) {
	tests := []struct{ name, value, want string }{
		{"apicv", "yes", "want on or off"},
		{"kick-tax-cut", "maybe", "want on or off"},
		{"bad", "on", "no knob is called"},
		{"advance", "on", "no knob is called"},
		{"timer-advance", "-5", "negative"},
		{"timer-advance", "-5us", "negative"},
		{"timer-advance", "fast", "want off or a time"},
		{"timer-advance", "", "want off or a time"},
		{"timer-advance", "1.5us", "want off or a time"},
		{"timer-advance", "2147483648", "at most 2147483647ns"},
		{"timer-advance", "99999999999999999999999", "at most"},
		{"halt-poll", "18446744073709551615s", "at most"},
		{"wait-placement", "callback", "want early or late"},
		{"wait-placement", "bad", "want early or late"},
		{"fastpath", "7.0", "want off, s004v3, 5.8, 5.15, 6.18, 5.6, 6.9, 6.12 or 7.2"},
		{"exits-disabled", "hlt|nop", "cannot be \"nop\""},
		{"exits-disabled", "|", "is empty"},
		{"exits-disabled", "", "is empty"},
	}
	for _, tt := range tests {
		_, _, err := ParseKnob(tt.name, tt.value)
		if err == nil {
			t.Errorf("ParseKnob(%q, %q) is accepted", tt.name, tt.value)
			continue
		}
		if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("ParseKnob(%q, %q): %q, want it to say %q", tt.name, tt.value, err, tt.want)
		}
	}
}

func TestImpossibleKnobValuesAreMarked(t *testing.T) {
	tests := []struct {
		knob  Knob
		value uint64
		want  string
	}{
		{KnobAPICv, 2, "?2"}, {KnobKick, 0, "unknown"}, {KnobFastpath, 99, "?99"}, {BadKnob, 1, "?1"}, {NumKnobs, 1, "?1"},
		{KnobExitsDisabled, 9, "mwait|0x8"},
	}
	for _, tt := range tests {
		if got := FormatKnob(tt.knob, tt.value); got != tt.want {
			t.Errorf("FormatKnob(%v, %d) = %q, want %q", tt.knob, tt.value, got, tt.want)
		}
	}
}
