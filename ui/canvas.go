package ui

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// style is how a cell looks: a role in the low bits, flags above.
type style uint16

const (
	roleMask style = 1<<8 - 1
	// selected marks the cells of the selected line.
	selected style = 1 << 8
	// strong makes a role stand out from its like.
	strong style = 1 << 9

	numStyles = 1 << 10
)

// cell is one character position. The rune wideTail follows a rune that is two
// columns wide.
type cell struct {
	r rune
	s style
}

const wideTail rune = -1

// canvas is a grid of cells on which a frame is drawn. Its memory is reused
// from frame to frame.
type canvas struct {
	w, h  int
	cells []cell
}

// reset gives the canvas a size and blanks it.
func (c *canvas) reset(w, h int) {
	w, h = max(w, 0), max(h, 0)
	if cap(c.cells) < w*h {
		c.cells = make([]cell, w*h)
	}
	c.w, c.h, c.cells = w, h, c.cells[:w*h]
	for i := range c.cells {
		c.cells[i] = cell{r: ' '}
	}
}

// all is the area of the whole canvas.
func (c *canvas) all() area { return area{c: c, w: c.w, h: c.h} }

// put sets one cell; outside of the canvas it does nothing.
func (c *canvas) put(x, y int, r rune, s style) {
	if x < 0 || y < 0 || x >= c.w || y >= c.h {
		return
	}
	i := y*c.w + x
	if c.cells[i].r == wideTail && x > 0 {
		c.cells[i-1].r = ' '
	}
	if x+1 < c.w && c.cells[i+1].r == wideTail {
		c.cells[i+1].r = ' '
	}
	c.cells[i] = cell{r, s}
}

