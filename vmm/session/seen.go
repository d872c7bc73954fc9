package session

import (
	"errors"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// seen is what a run that cannot be repeated has shown so far, kept as a
// recording in memory: its past can be looked at, not changed. The recording is
// in parts, so that the oldest can be forgotten.
type seen struct {
	r     *Runner
	parts []*part
	err   error // of keeping it; nothing more is kept then
	// size is that of a part in bytes, number how many there are at most.
	size   int64
	number int
}

// part is a recording that was begun in the middle of the run.
type part struct {
	w   *trace.Writer // nil once the next part has begun
	buf []byte
	// base is the number of bytes that the state it begins with takes.
	base int64
}

// Write implements io.Writer.
func (p *part) Write(b []byte) (int, error) {
	p.buf = append(p.buf, b...)
	return len(b), nil
}

// What is kept takes at most 64 MiB, some ten million events. Forgetting a part
// forgets an eighth of it.
const (
	partBytes = 8 << 20
	maxParts  = 8
)

// newSeen begins to keep what r shows.
func newSeen(r *Runner) *seen {
	s := &seen{r: r, size: partBytes, number: maxParts}
	s.begin()
	r.Tee(s)
	return s
}

// begin begins a part with the present state.
func (s *seen) begin() {
	p := &part{}
	if p.w, s.err = s.r.beginRecording(p); s.err != nil {
		return
	}
	p.base = p.w.Size()
	if n := len(s.parts); n > 0 {
		s.parts[n-1].w = nil // with its buffers
	}
	if len(s.parts) == s.number {
		s.parts = append(s.parts[:0], s.parts[1:]...)
	}
	s.parts = append(s.parts, p)
}

// Emit implements trace.Sink. The runner's state has the event already.
func (s *seen) Emit(e trace.Event) {
	if s.err != nil {
		return
	}
	p := s.parts[len(s.parts)-1]
	p.w.Emit(e)
	if s.err = p.w.Err(); s.err == nil && p.w.Size()-p.base >= s.size {
		p.w.Flush()
		s.begin()
	}
}

// open opens what is kept, up to the present.
func (s *seen) open() (*trace.Recording, error) {
	if s.err != nil {
		return nil, s.err
	}
	if s.r.st.Events == 0 {
		return nil, errors.New("nothing has happened yet")
	}
	s.parts[len(s.parts)-1].w.Flush()
	parts := make([][]byte, len(s.parts))
	for i, p := range s.parts {
		parts[i] = p.buf
	}
	return trace.OpenParts(parts...)
}
