package keymap

import "strings"

// keyNames are the keys whose shown name differs from their string.
var keyNames = map[string]string{
	" ": "space", "up": "↑", "down": "↓", "left": "←", "right": "→", "pgdown": "pgdn", "f1": "F1",
}

// KeyName returns the name of a key as the screen and the docs show it.
func KeyName(key string) string {
	if n, ok := keyNames[key]; ok {
		return n
	}
	return key
}

// KeyNames returns the names of all keys of a binding, joined by sep.
func (b Binding) KeyNames(sep string) string {
	var names []string
	for _, k := range b.Keys {
		names = append(names, KeyName(k))
	}
	return strings.Join(names, sep)
}

// PaneNames are the names of the panes, in the order of their keys.
func PaneNames() (names []string) {
	for _, b := range Default() {
		if strings.HasPrefix(b.Name, "pane-") {
			names = append(names, b.Short)
		}
	}
	return names
}

// Markdown returns docs/keys.md: the table of keys by group.
func Markdown(rows []Binding) string {
	var b strings.Builder
	b.WriteString("<!-- Generated from package keymap by \"go generate ./keymap\"; do not edit. -->\n\n# Keys\n\n")
	b.WriteString("Every action is also in the palette (`:`) under its name. An action that is not possible\n" +
		"now says why when it is asked for.\n")
	for g := BadGroup + 1; g < NumGroups; g++ {
		b.WriteString("\n## " + g.String() + "\n\n| key | action | what it does |\n|---|---|---|\n")
		for _, r := range rows {
			if r.Group == g {
				b.WriteString("| " + codeKeys(r) + " | " + r.Name + " | " + r.Help + scopeNote(r.Scope) + " |\n")
			}
		}
	}
	b.WriteString("\nThe mouse: a click focuses a pane and selects the line or knob under it, a second click opens\n" +
		"what is selected (no click turns a knob), the wheel scrolls the pane under the pointer. A click or a drag in a chart of\n" +
		"Deadlines brushes its columns, on the timeline it goes to another time.\n")
	b.WriteString("\nFilters, breaks, run-to and back-to take conditions: `late > 20us && vcpu == 1`,\n" +
		"`exit == MSR_WRITE && fastpath == bail`, `kick == ipi`, `knob changed`. `ticktrap help conditions`\n" +
		"and the end of every help page (`?`) list the names with their units and values. A filter that compares\n" +
		"nothing is a text. While a condition is typed, its error points at the column.\n")
	return b.String()
}

func codeKeys(b Binding) string {
	var names []string
	for _, k := range b.Keys {
		names = append(names, "`"+KeyName(k)+"`")
	}
	return strings.Join(names, " ")
}

func scopeNote(s Scope) string {
	if s == Global {
		return ""
	}
	return " (" + s.String() + ")"
}

//go:generate go run gen.go
