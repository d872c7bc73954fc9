package ui

import (
	"bytes"
	"strings"
	"testing"

	"github.com/muesli/termenv"

	"codeberg.org/ticktrap/ticktrap/ui/uitest"
)

// vt is a terminal as far as the painter uses one.
type vt struct {
	w, h int
	rows [][]rune
	x, y int
}

func (t *vt) write(s string) {
	for len(s) > 0 {
		if strings.HasPrefix(s, "\x1b[") {
			end := strings.IndexAny(s, "HJmhl")
			args := strings.Split(s[2:end], ";")
			switch s[end] {
			case 'H':
				t.x, t.y = atoi(args[1])-1, atoi(args[0])-1
			case 'J':
				t.rows = make([][]rune, t.h)
				for i := range t.rows {
					t.rows[i] = []rune(strings.Repeat(" ", t.w))
				}
			}
			s = s[end+1:]
			continue
		}
		r := []rune(s)[0]
		t.rows[t.y][t.x] = r
		t.x += runeWidth(r)
		s = s[len(string(r)):]
	}
}

func atoi(s string) (n int) {
	for _, c := range s {
		n = n*10 + int(c-'0')
	}
	return n
}

func (t *vt) text() string {
	var b strings.Builder
	for _, r := range t.rows {
		b.WriteString(strings.TrimRight(string(r), " ") + "\n")
	}
	return b.String()
}

// What the terminal holds after many frames is what the canvas holds, and far less
// than the canvas has been written.
func TestOnlyChangedCellsAreWritten(t *testing.T) {
	s := uitest.New(uitest.Header(), events400())
	s.CPUs = uitest.CPUs()
	m := New(s, Options{Theme: "dark", Profile: termenv.ANSI256})
	m.w, m.h = 200, 60
	p := &painter{}
	tm := &vt{w: 200, h: 60}
	first, rest, frames := 0, 0, 0
	for i := range 60 {
		s.Play(37)
		m.Update(m.Init()())
		m.draw()
		b := p.changes(&m.canvas, m.look)
		tm.write(string(b))
		if got, want := tm.text(), trimmedText(&m.canvas); got != want {
			t.Fatalf("frame %d: the terminal shows\n%s\nwant\n%s", i, got, want)
		}
		if i == 0 {
			first = len(b)
			continue
		}
		rest += len(b)
		frames++
	}
	if mean := rest / frames; mean > first/2 {
		t.Errorf("a frame takes %d bytes in the mean, the first %d", mean, first)
	}
	if b := p.changes(&m.canvas, m.look); len(b) != 0 {
		t.Errorf("nothing has changed, and %d bytes are written", len(b))
	}
	if b := p.changes(&m.canvas, newStyles("light", termenv.ANSI256)); !bytes.Contains(b, []byte("\x1b[2J")) {
		t.Error("another theme does not repaint the screen")
	}
}

func trimmedText(c *canvas) string {
	var b strings.Builder
	for y := range c.h {
		var row []rune
		for _, cl := range c.cells[y*c.w : (y+1)*c.w] {
			if cl.r != wideTail {
				row = append(row, cl.r)
			}
		}
		b.WriteString(strings.TrimRight(string(row), " ") + "\n")
	}
	return b.String()
}

func TestTerminalOfASCIIGetsASCII(t *testing.T) {
	r := newRig(t, 120, 40, 11_500)
	for p := range numPanes {
		r.m.focus = p
		r.m.draw()
		b := (&painter{ascii: true}).changes(&r.m.canvas, r.m.look)
		for _, c := range b {
			if c >= 0x80 {
				t.Fatalf("%s: byte %#x is written to a terminal that shows ASCII alone", paneTitles[p], c)
			}
		}
		if n := bytes.Count(b, []byte("?")); n > 12 {
			t.Errorf("%s: %d signs have nothing that stands for them", paneTitles[p], n)
		}
	}
	for _, tt := range []struct {
		env  environ
		want bool
	}{
		{environ{"LC_ALL": "C"}, true}, {environ{"LC_ALL": "C.UTF-8"}, false}, {environ{"LANG": "de_DE.utf8"}, false}, {environ{}, false},
		{environ{"LC_ALL": "C", "LANG": "en_US.UTF-8"}, true}, {environ{"TERM": "linux", "LANG": "en_US.UTF-8"}, true},
	} {
		if got := asciiOnly(tt.env.Getenv); got != tt.want {
			t.Errorf("%v: ASCII only is %v, want %v", tt.env, got, tt.want)
		}
	}
}

func TestTerminalIsLeftAsItWas(t *testing.T) {
	var out bytes.Buffer
	p := &painter{out: &out}
	if err := p.enter(); err != nil {
		t.Fatal(err)
	}
	p.leave()
	n := out.Len()
	p.write([]byte("late"))
	if out.Len() != n {
		t.Error("what comes after the end is written")
	}
	for _, mode := range []string{"1049", "25", "1002", "1006", "2004"} {
		if strings.Count(out.String(), "?"+mode) != 2 {
			t.Errorf("mode %s is not put back: %q", mode, out.String())
		}
	}
}
