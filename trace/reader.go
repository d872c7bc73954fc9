package trace

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/klauspost/compress/zstd"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// Recording is an open recording. The events of damaged blocks are missing in it: a
// KindLost event with FlagGap stands for them, and Damage says where. It may be used
// from several goroutines, each with its own Cursor.
type Recording struct {
	r       io.ReaderAt
	version int // of the format
	dec     *zstd.Decoder
	header  Header
	chunks  []block
	snaps   []block
	actions []Action
	first   Seq // of the first event in the recording
	events  Seq
	last    clock.TSC
	damage  []Damage
	warning string
}

// Open reads the recording in the first size bytes of r. It checks every block's
// checksum. Of a recording that is cut or damaged everything is used that is whole, and
// Warning says what is not; the error is one sentence if nothing can be shown.
func Open(r io.ReaderAt, size int64) (*Recording, error) { return open(r, size, false) }

// open opens a recording; one that is still being written may end after any
// block.
func open(r io.ReaderAt, size int64, unfinished bool) (*Recording, error) {
	head := make([]byte, min(preambleLen, max(size, 0)))
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), head); err != nil {
		return nil, fmt.Errorf("reading the recording: %w", err)
	}
	version, err := checkPreamble(head)
	if err != nil {
		if version = closest(head); version == 0 || errors.Is(err, ErrNewer) {
			return nil, err
		}
	}
	rec := &Recording{r: r, version: version, dec: newDecoder()}
	if err != nil {
		rec.damage = append(rec.damage, Damage{To: preambleLen, Why: err.Error()})
	}
	s := scanner{rec: rec, size: size, at: preambleLen, layout: stateLayout(), unfinished: unfinished}
	if err := s.scan(); err != nil {
		return nil, err
	}
	rec.checkBase()
	return rec, nil
}

// checkBase warns if the state that a recording begins with cannot be read.
func (r *Recording) checkBase() {
	if r.first == 0 {
		return
	}
	var st State
	if len(r.snaps) > 0 && r.snaps[0].place.first == r.first && r.Cursor().restore(&r.snaps[0], &st) == nil {
		return
	}
	if r.warning != "" {
		r.warning += "; "
	}
	r.warning += fmt.Sprintf("the recording begins at event %d with a state that this version cannot read: figures are those since then", r.first)
}

