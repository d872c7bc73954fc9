package trace

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	// chunkEvents is the number of events of a full block, snapshotEvents the
	// number from one snapshot to the next: what a seek has to fold at most.
	chunkEvents    = 16 << 10
	snapshotEvents = 8 * chunkEvents
)

// Writer writes a recording. It is a Sink: Emit takes one event after the other
// and keeps the first error, which Err and Close return. It does not allocate
// per event; every 16384 events it compresses and writes a block in the calling
// goroutine, and every 131072 a snapshot.
type Writer struct {
	w      io.Writer
	err    error
	offset int64
	closed bool

	events []Event // not yet written
	seq    Seq     // number of the first of them
	state  State   // after all events
	snapAt Seq
	layout uint64

	cols  columns
	enc   *zstd.Encoder
	body  []byte
	out   []byte
	index []block
}

// NewWriter begins a recording of the run that h describes. The caller closes
// what it writes to, after Close.
func NewWriter(w io.Writer, h *Header) (*Writer, error) {
	var s State
	s.Reset(h)
	return NewWriterAt(w, h, &s)
}

// NewWriterAt begins a recording in the middle of a run: s is the state after
// the events so far, which the recording does not hold. Screens and reports of
// the recording show them nevertheless, for the state comes first in it.
func NewWriterAt(w io.Writer, h *Header, s *State) (*Writer, error) {
	js, err := encodeHeader(h)
	if err != nil {
		return nil, fmt.Errorf("encoding the header: %w", err)
	}
	t := &Writer{w: w, events: make([]Event, 0, chunkEvents), enc: newEncoder(), layout: stateLayout()}
	s.CopyTo(&t.state)
	t.seq = s.Events
	t.write(appendPreamble(nil))
	for range 2 { // the second for when the first is damaged: without it all is lost
		t.writeBlock(blockHeader, &placement{}, js, false)
	}
	if t.seq > 0 {
		t.snapshot()
	}
	return t, t.err
}

// Emit takes the next event. After an error, or Close, it does nothing.
func (t *Writer) Emit(e Event) {
	if t.err != nil || t.closed {
		return
	}
	if err := Validate(&e); err != nil {
		t.err = fmt.Errorf("recording event %d: %w", t.state.Events, err)
		return
	}
	t.state.Apply(&e)
	t.events = append(t.events, e)
	if len(t.events) == chunkEvents {
		t.Flush()
		if t.state.Events-t.snapAt >= snapshotEvents {
			t.snapshot()
		}
	}
}

// Act records an action of the user that is no event, at the present position.
func (t *Writer) Act(verb, text string) {
	t.Flush()
	if t.err != nil || t.closed {
		return
	}
	js, err := json.Marshal(Action{Seq: t.state.Events, TSC: t.state.Now, Verb: verb, Text: text})
	if err != nil {
		t.err = fmt.Errorf("recording %s: %w", verb, err)
		return
	}
	t.writeBlock(blockAction, &placement{first: t.state.Events, min: t.state.Now, max: t.state.Now}, js, false)
}

// Flush writes the events taken so far: what a reader finds should the program
// die. Short blocks compress less well.
func (t *Writer) Flush() {
	if t.err != nil || t.closed || len(t.events) == 0 {
		return
	}
	p := placement{first: t.seq, count: uint32(len(t.events)), min: t.events[0].TSC, max: t.events[0].TSC}
	for i := range t.events {
		p.min, p.max = min(p.min, t.events[i].TSC), max(p.max, t.events[i].TSC)
	}
	t.body = t.cols.encode(t.body[:0], t.events, FormatVersion)
	t.writeBlock(blockEvents, &p, t.body, true)
	t.seq += Seq(len(t.events))
	t.events = t.events[:0]
}

// snapshot writes the state. All events must have been flushed.
func (t *Writer) snapshot() {
	if t.err != nil {
		return
	}
	t.body = appendState(t.body[:0], &t.state)
	t.snapAt = t.state.Events
	if len(t.body) > maxBody {
		if len(t.index) == 0 {
			t.err = fmt.Errorf("recording from event %d on: the state takes %d bytes", t.seq, len(t.body))
		}
		return // a cache that is too big is left out
	}
	p := placement{first: t.state.Events, min: t.state.Now, max: t.state.Now, layout: t.layout}
	t.writeBlock(blockSnapshot, &p, t.body, true)
}

// Close writes what is left and the index. It returns the first error of the
// recording. A second call does nothing.
func (t *Writer) Close() error {
	if t.closed {
		return t.err
	}
	t.Flush()
	at := t.offset
	t.writeBlock(blockIndex, &placement{}, t.appendIndex(nil), false)
	t.write(appendTrailer(nil, at))
	t.closed = true
	return errors.Join(t.err, t.enc.Close())
}

// appendIndex appends the body of the index block.
func (t *Writer) appendIndex(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(t.index)))
	for i := range t.index {
		b = t.index[i].appendEntry(b)
	}
	return binary.AppendUvarint(b, uint64(t.seq))
}

func (b *block) appendEntry(p []byte) []byte {
	p = append(p, byte(b.kind))
	for _, v := range [...]uint64{uint64(b.offset), uint64(b.place.first), uint64(b.place.count), uint64(b.place.min),
		uint64(b.place.max)} {
		p = binary.AppendUvarint(p, v)
	}
	return p
}

// Err is the first error so far.
func (t *Writer) Err() error { return t.err }

// Size is the number of bytes written so far.
func (t *Writer) Size() int64 { return t.offset }

// Events is the number of events of the run so far.
func (t *Writer) Events() Seq { return t.state.Events }

func (t *Writer) writeBlock(k blockKind, p *placement, body []byte, compress bool) {
	var enc *zstd.Encoder
	if compress {
		enc = t.enc
	}
	if k.placed() {
		t.index = append(t.index, block{kind: k, offset: t.offset, place: *p})
	}
	t.out = appendBlock(t.out[:0], k, p, body, enc)
	t.write(t.out)
}

func (t *Writer) write(p []byte) {
	if t.err != nil {
		return
	}
	n, err := t.w.Write(p)
	t.offset += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		t.err = fmt.Errorf("writing the recording at byte %d: %w", t.offset, err)
	}
}
