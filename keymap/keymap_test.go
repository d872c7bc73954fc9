package keymap

import (
	"os"
	"strings"
	"testing"
)

func TestNoKeyHasTwoActionsInOneScope(t *testing.T) {
	type place struct {
		s Scope
		k string
	}
	seen := map[place]Action{}
	for _, b := range Default() {
		for _, k := range b.Keys {
			p := place{b.Scope, k}
			if a, dup := seen[p]; dup {
				t.Errorf("key %q %v is bound to actions %d and %d", k, b.Scope, a, b.Action)
			}
			seen[p] = b.Action
		}
	}
}

func TestEveryActionHasOneCompleteRow(t *testing.T) {
	rows := map[Action]int{}
	names := map[string]bool{}
	for _, b := range Default() {
		rows[b.Action]++
		if len(b.Keys) == 0 || b.Name == "" || b.Short == "" || b.Help == "" {
			t.Errorf("row %q lacks a key, a name, a short word or help: %+v", b.Name, b)
		}
		if b.Scope == BadScope || b.Scope >= NumScopes || b.Group == BadGroup || b.Group >= NumGroups {
			t.Errorf("row %q has scope %d and group %d", b.Name, b.Scope, b.Group)
		}
		if strings.HasSuffix(b.Help, ".") || strings.ToLower(b.Name) != b.Name || strings.Contains(b.Name, " ") {
			t.Errorf("row %q: name %q must be lower case without blanks, help %q without full stop", b.Name, b.Name, b.Help)
		}
		if names[b.Name] {
			t.Errorf("name %q is used twice", b.Name)
		}
		names[b.Name] = true
	}
	for a := BadAction + 1; a < NumActions; a++ {
		if rows[a] != 1 {
			t.Errorf("action %d has %d rows, want 1", a, rows[a])
		}
	}
}

func TestEachShownKeyIsABoundKey(t *testing.T) {
	m := New(Default())
	for _, b := range m.Rows() {
		if got, ok := m.Lookup(b.Scope, b.Keys[0]); !ok || got != b.Action {
			t.Errorf("Lookup(%v, %q) = %d, %v, want %d (%s)", b.Scope, b.Keys[0], got, ok, b.Action, b.Name)
		}
		if got := m.Key(b.Action); got != KeyName(b.Keys[0]) {
			t.Errorf("Key(%s) = %q, want %q", b.Name, got, KeyName(b.Keys[0]))
		}
	}
	if got := m.Key(NumActions); got != "" {
		t.Errorf("Key of no action = %q, want empty", got)
	}
	if _, ok := m.Lookup(Prompt, "s"); ok {
		t.Error("a prompt binds s: it could not be typed")
	}
}

func TestKeyDocumentationIsCurrent(t *testing.T) {
	got, err := os.ReadFile("../docs/keys.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := Markdown(Default()); string(got) != want {
		t.Error("docs/keys.md is stale: run go generate ./keymap")
	}
}
