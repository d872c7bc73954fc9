package prose

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		name, words string
		width       int
		want        []string
	}{
		{"nothing", " ", 10, nil},
		{"fits to the column", "four five", 9, []string{"four five"}},
		{"one too many", "four five", 8, []string{"four", "five"}},
		{"spaces and breaks are one space", "a  b\n c", 9, []string{"a b c"}},
		{"a word that is too long", "a incomprehensible b", 5, []string{"a", "incomprehensible", "b"}},
		{"a hyphen is no place to break", "turn timer-advance", 12, []string{"turn", "timer-advance"}},
		{"columns, not bytes", "µs µs µs", 8, []string{"µs µs µs"}},
		{"wide characters", "時計 時計", 8, []string{"時計", "時計"}},
		{"no width", "a b", 0, []string{"a", "b"}},
	} {
		if got := Lines(tt.words, tt.width); !slices.Equal(got, tt.want) {
			t.Errorf("%s: Lines(%q, %d) = %q, want %q", tt.name, tt.words, tt.width, got, tt.want)
		}
	}
}

func TestWriteHangs(t *testing.T) {
	long := strings.Repeat("word ", 18)
	for _, tt := range []struct{ name, first, rest, words, want string }{
		{"one line", "rule: ", "  ", "turn it off", "rule: turn it off\n"},
		{"nothing to say", "rule: ", "  ", "", "rule:\n"},
		{"two lines", "> ", "    ", long, "> " + strings.TrimSpace(strings.Repeat("word ", 15)) + "\n    word word word\n"},
	} {
		var b strings.Builder
		if Write(&b, tt.first, tt.rest, tt.words); b.String() != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, b.String(), tt.want)
		}
	}
	var b strings.Builder
	if Indented(&b, 4, long); b.String() != "    "+strings.TrimSpace(strings.Repeat("word ", 15))+"\n    word word word\n" {
		t.Errorf("indented: %q", b.String())
	}
}

func TestNoWordIsLostAndNoLineTooWide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.StringMatching(`[a-zµ時 -]*`).Draw(t, "words")
		width := rapid.IntRange(0, 30).Draw(t, "width")
		lines := Lines(words, width)
		if got := strings.Fields(strings.Join(lines, " ")); !slices.Equal(got, strings.Fields(words)) {
			t.Fatalf("%q became %q", words, lines)
		}
		for _, l := range lines {
			if ansi.StringWidth(l) > width && strings.Contains(l, " ") {
				t.Fatalf("line %q is wider than %d", l, width)
			}
		}
	})
}
