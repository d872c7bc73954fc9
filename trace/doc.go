// Package trace is the event stream that everything in ticktrap speaks: engines
// and importers produce Events, and panes, reports, recordings, exports and
// assertions are computed from them alone.
//
// State is a pure fold over events. Nothing here knows a clock, a terminal, KVM
// or the interpreter. Values may be used from one goroutine at a time unless a
// type says otherwise.
//
// # The recording
//
// A recording is a file that is only appended to. All integers are little-endian
// or varints (encoding/binary), zigzag for signed ones. It begins with 16 bytes:
//
//	0   8  magic: 89 'T' 'T' 'R' 0d 0a 1a 0a
//	8   2  format version
//	10  2  reserved, 0
//	12  4  CRC-32C of bytes 0–11
//
// and goes on with blocks to the end of the file:
//
//	0   1  kind: 'H' 'E' 'S' 'C' 'X'
//	1   1  flags: bit 0, the body is compressed with zstd
//	2   2  reserved, 0
//	4   4  length of the payload
//	8   4  length of the body before compression
//	12  4  CRC-32C of bytes 0–11 and the payload
//	16     payload: for kinds E, S and C 40 bytes of placement, then the body
//
// The placement says where the block belongs without decompressing it:
//
//	0   8  number of the first event (E), number of events before it (S, C)
//	8   4  number of events (E), else 0
//	12  4  reserved, 0
//	16  8  least TSC of its events (E), TSC of the state (S) or the action (C)
//	24  8  greatest TSC of its events (E), else the same
//	32  8  layout of the state (S), else 0
//
// The blocks are, in this order of first appearance:
//
//	H  once, first: the Header as JSON, see headerWire
//	E  up to 16384 events; event numbers go on from block to block
//	S  the State after all events before it, as written by appendState. It is a
//	   cache: a reader that knows another layout folds the events instead. A
//	   recording that was begun in the middle of a run has one before the first
//	   E block, and its event numbers go on from there
//	C  one Action as JSON: a user's action that is no event
//	X  once, last: the index. Its body is a count, then per block E, S and C its
//	   kind byte, offset, first event, number of events, least and greatest TSC
//	   as varints, and at last the number of all events
//
// After X follow 16 bytes: its offset in eight, and the magic "TTRindex". A file
// without them was cut.
//
// The body of an E block holds columns. A varint each tells the lengths of the
// columns, then the columns follow:
//
//	kind    a byte an event
//	vcpu    a byte an event
//	pcpu    a byte an event
//	flags   a byte an event
//	tsc     zigzag difference from the event before, 0 at first
//	A B C D one column each, for events whose kind has that field:
//	        form Point: zigzag difference from the event's TSC;
//	        form Costs: for both pairs, zigzag differences of phase and cycles
//	        from the same pair of the last event of the kind;
//	        other forms: zigzag difference from the last event of the kind
//
// Differences are taken modulo 2^64. "Last" values are 0 at the start of a block,
// so that each can be read alone.
//
// Kinds, fields and enumerations are numbered as in Specs and are only ever
// appended to; a version names a prefix of the table.
package trace
