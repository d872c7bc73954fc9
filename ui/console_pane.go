package ui

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace/query"
)

var consoleRoom = room{
	focus: keymap.PaneConsole, topic: "console",
	footer: []keymap.Action{keymap.Filter, keymap.PageUp, keymap.End, keymap.RunPause, keymap.Zoom, keymap.Help,
		keymap.Palette, keymap.Quit},
	claim: func(_ claiming) share {
		return share{want: 5, need: 4, extra: 14}
	},
	make: func() pane { return newConsolePane() },
}

// consolePane shows what the guest wrote to its serial port.
type consolePane struct {
	off    int // lines up from the newest
	match  filter
	filled uint64 // bytes that lines were made from
	lines  []string
	raw    []byte
}

func newConsolePane() *consolePane { return &consolePane{filled: 1<<64 - 1} }

func (p *consolePane) status(s *scene) string {
	if t := p.match.text; t != "" {
		return "/" + t
	}
	if p.off > 0 {
		return strconv.Itoa(p.off) + " up"
	}
	return bytesSize(int64(s.state().Console.N))
}

// update makes lines from the guest's bytes: escape sequences go, control
// characters and what is not text becomes a dot.
func (p *consolePane) update(s *scene) {
	c := &s.state().Console
	if c.N == p.filled {
		return
	}
	p.filled = c.N
	p.raw = c.Bytes(p.raw[:0])
	p.lines = p.lines[:0]
	for _, l := range strings.Split(plainText(string(p.raw)), "\n") {
		if p.match.okText(l) {
			p.lines = append(p.lines, l)
		}
	}
	if n := len(p.lines); n > 0 && p.lines[n-1] == "" {
		p.lines = p.lines[:n-1]
	}
}

// plainText removes everything that could act on a terminal, and what would not
// take a column of its own.
func plainText(s string) string {
	s = ansi.Strip(strings.ToValidUTF8(s, "·"))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\r':
			return -1
		case r == '\t':
			return ' '
		case !unicode.IsPrint(r) || unicode.Is(unicode.M, r):
			return '·'
		}
		return r
	}, s)
}

func (p *consolePane) draw(s *scene, a area) {
	p.update(s)
	switch {
	case len(p.lines) == 0 && p.match.text != "" && s.state().Console.N > 0:
		empty(a, "no line matches", "esc clears the filter "+p.match.text)
		return
	case len(p.lines) == 0:
		empty(a, "no output", "text that the guest writes to its serial port 0x3f8 appears here")
		return
	}
	p.off = min(p.off, max(len(p.lines)-a.h, 0))
	end := len(p.lines) - p.off
	for i, l := range p.lines[max(end-a.h, 0):end] {
		a.cut(0, i, a.w, text, l)
	}
}

func (p *consolePane) strip(s *scene, a area) {
	p.update(s)
	if len(p.lines) == 0 {
		a.text(0, 0, dim, "no serial output yet")
		return
	}
	a.cut(0, 0, a.w, text, p.lines[len(p.lines)-1])
}

func (p *consolePane) act(_ *scene, act keymap.Action, rows int) bool {
	up := map[keymap.Action]int{keymap.Up: 1, keymap.Down: -1, keymap.PageUp: rows - 1, keymap.PageDown: 1 - rows,
		keymap.Top: 1 << 20, keymap.Bottom: -1 << 20}
	n, ok := up[act]
	p.off = max(p.off+n, 0)
	return ok
}

func (p *consolePane) click(*scene, int, int) bool { return false }

// filter takes a text only: a guest's lines are no moments of a condition.
func (p *consolePane) filter(text string) *query.Error {
	p.match, p.filled = textFilter(text), 1<<64-1
	return nil
}

func (p *consolePane) filtered() string { return p.match.text }

func (p *consolePane) help() []string {
	return []string{
		"What the guest wrote to its serial port, oldest line first. Escape sequences are removed and control characters shown as dots, so a guest cannot act on your terminal.",
		"The last 64 KiB are kept. / shows only the lines that contain a text; ! in front shows the others.",
	}
}
