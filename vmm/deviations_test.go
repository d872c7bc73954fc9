package vmm

import (
	"slices"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
)

func TestDeviationsNameTheRulesOfNoKernel(t *testing.T) {
	at := func(name string, x kernel.Vendor) *kernel.Kernel {
		r, err := kernel.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		k := kernel.At(r.Release, x)
		return &k
	}
	for _, tt := range []struct {
		name string
		k    *kernel.Kernel
		turn func(*Knobs)
		want []string
	}{
		{"its own", at("6.12", kernel.Intel), func(*Knobs) {}, nil},
		{"what a user chooses", at("6.12", kernel.Intel), func(k *Knobs) {
			k.APICv, k.PostedTimer, k.PreemptionTimer, k.HaltPoll, k.ExitsDisabled, k.Advance = false, true, false, 0, DisableHLT, 0
		}, nil},
		{"another kick", at("6.12", kernel.Intel), func(k *Knobs) { k.Kick = KickKA }, []string{"kick=ka"}},
		{"two rules", at("6.12", kernel.Intel), func(k *Knobs) { k.Fastpath, k.Kick = RulesOff, KickKB },
			[]string{"fastpath=off", "kick=kb"}},
		{"a proposal", at("5.4", kernel.Intel), func(k *Knobs) { k.VMEntryAdvance = 300 }, []string{"vmentry-advance=300ns"}},
		{"a number where the parameter is gone", at("6.12", kernel.Intel), func(k *Knobs) { k.Advance = 500 }, []string{"timer-advance=500ns"}},
		{"a number where there is a parameter", at("5.4", kernel.Intel), func(k *Knobs) { k.Advance = 500 }, nil},
		{"pi_inject_timer before it was", at("5.2", kernel.Intel), func(k *Knobs) { k.PostedTimer = true }, []string{"posted-timer=on"}},
		{"a preemption timer on AMD", at("6.12", kernel.AMD), func(k *Knobs) { k.PreemptionTimer = true }, []string{"preemption-timer=on"}},
	} {
		k := KnobsOf(tt.k)
		tt.turn(&k)
		if got := k.Deviations(tt.k); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestCannotSaysWhatNoParameterMakes(t *testing.T) {
	for _, tt := range []struct {
		release string
		knob    trace.Knob
		value   uint64
		says    string
	}{
		{"6.12", trace.KnobAdvance, 500, "no number of nanoseconds"},
		{"6.12", trace.KnobAdvance, 0, ""},
		{"6.9", trace.KnobAdvance, 500, ""},
		{"6.12", trace.KnobVMEntryAdvance, 300, "a proposal"},
		{"6.12", trace.KnobKick, uint64(KickKB), "Linux 6.12 does not do kick=kb"},
		{"5.15", trace.KnobKick, uint64(KickKB), ""},
		{"6.12", trace.KnobAPICv, 0, ""},
		{"6.12", trace.KnobHaltPoll, 0, ""},
	} {
		n, err := kernel.Parse(tt.release)
		if err != nil {
			t.Fatal(err)
		}
		k := kernel.At(n.Release, kernel.Intel)
		if got := Cannot(&k, tt.knob, tt.value); (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
			t.Errorf("%s %s=%d: %q, want %q", tt.release, tt.knob, tt.value, got, tt.says)
		}
	}
}
