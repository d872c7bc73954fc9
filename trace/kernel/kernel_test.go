package kernel

import (
	"slices"
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
		{v(4, 9), Intel, rule.FastOff, rule.KickKA, rule.ShortcutOff, rule.TuneNone},
		{v(4, 20), Intel, rule.FastOff, rule.KickKA, rule.ShortcutOff, rule.TuneGlobal},
		{v(5, 7), Intel, rule.FastICR, rule.KickKA, rule.ShortcutOff, rule.TuneBand},
		{v(5, 8), Intel, rule.FastTest, rule.KickKA, rule.ShortcutAlways, rule.TuneBand},
		{v(5, 14), Intel, rule.FastTest, rule.KickKA, rule.ShortcutAlways, rule.TuneBand},
		{v(5, 15), Intel, rule.FastSync, rule.KickKB, rule.ShortcutAlways, rule.TuneBand},
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

func TestStableReleasesTakeChangesBack(t *testing.T) {
	for _, tt := range []struct {
		release Release
		subject string
		has     bool
		came    string
	}{
		{v(6, 12), PeriodFromNow, false, ""},
		{vp(6, 12, 116), PeriodFromNow, false, ""},
		{vp(6, 12, 117), PeriodFromNow, true, "back-port, read in 6.12.117"},
		{vp(6, 12, 130), PeriodFromNow, true, "back-port, read in 6.12.117"},
		{v(6, 13), PeriodFromNow, false, ""},
		{v(6, 19), PeriodFromNow, true, "since 6.19"},
		{v(5, 15), ShortcutGone, false, ""},
		{vp(5, 15, 85), ShortcutGone, true, "back-port, read in 5.15.85"},
		{v(5, 16), ShortcutGone, true, "since 5.16"},
	} {
		c := Find(tt.subject)
		if got := c.in(tt.release); got != tt.has {
			t.Errorf("%s has %q: %v", tt.release, tt.subject, got)
		} else if got && c.Came(tt.release) != tt.came {
			t.Errorf("%s in %s: %q, want %q", tt.subject, tt.release, c.Came(tt.release), tt.came)
		}
	}
}

func TestReleasesThatWereNotReadAreUnsure(t *testing.T) {
	c := Change{Since: v(5, 14), After: v(5, 11), Stable: []Release{vp(5, 12, 9)}, Kind: Merged}
	for r, want := range map[Release]bool{v(5, 11): false, v(5, 12): true, vp(5, 12, 8): true, vp(5, 12, 9): false, v(5, 13): true, v(5, 14): false} {
		if c.Unsure(r) != want {
			t.Errorf("%s: unsure %v", r, !want)
		}
	}
	if !c.Gap() || (&Change{Since: v(5, 0), After: v(4, 20)}).Gap() {
		t.Error("a gap is a release between the two")
	}
}

func TestBetweenListsWhatCameAndWhatWent(t *testing.T) {
	subjects := func(cs []*Change) map[string]bool {
		m := map[string]bool{}
		for _, c := range cs {
			m[c.Subject] = true
		}
		return m
	}
	came, went := Between(v(5, 15), v(6, 12), Intel)
	if s := subjects(came); !s[KickStores] || !s[ShortcutGone] || s[PeriodFromNow] || len(went) != 0 {
		t.Errorf("from 5.15 to 6.12: %v came, %v went", s, subjects(went))
	}
	came, went = Between(vp(6, 12, 117), v(6, 13), Intel)
	if !subjects(went)[PeriodFromNow] {
		t.Errorf("a back-port that the next release lacks: %v came, %v went", subjects(came), subjects(went))
	}
	came, _ = Between(v(6, 8), v(6, 9), AMD)
	for _, c := range came {
		if c.Vendor == Intel {
			t.Errorf("AMD gets %q", c.Subject)
		}
	}
}

func TestProposalsAreInNoRelease(t *testing.T) {
	for _, r := range Mainlines(Oldest, Newest) {
		k := At(r, Intel)
		if k.Fastpath.Gated || k.Fastpath.Set == rule.FastS004 || k.Kick.Rules == rule.KickKC {
			t.Errorf("%s has a proposal", r)
		}
	}
	base := At(Find(TimerFastpathV3).Base, Intel)
	if k := base.With(TimerFastpathV3); !k.Fastpath.Gated || !k.LAPIC.DirectInject || base.Fastpath.Gated {
		t.Error("a kernel with the proposal is the one without, or both are")
	}
}

func TestSetsOfRulesAreThoseOfTheirReleases(t *testing.T) {
	k := At(Default, Intel)
	for set := rule.FastOff; set < rule.NumFastpaths; set++ {
		if got := k.FastpathAs(set); got.Set != set {
			t.Errorf("%s: %+v", set, got)
		}
	}
	for _, tt := range []struct {
		set  rule.Fastpath
		want Fastpath
	}{
		{rule.FastTest, Fastpath{Set: rule.FastTest, TestFirst: true, SyncActive: true, ICR: 3, Deadline: true, DeadlineHV: true, HVTimer: true}},
		{rule.FastHalt, Fastpath{Set: rule.FastHalt, ICR: 2, Deadline: true, DeadlineHV: true, HVTimer: true, HVOther: true, HLT: true}},
	} {
		if got := k.FastpathAs(tt.set); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.set, got, tt.want)
		}
	}
	if r := k.TuneRulesAs(rule.TuneNone); r != k.TuneRulesAs(rule.TuneGlobal) || r == k.TuneRulesAs(rule.TuneBand) {
		t.Errorf("without tuning: %+v", r)
	}
}

