package ui

import (
	"strings"
	"testing"

	"github.com/muesli/termenv"
)

func newCanvas(w, h int) *canvas {
	c := &canvas{}
	c.reset(w, h)
	return c
}

func TestTextIsClippedToItsArea(t *testing.T) {
	tests := []struct {
		name string
		draw func(a area)
		want string
	}{
		{"inside", func(a area) { a.text(1, 0, text, "ab") }, " ab\n\n"},
		{"cut at the right", func(a area) { a.text(3, 0, text, "abc") }, "   ab\n\n"},
		{"left of the area", func(a area) { a.text(-1, 0, text, "abc") }, "bc\n\n"},
		{"below the area", func(a area) { a.text(0, 2, text, "abc") }, "\n\n"},
		{"ellipsis", func(a area) { a.cut(0, 0, 4, text, "abcdef") }, "abc…\n\n"},
		{"ellipsis not needed", func(a area) { a.cut(0, 0, 4, text, "abcd") }, "abcd\n\n"},
		{"right aligned", func(a area) { a.right(5, 1, text, "abc") }, "\n  abc\n"},
		{"wide rune", func(a area) { a.text(0, 0, text, "世x") }, "世x\n\n"},
		{"wide rune at the edge", func(a area) { a.text(4, 0, text, "世") }, "\n\n"},
		{"half of a wide rune overwritten", func(a area) { a.text(0, 0, text, "世"); a.put(1, 0, 'y', text) }, " y\n\n"},
		{"control characters", func(a area) { a.text(0, 0, text, "a\x1b\r\tb\x7f") }, "ab\n\n"},
		{"sub area", func(a area) { a.sub(3, 1, 9, 9).text(0, 0, text, "abc") }, "\n   ab\n"},
		{"box", func(a area) { a.sub(0, 0, 3, 2).box(text) }, "╭─╮\n╰─╯\n"},
		{"box too small", func(a area) { a.sub(0, 0, 1, 2).box(text) }, "\n\n"},
	}
	for _, tt := range tests {
		c := newCanvas(5, 2)
		tt.draw(c.all())
		if got := c.text(); got != tt.want {
			t.Errorf("%s: canvas is %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestRenderWritesAStyleOnlyWhereItChanges(t *testing.T) {
	c := newCanvas(9, 1)
	c.all().text(0, 0, good, "aa")
	c.all().text(2, 0, bad, "b c")
	st := newStyles("dark", termenv.TrueColor)
	got := string(c.render(nil, st))
	if n := strings.Count(got, "\x1b["); n != 4 { // on, off and on, off
		t.Errorf("render = %q with %d sequences, want 4", got, n)
	}
	if !strings.HasSuffix(got, resetSeq) {
		t.Errorf("render = %q does not end with a reset", got)
	}
}

func TestMonoThemeUsesNoColours(t *testing.T) {
	c := newCanvas(40, 1)
	x := 0
	for r := range numRoles {
		x = c.all().text(x, 0, r, "x")
	}
	got := string(c.render(nil, newStyles("mono", termenv.TrueColor)))
	for _, seq := range strings.Split(got, "\x1b[")[1:] {
		params, _, _ := strings.Cut(seq, "m")
		for _, p := range strings.Split(params, ";") {
			if len(p) > 1 {
				t.Errorf("mono writes the colour sequence %q", params)
			}
		}
	}
	if got := string(c.render(nil, newStyles("mono", termenv.Ascii))); strings.Contains(got, "\x1b") {
		t.Errorf("a terminal without any style gets %q", got)
	}
}

func TestEveryThemeHasAllNames(t *testing.T) {
	for _, n := range ThemeNames {
		if th, ok := themes[n]; !ok || th.name != n {
			t.Errorf("theme %q is missing or misnamed", n)
		}
	}
	for _, n := range []string{"dark", "light"} {
		for r, lk := range themes[n].looks {
			if lk.fg == "" {
				t.Errorf("theme %s: role %d has no colour", n, r)
			}
		}
	}
}

func TestPiecesDropTheLeastImportantFirst(t *testing.T) {
	ps := []piece{{"a", text, 0}, {"bbb", text, 2}, {"cc", text, 1}}
	for w, want := range map[int]string{6: "abbbcc\n", 5: "acc\n", 3: "acc\n", 2: "a\n", 1: "a\n"} {
		c := newCanvas(6, 1)
		c.all().pieces(0, 0, w, ps)
		if got := c.text(); got != want {
			t.Errorf("pieces in %d columns = %q, want %q", w, got, want)
		}
	}
}

func TestWrapKeepsWordsWhole(t *testing.T) {
	got := wrap("one two  three fourteen", 9)
	if want := "one two|three|fourteen"; strings.Join(got, "|") != want {
		t.Errorf("wrap = %q, want %q", strings.Join(got, "|"), want)
	}
}
