package keymap

import (
	"strings"
	"testing"
)

func TestOverriddenKeysReplaceTheDefault(t *testing.T) {
	rows, errs := With(Default(), map[string][]string{"step-exit": {"f5", "alt+s"}, "run-pause": {"space", "ctrl+r"}, "zoom": {}})
	if len(errs) != 0 {
		t.Fatal(errs)
	}
	m := New(rows)
	for key, want := range map[string]Action{"f5": StepExit, "alt+s": StepExit, " ": RunPause, "ctrl+r": RunPause, "d": StepDeadline} {
		if got, _ := m.Lookup(Global, key); got != want {
			t.Errorf("key %q asks for %d, want %d", key, got, want)
		}
	}
	for _, gone := range []string{"s", "z"} {
		if a, ok := m.Lookup(Global, gone); ok {
			t.Errorf("key %q still asks for %d", gone, a)
		}
	}
	if m.Key(Zoom) != "" {
		t.Errorf("zoom shows key %q, want none", m.Key(Zoom))
	}
	if a, _ := New(Default()).Lookup(Global, "s"); a != StepExit {
		t.Error("the default table was changed")
	}
}

func TestBadOverridesAreRefused(t *testing.T) {
	tests := []struct {
		name string
		keys map[string][]string
		want string // of the first error
		row  string
	}{
		{"unknown action", map[string][]string{"step": {"f5"}}, `no action is called "step": do you mean step-exit?`, "step"},
		{"nothing like it", map[string][]string{"qq": {"f5"}}, `no action is called "qq": ticktrap config --default lists them`, "qq"},
		{"no key", map[string][]string{"step-exit": {"hyper+s"}}, `"hyper+s" is no key`, "step-exit"},
		{"a capital in a name", map[string][]string{"step-exit": {"F5"}}, `"F5" is no key`, "step-exit"},
		{"empty key", map[string][]string{"step-exit": {""}}, `"" is no key`, "step-exit"},
		{"the same as enter", map[string][]string{"step-exit": {"ctrl+m"}}, `"ctrl+m" is no key`, "step-exit"},
		{"key of another action", map[string][]string{"step-exit": {"d"}}, "key d is bound to step-deadline already: it cannot be one of step-exit too", "step-exit"},
		{"key of an earlier action", map[string][]string{"zoom": {"s"}}, "key s is bound to step-exit already", "zoom"},
		{"two overrides", map[string][]string{"step-exit": {"f5"}, "zoom": {"f5"}}, "key f5 is bound to step-exit already", "zoom"},
		{"twice in a list", map[string][]string{"zoom": {"f5", "f5"}}, "key f5 is given twice for zoom", "zoom"},
		{"a character in a prompt", map[string][]string{"accept": {"a"}}, `"a" cannot be a key of accept`, "accept"},
		{"no way out", map[string][]string{"quit": {}}, "quit needs a key", "quit"},
		{"no way out of a prompt", map[string][]string{"cancel": {}}, "cancel needs a key", "cancel"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, errs := With(Default(), tt.keys)
			if len(errs) == 0 {
				t.Fatalf("With(%v) accepts it, want %q", tt.keys, tt.want)
			}
			e, ok := errs[0].(*OverrideError)
			if !ok || !strings.HasPrefix(e.Msg, tt.want) || e.Name != tt.row {
				t.Errorf("With(%v) = %+v, want %q of %s", tt.keys, errs[0], tt.want, tt.row)
			}
		})
	}
}

func TestKeysAreNamedAsTheScreenNamesThem(t *testing.T) {
	for _, b := range Default() {
		for _, k := range b.Keys {
			for _, name := range []string{k, KeyName(k)} {
				if got, ok := ParseKey(name); !ok || got != k {
					t.Errorf("ParseKey(%q) = %q, %v, want %q", name, got, ok, k)
				}
			}
		}
	}
}
