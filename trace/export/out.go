package export

import (
	"io"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// out collects bytes and writes them in large pieces. The first error stays.
type out struct {
	w   io.Writer
	b   []byte
	err error
}

const outSize = 64 << 10

// flushed writes what there is if it is a large piece.
func (o *out) flushed() error {
	if len(o.b) >= outSize {
		o.flush()
	}
	return o.err
}

func (o *out) flush() error {
	if o.err == nil && len(o.b) > 0 {
		_, o.err = o.w.Write(o.b)
	}
	o.b = o.b[:0]
	return o.err
}

// nanosOf is t in nanoseconds since the zero of its line, rounded down; 0 if it
// does not fit.
func nanosOf(hz clock.Hz, t clock.TSC) int64 {
	ns, ok := hz.ToNanos(t)
	if !ok {
		return 0
	}
	return int64(ns)
}

// spanOf is a distance in nanoseconds, rounded towards 0.
func spanOf(hz clock.Hz, c clock.Cycles) int64 {
	if c < 0 {
		return -nanosOf(hz, clock.TSC(-c))
	}
	return nanosOf(hz, clock.TSC(c))
}
