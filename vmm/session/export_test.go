package session

import "codeberg.org/ticktrap/ticktrap/vmm"

// ByHand is a Live whose loop a test turns, so that nothing happens at the same
// time: each command is carried out at once, and each frame is preceded by a
// slice of the run.
type ByHand struct{ l *Live }

// NewByHand makes one.
func NewByHand(r *Runner, wall Wall, o Options) (ByHand, error) {
	l, err := newLive(r, wall, o)
	return ByHand{l}, err
}

// Do implements vmm.Session.
func (h ByHand) Do(c vmm.Command) error {
	if err := h.l.refuse(&c); err != nil {
		return err
	}
	h.l.obey(c)
	return nil
}

// Frame implements vmm.Session.
func (h ByHand) Frame(f *vmm.Frame) {
	if h.l.running {
		h.l.advance()
	}
	h.l.publish()
	copyFrame(f, &h.l.frame)
}

// Close implements vmm.Session.
func (h ByHand) Close() error {
	h.l.finish(nil)
	return h.l.err
}

// KeepLittle makes the run keep at most n parts of so many bytes of what it has
// shown.
func (r *Runner) KeepLittle(n int, size int64) { r.seen.number, r.seen.size = n, size }

// Kept is the number of bytes and parts that are kept.
func (r *Runner) Kept() (bytes, parts int) {
	for _, p := range r.seen.parts {
		bytes += len(p.buf)
	}
	return bytes, len(r.seen.parts)
}

// OpenKept opens what is kept, as the first step back does.
func (r *Runner) OpenKept() error {
	_, err := r.seen.open()
	return err
}
