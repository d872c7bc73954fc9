package trace

import (
	"errors"
	"fmt"
	"io"
)

// OpenParts opens several recordings of one run as one. Each part must have been
// begun, by NewWriterAt, where the one before it ends, and be flushed but not
// closed: an index would end the recording. The parts are read in place.
func OpenParts(parts ...[]byte) (*Recording, error) {
	if len(parts) == 0 {
		return nil, errors.New("a recording without parts")
	}
	var j joined
	for i, p := range parts {
		if i > 0 {
			n, err := bodyOffset(p)
			if err != nil {
				return nil, fmt.Errorf("part %d: %w", i, err)
			}
			p = p[n:]
		}
		j = append(j, p)
	}
	return open(j, j.size(), true)
}

// bodyOffset is where the blocks after the header begin.
func bodyOffset(p []byte) (int64, error) {
	if len(p) < preambleLen+blockHeadLen {
		return 0, fmt.Errorf("%w: it is cut in its header", ErrDamaged)
	}
	if _, err := checkPreamble(p[:preambleLen]); err != nil {
		return 0, err
	}
	b, err := readBlockHead(p[preambleLen:], preambleLen, int64(len(p)))
	return b.end(), err
}

// joined reads several pieces of memory one after the other.
type joined [][]byte

func (j joined) size() (n int64) {
	for _, p := range j {
		n += int64(len(p))
	}
	return n
}

// ReadAt implements io.ReaderAt.
func (j joined) ReadAt(p []byte, off int64) (n int, err error) {
	for _, part := range j {
		if off >= int64(len(part)) {
			off -= int64(len(part))
			continue
		}
		n += copy(p[n:], part[off:])
		off = 0
		if n == len(p) {
			return n, nil
		}
	}
	return n, io.EOF
}
