package lapic

import (
	"reflect"
	"strings"
	"testing"
)

func TestErasDifferOneStepAtATime(t *testing.T) {
	// Each rule, once it changes, stays changed: the back-ports that break this
	// are told apart by choosing another era.
	turnsOff := map[string]bool{"SwitchCancelsAll": true, "RawTDCR": true, "WaitAlways": true}
	for i := Era4_10; i < numEras; i++ {
		old, now := reflect.ValueOf(*(i - 1).Rules()), reflect.ValueOf(*i.Rules())
		for f := range old.NumField() {
			name := old.Type().Field(f).Name
			if old.Field(f).Kind() != reflect.Bool {
				continue
			}
			if was, is := old.Field(f).Bool(), now.Field(f).Bool(); was != is && is == turnsOff[name] {
				t.Errorf("%v: %s goes from %v to %v", i, name, was, is)
			}
		}
	}
}

func TestFirstReleaseOfEachRule(t *testing.T) {
	first := map[string]Era{
		"HVAllModes": Era4_10, "RescaleTDCR": Era4_19, "HVAdvance": Era4_19, "SWAdvanceTest": Era5_2,
		"ExpiredIfHV": Era5_2, "WaitInNanos": Era5_2, "PostedTimer": Era5_3, "SwitchCancelsHV": Era5_6,
		"DirectInject": Era5_8, "BusyExits": Era5_8, "GuardEnabled": Era5_10, "ExpireFirst": Era5_10, "KickCallbackOnly": Era5_10,
		"CancelDropsPending": Era5_14, "RestoreZero": Era5_14, "RestoreDropsExpired": Era5_14, "TuneFirst": Era5_19,
		"PeriodicFromNow": Era6_19, "HVMaxValue": Era7_3, "ModifiedInhibits": Era5_19, "DisabledDropsAPICv": Era5_19,
		"ModifiedIDClears": Era6_10,
	}
	last := map[string]Era{"SwitchCancelsAll": Era4_10, "WaitAlways": Era4_10, "RawTDCR": Era5_8}
	for e := Era4_9; e < numEras; e++ {
		row := reflect.ValueOf(*e.Rules())
		for f := range row.NumField() {
			name := row.Type().Field(f).Name
			if row.Field(f).Kind() != reflect.Bool {
				continue
			}
			from, isFirst := first[name]
			to, isLast := last[name]
			if isFirst == isLast {
				t.Fatalf("rule %s has no release in this test", name)
			}
			want := isFirst && e >= from || isLast && e <= to
			if row.Field(f).Bool() != want {
				t.Errorf("%v: %s = %v, want %v", e, name, !want, want)
			}
		}
	}
}

func TestErasHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for e := Era4_9; e < numEras; e++ {
		if name := e.String(); name == "" || seen[name] {
			t.Errorf("era %d is called %q", e, name)
		}
		seen[e.String()] = true
	}
	if BadEra.Rules() != Era7_3.Rules() || Era(200).Rules() != Era7_3.Rules() {
		t.Error("an era that does not exist does not get the newest rules")
	}
}

func TestEraIsChosenByItsFirstRelease(t *testing.T) {
	names := EraNames()
	if len(names) != int(numEras)-1 {
		t.Fatalf("%d names for %d eras", len(names), int(numEras)-1)
	}
	for i, name := range names {
		if e, err := ParseEra(name); err != nil || e != Era4_9+Era(i) {
			t.Errorf("ParseEra(%q) = %v, %v; want %v", name, e, err, Era4_9+Era(i))
		}
	}
	for _, name := range []string{"", "5.15", "5.14–5.17", "bad"} {
		if e, err := ParseEra(name); err == nil || !strings.Contains(err.Error(), "6.19") {
			t.Errorf("ParseEra(%q) = %v, %v; want an error that lists the eras", name, e, err)
		}
	}
}
