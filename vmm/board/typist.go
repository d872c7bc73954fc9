package board

import (
	"fmt"
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// Input is text that is typed when the guest has written Pattern to its serial
// port. Inputs take their turns in order.
type Input struct{ Text, Pattern string }

// The longest pattern and text of an Input, in bytes.
const (
	MaxPattern = 64
	MaxText    = 4096
)

// ParseInput reads TEXT@PATTERN; the last @ divides them, and escapes are those
// of a Go string: "\n" ends a line.
func ParseInput(s string) (i Input, err error) {
	at := strings.LastIndexByte(s, '@')
	if at <= 0 || at == len(s)-1 {
		return i, fmt.Errorf("%q: want TEXT@PATTERN", s)
	}
	for _, p := range []struct {
		to   *string
		from string
	}{{&i.Text, s[:at]}, {&i.Pattern, s[at+1:]}} {
		if *p.to, err = strconv.Unquote(`"` + strings.ReplaceAll(p.from, `"`, `\"`) + `"`); err != nil {
			return i, fmt.Errorf("%q: escapes are those of a Go string, such as \\n, \\\\ and \\x1b", p.from)
		}
	}
	if len(i.Pattern) > MaxPattern || len(i.Text) > MaxText {
		return i, fmt.Errorf("%q: want a text of up to %d bytes and a pattern of up to %d", s, MaxText, MaxPattern)
	}
	return i, nil
}

// String is what ParseInput reads.
func (i Input) String() string {
	quote := func(s string) string {
		q := strconv.Quote(s)
		return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
	}
	return quote(i.Text) + "@" + quote(i.Pattern)
}

// InputLines are the Strings of all, one a line.
func InputLines(all []Input) string {
	var s []string
	for _, i := range all {
		s = append(s, i.String())
	}
	return strings.Join(s, "\n")
}

// typist is the state of the configured inputs.
type typist struct {
	next   int // the input that waits for its pattern, or is being typed
	typing bool
	off    int // bytes of its text that have been typed
	tail   [MaxPattern]byte
	n      int // bytes in tail
}

// hears takes a byte that the guest wrote.
func (b *Board) hears(now clock.TSC, c byte) {
	t := &b.st.typist
	if t.next >= len(b.cfg.Inputs) || t.typing {
		return
	}
	if t.n == len(t.tail) {
		t.n = copy(t.tail[:], t.tail[1:])
	}
	t.tail[t.n] = c
	t.n++
	if !strings.HasSuffix(string(t.tail[:t.n]), b.cfg.Inputs[t.next].Pattern) {
		return
	}
	t.typing, t.off, t.n = true, 0, 0
	b.typeOn(now)
}

// typeOn types as much as the receiver takes.
func (b *Board) typeOn(now clock.TSC) {
	t := &b.st.typist
	if !t.typing {
		return
	}
	text := b.cfg.Inputs[t.next].Text
	t.off += b.Type(now, []byte(text[t.off:]))
	if t.off == len(text) {
		t.typing = false
		t.next++
	}
}
