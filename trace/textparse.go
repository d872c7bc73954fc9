package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// SyntaxError is a line that is not the text form of an event.
type SyntaxError struct {
	Line int // from 1
	Col  int // byte column from 1
	Msg  string
}

// Error says where and what.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Col, e.Msg)
}

// TextReader reads events in text form, one a line. Empty lines and lines that
// begin with # are skipped.
type TextReader struct {
	sc   *bufio.Scanner
	line int
}

// maxLine is far more than the longest event takes.
const maxLine = 4096

// NewTextReader reads from r.
func NewTextReader(r io.Reader) *TextReader {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, maxLine), maxLine)
	return &TextReader{sc: sc}
}

// Next returns the next event. The error is io.EOF at the end, a *SyntaxError
// for a line that is no event, or what the reader returned.
func (t *TextReader) Next() (Event, error) {
	for t.sc.Scan() {
		t.line++
		line := t.sc.Text()
		if s := strings.TrimSpace(line); s == "" || s[0] == '#' {
			continue
		}
		e, err := ParseEvent(line)
		if serr := (*SyntaxError)(nil); errors.As(err, &serr) {
			serr.Line = t.line
		}
		return e, err
	}
	if errors.Is(t.sc.Err(), bufio.ErrTooLong) {
		return Event{}, &SyntaxError{Line: t.line + 1, Col: maxLine, Msg: "line too long"}
	}
	if err := t.sc.Err(); err != nil {
		return Event{}, err
	}
	return Event{}, io.EOF
}

// ParseEvent reads the text form of one event. The error is a *SyntaxError with
// line 1.
func ParseEvent(line string) (Event, error) {
	p := lineParser{line: line}
	e := p.event()
	if p.err != nil {
		return Event{}, p.err
	}
	return e, nil
}

// lineParser goes through one line. After the first error it does nothing.
type lineParser struct {
	line string
	pos  int
	err  *SyntaxError
}

func (p *lineParser) fail(pos int, format string, args ...any) {
	if p.err == nil {
		p.err = &SyntaxError{Line: 1, Col: pos + 1, Msg: fmt.Sprintf(format, args...)}
	}
}

// word returns the next space-separated word and where it starts; quoted text
// may hold spaces.
func (p *lineParser) word() (w string, at int) {
	for p.pos < len(p.line) && isBlank(p.line[p.pos]) {
		p.pos++
	}
	at = p.pos
	for quoted := false; p.pos < len(p.line) && (quoted || !isBlank(p.line[p.pos])); p.pos++ {
		switch p.line[p.pos] {
		case '"':
			quoted = !quoted
		case '\\':
			p.pos++
		}
	}
	p.pos = min(p.pos, len(p.line))
	return p.line[at:p.pos], at
}

// atEnd reports whether nothing but blanks is left.
func (p *lineParser) atEnd() bool { return strings.TrimSpace(p.line[p.pos:]) == "" }

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

func (p *lineParser) event() (e Event) {
	w, at := p.word()
	e.TSC = clock.TSC(p.uint(w, at, 10, "a TSC"))
	e.VCPU = p.cpu("vcpu")
	e.PCPU = p.cpu("pcpu")
	w, at = p.word()
	if v, ok := strings.CutPrefix(w, "flags="); ok {
		e.Flags = Flags(p.mask(flagNames, v, at+len("flags=")))
		w, at = p.word()
	}
	if e.Kind = kindNamed(w); e.Kind == BadKind {
		p.fail(at, "no kind of event is called %q", w)
		return e
	}
	sp := &Specs[e.Kind]
	for i, arg := range [4]*uint64{&e.A, &e.B, &e.C, &e.D} {
		if i == sp.numFields() || i >= firstFields(e.Kind) && p.atEnd() {
			break
		}
		*arg = p.field(&sp.Fields[i])
	}
	if w, at = p.word(); w != "" {
		p.fail(at, "%q is more than a %v event has", w, e.Kind)
	}
	return e
}

func kindNamed(name string) Kind {
	for k := BadKind + 1; k < numKinds; k++ {
		if Specs[k].Name == name {
			return k
		}
	}
	return BadKind
}

