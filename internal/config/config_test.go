package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/ui"
)

func TestSettingsAreReadWithTheirLines(t *testing.T) {
	c, err := Parse("c.toml", []byte(`# mine
theme = "light"
guest = "periodic"
engine = "model"
speed = 1
late = "1.5us"

[layout]
focus = "exits"
zoom = true
name = "exits"
left = ["exits", "Timer"]
split = 70

[keys]
step-exit = ["f5", "ctrl+s"]
zoom = []
quit = "Q"
`))
	if err != nil {
		t.Fatal(err)
	}
	if c.Theme != "light" || c.Guest != "periodic" || c.Engine != "model" || c.Speed != 1 || c.Late != clock.Nanos(1500) ||
		c.Focus != "Exits" || !c.Zoom || c.Layout != "exits" || !slices.Equal(c.Left, []string{"Exits", "Timer"}) || len(c.Right) != 0 || c.Split != 70 {
		t.Errorf("read %+v", c)
	}
	m := keymap.New(c.Keys)
	for key, want := range map[string]keymap.Action{"f5": keymap.StepExit, "ctrl+s": keymap.StepExit, "Q": keymap.Quit, "d": keymap.StepDeadline} {
		if got, _ := m.Lookup(keymap.Global, key); got != want {
			t.Errorf("key %s asks for %d, want %d", key, got, want)
		}
	}
	for name, want := range map[string]string{"theme": "line 2", "layout.zoom": "line 10", "keys.quit": "line 18", "keys.help": "default"} {
		if got := c.Source(name); got != want {
			t.Errorf("%s comes from %s, want %s", name, got, want)
		}
	}
}

func TestMistakesAreNamedByLine(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"value", "\ntheme = \"purple\"", "f:2: theme cannot be \"purple\": want one of dark, light, 16, mono, or empty"},
		{"type", "speed = \"fast\"", "f:1: speed cannot be \"fast\": want a number from 0 to 1000000"},
		{"pane twice", "[layout]\nleft = [\"Exits\", \"exits\"]", "f:2: layout.left cannot be a list: want a list of panes, each once, such as [\"Timer\", \"Exits\"]"},
		{"no pane", "layout.right = [\"Disks\"]", "f:1: layout.right cannot be a list: want a list of panes, each once, such as [\"Timer\", \"Exits\"]"},
		{"pane in both columns", "[layout]\nright = [\"Exits\"]\nleft = [\"Exits\"]", "f:2: pane Exits is in layout.left too: a pane has one place"},
		{"narrow column", "layout.split = 5", "f:1: layout.split cannot be 5: want 0, or a number from 20 to 80"},
		{"layout", "layout.name = \"mine\"", "f:1: layout.name cannot be \"mine\": want one of overview, deadlines, exits, kicks"},
		{"range", "speed = -1", "f:1: speed cannot be -1: want a number from 0 to 1000000"},
		{"not a number", "speed = nan", "f:1: speed cannot be NaN: want a number from 0 to 1000000"},
		{"time without a unit", "late = \"5\"", "f:1: late cannot be \"5\": want \"p99\", or a time such as \"5us\" or \"800ns\""},
		{"unknown setting", "colour = 1", "f:1: there is no setting \"colour\""},
		{"unknown setting in a table", "[layout]\nsize = 1", "f:2: there is no setting \"layout.size\""},
		{"unknown table", "[a]\n[b.c]\nd = 1", "f:1: there is no table \"a\""},
		{"table of dotted names", "\na.b.c = 1", "f:2: there is no table \"a\""},
		{"inline table", "layout = {focus = \"x\"}", "f:1: layout.focus cannot be \"x\": want one of Timer"},
		{"value for a table", "layout = 4", "f:1: layout is a table"},
		{"keys is no table", "[[keys]]", "f:1: keys is a table"},
		{"keys of the wrong type", "[keys]\nzoom = [1]", "f:2: keys of zoom cannot be a list"},
		{"unknown action", "[keys]\n\nstep = \"f5\"", "f:3: no action is called \"step\": do you mean step-exit?"},
		{"key bound twice", "[keys]\nzoom = \"s\"", "f:2: key s is bound to step-exit already"},
		{"syntax", "theme = \"dark\"\nspeed =\n", "f:2: unexpected character"},
		{"same key twice", "speed = 1\nspeed = 2", "f:2: key speed is already defined"},
		{"no text", "theme = \"dark\"\nguest = \"\xff\"", "f:2: it is no text: this line is not UTF-8"},
		{"several, by line", "speed = -1\ncolour = 1\n[keys]\nzoom = \"s\"", "f:1: speed cannot be -1: want a number from 0 to 1000000\nf:2: there is no setting"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("f", []byte(tt.text))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("Parse(%q) = %v, want %s", tt.text, err, tt.want)
			}
		})
	}
}

