package ftrace

import (
	"bufio"
	"bytes"
	"container/heap"
	"errors"
	"io"
)

// source gives the records of a trace, in the order of their times. What a
// record holds is valid until the next call. The error is io.EOF at the end.
type source interface {
	next(r *record) error
}

// lines gives the lines of a text. Lines longer than maxLine are cut: the rest of
// such a line is dropped, and it is read as what it begins with.
type lines struct {
	r      *bufio.Reader
	offset int64 // of the next line
	long   []byte
}

func newLines(r io.Reader, size int) *lines { return &lines{r: bufio.NewReaderSize(r, size)} }

// next returns a line, with its end, and the offset where it begins.
func (l *lines) next() (b []byte, at int64, err error) {
	at = l.offset
	b, err = l.r.ReadSlice('\n')
	l.offset += int64(len(b))
	if !errors.Is(err, bufio.ErrBufferFull) {
		if err == io.EOF && len(b) > 0 {
			err = nil
		}
		return b, at, err
	}
	l.long = append(l.long[:0], b...)
	for errors.Is(err, bufio.ErrBufferFull) {
		b, err = l.r.ReadSlice('\n')
		l.offset += int64(len(b))
		if len(l.long) < maxLine {
			l.long = append(l.long, b...)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return l.long[:min(len(l.long), maxLine)], at, err
}

// segment is a part of a text whose times do not go back.
type segment struct {
	offset, end int64
	line        int // number of its first line, from 1
}

// textSource gives the records of one segment.
type textSource struct {
	in     *lines
	p      *parser
	line   int    // lines read
	at     int64  // where the last one began
	deltas bool   // stamps are distances from the line before
	sum    uint64 // of them
	ahead  []aheadLine
	joined []byte
	prev   []byte // the line that was read last
}

// aheadLine is a line that was read to see whether it goes on with the one before.
type aheadLine struct {
	b  []byte
	at int64
}

func openSegment(in io.ReaderAt, s segment, p *parser, buffer int) *textSource {
	l := newLines(io.NewSectionReader(in, s.offset, s.end-s.offset), buffer)
	l.offset = s.offset
	return &textSource{in: l, p: p, line: s.line - 1}
}

func (t *textSource) next(r *record) error {
	for {
		b, err := t.read()
		if err != nil {
			return err
		}
		t.p.line = t.line - 1
		ok, bad := t.p.parse(b, r)
		if bad != nil {
			if ok = t.join(b, r); !ok {
				if t.tail(b, r) {
					continue
				}
				if err := t.p.reject(bad); err != nil {
					return err
				}
			}
		}
		if !ok {
			continue
		}
		t.prev = append(t.prev[:0], b...)
		if t.deltas && !r.gap {
			t.sum += r.ts
			r.ts = t.sum
		}
		return nil
	}
}

// read returns the next line.
func (t *textSource) read() (b []byte, err error) {
	if len(t.ahead) > 0 {
		a := t.ahead[0]
		t.ahead, t.at = t.ahead[1:], a.at
		t.line++
		return a.b, nil
	}
	if b, t.at, err = t.in.next(); err == nil {
		t.line++
	}
	return b, err
}

// maxJoin is into how many lines a mail program breaks one.
const maxJoin = 4

// tail reports whether a line that cannot be read is the end of the one before,
// which could be read without it.
func (t *textSource) tail(b []byte, r *record) bool {
	t.joined = append(append(t.joined[:0], bytes.TrimRight(t.prev, " \t\r\n")...), ' ')
	t.joined = append(t.joined, bytes.TrimSpace(unquote(b))...)
	lines := t.p.facts.Lines
	ok, bad := t.p.parse(t.joined, r)
	t.p.facts.Lines = lines
	return ok && bad == nil && len(t.prev) > 0
}

// join reads a line that cannot be read alone together with those after it, as a
// mail program breaks them. Lines that begin a record themselves are not taken.
func (t *textSource) join(b []byte, r *record) bool {
	t.joined = append(t.joined[:0], bytes.TrimRight(b, " \t\r\n")...)
	for n := 1; n < maxJoin; n++ {
		for len(t.ahead) < n {
			next, at, err := t.in.next()
			if err != nil {
				return false
			}
			t.ahead = append(t.ahead, aheadLine{bytes.Clone(next), at})
		}
		more := bytes.TrimSpace(unquote(t.ahead[n-1].b))
		var head rawLine
		if len(more) == 0 {
			return false
		}
		if ok, _ := parseLine(more, &head); ok && head.printer != Bare {
			return false
		}
		t.joined = append(append(t.joined, ' '), more...)
		t.p.line = t.line - 1
		if ok, bad := t.p.parse(t.joined, r); bad == nil && ok {
			t.ahead = t.ahead[n:]
			t.line += n
			return true
		}
	}
	return false
}

// merge gives the records of several sources by their times; of equal times,
// those of the earlier source come first. A line that two segments of a text hold
// alike is given once: the same capture was put together with itself.
type merge struct {
	heads   mergeHeap
	current *head      // its record was given last
	seen    []seenLine // lines of the present time
	at      uint64
	facts   *Facts
	text    bool // the sources are segments of one text
}

// head is a source with its next record.
type head struct {
	src   source
	order int
	rec   record
}

type seenLine struct {
	order int
	cpu   int16
	hash  uint64
}

type mergeHeap []*head

func (h mergeHeap) Len() int { return len(h) }
func (h mergeHeap) Less(i, j int) bool {
	a, b := &h[i].rec, &h[j].rec
	return a.ts < b.ts || a.ts == b.ts && h[i].order < h[j].order
}
func (h mergeHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *mergeHeap) Push(x any)   { *h = append(*h, x.(*head)) }
func (h *mergeHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

func newMerge(parts []source, f *Facts, text bool) (*merge, error) {
	m := &merge{facts: f, text: text}
	for i, s := range parts {
		h := &head{src: s, order: i}
		if err := s.next(&h.rec); err == nil {
			m.heads = append(m.heads, h)
		} else if err != io.EOF {
			return nil, err
		}
	}
	heap.Init(&m.heads)
	return m, nil
}

func (m *merge) next(r *record) error {
	for {
		if t := m.current; t != nil {
			m.current = nil
			ts := t.rec.ts
			switch err := t.src.next(&t.rec); {
			case err == io.EOF:
				heap.Pop(&m.heads)
			case err != nil:
				return err
			default:
				if t.rec.gap {
					t.rec.ts = ts // a note about losses has no time of its own
				}
				heap.Fix(&m.heads, 0)
			}
		}
		if len(m.heads) == 0 {
			return io.EOF
		}
		t := m.heads[0]
		m.current = t
		if m.text && !t.rec.gap && m.double(t) {
			m.facts.double(t.rec.line)
			continue
		}
		*r = t.rec
		return nil
	}
}

// double reports whether another segment gave the line already.
func (m *merge) double(t *head) bool {
	if t.rec.ts != m.at {
		m.seen, m.at = m.seen[:0], t.rec.ts
	}
	s := seenLine{t.order, t.rec.cpu, hash(t.rec.event, t.rec.rawLine.body)}
	for _, o := range m.seen {
		if o.hash == s.hash && o.cpu == s.cpu && o.order != s.order {
			return true
		}
	}
	if len(m.seen) < 1<<10 {
		m.seen = append(m.seen, s)
	}
	return false
}

// hash is FNV-1a of an event's name and body.
func hash(parts ...[]byte) uint64 {
	h := uint64(14695981039346656037)
	for _, p := range parts {
		for _, c := range p {
			h = (h ^ uint64(c)) * 1099511628211
		}
	}
	return h
}

// window orders a text whose times go back too often to be parts of it: each
// record waits until windowSize others have come.
type window struct {
	in    source
	heap  waitHeap
	last  uint64
	n     uint64
	done  bool
	facts *Facts
}

const windowSize = 1 << 15

type waiting struct {
	rec record
	n   uint64
}

type waitHeap []*waiting

func (h waitHeap) Len() int { return len(h) }
func (h waitHeap) Less(i, j int) bool {
	return h[i].rec.ts < h[j].rec.ts || h[i].rec.ts == h[j].rec.ts && h[i].n < h[j].n
}
func (h waitHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *waitHeap) Push(x any)   { *h = append(*h, x.(*waiting)) }
func (h *waitHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

func (w *window) next(r *record) error {
	for !w.done && len(w.heap) < windowSize {
		x := &waiting{n: w.n}
		switch err := w.in.next(&x.rec); {
		case err == io.EOF:
			w.done = true
		case err != nil:
			return err
		case x.rec.ts < w.last && !x.rec.gap:
			w.facts.late(x.rec.line)
		default:
			if x.rec.gap {
				x.rec.ts = w.last
			}
			x.rec.own()
			w.n++
			heap.Push(&w.heap, x)
		}
	}
	if len(w.heap) == 0 {
		return io.EOF
	}
	x := heap.Pop(&w.heap).(*waiting)
	w.last = x.rec.ts
	*r = x.rec
	return nil
}

// own copies what the record points to, so that it outlives its line.
func (r *record) own() {
	r.comm, r.event, r.flags = bytes.Clone(r.comm), bytes.Clone(r.event), bytes.Clone(r.flags)
	for f := range r.text {
		if r.has>>f&1 != 0 && r.text[f] != nil {
			r.text[f] = bytes.Clone(r.text[f])
		}
	}
	r.rawLine.body = nil
}
