package config

import (
	"fmt"
	"strings"

	"codeberg.org/ticktrap/ticktrap/keymap"
)

// Text is the configuration in force as a file that Parse reads, each line with
// where its value comes from.
func (c *Config) Text() string {
	var b strings.Builder
	if c.File == "" {
		b.WriteString("# no configuration file\n")
	} else {
		fmt.Fprintf(&b, "# from %s\n", strings.Map(printableRune, c.File))
	}
	c.write(&b, func(name, line, _ string) { fmt.Fprintf(&b, "%-34s # %s\n", line, c.Source(name)) })
	return b.String()
}

// DefaultText is a file that says what is the default anyway, each setting with
// what it does.
func DefaultText() string {
	var b strings.Builder
	b.WriteString("# The configuration of ticktrap. Every line here is the default: keep what you change.\n")
	Default().write(&b, func(_, line, doc string) {
		fmt.Fprintf(&b, "\n# %s\n%s\n", doc, line)
	})
	return b.String()
}

// write calls f with each setting's name, its line and its description, and
// writes the heads of the tables between them.
func (c *Config) write(b *strings.Builder, f func(name, line, doc string)) {
	table := ""
	for i := range Settings {
		s := &Settings[i]
		key := s.Name
		if t, k, ok := strings.Cut(s.Name, "."); ok {
			if key = k; t != table {
				table = t
				fmt.Fprintf(b, "\n[%s]\n", t)
			}
		}
		f(s.Name, key+" = "+s.Text(c), s.Doc+"; "+s.Want)
	}
	b.WriteString("\n[keys]\n")
	for i := range c.Keys {
		k := &c.Keys[i]
		f("keys."+k.Name, k.Name+" = "+keyList(k), k.Help)
	}
}

func keyList(k *keymap.Binding) string {
	var names []string
	for _, key := range k.Keys {
		if key == " " {
			key = "space"
		}
		names = append(names, quote(key))
	}
	return "[" + strings.Join(names, ", ") + "]"
}

func printableRune(r rune) rune {
	if r < ' ' || r == 0x7f {
		return '?'
	}
	return r
}