func TestFileIsLookedForInTheXDGPlace(t *testing.T) {
	tests := []struct {
		name, xdg, home, want string
	}{
		{"XDG_CONFIG_HOME", "/x", "/h", "/x/ticktrap/config.toml"},
		{"home", "", "/h", "/h/.config/ticktrap/config.toml"},
		{"a relative XDG_CONFIG_HOME is ignored", "x", "/h", "/h/.config/ticktrap/config.toml"},
		{"nowhere", "", "", ""},
	}
	for _, tt := range tests {
		env := map[string]string{"XDG_CONFIG_HOME": tt.xdg, "HOME": tt.home}
		if got := Path(func(k string) string { return env[k] }); got != tt.want {
			t.Errorf("%s: Path = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestUnusableFiles(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v, want it not to exist", err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "it is a directory") {
		t.Errorf("a directory: %v", err)
	}
	big := filepath.Join(dir, "big")
	if err := os.WriteFile(big, make([]byte, maxSize+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(big); err == nil || !strings.Contains(err.Error(), "at most 1048576") {
		t.Errorf("a large file: %v", err)
	}
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(empty); err != nil || c.Speed != Default().Speed || c.File != empty {
		t.Errorf("an empty file: %+v, %v, want the defaults", c, err)
	}
}

func TestDefaultFileSaysTheDefaults(t *testing.T) {
	c, err := Parse("default", []byte(DefaultText()))
	if err != nil {
		t.Fatal(err)
	}
	d := Default()
	for _, s := range Settings {
		if got, want := s.Text(c), s.Text(d); got != want {
			t.Errorf("%s = %s, want %s", s.Name, got, want)
		}
		if !c.Set(s.Name) {
			t.Errorf("the file has no line for %s", s.Name)
		}
	}
	for i, b := range c.Keys {
		if !slices.Equal(b.Keys, d.Keys[i].Keys) || !c.Set("keys."+b.Name) {
			t.Errorf("%s has keys %q, want %q from a line", b.Name, b.Keys, d.Keys[i].Keys)
		}
	}
}

func TestConfigurationInForceIsReadBack(t *testing.T) {
	text := "guest = \"a \\\"b\\\\\\u0007\"\nspeed = 12.5\n[keys]\nzoom = []\nstep-exit = [\"alt+'\", \"\\\"\"]\n"
	a, err := Parse("a", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Parse("a", []byte(a.Text()))
	if err != nil {
		t.Fatalf("%v of\n%s", err, a.Text())
	}
	for _, s := range Settings {
		if s.Text(a) != s.Text(b) {
			t.Errorf("%s = %s, read back %s", s.Name, s.Text(a), s.Text(b))
		}
	}
	for i := range a.Keys {
		if !slices.Equal(a.Keys[i].Keys, b.Keys[i].Keys) {
			t.Errorf("%s has keys %q, read back %q", a.Keys[i].Name, a.Keys[i].Keys, b.Keys[i].Keys)
		}
	}
	if !strings.Contains(a.Text(), "# line 2\n") || !strings.Contains(a.Text(), "# default\n") {
		t.Errorf("the text does not say where values come from:\n%s", a.Text())
	}
}

func TestWordsAreThoseOfTheScreen(t *testing.T) {
	if !slices.Equal(Themes, ui.ThemeNames) {
		t.Errorf("themes %q, the screen has %q", Themes, ui.ThemeNames)
	}
	if !slices.Equal(Layouts, ui.LayoutNames()) {
		t.Errorf("layouts %q, the screen has %q", Layouts, ui.LayoutNames())
	}
	if !slices.Equal(Panes, ui.PaneTitles()) {
		t.Errorf("panes %q, the screen has %q", Panes, ui.PaneTitles())
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(DefaultText()))
	f.Add([]byte("theme = \"dark\"\n[keys]\nzoom = [\"s\"]\n"))
	f.Add([]byte("layout = {focus = \"x\", zoom = {a = 1}}\n[keys.zoom]\nx=1"))
	f.Add([]byte("a.b = 1\n[[a]]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("f", data)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Error("an error without words")
			}
			return
		}
		if _, err := Parse("f", []byte(c.Text())); err != nil {
			t.Errorf("what was accepted is not when printed: %v\n%s", err, c.Text())
		}
	})
}

func TestDocumentationIsCurrent(t *testing.T) {
	got, err := os.ReadFile("../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != Markdown() {
		t.Error("docs/config.md is stale: run go generate ./internal/config")
	}
}
