package ftrace

import (
	"bytes"
	"strings"
)

// A form is how a kernel prints an event's body: literal text with fields in
// braces, {name:class}. Classes:
//
//	d  unsigned decimal     i  signed decimal
//	x  hexadecimal, 0x optional
//	w  a word: up to a blank or the next literal
//	t  text up to the next literal, or to the end; may be empty
//
// What stands in options may follow, in order, each at most once.

// field is what a form's field means.
type field uint8

// The fields.
const (
	fNone field = iota
	fVCPU
	fRIP
	fReason // text, or a number in numbered rows
	fInfo1
	fInfo2
	fIntr
	fErr
	fReq
	fVec
	fDelta
	fHV
	fIndex
	fValue
	fOld
	fInhibits
	fTime
	fAPIC // APIC ID
	fDest
	fRet
	fPtr
	fPID
	fNext
	fCPU
	fNow
	fWord // text
	fWhat // text
	fMode // text
	fKV   // text: name=value pairs of a probe
	fMark // an option was present
	numFields
)

var fieldNames = map[string]field{"vcpu": fVCPU, "rip": fRIP, "reason": fReason, "info1": fInfo1, "info2": fInfo2,
	"intr": fIntr, "err": fErr, "req": fReq, "vec": fVec, "delta": fDelta, "hv": fHV, "index": fIndex, "value": fValue,
	"old": fOld, "inhibits": fInhibits, "time": fTime, "apic": fAPIC, "dest": fDest, "ret": fRet, "ptr": fPtr,
	"pid": fPID, "next": fNext, "cpu": fCPU, "now": fNow, "word": fWord, "what": fWhat, "mode": fMode, "kv": fKV}

// match holds the fields of one body. Text points into the line.
type match struct {
	num  [numFields]uint64
	text [numFields][]byte
	has  uint64 // bit f: field f is set
}

func (m *match) set(f field) bool { return m.has>>f&1 != 0 }

// piece is a literal, or a field with the literal that ends it.
type piece struct {
	lit   string
	f     field
	class byte
}

// form is a compiled row.
type form struct {
	row     *row
	pieces  []piece
	options [][]piece
}

// compile takes a form's text apart. A mistake in the table is a bug.
func compile(s string) []piece {
	var out []piece
	for s != "" {
		open := strings.IndexByte(s, '{')
		if open < 0 {
			return append(out, piece{lit: s})
		}
		if open > 0 {
			out = append(out, piece{lit: s[:open]})
		}
		end := strings.IndexByte(s, '}')
		name, class, ok := strings.Cut(s[open+1:end], ":")
		f, known := fieldNames[name]
		if !ok || !known || len(class) != 1 {
			panic("BUG: bad field " + s[open:end+1] + " in a form")
		}
		out = append(out, piece{f: f, class: class[0]})
		s = s[end+1:]
	}
	return out
}

// match reads body into m. If it does not fit, at is how far it did.
func (f *form) match(body []byte, m *match) (ok bool, at int) {
	m.has = 0
	at, ok = matchPieces(f.pieces, body, 0, m)
	if !ok {
		return false, at
	}
	for _, o := range f.options {
		if at == len(body) {
			break
		}
		if next, ok := matchPieces(o, body, at, m); ok {
			at = next
			m.has |= 1 << fMark
		}
	}
	return at == len(body), at
}

func matchPieces(ps []piece, body []byte, at int, m *match) (int, bool) {
	for i, p := range ps {
		if p.f == fNone {
			if !bytes.HasPrefix(body[at:], []byte(p.lit)) {
				return at, false
			}
			at += len(p.lit)
			continue
		}
		next := ""
		if i+1 < len(ps) {
			next = ps[i+1].lit
		}
		n, ok := m.read(p, body[at:], next)
		if !ok {
			return at, false
		}
		at += n
		m.has |= 1 << p.f
	}
	return at, true
}

// read reads one field from the start of b and returns its length.
func (m *match) read(p piece, b []byte, next string) (int, bool) {
	switch p.class {
	case 'd':
		return readDec(b, &m.num[p.f])
	case 'i':
		neg := len(b) > 0 && b[0] == '-'
		if neg {
			b = b[1:]
		}
		n, ok := readDec(b, &m.num[p.f])
		if neg {
			m.num[p.f] = -m.num[p.f]
			n++
		}
		return n, ok
	case 'x':
		return readHex(b, &m.num[p.f])
	}
	n := len(b)
	if next != "" {
		if n = bytes.Index(b, []byte(next)); n < 0 {
			return 0, false
		}
	}
	if p.class == 'w' {
		if i := bytes.IndexByte(b[:n], ' '); i >= 0 {
			n = i
		}
		if n == 0 {
			return 0, false
		}
	}
	m.text[p.f] = b[:n]
	return n, true
}

func readDec(b []byte, v *uint64) (n int, ok bool) {
	x := uint64(0)
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		d := uint64(b[n] - '0')
		if x > (1<<64-1-d)/10 {
			return n, false
		}
		x = x*10 + d
		n++
	}
	*v = x
	return n, n > 0
}

func readHex(b []byte, v *uint64) (n int, ok bool) {
	x := uint64(0)
	start := 0
	if len(b) > 2 && b[0] == '0' && b[1] == 'x' {
		start = 2
	}
	for n = start; n < len(b); n++ {
		c := b[n]
		var d byte
		switch {
		case c >= '0' && c <= '9':
			d = c - '0'
		case c >= 'a' && c <= 'f':
			d = c - 'a' + 10
		case c >= 'A' && c <= 'F':
			d = c - 'A' + 10
		default:
			*v = x
			return n, n > start
		}
		if x>>60 != 0 {
			return n, false
		}
		x = x<<4 | uint64(d)
	}
	*v = x
	return n, n > start
}
