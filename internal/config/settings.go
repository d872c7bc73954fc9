package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/keymap"
)

// The words that settings take. A test compares them with those of the packages
// that they belong to.
var (
	Themes  = []string{"dark", "light", "16", "mono"}
	Engines = []string{"auto", "model", "kvm"}
	Layouts = []string{"overview", "deadlines", "exits", "kicks"}
	Panes   = keymap.PaneNames()
)

// Setting is a row of Settings.
type Setting struct {
	// Name is the key in the file, with its table: "layout.zoom".
	Name string
	Doc  string
	// Want says in words which values there are.
	Want string
	// set takes a value as TOML has it: string, int64, float64, bool or a list. ok
	// is false if it is none of those wanted.
	set func(c *Config, v any) (ok bool)
	// Text is the value as TOML writes it.
	Text func(c *Config) string
}

// Settings is the table of settings but for the keys, in the order of the file.
var Settings = []Setting{
	{"theme", "the theme of the screen; \"\" takes what suits the terminal", "one of dark, light, 16, mono, or empty",
		func(c *Config, v any) bool {
			s, ok := v.(string)
			c.Theme = s
			return ok && (s == "" || slices.Contains(Themes, s))
		}, func(c *Config) string { return quote(c.Theme) }},
	{"guest", "the guest of a run that names none: a built-in one or the path of an image", "a name or a path",
		func(c *Config, v any) bool {
			s, ok := v.(string)
			c.Guest = s
			return ok && s != ""
		}, func(c *Config) string { return quote(c.Guest) }},
	{"engine", "what runs it; auto takes KVM where /dev/kvm works, else the model", "one of auto, model, kvm",
		func(c *Config, v any) bool {
			s, ok := v.(string)
			c.Engine = s
			return ok && slices.Contains(Engines, s)
		}, func(c *Config) string { return quote(c.Engine) }},
	{"speed", "guest time per wall time on the screen; 0 is as fast as possible", "a number from 0 to 1000000",
		func(c *Config, v any) (ok bool) {
			c.Speed, ok = float(v)
			return ok && c.Speed >= 0 && c.Speed <= 1e6
		}, func(c *Config) string { return strconv.FormatFloat(c.Speed, 'g', -1, 64) }},
	{"late", "how late a deadline is that next-late stops at; \"p99\" is later than 99 % so far",
		"\"p99\", or a time such as \"5us\" or \"800ns\"",
		func(c *Config, v any) (ok bool) {
			s, isText := v.(string)
			c.Late, ok = lateOf(s)
			return isText && ok
		}, func(c *Config) string { return quote(lateText(c.Late)) }},
	{"layout.focus", "the pane with the focus at start", "one of " + strings.Join(Panes, ", "),
		func(c *Config, v any) bool {
			s, ok := v.(string)
			c.Focus = title(s)
			return ok && c.Focus != ""
		}, func(c *Config) string { return quote(c.Focus) }},
	{"layout.zoom", "begin with that pane alone on the screen", "true or false",
		func(c *Config, v any) (ok bool) {
			c.Zoom, ok = v.(bool)
			return ok
		}, func(c *Config) string { return strconv.FormatBool(c.Zoom) }},
	{"layout.name", "which panes are shown, and where, on a screen of 110 × 34 or more", "one of " + strings.Join(Layouts, ", "),
		func(c *Config, v any) bool {
			s, ok := v.(string)
			c.Layout = s
			return ok && slices.Contains(Layouts, s)
		}, func(c *Config) string { return quote(c.Layout) }},
	{"layout.left", "the panes of the left column from top to bottom, instead of the layout's; empty takes those", paneList,
		func(c *Config, v any) (ok bool) {
			c.Left, ok = titles(v)
			return ok
		}, func(c *Config) string { return quoteList(c.Left) }},
	{"layout.right", "the panes of the right column, likewise", paneList,
		func(c *Config, v any) (ok bool) {
			c.Right, ok = titles(v)
			return ok
		}, func(c *Config) string { return quoteList(c.Right) }},
	{"layout.split", "the left column's share of the width in percent; 0 takes the layout's", "0, or a number from 20 to 80",
		func(c *Config, v any) bool {
			n, ok := v.(int64)
			c.Split = int(n)
			return ok && (n == 0 || n >= 20 && n <= 80)
		}, func(c *Config) string { return strconv.Itoa(c.Split) }},
}

const paneList = "a list of panes, each once, such as [\"Timer\", \"Exits\"]"

// titles is a list of panes, each once.
func titles(v any) (out []string, ok bool) {
	list, ok := strings1(v)
	if !ok {
		return nil, false
	}
	for _, s := range list {
		t := title(s)
		if t == "" || slices.Contains(out, t) {
			return nil, false
		}
		out = append(out, t)
	}
	return out, true
}

func quoteList(list []string) string {
	var out []string
	for _, s := range list {
		out = append(out, quote(s))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func float(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, !math.IsNaN(v)
	case int64:
		return float64(v), true
	}
	return 0, false
}

// lateUnits are the suffixes of times, longest first where one ends in another.
var lateUnits = []struct {
	suffix string
	ns     float64
}{{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}}

func lateOf(s string) (clock.Nanos, bool) {
	if s == "p99" {
		return 0, true
	}
	for _, u := range lateUnits {
		if d, ok := strings.CutSuffix(s, u.suffix); ok {
			v, err := strconv.ParseFloat(d, 64)
			ns := math.Round(v * u.ns)
			return clock.Nanos(ns), err == nil && ns >= 1 && ns <= 1e15
		}
	}
	return 0, false
}

func lateText(ns clock.Nanos) string {
	if ns == 0 {
		return "p99"
	}
	return fmt.Sprintf("%dns", ns)
}

// quote writes a TOML basic string.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, "\\u%04X", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