func TestDecisionsFollowTheKernel(t *testing.T) {
	find := func(r Release, x Vendor, name string) *Decision {
		k := At(r, x)
		for _, d := range k.Decisions() {
			if d.Name == name {
				return &d
			}
		}
		return nil
	}
	for _, tt := range []struct {
		release Release
		vendor  Vendor
		name    string
		clauses int // -1: there is no such decision
	}{
		{v(5, 2), Intel, "posted timer", -1}, {v(5, 3), Intel, "posted timer", 2}, {v(5, 18), Intel, "posted timer", 3},
		{v(5, 9), Intel, "TSC-deadline write", 2}, {v(5, 10), Intel, "TSC-deadline write", 3},
		{v(6, 12), Intel, "expiry on the vCPU's thread", 1}, {vp(6, 12, 117), Intel, "expiry on the vCPU's thread", 2},
		{v(7, 1), AMD, "expiry on the vCPU's thread", 1}, {vp(7, 2, 13), AMD, "expiry on the vCPU's thread", 2}, {v(7, 3), Intel, "expiry on the vCPU's thread", 2},
		{v(5, 5), Intel, "fastpath: ICR write", -1}, {v(5, 7), Intel, "fastpath: ICR write", 6}, {v(6, 18), Intel, "fastpath: ICR write", 3},
		{v(6, 17), AMD, "fastpath: TSC-deadline write", -1}, {v(6, 18), AMD, "fastpath: TSC-deadline write", 2},
		{v(6, 11), AMD, "fastpath: HLT", -1}, {v(6, 12), AMD, "fastpath: HLT", 2}, {v(7, 2), Intel, "fastpath: HLT", 2},
		{v(5, 14), AMD, "posted delivery", -1}, {v(5, 14), Intel, "posted delivery", 4}, {v(5, 17), Intel, "posted delivery", 3},
	} {
		d := find(tt.release, tt.vendor, tt.name)
		if (d == nil) != (tt.clauses < 0) || d != nil && len(d.Clauses) != tt.clauses {
			t.Errorf("%s on %s, %s: %+v, want %d clauses", tt.release, tt.vendor, tt.name, d, tt.clauses)
		}
	}
}