// text returns the canvas as lines without any style, for tests.
func (c *canvas) text() string {
	var b strings.Builder
	for y := 0; y < c.h; y++ {
		row := c.cells[y*c.w : (y+1)*c.w]
		for _, cl := range row[:trimmed(row)] {
			if cl.r != wideTail {
				b.WriteRune(cl.r)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// trimmed is the length of a row without the plain blanks at its end.
func trimmed(row []cell) int {
	n := len(row)
	for n > 0 && row[n-1].r == ' ' && row[n-1].s&selected == 0 {
		n--
	}
	return n
}

// render appends the canvas as styled lines, without a final newline: a style's
// escape sequence is written only where the style changes.
func (c *canvas) render(buf []byte, st *styles) []byte {
	return c.renderRect(buf, rect{0, 0, c.w, c.h}, st)
}

// renderRect is render for a part of the canvas.
func (c *canvas) renderRect(buf []byte, r rect, st *styles) []byte {
	for y := r.y; y < r.y+r.h; y++ {
		if y > r.y {
			buf = append(buf, '\n')
		}
		row := c.cells[y*c.w+r.x : y*c.w+r.x+r.w]
		now := ""
		for _, cl := range row[:trimmed(row)] {
			if cl.r == wideTail {
				continue
			}
			if seq := st.seq[cl.s]; seq != now && !(cl.r == ' ' && !st.paintsBlank(cl.s) && !st.paintsBlankSeq(now)) {
				if now != "" {
					buf = append(buf, resetSeq...)
				}
				buf = append(buf, seq...)
				now = seq
			}
			buf = utf8.AppendRune(buf, cl.r)
		}
		if now != "" {
			buf = append(buf, resetSeq...)
		}
	}
	return buf
}

const resetSeq = "\x1b[0m"

// area is a rectangle of a canvas; drawing outside of it does nothing.
type area struct {
	c    *canvas
	x, y int
	w, h int
}

// sub is the part of a at (x, y) of size w × h, clipped to a.
func (a area) sub(x, y, w, h int) area {
	x0, y0 := min(max(x, 0), a.w), min(max(y, 0), a.h)
	x1, y1 := min(max(x+w, x0), a.w), min(max(y+h, y0), a.h)
	return area{a.c, a.x + x0, a.y + y0, x1 - x0, y1 - y0}
}

// put sets one cell.
func (a area) put(x, y int, r rune, s style) {
	if x >= 0 && y >= 0 && x < a.w && y < a.h {
		a.c.put(a.x+x, a.y+y, r, s)
	}
}

// text writes s at (x, y) and returns the column after it. What does not fit is
// cut. Runes that would move the cursor are left out.
func (a area) text(x, y int, st style, s string) int {
	for _, r := range s {
		w := runeWidth(r)
		switch {
		case w == 0:
			continue
		case w == 2 && x+2 <= a.w:
			a.put(x, y, r, st)
			a.put(x+1, y, ' ', st)
			a.tail(x+1, y, st)
		case w == 2:
			a.put(x, y, ' ', st)
		default:
			a.put(x, y, r, st)
		}
		x += w
	}
	return x
}

func (a area) tail(x, y int, st style) {
	if x >= 0 && y >= 0 && x < a.w && y < a.h {
		a.c.cells[(a.y+y)*a.c.w+a.x+x] = cell{wideTail, st}
	}
}

// right writes s so that it ends before column x, and returns its first column.
func (a area) right(x, y int, st style, s string) int {
	at := x - textWidth(s)
	a.text(at, y, st, s)
	return at
}

// cut writes s in at most w columns, with an ellipsis where it is cut, and
// returns the column after it.
func (a area) cut(x, y, w int, st style, s string) int {
	if w <= 0 {
		return x
	}
	if textWidth(s) <= w {
		return a.text(x, y, st, s)
	}
	end := a.sub(0, y, x+w-1, 1).text(x, 0, st, s)
	end = min(end, x+w-1)
	a.put(end, y, '…', st)
	return end + 1
}

// fill sets every cell.
func (a area) fill(r rune, s style) {
	for y := 0; y < a.h; y++ {
		for x := 0; x < a.w; x++ {
			a.put(x, y, r, s)
		}
	}
}

// hline draws n times r from (x, y) to the right.
func (a area) hline(x, y, n int, r rune, s style) {
	for i := 0; i < n; i++ {
		a.put(x+i, y, r, s)
	}
}

// mark adds flags to the style of a whole row.
func (a area) mark(y int, flags style) {
	if y < 0 || y >= a.h {
		return
	}
	row := a.c.cells[(a.y+y)*a.c.w+a.x:]
	for x := 0; x < a.w; x++ {
		row[x].s |= flags
	}
}

// markColumns marks the columns from x0 to x1.
func (a area) markColumns(x0, x1 int) {
	for x := max(x0, 0); x <= min(x1, a.w-1); x++ {
		for y := range a.h {
			a.c.cells[(a.y+y)*a.c.w+a.x+x].s |= selected
		}
	}
}

// restyle gives the columns from x0 to x1 another style.
func (a area) restyle(x0, x1 int, s style) {
	for x := max(x0, 0); x <= min(x1, a.w-1); x++ {
		for y := range a.h {
			a.c.cells[(a.y+y)*a.c.w+a.x+x].s = s
		}
	}
}

// has reports whether a cell of the canvas is in a.
func (a area) has(x, y int) bool { return x >= a.x && x < a.x+a.w && y >= a.y && y < a.y+a.h }

// box draws a rounded frame around a and returns its inside.
func (a area) box(s style) area {
	if a.w < 2 || a.h < 2 {
		return a.sub(0, 0, 0, 0)
	}
	a.hline(1, 0, a.w-2, '─', s)
	a.hline(1, a.h-1, a.w-2, '─', s)
	for y := 1; y < a.h-1; y++ {
		a.put(0, y, '│', s)
		a.put(a.w-1, y, '│', s)
	}
	a.put(0, 0, '╭', s)
	a.put(a.w-1, 0, '╮', s)
	a.put(0, a.h-1, '╰', s)
	a.put(a.w-1, a.h-1, '╯', s)
	return a.sub(1, 1, a.w-2, a.h-2)
}

// textWidth is the number of columns that s takes.
func textWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// runeWidth is the number of columns that a rune takes, 0 for those that are not
// written. The signs, lines, blocks and braille of the screen are one wide.
func runeWidth(r rune) int {
	switch {
	case r < ' ' || r >= 0x7f && r < 0xa0:
		return 0
	case r < 0x300 || r >= 0x2010 && r < 0x2028 || r >= 0x2190 && r < 0x2200 || r >= 0x2500 && r < 0x25fd || r >= 0x2800 && r < 0x2900:
		return 1
	}
	return ansi.StringWidth(string(r))
}
