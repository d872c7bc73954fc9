package trace

import (
	"errors"
	"fmt"
	"io"
	"sort"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// Cursor goes through the events of a recording. It belongs to one goroutine.
type Cursor struct {
	rec    *Recording
	chunk  int // whose events are decoded, −1 if none
	events []Event
	seq    Seq // of the next event
	cols   columns
	file   []byte
	body   []byte
}

// Cursor returns a cursor at the first event.
func (r *Recording) Cursor() *Cursor { return &Cursor{rec: r, chunk: -1, seq: r.first} }

// Seq is the number of the event that Next returns next.
func (c *Cursor) Seq() Seq { return c.seq }

// Next returns the next event. The error is io.EOF behind the last one, and a
// *DamageError for one that cannot be. One event with FlagGap stands for those that are
// missing, and takes their numbers.
func (c *Cursor) Next() (Event, error) {
	if c.seq >= c.rec.events {
		return Event{}, io.EOF
	}
	if err := c.load(); err != nil {
		return Event{}, err
	}
	p := &c.rec.chunks[c.chunk].place
	e := c.events[c.seq-p.first]
	c.seq++
	if e.Flags&FlagGap != 0 {
		c.seq = p.first + Seq(p.count)
	}
	return e, nil
}

// SeekSeq moves to event n, or to the beginning of the gap that it is in. The end,
// Events, is a place too.
func (c *Cursor) SeekSeq(n Seq) error {
	if err := c.rec.has(n); err != nil {
		return err
	}
	c.seq = n
	return nil
}

// has reports whether n is a place in the recording.
func (r *Recording) has(n Seq) error {
	if n < r.first || n > r.events {
		return fmt.Errorf("event %d: the recording holds events %d to %d", n, r.first, r.events)
	}
	return nil
}

// SeekTSC moves to the first event at or after t, or to the end.
func (c *Cursor) SeekTSC(t clock.TSC) error {
	chunks := c.rec.chunks
	i := 0
	for i < len(chunks) && chunks[i].place.max < t {
		i++
	}
	if i == len(chunks) {
		c.seq = c.rec.events
		return nil
	}
	c.seq = chunks[i].place.first
	if err := c.load(); err != nil {
		return err
	}
	for j := range c.events {
		if c.events[j].TSC >= t {
			break
		}
		c.seq++
	}
	return nil
}

// load decodes the block that holds event c.seq.
func (c *Cursor) load() error {
	chunks := c.rec.chunks
	if c.chunk >= 0 {
		if p := &chunks[c.chunk].place; p.first <= c.seq && c.seq < p.first+Seq(p.count) {
			if chunks[c.chunk].kind == blockGap {
				c.seq = p.first
			}
			return nil
		}
	}
	i := sort.Search(len(chunks), func(i int) bool { return chunks[i].place.first > c.seq }) - 1
	c.chunk = -1
	b := &chunks[i]
	if b.kind == blockGap {
		c.events = append(c.events[:0], gapEvent(b))
		c.chunk, c.seq = i, b.place.first
		return nil
	}
	var err error
	if c.file, err = c.rec.payload(b, c.file); err != nil {
		return err
	}
	if c.body, err = b.body(c.file[blockHeadLen:], c.body, c.rec.dec); err != nil {
		return &DamageError{b.offset, b.place.first, err.Error()}
	}
	c.events, err = c.cols.decode(c.events[:0], c.body, int(b.place.count), c.rec.version)
	if err != nil {
		n := Seq(len(c.events))
		if ee := (*eventError)(nil); errors.As(err, &ee) {
			n = Seq(ee.index)
		}
		return &DamageError{b.offset, b.place.first + n, err.Error()}
	}
	if err := c.checkTimes(b); err != nil {
		return err
	}
	c.chunk = i
	return nil
}

// checkTimes compares the placement's times with those of the events.
func (c *Cursor) checkTimes(b *block) error {
	lo, hi := c.events[0].TSC, c.events[0].TSC
	for i := range c.events {
		lo, hi = min(lo, c.events[i].TSC), max(hi, c.events[i].TSC)
	}
	if lo != b.place.min || hi != b.place.max {
		return &DamageError{b.offset, b.place.first, "its events lie at other times than it says"}
	}
	return nil
}

// StateAt makes s the state after the first n events of the run, and moves the cursor
// there. It starts from the nearest snapshot; what s was does not matter. Where event n is
// missing, the state is that before the gap.
func (c *Cursor) StateAt(n Seq, s *State) error {
	if err := c.rec.has(n); err != nil {
		return err
	}
	snaps := c.rec.snaps
	i := sort.Search(len(snaps), func(i int) bool { return snaps[i].place.first > n }) - 1
	for ; i >= 0; i-- {
		if c.restore(&snaps[i], s) == nil {
			return c.fold(n, s)
		}
		*s = State{}
	}
	s.Reset(&c.rec.header)
	s.Events = c.rec.first
	return c.fold(n, s)
}

// Advance takes s, the state of this recording after some earlier event, to the
// state after the first n, and moves the cursor there.
func (c *Cursor) Advance(n Seq, s *State) error {
	if n > c.rec.events || n < s.Events {
		return fmt.Errorf("event %d: the state is at %d and the recording has %d", n, s.Events, c.rec.events)
	}
	return c.fold(n, s)
}

// fold applies the events from s on up to n.
func (c *Cursor) fold(n Seq, s *State) error {
	c.seq = s.Events
	for c.seq < n {
		if err := c.load(); err != nil {
			return err
		}
		p := &c.rec.chunks[c.chunk].place
		end := min(n, p.first+Seq(p.count))
		if c.rec.chunks[c.chunk].kind == blockGap {
			if end < p.first+Seq(p.count) {
				return nil
			}
			s.Apply(&c.events[0])
			c.seq = end
			continue
		}
		for ; c.seq < end; c.seq++ {
			s.Apply(&c.events[c.seq-p.first])
		}
	}
	return nil
}

// restore makes s what a snapshot holds.
func (c *Cursor) restore(b *block, s *State) error {
	var err error
	if c.file, err = c.rec.payload(b, c.file); err != nil {
		return err
	}
	if c.body, err = b.body(c.file[blockHeadLen:], c.body, c.rec.dec); err != nil {
		return err
	}
	if err := decodeState(c.body, s); err != nil {
		return err
	}
	if s.Events != b.place.first {
		return errState
	}
	return nil
}
