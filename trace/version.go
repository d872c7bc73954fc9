package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// FormatVersion is the version of the recording format that is written. Readers
// take every version up to it; formats says what each has.
const FormatVersion = 2

const (
	magic      = "\x89TTR\r\n\x1a\n"
	indexMagic = "TTRindex"
	// preambleLen is the length of what stands before the first block,
	// trailerLen of what stands behind the last.
	preambleLen = 16
	trailerLen  = 16
)

// The errors of Open that callers tell apart. Each comes wrapped with what was
// found.
var (
	ErrNotRecording = errors.New("not a ticktrap recording")
	ErrNewer        = errors.New("recording of a newer ticktrap")
	ErrEmpty        = errors.New("empty file")
	ErrDamaged      = errors.New("recording is damaged from the start")
)

// DamageError is an event or a block that cannot be what the writer wrote.
type DamageError struct {
	Offset int64 // byte in the file at which the block begins
	Seq    Seq   // number of the event, or of the first of the block
	Msg    string
}

// Error says where and what.
func (e *DamageError) Error() string {
	return fmt.Sprintf("block at byte %d, event %d: %s", e.Offset, e.Seq, e.Msg)
}

// Is makes a DamageError an ErrDamaged.
func (e *DamageError) Is(target error) bool { return target == ErrDamaged }

func checksum(parts ...[]byte) uint32 {
	t := crc32.MakeTable(crc32.Castagnoli)
	var c uint32
	for _, p := range parts {
		c = crc32.Update(c, t, p)
	}
	return c
}

// appendPreamble appends the first bytes of a recording.
func appendPreamble(b []byte) []byte { return appendPreambleOf(b, FormatVersion) }

func appendPreambleOf(b []byte, version uint16) []byte {
	start := len(b)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint16(b, version)
	b = binary.LittleEndian.AppendUint16(b, 0)
	return binary.LittleEndian.AppendUint32(b, checksum(b[start:]))
}

// checkPreamble says whether p, the first bytes of a file, begin a recording
// that can be read, and of which version of the format it is.
func checkPreamble(p []byte) (version int, err error) {
	switch {
	case len(p) == 0:
		return 0, ErrEmpty
	case len(p) < preambleLen && string(p) == string(appendPreamble(nil)[:len(p)]):
		return 0, fmt.Errorf("%w: only %d bytes are left", ErrDamaged, len(p))
	case len(p) < preambleLen || string(p[:8]) != magic:
		return 0, ErrNotRecording
	case binary.LittleEndian.Uint32(p[12:]) != checksum(p[:12]):
		return 0, fmt.Errorf("%w: the checksum of its first %d bytes is wrong", ErrDamaged, preambleLen)
	}
	v := binary.LittleEndian.Uint16(p[8:])
	if v > FormatVersion {
		return 0, fmt.Errorf("%w: format %d, this program knows up to %d", ErrNewer, v, FormatVersion)
	} else if v == 0 {
		return 0, fmt.Errorf("%w: format 0", ErrNotRecording)
	}
	return int(v), nil
}

// appendTrailer appends what stands behind the index block at offset.
func appendTrailer(b []byte, offset int64) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(offset)), indexMagic...)
}
