package picture

import (
	"image/color"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Glyph is one character of a frame and how it looks. A rune of 0 follows a wide
// one.
type Glyph struct {
	R      rune
	FG, BG color.RGBA
	Bold   bool
}

// Frame is a screen as rows of glyphs. Palette is what was behind them.
type Frame struct {
	W, H    int
	Rows    [][]Glyph
	Palette Palette
}

// pen is the state that escape sequences change.
type pen struct {
	fg, bg                         color.RGBA
	bold, faint, underline, invert bool
}

// Parse reads a frame as the screen writes it: text, newlines and SGR sequences.
func Parse(s string, w, h int, p Palette) Frame {
	f := Frame{W: w, H: h, Rows: make([][]Glyph, h), Palette: p}
	for y := range f.Rows {
		f.Rows[y] = make([]Glyph, w)
		for x := range f.Rows[y] {
			f.Rows[y][x] = Glyph{R: ' ', FG: p.FG, BG: p.BG}
		}
	}
	cur := pen{fg: p.FG, bg: p.BG}
	x, y := 0, 0
	for len(s) > 0 {
		if params, rest, ok := sgr(s); ok {
			cur.apply(params, p)
			s = rest
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		if r == '\n' {
			x, y = 0, y+1
			continue
		}
		if x < w && y < h {
			f.Rows[y][x] = cur.glyph(r)
		}
		x += max(ansi.StringWidth(string(r)), 1)
	}
	return f
}

// sgr splits a leading SGR sequence off s.
func sgr(s string) (params, rest string, ok bool) {
	if !strings.HasPrefix(s, "\x1b[") {
		return "", s, false
	}
	end := strings.IndexByte(s, 'm')
	if end < 0 {
		return "", s, false
	}
	return s[2:end], s[end+1:], true
}

func (c *pen) glyph(r rune) Glyph {
	fg, bg := c.fg, c.bg
	if c.invert {
		fg, bg = bg, fg
	}
	if c.faint {
		fg = blend(fg, bg, 0.5)
	}
	return Glyph{r, fg, bg, c.bold}
}

func blend(a, b color.RGBA, t float64) color.RGBA {
	mix := func(x, y uint8) uint8 { return uint8(float64(x)*t + float64(y)*(1-t)) }
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

func (c *pen) apply(params string, p Palette) {
	if params == "" {
		params = "0"
	}
	ns := strings.Split(params, ";")
	for i := 0; i < len(ns); i++ {
		n, _ := strconv.Atoi(ns[i])
		switch {
		case n == 0:
			*c = pen{fg: p.FG, bg: p.BG}
		case n == 1:
			c.bold = true
		case n == 2:
			c.faint = true
		case n == 4:
			c.underline = true
		case n == 7:
			c.invert = true
		case n >= 30 && n <= 37:
			c.fg = p.ANSI[n-30]
		case n >= 90 && n <= 97:
			c.fg = p.ANSI[n-90+8]
		case n >= 40 && n <= 47:
			c.bg = p.ANSI[n-40]
		case n >= 100 && n <= 107:
			c.bg = p.ANSI[n-100+8]
		case n == 38 || n == 48:
			col, used := extended(ns[i+1:], p)
			i += used
			if n == 38 {
				c.fg = col
			} else {
				c.bg = col
			}
		}
	}
}

// extended reads 2;r;g;b and 5;n.
func extended(ns []string, p Palette) (color.RGBA, int) {
	num := func(i int) uint8 {
		if i < len(ns) {
			n, _ := strconv.Atoi(ns[i])
			return uint8(n)
		}
		return 0
	}
	if num(0) == 2 {
		return color.RGBA{num(1), num(2), num(3), 255}, 4
	}
	return p.index(num(1)), 2
}

// Palette is what a terminal's own colours are.
type Palette struct {
	FG, BG color.RGBA
	ANSI   [16]color.RGBA
}

func rgb(v uint32) color.RGBA { return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255} }

var ansi16 = [16]color.RGBA{rgb(0x1c2230), rgb(0xd9606b), rgb(0x6cbf7f), rgb(0xd6a456), rgb(0x5a9df0), rgb(0xb884e0),
	rgb(0x4fb8b2), rgb(0xb8c0d0), rgb(0x5d6880), rgb(0xff7a85), rgb(0x7ad18c), rgb(0xf0b866), rgb(0x6cb6ff), rgb(0xd3a4ff),
	rgb(0x66d9d1), rgb(0xf2f5fa)}

// The palettes: dark and light.
var (
	Dark  = Palette{rgb(0xc8d0e0), rgb(0x10151f), ansi16}
	Light = Palette{rgb(0x24292f), rgb(0xfbfcfe), ansi16}
)

// index is a colour of the 256-colour table.
func (p Palette) index(n uint8) color.RGBA {
	switch {
	case n < 16:
		return p.ANSI[n]
	case n < 232:
		level := func(v uint8) uint8 {
			if v == 0 {
				return 0
			}
			return 55 + 40*v
		}
		n -= 16
		return color.RGBA{level(n / 36), level(n / 6 % 6), level(n % 6), 255}
	}
	g := 8 + 10*(n-232)
	return color.RGBA{g, g, g, 255}
}

// Plain returns the frame as lines without any look.
func (f Frame) Plain() string {
	var out []rune
	for _, row := range f.Rows {
		line := make([]rune, 0, len(row))
		for _, g := range row {
			if g.R != 0 {
				line = append(line, g.R)
			}
		}
		for len(line) > 0 && line[len(line)-1] == ' ' {
			line = line[:len(line)-1]
		}
		out = append(append(out, line...), '\n')
	}
	return string(out)
}
