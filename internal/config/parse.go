package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"codeberg.org/ticktrap/ticktrap/keymap"
)

// Parse reads the text of a configuration file; name is for the errors, which are
// *Errors in the order of their lines, joined.
func Parse(name string, data []byte) (*Config, error) {
	if !utf8.Valid(data) {
		return nil, &Error{name, 1 + strings.Count(string(validPrefix(data)), "\n"), "it is no text: this line is not UTF-8"}
	}
	var tree map[string]any
	if err := toml.Unmarshal(data, &tree); err != nil {
		return nil, syntax(name, data, err)
	}
	c := Default()
	c.File = name
	p := parser{name: name, c: c, lines: linesOf(data)}
	p.settings(tree)
	p.columns()
	p.keys(tree["keys"])
	if len(p.errs) > 0 {
		slices.SortFunc(p.errs, func(a, b *Error) int { return cmp.Or(a.Line-b.Line, strings.Compare(a.Msg, b.Msg)) })
		var all []error
		for _, e := range p.errs {
			all = append(all, e)
		}
		return nil, errors.Join(all...)
	}
	return c, nil
}

func validPrefix(data []byte) []byte {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return data[:i]
		}
		i += n
	}
	return data
}

// syntax is an error of the TOML reader with its line.
func syntax(name string, data []byte, err error) error {
	msg := strings.TrimPrefix(err.Error(), "toml: ")
	msg, _, _ = strings.Cut(msg, "\n")
	var d *toml.DecodeError
	if errors.As(err, &d) {
		row, _ := d.Position()
		return &Error{name, row, msg}
	}
	return &Error{name, duplicateLine(data), msg}
}

// parser turns the tree into a Config and collects what is wrong.
type parser struct {
	name  string
	c     *Config
	lines map[string]int
	errs  []*Error
}

func (p *parser) bad(key, format string, args ...any) {
	line := p.lines[key]
	for k, n := range p.lines { // a table that only dotted names make has no line of its own
		if strings.HasPrefix(k, key+".") && (line == 0 || p.lines[key] == 0 && n < line) {
			line = n
		}
	}
	p.errs = append(p.errs, &Error{p.name, line, fmt.Sprintf(format, args...)})
}

// settings takes everything but the keys.
func (p *parser) settings(tree map[string]any) {
	for key, v := range tree {
		sub, isTable := v.(map[string]any)
		switch {
		case key == "keys":
		case isTable && isTableName(key):
			for k, v := range sub {
				p.setting(key+"."+k, v)
			}
		case isTable:
			p.bad(key, "there is no table %q: the tables are layout and keys", key)
		case isTableName(key):
			p.bad(key, "%s is a table: want [%s] and its settings below", key, key)
		default:
			p.setting(key, v)
		}
	}
}

// columns refuses a pane in both columns.
func (p *parser) columns() {
	for _, t := range p.c.Right {
		if slices.Contains(p.c.Left, t) {
			p.bad("layout.right", "pane %s is in layout.left too: a pane has one place", t)
		}
	}
}

func isTableName(key string) bool {
	return slices.ContainsFunc(Settings, func(s Setting) bool { return strings.HasPrefix(s.Name, key+".") })
}

func (p *parser) setting(key string, v any) {
	for i := range Settings {
		s := &Settings[i]
		if s.Name != key {
			continue
		}
		if !s.set(p.c, v) {
			p.bad(key, "%s cannot be %s: want %s", key, shown(v), s.Want)
			return
		}
		p.c.lines[key] = p.lines[key]
		return
	}
	var names []string
	for _, s := range Settings {
		names = append(names, s.Name)
	}
	p.bad(key, "there is no setting %q: the settings are %s and the table keys", key, strings.Join(names, ", "))
}

// keys takes the table of keys: lists of names, or one name.
func (p *parser) keys(v any) {
	if v == nil {
		return
	}
	table, ok := v.(map[string]any)
	if !ok {
		p.bad("keys", "keys is a table: want [keys] and lines such as step-exit = [\"s\"]")
		return
	}
	over := map[string][]string{}
	for name, v := range table {
		list, ok := strings1(v)
		if !ok {
			p.bad("keys."+name, "keys of %s cannot be %s: want a list such as [\"s\", \"f5\"]", name, shown(v))
			continue
		}
		over[name] = list
		p.c.lines["keys."+name] = p.lines["keys."+name]
	}
	rows, errs := keymap.With(p.c.Keys, over)
	for _, err := range errs {
		key := ""
		var o *keymap.OverrideError
		if errors.As(err, &o) {
			key = "keys." + o.Name
		}
		p.bad(key, "%s", err.Error())
	}
	p.c.Keys = rows
}

// strings1 is a list of strings, or of the one that v is.
func strings1(v any) ([]string, bool) {
	if s, ok := v.(string); ok {
		return []string{s}, true
	}
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	out := make([]string, 0, len(list))
	for _, x := range list {
		s, ok := x.(string)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// shown writes a value in an error, shortened.
func shown(v any) string {
	s := fmt.Sprint(v)
	switch v := v.(type) {
	case string:
		s = quote(v)
	case map[string]any:
		return "a table"
	case []any:
		return "a list"
	}
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// linesOf finds the line of every key, by its dotted name, and of every table.
func linesOf(data []byte) map[string]int {
	lines := map[string]int{}
	walk(data, func(name string, line int) {
		if lines[name] == 0 {
			lines[name] = line
		}
	})
	return lines
}

// duplicateLine is the line of the first key that occurs twice, 0 if none does.
func duplicateLine(data []byte) (line int) {
	seen := map[string]bool{}
	walk(data, func(name string, at int) {
		if seen[name] && line == 0 {
			line = at
		}
		seen[name] = true
	})
	return line
}

// walk calls f with the name and line of every key and table of a document.
func walk(data []byte, f func(name string, line int)) {
	var p unstable.Parser
	p.Reset(data)
	prefix := ""
	for p.NextExpression() {
		n := p.Expression()
		switch n.Kind {
		case unstable.Table, unstable.ArrayTable:
			name, line := dotted(&p, n)
			prefix = name + "."
			f(name, line)
		case unstable.KeyValue:
			entry(&p, prefix, n, f)
		}
	}
}

// entry reports a key, and those of an inline table below it.
func entry(p *unstable.Parser, prefix string, n *unstable.Node, f func(string, int)) {
	name, line := dotted(p, n)
	f(prefix+name, line)
	if v := n.Value(); v.Kind == unstable.InlineTable {
		for it := v.Children(); it.Next(); {
			entry(p, prefix+name+".", it.Node(), f)
		}
	}
}

func dotted(p *unstable.Parser, n *unstable.Node) (name string, line int) {
	var parts []string
	for it := n.Key(); it.Next(); {
		k := it.Node()
		parts = append(parts, string(k.Data))
		if line == 0 {
			line = p.Shape(k.Raw).Start.Line
		}
	}
	return strings.Join(parts, "."), line
}
