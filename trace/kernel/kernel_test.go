package kernel

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace/kernel/rule"
)

func TestDecisionsByRelease(t *testing.T) {
	for _, tt := range []struct {
		release  Release
		vendor   Vendor
		fast     rule.Fastpath
		kick     rule.Kick
		shortcut rule.Shortcut
		tuning   rule.Tuning
	}{
		{v(4, 9), Intel, rule.FastOff, rule.KickKA, rule.ShortcutOff, 0},
		{v(4, 20), Intel, rule.FastOff, rule.KickKA, rule.ShortcutOff, rule.TuneGlobal},
		{v(5, 7), Intel, rule.FastICR, rule.KickKA, rule.ShortcutOff, rule.TuneBand},
		{v(5, 8), Intel, rule.FastTest, rule.KickKA, rule.ShortcutAlways, rule.TuneBand},
		{v(5, 14), Intel, rule.FastTest, rule.KickKA, rule.ShortcutAlways, rule.TuneBand},
		{v(5, 15), Intel, rule.FastTest, rule.KickKB, rule.ShortcutAlways, rule.TuneBand},
		{vp(5, 15, 85), Intel, rule.FastSync, rule.KickKB, rule.ShortcutOff, rule.TuneBand},
		{vp(5, 10, 223), Intel, rule.FastTest, rule.KickKB, rule.ShortcutOff, rule.TuneBand},
		{v(5, 17), Intel, rule.FastSync, rule.KickKD, rule.ShortcutWake, rule.TuneBand},
		{v(5, 19), Intel, rule.FastSync, rule.KickKD, rule.ShortcutInGuest, rule.TuneBand},
		{v(6, 1), Intel, rule.FastSync, rule.KickKD, rule.ShortcutInGuest, rule.TuneBand},
		{vp(6, 1, 176), Intel, rule.FastTimer, rule.KickKD, rule.ShortcutInGuest, rule.TuneBand},
		{v(6, 11), Intel, rule.FastTimer, rule.KickKD, rule.ShortcutInGuest, rule.TuneSwitch},
		{v(6, 12), Intel, rule.FastHalt, rule.KickKD, rule.ShortcutInGuest, rule.TuneSwitch},
		{v(6, 18), Intel, rule.FastAny, rule.KickKD, rule.ShortcutInGuest, rule.TuneSwitch},
		{v(7, 2), Intel, rule.FastPMU, rule.KickKD, rule.ShortcutInGuest, rule.TuneSwitch},
		{v(7, 3), AMD, rule.FastPMU, rule.KickKD, rule.ShortcutOff, rule.TuneSwitch},
	} {
		k := At(tt.release, tt.vendor)
		if k.Fastpath.Set != tt.fast || k.Kick.Rules != tt.kick || k.Delivery.Shortcut != tt.shortcut || k.Advance.Tuning != tt.tuning {
			t.Errorf("%s on %s: fastpath %s, kick %s, shortcut %s, tuning %s; want %s, %s, %s, %s", tt.release, tt.vendor,
				k.Fastpath.Set, k.Kick.Rules, k.Delivery.Shortcut, k.Advance.Tuning, tt.fast, tt.kick, tt.shortcut, tt.tuning)
		}
	}
}

func TestVendorsDiffer(t *testing.T) {
	intel, amd := At(v(6, 12), Intel), At(v(6, 12), AMD)
	if !intel.Fastpath.HVTimer || amd.Fastpath.HVTimer {
		t.Error("only Intel has a preemption timer")
	}
	if intel.Fastpath.NextRIP || !amd.Fastpath.NextRIP {
		t.Error("only AMD's fastpath needs the next RIP")
	}
	if intel.Pause == amd.Pause {
		t.Error("pause-loop exits are alike")
	}
	if got := At(v(6, 12), Both); got.Vendor != Intel {
		t.Errorf("without a vendor: %s", got.Vendor)
	}
}

func TestHistoryIsWellFormed(t *testing.T) {
	for i, c := range history {
		switch {
		case c.Subject == "" || c.Where == "" || c.Topic == BadTopic || c.Kind == BadKind:
			t.Errorf("row %d (%s) lacks a field", i, c.Subject)
		case c.Kind == Merged && (c.Since == Release{} || c.Why != ""), c.Kind != Merged && (c.Since != Release{} || c.Why == ""):
			t.Errorf("%q: a merged row has a release, any other a reason", c.Subject)
		case c.After != (Release{}) && !c.After.Before(c.Since):
			t.Errorf("%q: after %s, since %s", c.Subject, c.After, c.Since)
		}
		for _, s := range c.Stable {
			if s.Patch == 0 || !s.Before(c.Since) {
				t.Errorf("%q: %s is no older stable release", c.Subject, s)
			}
		}
	}
}
