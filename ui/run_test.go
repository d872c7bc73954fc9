package ui

import (
	"testing"

	"github.com/muesli/termenv"
)

// environ is an environment for tests.
type environ map[string]string

func (e environ) Getenv(key string) string { return e[key] }

func (e environ) Environ() (out []string) {
	for k, v := range e {
		out = append(out, k+"="+v)
	}
	return out
}

func TestTerminalEnvironmentChoosesThemeAndColours(t *testing.T) {
	tests := []struct {
		name    string
		env     environ
		theme   string
		want    string
		profile termenv.Profile
		noColor bool
	}{
		{"true colour", environ{"TERM": "xterm-256color", "COLORTERM": "truecolor"}, "", "dark", termenv.TrueColor, false},
		{"256 colours", environ{"TERM": "xterm-256color"}, "", "dark", termenv.ANSI256, false},
		{"light background", environ{"TERM": "xterm-256color", "COLORFGBG": "0;15"}, "", "light", termenv.ANSI256, false},
		{"16 colours", environ{"TERM": "xterm"}, "", "16", termenv.ANSI, false},
		{"theme asked for", environ{"TERM": "xterm"}, "mono", "mono", termenv.ANSI, false},
		{"NO_COLOR", environ{"TERM": "xterm-256color", "NO_COLOR": "1"}, "", "16", termenv.ANSI, true},
		{"dumb", environ{"TERM": "dumb"}, "", "16", termenv.ANSI, true},
	}
	for _, tt := range tests {
		got := Options{Theme: tt.theme}.forTerminal(tt.env)
		if got.Theme != tt.want || got.Profile != tt.profile || got.NoColor != tt.noColor {
			t.Errorf("%s: theme %q, profile %d, no colour %v; want %q, %d, %v", tt.name, got.Theme, got.Profile, got.NoColor,
				tt.want, tt.profile, tt.noColor)
		}
	}
	if m := New(nil, Options{NoColor: true}.forTerminal(environ{"TERM": "xterm"})); m.look.name != "mono" {
		t.Errorf("without colours the theme is %q, want mono", m.look.name)
	}
}