// OpenFile opens the recording called name. The closer closes the file.
func OpenFile(name string) (*Recording, io.Closer, error) {
	fi, err := os.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if !fi.Mode().IsRegular() {
		what := "not a regular file"
		if fi.IsDir() {
			what = "a directory"
		}
		return nil, nil, fmt.Errorf("%s: %w: it is %s", name, ErrNotRecording, what)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	rec, err := Open(f, fi.Size())
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	return rec, f, nil
}

// Header describes the run.
func (r *Recording) Header() *Header { return &r.header }

// Warning says in one sentence what is wrong with the recording; it is empty if
// nothing is.
func (r *Recording) Warning() string { return r.warning }

// First is the number of the first event in the recording: 0, unless it was
// begun in the middle of the run. States before it are not known.
func (r *Recording) First() Seq { return r.first }

// Events is the number of events of the run up to the first damage, those before
// First included.
func (r *Recording) Events() Seq { return r.events }

// Last is the greatest TSC of an event.
func (r *Recording) Last() clock.TSC { return r.last }

// Actions are the recorded actions, in order.
func (r *Recording) Actions() []Action { return r.actions }

// scanner goes through the blocks of a recording once.
type scanner struct {
	rec    *Recording
	size   int64
	at     int64
	layout uint64
	buf    []byte
	blocks []block
	// unfinished: an end without index is no damage.
	unfinished bool
	// lossy: blocks before this one are damaged.
	lossy bool
	// effort is the number of bytes that were read to find whole blocks.
	effort int64
}

func (s *scanner) scan() error {
	if err := s.readHeader(); err != nil {
		return err
	}
	for s.at < s.size {
		b, payload, err := s.next()
		if err == nil && b.kind == blockIndex {
			s.finish(&b, payload)
			return nil
		}
		if err == nil {
			err = s.take(&b, payload)
		}
		if err == nil {
			s.at = b.end()
		} else if !s.resync(err) {
			s.damaged(err)
			return nil
		}
	}
	s.rec.tellDamage()
	if !s.unfinished {
		s.damaged(io.ErrUnexpectedEOF)
	}
	return nil
}

// damaged notes why the recording ends at s.at.
func (s *scanner) damaged(err error) {
	r := s.rec
	if errors.Is(err, io.ErrUnexpectedEOF) {
		r.tellDamage()
		if r.warning != "" {
			r.warning += "; "
		}
		r.warning += fmt.Sprintf("the recording is cut at byte %d of %d, after event %d", s.at, s.size, r.events)
		return
	}
	r.damage = append(r.damage, Damage{From: s.at, To: s.size, Why: err.Error(), First: r.events, Tail: true})
	r.tellDamage()
}

// next reads the block at s.at. The payload is valid until the next call.
func (s *scanner) next() (b block, payload []byte, err error) {
	const chunk = 1 << 16
	s.buf = grow(s.buf, int(min(chunk, s.size-s.at)))
	if err := readFull(s.rec.r, s.buf, s.at); err != nil {
		return b, nil, err
	}
	if b, err = readBlockHead(s.buf, s.at, s.size); err != nil {
		return b, nil, err
	}
	if have, need := len(s.buf), blockHeadLen+int(b.length); need > have {
		s.buf = append(s.buf, make([]byte, need-have)...)
		if err := readFull(s.rec.r, s.buf[have:], s.at+int64(have)); err != nil {
			return b, nil, err
		}
	}
	payload = s.buf[blockHeadLen : blockHeadLen+int(b.length)]
	return b, payload, b.check(s.buf[:blockHeadLen], payload)
}

// grow returns a slice of n bytes, b's memory if it is large enough.
func grow(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

func readFull(r io.ReaderAt, p []byte, at int64) error {
	n, err := r.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return fmt.Errorf("reading at byte %d: %w", at, err)
}

// readHeader reads the first block, or its copy behind it; without them nothing can be
// shown.
func (s *scanner) readHeader() error {
	err := s.readOneHeader()
	if err == nil {
		return nil
	}
	for from, n := s.at+1, 0; n < 2; n++ {
		at, ok := s.find(from, blockHeader)
		if !ok {
			break
		}
		s.at = at
		if s.readOneHeader() == nil {
			s.rec.damage = append(s.rec.damage, Damage{From: preambleLen, To: at, Why: err.Error()})
			return nil
		}
		from = at + 1
	}
	return err
}

func (s *scanner) readOneHeader() error {
	b, payload, err := s.next()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it is cut in its header")
	}
	if err == nil && b.kind != blockHeader {
		err = fmt.Errorf("its first block has kind %q", byte(b.kind))
	}
	if err == nil {
		payload, err = b.body(payload, nil, s.rec.dec)
	}
	if err == nil {
		s.rec.header, err = decodeHeader(payload)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	s.at = b.end()
	return nil
}

// take files a block. Copies of the header are passed over.
func (s *scanner) take(b *block, payload []byte) error {
	r := s.rec
	p := &b.place
	if b.kind == blockHeader {
		return nil
	}
	if b.kind == blockSnapshot && len(s.blocks) == 0 && !s.lossy {
		r.first, r.events = p.first, p.first // it begins in the middle
	}
	switch {
	case p.first > r.events && p.first-r.events > math.MaxUint32:
		return fmt.Errorf("it belongs at event %d, after %d events", p.first, r.events)
	case b.kind == blockEvents && (p.first < r.events || p.count == 0 || p.count > b.rawLen || p.min > p.max):
		return fmt.Errorf("events %d and %d more do not follow event %d", p.first, p.count, r.events)
	}
	if p.first > r.events {
		if !s.lossy {
			r.damage = append(r.damage, Damage{From: b.offset, To: b.offset, First: r.events, Why: "blocks are missing"})
		}
		s.gap(p.first, p.min)
	}
	s.lossy = false
	s.blocks = append(s.blocks, *b)
	switch {
	case b.kind == blockEvents:
		r.chunks = append(r.chunks, *b)
		r.events += Seq(p.count)
		r.last = max(r.last, p.max)
	case b.kind == blockSnapshot && p.layout == s.layout:
		r.snaps = append(r.snaps, *b)
	case b.kind == blockAction:
		var in Action
		if err := json.Unmarshal(payload[b.bodyOff:], &in); err != nil {
			return fmt.Errorf("action: %w", err)
		}
		r.actions = append(r.actions, in)
	}
	return nil
}

// finish compares the index and the trailer with what was found. The index of a damaged
// recording tells how many events the damage took at its end.
func (s *scanner) finish(b *block, payload []byte) {
	r := s.rec
	body, err := b.body(payload, nil, r.dec)
	if err != nil {
		s.damaged(err)
		return
	}
	if n, err := indexEvents(body); s.lossy && err == nil && n > r.events && n-r.events <= math.MaxUint32 {
		s.gap(n, r.last)
	}
	r.tellDamage()
	if t := (Writer{index: s.blocks, seq: r.events}); len(r.damage) == 0 && !bytes.Equal(body, t.appendIndex(nil)) {
		s.damaged(errors.New("the index tells of other blocks"))
		return
	}
	want := appendTrailer(nil, b.offset)
	have := make([]byte, min(trailerLen, s.size-b.end()))
	note := ""
	if err := readFull(r.r, have, b.end()); err != nil || !bytes.Equal(have, want) {
		note = "the last bytes of the recording are damaged: no event is missing there"
	} else if extra := s.size - b.end() - trailerLen; extra > 0 {
		note = fmt.Sprintf("%d bytes follow the end of the recording: they are ignored", extra)
	}
	if note != "" && r.warning != "" {
		note = r.warning + "; " + note
	}
	if note != "" {
		r.warning = note
	}
}

// payload reads a block that Open has checked. A file that changed since then is
// an error.
func (r *Recording) payload(b *block, buf []byte) ([]byte, error) {
	buf = grow(buf, blockHeadLen+int(b.length))
	if err := readFull(r.r, buf, b.offset); err != nil {
		return buf, err
	}
	if binary.LittleEndian.Uint32(buf[12:]) != b.sum || checksum(buf[:12], buf[blockHeadLen:]) != b.sum {
		return buf, &DamageError{b.offset, b.place.first, "the file changed after it was opened"}
	}
	return buf, nil
}
