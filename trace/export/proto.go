package export

import (
	"encoding/binary"
)

// message appends protocol buffer fields. Nested messages are written in place
// and closed by inserting their length.
//
// Source: the wire format of protocol buffers: a field is the varint
// number << 3 | type; type 0 is a varint, 1 eight bytes, 2 a length and bytes.
type message struct{ b []byte }

const (
	wireVarint = 0
	wireFixed  = 1
	wireBytes  = 2
)

func (m *message) uint(field int, v uint64) {
	m.b = binary.AppendUvarint(m.b, uint64(field)<<3|wireVarint)
	m.b = binary.AppendUvarint(m.b, v)
}

// int writes an int64 field: negative values take ten bytes, not zigzag.
func (m *message) int(field int, v int64) { m.uint(field, uint64(v)) }

func (m *message) fixed(field int, v uint64) {
	m.b = binary.AppendUvarint(m.b, uint64(field)<<3|wireFixed)
	m.b = binary.LittleEndian.AppendUint64(m.b, v)
}

func (m *message) string(field int, s string) {
	m.b = binary.AppendUvarint(m.b, uint64(field)<<3|wireBytes)
	m.b = binary.AppendUvarint(m.b, uint64(len(s)))
	m.b = append(m.b, s...)
}

// nested writes a message field that f fills.
func (m *message) nested(field int, f func()) {
	m.b = binary.AppendUvarint(m.b, uint64(field)<<3|wireBytes)
	at := len(m.b)
	f()
	var head [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(head[:], uint64(len(m.b)-at))
	m.b = append(m.b, head[:n]...)
	copy(m.b[at+n:], m.b[at:len(m.b)-n])
	copy(m.b[at:], head[:n])
}
