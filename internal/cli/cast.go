package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// cast records what a screen writes as an asciicast, version 2: a header line,
// then a line [seconds, "o", text] for each write and [seconds, "r", "80x24"]
// when the terminal's size has changed. It belongs to one goroutine. An error
// does not disturb the screen: close returns it.
type cast struct {
	path  string
	f     *os.File
	now   func() time.Time
	size  func() (w, h int)
	start time.Time
	w, h  int
	rest  []byte // of a character whose end has not been written
	err   error
}

// castHeader is the first line. Source: the asciicast v2 format.
type castHeader struct {
	Version   int               `json:"version"`
	Width     int               `json:"width"`
	Height    int               `json:"height"`
	Timestamp int64             `json:"timestamp"`
	Title     string            `json:"title"`
	Env       map[string]string `json:"env"`
}

// newCast begins a cast in a new file; an existing one is not touched.
func newCast(path, title, termName string, now func() time.Time, size func() (w, h int)) (*cast, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("recording the screen: %w", err)
	}
	c := &cast{path: path, f: f, now: now, size: size, start: now()}
	c.w, c.h = size()
	c.line(castHeader{2, c.w, c.h, c.start.Unix(), title, map[string]string{"TERM": termName}})
	return c, nil
}

func (c *cast) line(v any) {
	if c.err != nil {
		return
	}
	b, err := json.Marshal(v)
	if err == nil {
		_, err = c.f.Write(append(b, '\n'))
	}
	c.err = err
}

// write records text that is on its way to the terminal.
func (c *cast) write(p []byte) {
	t := json.Number(strconv.FormatFloat(c.now().Sub(c.start).Seconds(), 'f', 6, 64))
	if w, h := c.size(); w != c.w || h != c.h {
		c.w, c.h = w, h
		c.line([]any{t, "r", fmt.Sprintf("%dx%d", w, h)})
	}
	c.rest = append(c.rest, p...)
	n := wholeRunes(c.rest)
	if n == 0 {
		return
	}
	c.line([]any{t, "o", string(c.rest[:n])})
	c.rest = append(c.rest[:0], c.rest[n:]...)
}

// wholeRunes is the length of b without a character at its end that is cut.
func wholeRunes(b []byte) int {
	for i := len(b) - 1; i >= 0 && i > len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i
			}
			break
		}
	}
	return len(b)
}

func (c *cast) close() error {
	if err := errors.Join(c.err, c.f.Close()); err != nil {
		return fmt.Errorf("recording the screen to %s: %w", c.path, err)
	}
	return nil
}

// castTerminal is a terminal whose output is recorded. It is the terminal's file
// in all else, so that its size and its modes are found.
type castTerminal struct {
	*os.File
	cast *cast
}

// Write writes to the terminal and records what it took.
func (t castTerminal) Write(p []byte) (int, error) {
	n, err := t.File.Write(p)
	t.cast.write(p[:n])
	return n, err
}

// WriteString is Write.
func (t castTerminal) WriteString(s string) (int, error) { return t.Write([]byte(s)) }

// terminalSize is the size of a terminal, 80×24 if it does not tell.
func terminalSize(f *os.File) (w, h int) {
	w, h, err := term.GetSize(int(f.Fd()))
	if err != nil || w <= 0 || h <= 0 {
		return 80, 24
	}
	return w, h
}
