package trace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// blockGap is a block that no file holds: it stands for the events of damaged
// blocks, as one KindLost event with FlagGap.
const blockGap blockKind = 'G'

// Damage is a stretch of a recording that is not what the writer wrote.
type Damage struct {
	From, To int64 // bytes [From, To) of the file
	Why      string
	First    Seq // number of the first event that is missing
	Events   Seq // how many are missing; 0 if none, or if nothing whole follows
	Tail     bool
}

// String says where the damage is and what it took.
func (d *Damage) String() string {
	var took string
	switch {
	case d.Tail:
		took = fmt.Sprintf("what followed event %d is missing", d.First)
	case d.Events == 0:
		took = "no event is missing"
	default:
		took = fmt.Sprintf("events %d to %d are missing", d.First, d.First+d.Events-1)
	}
	if d.From == d.To {
		return fmt.Sprintf("blocks are missing at byte %d: %s", d.From, took)
	}
	return fmt.Sprintf("bytes %d to %d are damaged (%s): %s", d.From, d.To-1, d.Why, took)
}

// Damage lists what is damaged, in the order of the file.
func (r *Recording) Damage() []Damage { return r.damage }

// BlockSums counts the whole blocks of a recording.
type BlockSums struct {
	Events  int `json:"events"`
	States  int `json:"states"` // that this version can read
	Actions int `json:"actions"`
}

// Blocks counts the whole blocks.
func (r *Recording) Blocks() BlockSums {
	n := BlockSums{States: len(r.snaps), Actions: len(r.actions)}
	for i := range r.chunks {
		if r.chunks[i].kind == blockEvents {
			n.Events++
		}
	}
	return n
}

// Version is the version of the recording's format.
func (r *Recording) Version() int { return r.version }

// Missing is the number of events that lie in damaged blocks between whole ones.
func (r *Recording) Missing() (n Seq) {
	for i := range r.damage {
		n += r.damage[i].Events
	}
	return n
}

// Whole is the number of events before the first damage.
func (r *Recording) Whole() Seq {
	for i := range r.damage {
		if d := &r.damage[i]; d.Events > 0 || d.Tail {
			return d.First
		}
	}
	return r.events
}

// maxEffort bounds the search for whole blocks: how many times the bytes of the file are
// read to verify what looks like a block.
const maxEffort = 8

// maxTold is how many damaged stretches a warning lists.
const maxTold = 3

// tellDamage makes the warning of what is damaged.
func (r *Recording) tellDamage() {
	var told []string
	for i := range r.damage[:min(len(r.damage), maxTold)] {
		told = append(told, r.damage[i].String())
	}
	if n := len(r.damage) - len(told); n > 0 {
		told = append(told, fmt.Sprintf("%d more stretches are damaged", n))
	}
	if len(told) > 0 {
		r.warning = "the recording is damaged: " + strings.Join(told, "; ")
	}
}

// resync looks for the next whole block behind the damage at s.at, and goes there. It
// reports false if there is none.
func (s *scanner) resync(why error) bool {
	at := s.at
	for from := at + 1; ; {
		next, ok := s.find(from, blockEvents, blockSnapshot, blockAction, blockIndex)
		if !ok {
			return false
		}
		s.at = next
		b, payload, err := s.next()
		if s.effort += int64(b.length); s.effort > maxEffort*s.size {
			s.at = at
			return false
		}
		if err == nil && s.follows(&b, payload) {
			s.rec.damage = append(s.rec.damage, Damage{From: at, To: next, Why: why.Error(), First: s.rec.events})
			s.lossy = true
			return true
		}
		from = next + 1
		s.at = at
	}
}

// follows reports whether b can stand behind what has been read: an index that ends the
// file, or a block of the same event or a later one.
func (s *scanner) follows(b *block, payload []byte) bool {
	switch {
	case b.kind == blockIndex:
		return b.end()+trailerLen <= s.size
	case b.kind == blockHeader:
		return false
	case b.kind == blockEvents && (b.place.count == 0 || b.place.count > b.rawLen || b.place.min > b.place.max):
		return false
	}
	n := b.place.first - s.rec.events
	return b.place.first >= s.rec.events && n <= math.MaxUint32
}

// find returns the place of the next bytes from offset on that look like the head of a
// block of one of the kinds.
func (s *scanner) find(offset int64, kinds ...blockKind) (at int64, ok bool) {
	var set []byte
	for _, k := range kinds {
		set = append(set, byte(k))
	}
	const window = 1 << 16
	buf := make([]byte, window)
	for offset+blockHeadLen <= s.size {
		p := buf[:min(window, s.size-offset)]
		if err := readFull(s.rec.r, p, offset); err != nil {
			return 0, false
		}
		for i := 0; i+blockHeadLen <= len(p); i++ {
			j := bytes.IndexAny(p[i:len(p)-blockHeadLen+1], string(set))
			if j < 0 {
				break
			}
			i += j
			if _, err := readBlockHead(p[i:], offset+int64(i), s.size); err == nil {
				return offset + int64(i), true
			}
		}
		offset += int64(len(p)) - blockHeadLen + 1
	}
	return 0, false
}

// gap files the events up to next, the first that is whole again, as missing.
func (s *scanner) gap(next Seq, at clock.TSC) {
	r := s.rec
	n := next - r.events
	r.damage[len(r.damage)-1].Events = n
	r.chunks = append(r.chunks, block{kind: blockGap, offset: r.damage[len(r.damage)-1].From,
		place: placement{first: r.events, count: uint32(n), min: at, max: at}})
	r.events = next
	r.last = max(r.last, at)
}

// gapEvent is the event that stands for those of gap b.
func gapEvent(b *block) Event {
	return Event{TSC: b.place.min, Kind: KindLost, VCPU: NoCPU, PCPU: NoCPU, Flags: FlagGap, A: uint64(b.place.count)}
}

// indexEvents reads the number of events of the run from the body of an index block.
func indexEvents(body []byte) (Seq, error) {
	number := func() (v uint64, err error) {
		v, n := binary.Uvarint(body)
		if n <= 0 {
			return 0, io.ErrUnexpectedEOF
		}
		body = body[n:]
		return v, nil
	}
	blocks, err := number()
	for ; err == nil && blocks > 0; blocks-- {
		if len(body) == 0 {
			return 0, io.ErrUnexpectedEOF
		}
		body = body[1:] // kind
		for range 5 {
			if _, err = number(); err != nil {
				break
			}
		}
	}
	if err != nil {
		return 0, err
	}
	n, err := number()
	return Seq(n), err
}

// closest returns the version of the format whose first bytes differ least from p, where
// a byte or two of them were damaged; 0 if p is something else.
func closest(p []byte) (version int) {
	if len(p) < preambleLen {
		return 0
	}
	best := 3
	for v := FormatVersion; v > 0; v-- {
		n := 0
		for i, b := range appendPreambleOf(nil, uint16(v)) {
			if p[i] != b {
				n++
			}
		}
		if n < best {
			best, version = n, v
		}
	}
	return version
}
