package export

import (
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// table writes rows as RFC 4180 asks: CRLF, commas, quotes where a cell holds
// one of them. What is not known is an empty cell.
type table struct {
	out
	started bool
}

func (t *table) header(names ...string) {
	for _, n := range names {
		t.text(n)
	}
	t.end()
}

func (t *table) cell() []byte {
	if t.started {
		t.b = append(t.b, ',')
	}
	t.started = true
	return t.b
}

func (t *table) end() {
	t.b = append(t.b, '\r', '\n')
	t.started = false
}

func (t *table) none()         { t.b = t.cell() }
func (t *table) uint(v uint64) { t.b = strconv.AppendUint(t.cell(), v, 10) }
func (t *table) int(v int64)   { t.b = strconv.AppendInt(t.cell(), v, 10) }
func (t *table) hex(v uint64)  { t.b = strconv.AppendUint(append(t.cell(), "0x"...), v, 16) }

func (t *table) bool(v bool) {
	if v {
		t.uint(1)
	} else {
		t.uint(0)
	}
}

func (t *table) text(s string) {
	b := t.cell()
	if !strings.ContainsAny(s, ",\"\r\n") {
		t.b = append(b, s...)
		return
	}
	b = append(b, '"')
	for _, c := range []byte(s) {
		if c == '"' {
			b = append(b, '"')
		}
		b = append(b, c)
	}
	t.b = append(b, '"')
}

// cpu writes a CPU's number, nothing for none.
func (t *table) cpu(n uint8) {
	if n == trace.NoCPU {
		t.none()
		return
	}
	t.uint(uint64(n))
}

// point writes a TSC; 0 is a step that did not happen or is not known.
func (t *table) point(v clock.TSC) { t.optional(uint64(v)) }

// optional writes nothing for 0.
func (t *table) optional(v uint64) {
	if v == 0 {
		t.none()
		return
	}
	t.uint(v)
}

// name writes an enumeration whose zero is "none" or invalid: nothing for it.
func (t *table) name(v uint8, s string) {
	if v == 0 {
		t.none()
		return
	}
	t.text(s)
}
