package config

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/keymap"
)

// Config is what a file says, with the defaults for what it does not. It is
// plain data.
type Config struct {
	// File is the path that was read; empty if there is none.
	File string

	Theme  string  // a theme's name; empty: what suits the terminal
	Guest  string  // built-in name or path
	Engine string  // auto, model or kvm
	Speed  float64 // guest time per wall time, 0: as fast as possible
	// Late is how late a deadline must be for next-late to stop at it; 0 is
	// later than p99 so far.
	Late  clock.Nanos
	Focus string // title of the pane to begin with
	Zoom  bool   // begin with that pane alone
	// Layout is one of Layouts. Left and Right are titles of panes, from top to
	// bottom, empty for those of the layout; Split is the left column's share of the
	// width in percent, 0 for that of the layout.
	Layout      string
	Left, Right []string
	Split       int
	// Keys is the table of actions.
	Keys []keymap.Binding

	lines map[string]int // of settings, and of actions with the prefix "keys."
}

// Error is a mistake in a configuration file.
type Error struct {
	File string
	Line int // from 1, 0 if it concerns the whole file
	Msg  string
}

// Error is "file:line: what is wrong".
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
}

// Default is the configuration without a file.
func Default() *Config {
	return &Config{Guest: "deadline", Engine: "auto", Speed: 0.01, Focus: "Timer", Layout: Layouts[0], Keys: keymap.Default(),
		lines: map[string]int{}}
}

// Path is where the configuration file is looked for: ticktrap/config.toml in
// XDG_CONFIG_HOME, or in .config of the home directory. It is empty if there is
// neither. As the XDG base directory specification asks, a relative
// XDG_CONFIG_HOME is ignored.
func Path(getenv func(string) string) string {
	dir := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home := getenv("HOME")
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "ticktrap", "config.toml")
}

// maxSize bounds the file: a configuration is written by hand.
const maxSize = 1 << 20

// Load reads the file called name. A file that does not exist is an error that
// satisfies errors.Is(err, fs.ErrNotExist); mistakes in it are *Errors, joined.
func Load(name string) (*Config, error) {
	fi, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case fi.IsDir():
		return nil, &Error{File: name, Msg: "it is a directory, not a configuration file"}
	case !fi.Mode().IsRegular() && fi.Mode()&os.ModeCharDevice == 0:
		return nil, &Error{File: name, Msg: "it is not a regular file"}
	case fi.Size() > maxSize:
		return nil, &Error{File: name, Msg: fmt.Sprintf("it has %d bytes: a configuration file has at most %d", fi.Size(), maxSize)}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxSize: // a device, whose size is not known before
		return nil, &Error{File: name, Msg: fmt.Sprintf("it has more than %d bytes: that is no configuration file", maxSize)}
	}
	return Parse(name, data)
}

// Source says where a setting's value comes from: a line of the file, or the
// default. Actions have the prefix "keys.".
func (c *Config) Source(name string) string {
	if n := c.lines[name]; n > 0 {
		return fmt.Sprintf("line %d", n)
	}
	return "default"
}

// Set reports whether the file gives a value for the setting.
func (c *Config) Set(name string) bool { return c.lines[name] > 0 }

// title is a pane's title by its name in any case, empty if there is none.
func title(name string) string {
	for _, t := range Panes {
		if strings.EqualFold(t, name) {
			return t
		}
	}
	return ""
}