// named takes the word name=value and returns value.
func (p *lineParser) named(name string) (v string, at int) {
	w, at := p.word()
	v, ok := strings.CutPrefix(w, name+"=")
	if !ok {
		p.fail(at, "want %s=…, have %q", name, w)
	}
	return v, at + len(name) + 1
}

func (p *lineParser) cpu(name string) uint8 {
	v, at := p.named(name)
	if v == "-" {
		return NoCPU
	}
	n := p.uint(v, at, 10, "a CPU number or -")
	if n >= NoCPU {
		p.fail(at, "%s is %d: at most %d", name, n, NoCPU-1)
	}
	return uint8(n)
}

func (p *lineParser) uint(s string, at, base int, what string) uint64 {
	v, err := strconv.ParseUint(s, base, 64)
	if err != nil {
		p.fail(at, "%q is not %s", s, what)
	}
	return v
}

func (p *lineParser) field(f *Field) uint64 {
	s, at := p.named(f.Name)
	if p.err != nil {
		return 0
	}
	switch f.Form {
	case Hex:
		d, ok := strings.CutPrefix(s, "0x")
		if !ok {
			p.fail(at, "%q is not a hexadecimal number with 0x", s)
		}
		return p.uint(d, at, 16, "a hexadecimal number with 0x")
	case Signed, Cycles, Nanos:
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			p.fail(at, "%q is not a signed number", s)
		}
		return uint64(v)
	case Bool:
		if s != "0" && s != "1" {
			p.fail(at, "%q is neither 0 nor 1", s)
		}
	case Enum:
		return p.enum(f.Names, s, at)
	case Mask:
		return p.mask(f.Names, s, at)
	case Text:
		return p.text(s, at)
	case Costs:
		return p.costs(s, at)
	}
	return p.uint(s, at, 10, "a number")
}

func (p *lineParser) enum(names []string, s string, at int) uint64 {
	if d, ok := strings.CutPrefix(s, "?"); ok {
		return p.uint(d, at+1, 10, "a number")
	}
	i := slices.Index(names, s)
	if i < 0 {
		p.fail(at, "%q is not one of %s", s, strings.Join(names, ", "))
		return 0
	}
	return uint64(i)
}

func (p *lineParser) mask(names []string, s string, at int) (v uint64) {
	if s == "0" {
		return 0
	}
	for part := range strings.SplitSeq(s, "|") {
		if i := slices.Index(names, part); i >= 0 {
			v |= 1 << i
		} else if d, ok := strings.CutPrefix(part, "0x"); ok {
			v |= p.uint(d, at, 16, "a bit")
		} else {
			p.fail(at, "%q is not one of %s", part, strings.Join(names, ", "))
		}
		at += len(part) + 1
	}
	return v
}

func (p *lineParser) text(s string, at int) (v uint64) {
	t, err := strconv.Unquote(s)
	if err != nil || s[0] != '"' || len(t) > 8 {
		p.fail(at, "%s is not quoted text of up to eight bytes", s)
		return 0
	}
	for i := range len(t) {
		v |= uint64(t[i]) << (8 * i)
	}
	return v
}

func (p *lineParser) costs(s string, at int) uint64 {
	first, second, _ := strings.Cut(s, ",")
	a := p.cost(first, at)
	if second == "" {
		return PackCosts(a, PhaseCost{})
	}
	return PackCosts(a, p.cost(second, at+len(first)+1))
}

func (p *lineParser) cost(s string, at int) (c PhaseCost) {
	if s == "-" {
		return c
	}
	name, cycles, ok := strings.Cut(s, ":")
	if !ok {
		p.fail(at, "%q is not phase:cycles", s)
		return c
	}
	n := p.uint(cycles, at+len(name)+1, 10, "a number of cycles")
	if n > uint64(MaxPhaseCost) {
		p.fail(at+len(name)+1, "%d cycles: at most %d", n, MaxPhaseCost)
	}
	ph := p.enum(PhaseNames, name, at)
	if ph > 0xff {
		p.fail(at, "phase %d: at most 255", ph)
	}
	return PhaseCost{Phase: Phase(ph), Cycles: clock.Cycles(n)}
}
