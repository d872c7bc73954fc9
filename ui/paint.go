package ui

import (
	"io"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
)

// painter writes the canvas to a terminal, and of it only the cells that have
// changed. Bubble Tea's own renderer writes every line in which one has, which is
// ten times as much.
type painter struct {
	out    io.Writer
	period time.Duration // between the ends of two writes
	ascii  bool          // the terminal shows nothing else

	// Of the model's goroutine:
	shown canvas  // what the terminal holds
	look  *styles // in which looks
	busy  bool    // a write is on its way, or its pause

	// mu guards closed and the order of writes.
	mu     sync.Mutex
	closed bool
}

// The rates at which the screen is painted: over a network a frame is not worth
// what it costs.
const (
	localFPS = 30
	sshFPS   = 8
)

// The sequences around a session: alternate screen, no cursor, mouse buttons with
// drag in SGR coordinates, bracketed paste. Source: xterm's ctlseqs.
const (
	enterScreen = "\x1b[?1049h\x1b[2J\x1b[H\x1b[?25l\x1b[?1002h\x1b[?1006h\x1b[?2004h"
	leaveScreen = "\x1b[?2004l\x1b[?1006l\x1b[?1002l\x1b[0m\x1b[?25h\x1b[?1049l"
)

func (p *painter) enter() error {
	_, err := io.WriteString(p.out, enterScreen)
	return err
}

// leave restores the terminal; what comes after it is not written.
func (p *painter) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	_, _ = io.WriteString(p.out, leaveScreen)
}

func (p *painter) write(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		_, _ = p.out.Write(b)
	}
}

// paintedMsg says that the terminal has been written to and may be again.
type paintedMsg struct{}

// paintCmd draws what is new and returns the command that writes it; nil if there
// is nothing new, or a write is on its way.
func (m *Model) paintCmd() tea.Cmd {
	p := m.painter
	if p == nil || p.busy || !m.dirty || m.failure != nil {
		return nil
	}
	m.draw()
	m.dirty = false
	b := append([]byte(m.clip), p.changes(&m.canvas, m.look)...)
	m.clip = ""
	if len(b) == 0 {
		return nil
	}
	p.busy = true
	return guarded(func() tea.Msg {
		p.write(b)
		time.Sleep(p.period)
		return paintedMsg{}
	})
}

// sameGap is how many unchanged cells are written rather than jumped over: a jump
// takes about as many bytes.
const sameGap = 6

// changes are the bytes that make the terminal show c, and remembers that it does.
func (p *painter) changes(c *canvas, look *styles) (b []byte) {
	whole := p.shown.w != c.w || p.shown.h != c.h || p.look != look
	if whole {
		p.shown.reset(c.w, c.h)
		p.look = look
		b = append(b, "\x1b[0m\x1b[2J"...)
	}
	now := ""
	for y := range c.h {
		row, old := c.cells[y*c.w:(y+1)*c.w], p.shown.cells[y*c.w:(y+1)*c.w]
		at := -1 // where the cursor is in this row, −1 elsewhere
		for x := 0; x < c.w; x++ {
			if row[x] == old[x] || p.blank(row[x], now) && p.blank(old[x], now) {
				continue
			}
			for x > 0 && row[x].r == wideTail {
				x--
			}
			from := x
			if at >= 0 && x-at <= sameGap && row[at].r != wideTail {
				from = at
			} else {
				b = moveTo(b, x, y)
			}
			for ; from <= x; from++ {
				b, now = p.cell(b, row[from], now)
			}
			for x+1 < c.w && row[x+1].r == wideTail { // it came with its rune
				x++
				if p.ascii {
					b = append(b, '?')
				}
			}
			at = x + 1
		}
		copy(old, row)
	}
	if now != "" {
		b = append(b, resetSeq...)
	}
	return b
}

// cell appends a cell, and the sequence of its style where that is not the one in
// force.
func (p *painter) cell(b []byte, cl cell, now string) ([]byte, string) {
	if cl.r == wideTail {
		return b, now
	}
	switch seq := p.look.seq[cl.s]; {
	case seq == now, p.blank(cl, now):
	case seq == "":
		b, now = append(b, resetSeq...), ""
	case now == "":
		b, now = append(b, seq...), seq
	default: // both in one sequence
		b, now = append(append(b, "\x1b[0;"...), seq[2:]...), seq
	}
	if p.ascii {
		return append(b, asciiOf(cl.r)), now
	}
	return utf8.AppendRune(b, cl.r), now
}

// blank reports whether a cell looks like a plain blank, under the style in force
// too.
func (p *painter) blank(c cell, now string) bool {
	return c.r == ' ' && !p.look.paintsBlank(c.s) && !p.look.paintsBlankSeq(now)
}

func moveTo(b []byte, x, y int) []byte {
	b = append(b, "\x1b["...)
	b = strconv.AppendInt(b, int64(y+1), 10)
	b = append(b, ';')
	b = strconv.AppendInt(b, int64(x+1), 10)
	return append(b, 'H')
}
