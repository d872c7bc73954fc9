package keymap

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OverrideError says why keys cannot be bound to an action. Name is the action's
// as it was given.
type OverrideError struct{ Name, Msg string }

// Error is one sentence.
func (e *OverrideError) Error() string { return e.Msg }

// With returns a copy of the table in which the actions named in keys have those
// keys and no others. Keys are named as the screen names them ("space", "ctrl+c",
// "A"). An empty list leaves an action to the palette; those that a user cannot
// do without need a key. The errors, in the order of the table, are
// *OverrideErrors: unknown names and keys, and keys that have two actions in one
// scope afterwards.
func With(rows []Binding, keys map[string][]string) ([]Binding, []error) {
	var errs []error
	bad := func(name, format string, args ...any) {
		errs = append(errs, &OverrideError{name, fmt.Sprintf(format, args...)})
	}
	out := slices.Clone(rows)
	known := map[string]bool{}
	for i := range out {
		b := &out[i]
		known[b.Name] = true
		names, ok := keys[b.Name]
		if !ok {
			continue
		}
		b.Keys = nil
		for _, n := range names {
			key, ok := ParseKey(n)
			switch {
			case !ok:
				bad(b.Name, "%q is no key: want a character, or a name such as space, enter, ctrl+r, alt+x or f5", n)
			case b.Scope == Prompt && utf8.RuneCountInString(key) == 1:
				bad(b.Name, "%q cannot be a key of %s: it could not be typed in a prompt", n, b.Name)
			case slices.Contains(b.Keys, key):
				bad(b.Name, "key %s is given twice for %s", KeyName(key), b.Name)
			default:
				b.Keys = append(b.Keys, key)
			}
		}
		if len(names) == 0 && (b.Scope != Global || b.Action == Quit || b.Action == Palette) {
			bad(b.Name, "%s needs a key: nothing else can ask for it", b.Name)
		}
	}
	for _, n := range sorted(keys) {
		if !known[n] {
			bad(n, "no action is called %q%s", n, didYouMean(n, rows))
		}
	}
	return out, append(errs, clashes(out, keys)...)
}

// clashes finds keys with two actions in one scope. The error is that of an
// action that was overridden, the later one if both were.
func clashes(rows []Binding, keys map[string][]string) (errs []error) {
	type place struct {
		scope Scope
		key   string
	}
	first := map[place]*Binding{}
	for i := range rows {
		for _, k := range rows[i].Keys {
			p := place{rows[i].Scope, k}
			other := first[p]
			if other == nil {
				first[p] = &rows[i]
				continue
			}
			b := &rows[i]
			if _, ours := keys[b.Name]; !ours {
				b, other = other, b
			}
			errs = append(errs, &OverrideError{b.Name, fmt.Sprintf("key %s is bound to %s already: it cannot be one of %s too", KeyName(k),
				other.Name, b.Name)})
		}
	}
	return errs
}

// namedKeys are the keys with a name, beside f1 to f12 and characters.
var namedKeys = []string{"enter", "esc", "tab", "shift+tab", "backspace", "delete", "insert", "up", "down", "left", "right",
	"home", "end", "pgup", "pgdown", "ctrl+up", "ctrl+down", "ctrl+left", "ctrl+right", "shift+up", "shift+down", "shift+left",
	"shift+right", "ctrl+home", "ctrl+end", "ctrl+pgup", "ctrl+pgdown", "ctrl+@", "ctrl+\\", "ctrl+]", "ctrl+^", "ctrl+_"}

// ParseKey returns the key that a name stands for, as Binding.Keys has it: a
// character stands for itself, "space" for the blank. A terminal cannot send
// ctrl+i, ctrl+m and the like apart from tab and enter, so they are no keys.
func ParseKey(name string) (key string, ok bool) {
	for key, shown := range keyNames {
		if name == shown || name == key {
			return key, true
		}
	}
	if rest, alt := strings.CutPrefix(name, "alt+"); alt {
		key, ok = ParseKey(rest)
		return "alt+" + key, ok && !strings.HasPrefix(key, "alt+")
	}
	if rest, ctrl := strings.CutPrefix(name, "ctrl+"); ctrl && len(rest) == 1 && rest[0] >= 'a' && rest[0] <= 'z' {
		return name, !strings.ContainsAny(rest, "im")
	}
	for n := 1; n <= 12; n++ {
		if name == fmt.Sprintf("f%d", n) {
			return name, true
		}
	}
	if slices.Contains(namedKeys, name) {
		return name, true
	}
	r, n := utf8.DecodeRuneInString(name)
	return name, n > 0 && n == len(name) && r != utf8.RuneError && unicode.IsPrint(r)
}

// didYouMean names the action that begins like n, or contains it.
func didYouMean(n string, rows []Binding) string {
	for _, match := range []func(a, b string) bool{strings.HasPrefix, strings.Contains} {
		for _, b := range rows {
			if n != "" && (match(b.Name, n) || match(n, b.Name)) {
				return ": do you mean " + b.Name + "?"
			}
		}
	}
	return ": ticktrap config --default lists them"
}

func sorted(keys map[string][]string) []string {
	var names []string
	for n := range keys {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