func TestParametersComeAndGo(t *testing.T) {
	names := func(r Release, x Vendor) map[string]Param {
		k := At(r, x)
		m := map[string]Param{}
		for _, p := range k.Params {
			m[p.Name] = p
		}
		return m
	}
	if p := names(v(6, 9), Intel); p["lapic_timer_advance_ns"].Default != "-1" || !p["pi_inject_timer"].Writable {
		t.Errorf("6.9: %v", p)
	}
	p := names(v(6, 10), AMD)
	if _, ok := p["lapic_timer_advance_ns"]; ok || p["lapic_timer_advance"].Writable || p["avic"].Module != "kvm_amd" {
		t.Errorf("6.10: %v", p)
	}
	if _, ok := p["preemption_timer"]; ok {
		t.Error("kvm_amd has no preemption_timer")
	}
}

func TestInhibitsAreNumberedByRelease(t *testing.T) {
	number := func(r Release, x Vendor, name string) int {
		k := At(r, x)
		for _, i := range k.Inhibits {
			if i.Name == name {
				return int(i.Bit)
			}
		}
		return -1
	}
	for _, tt := range []struct {
		r    Release
		x    Vendor
		name string
		want int
	}{{v(5, 4), Intel, "HYPERV", -1}, {v(5, 10), Intel, "PIT_REINJ", 4},
		{v(5, 15), Intel, "BLOCKIRQ", -1}, {v(5, 17), Intel, "BLOCKIRQ", 6}, {v(5, 17), AMD, "ABSENT", 7}, {v(5, 19), AMD, "ABSENT", 2},
		{v(6, 1), Intel, "PIT_REINJ", 8}, {v(6, 12), AMD, "PIT_REINJ", 9},
		{v(7, 2), AMD, "PHYSICAL_ID_TOO_BIG", 12}, {v(7, 2), Intel, "PHYSICAL_ID_TOO_BIG", -1}} {
		if got := number(tt.r, tt.x, tt.name); got != tt.want {
			t.Errorf("%s on %s, %s: bit %d, want %d", tt.r, tt.x, tt.name, got, tt.want)
		}
	}
}

func TestAVICIsOffUntilAuto(t *testing.T) {
	for r, want := range map[Release]string{v(5, 10): "0", v(6, 1): "N", v(6, 12): "N", v(7, 2): "auto"} {
		k := At(r, AMD)
		i := slices.IndexFunc(k.Params, func(p Param) bool { return p.Name == "avic" })
		if i < 0 || k.Params[i].Default != want || k.Params[i].Writable {
			t.Errorf("%s: %+v, want %s, read-only", r, k.Params, want)
		}
	}
}

func TestPauseWindowHasAMaximum(t *testing.T) {
	for _, tt := range []struct {
		r    Release
		x    Vendor
		want uint32
	}{{v(4, 9), Intel, 0x3fffffff}, {v(5, 6), Intel, 0xffffffff}, {v(7, 3), Intel, 0xffffffff}, {v(5, 10), AMD, 0xffff}} {
		if k := At(tt.r, tt.x); k.Pause.Max != tt.want {
			t.Errorf("%s on %s: the window grows to %d, want %d", tt.r, tt.x, k.Pause.Max, tt.want)
		}
	}
}

func TestWhereNamesTheReleases(t *testing.T) {
	for want, has := range map[string]func(*Kernel) bool{
		"5.3 on":              func(k *Kernel) bool { return k.Posted.Exists },
		"up to 5.14":          func(k *Kernel) bool { return k.Kick.Rules == rule.KickKA },
		"5.15–5.16":           func(k *Kernel) bool { return k.Kick.Rules == rule.KickKB },
		"every kernel":        func(*Kernel) bool { return true },
		"no kernel":           func(*Kernel) bool { return false },
		"up to 5.7, and 5.16": func(k *Kernel) bool { return k.Delivery.Shortcut == rule.ShortcutOff },
	} {
		if got := Where(Intel, has); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if First(AMD, func(k *Kernel) bool { return k.Fastpath.HLT }) != v(6, 12) || First(AMD, func(k *Kernel) bool { return k.Fastpath.Gated }) != (Release{}) {
		t.Error("First")
	}
}
