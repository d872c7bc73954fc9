package guest

import "errors"

// ram is guest memory for tests.
type ram []byte

func (m ram) Size() uint64 { return uint64(len(m)) }

func (m ram) ReadAt(p []byte, gpa uint64) error {
	if gpa > m.Size() || uint64(len(p)) > m.Size()-gpa {
		return errors.New("outside RAM")
	}
	copy(p, m[gpa:])
	return nil
}

func (m ram) WriteAt(p []byte, gpa uint64) error {
	if gpa > m.Size() || uint64(len(p)) > m.Size()-gpa {
		return errors.New("outside RAM")
	}
	copy(m[gpa:], p)
	return nil
}
