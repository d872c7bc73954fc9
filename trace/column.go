package trace

import (
	"encoding/binary"
	"errors"
	"fmt"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// The columns of an events block.
const (
	colKind = iota
	colVCPU
	colPCPU
	colFlags
	colTSC
	colA    // to colA+3
	numCols = colA + 4
)

// columns encodes and decodes the bodies of events blocks. Its buffers are
// reused from block to block.
type columns struct {
	buf  [numCols][]byte
	last [numKinds][4]uint64
}

var errColumn = errors.New("a column is too short")

// encode appends the body for events to dst, in the given version of the format.
func (c *columns) encode(dst []byte, events []Event, version int) []byte {
	fields := &formatFields[version]
	c.last = [numKinds][4]uint64{}
	for i := range c.buf {
		c.buf[i] = c.buf[i][:0]
	}
	var tsc uint64
	for i := range events {
		e := &events[i]
		c.buf[colKind] = append(c.buf[colKind], byte(e.Kind))
		c.buf[colVCPU] = append(c.buf[colVCPU], e.VCPU)
		c.buf[colPCPU] = append(c.buf[colPCPU], e.PCPU)
		c.buf[colFlags] = append(c.buf[colFlags], byte(e.Flags))
		c.buf[colTSC] = binary.AppendVarint(c.buf[colTSC], int64(uint64(e.TSC)-tsc))
		tsc = uint64(e.TSC)
		for i, v := range [4]uint64{e.A, e.B, e.C, e.D} {
			if i < int(fields[e.Kind]) {
				c.encodeArg(e, i, v)
			}
		}
	}
	for _, b := range c.buf {
		dst = binary.AppendUvarint(dst, uint64(len(b)))
	}
	for _, b := range c.buf {
		dst = append(dst, b...)
	}
	return dst
}

func (c *columns) encodeArg(e *Event, i int, v uint64) {
	b := &c.buf[colA+i]
	last := &c.last[e.Kind][i]
	switch Specs[e.Kind].Fields[i].Form {
	case Point:
		*b = binary.AppendVarint(*b, int64(v-uint64(e.TSC)))
	case Costs:
		for s := 0; s < 64; s += 32 {
			p, q := unpackCost(uint32(v>>s)), unpackCost(uint32(*last>>s))
			*b = binary.AppendVarint(*b, int64(p.Phase)-int64(q.Phase))
			*b = binary.AppendVarint(*b, int64(p.Cycles-q.Cycles))
		}
	default:
		*b = binary.AppendVarint(*b, int64(v-*last))
	}
	*last = v
}

// decode appends the n events of body, written in the given version of the
// format, to dst. An error names the event, counted
// from the start of the block.
func (c *columns) decode(dst []Event, body []byte, n, version int) ([]Event, error) {
	fields := &formatFields[version]
	if err := c.split(body, n); err != nil {
		return dst, err
	}
	c.last = [numKinds][4]uint64{}
	var tsc uint64
	for i := range n {
		e := Event{Kind: Kind(c.buf[colKind][i]), VCPU: c.buf[colVCPU][i], PCPU: c.buf[colPCPU][i],
			Flags: Flags(c.buf[colFlags][i])}
		d, ok := c.varint(colTSC)
		tsc += uint64(d)
		e.TSC = clock.TSC(tsc)
		if e.Kind < numKinds && e.Kind >= formats[version].kinds {
			return dst, &eventError{i, fmt.Errorf("format %d has no %v events", version, e.Kind)}
		}
		if !ok || e.Kind < numKinds && !c.decodeArgs(&e, int(fields[e.Kind])) {
			return dst, &eventError{i, errColumn}
		}
		if err := Validate(&e); err != nil {
			return dst, &eventError{i, err}
		}
		dst = append(dst, e)
	}
	for i := colTSC; i < numCols; i++ {
		if len(c.buf[i]) != 0 {
			return dst, &eventError{n, fmt.Errorf("%d bytes too many in column %d", len(c.buf[i]), i)}
		}
	}
	return dst, nil
}

// eventError is an error at one event of a block.
type eventError struct {
	index int
	err   error
}

func (e *eventError) Error() string { return e.err.Error() }

// split cuts body into the columns of n events.
func (c *columns) split(body []byte, n int) error {
	var lens [numCols]uint64
	for i := range lens {
		v, k := binary.Uvarint(body)
		if k <= 0 || v > maxBody {
			return errColumn
		}
		lens[i], body = v, body[k:]
	}
	for i, l := range lens {
		if l > uint64(len(body)) || i <= colFlags && l != uint64(n) {
			return errColumn
		}
		c.buf[i], body = body[:l:l], body[l:]
	}
	if len(body) != 0 {
		return fmt.Errorf("%d bytes too many", len(body))
	}
	return nil
}

func (c *columns) varint(col int) (int64, bool) {
	b := c.buf[col]
	v, k := binary.Varint(b)
	if k <= 0 {
		return 0, false
	}
	c.buf[col] = b[k:]
	return v, true
}

func (c *columns) decodeArgs(e *Event, n int) (ok bool) {
	f := &Specs[e.Kind].Fields
	for i, arg := range [4]*uint64{&e.A, &e.B, &e.C, &e.D} {
		if i == n {
			return true
		}
		if *arg, ok = c.decodeArg(e, i, f[i].Form); !ok {
			return false
		}
	}
	return true
}

func (c *columns) decodeArg(e *Event, i int, form Form) (v uint64, ok bool) {
	last := &c.last[e.Kind][i]
	if form == Costs {
		v, ok = c.decodeCosts(*last, colA+i)
		*last = v
		return v, ok
	}
	d, ok := c.varint(colA + i)
	base := *last
	if form == Point {
		base = uint64(e.TSC)
	}
	*last = base + uint64(d)
	return *last, ok
}

func (c *columns) decodeCosts(last uint64, col int) (v uint64, ok bool) {
	for s := 0; s < 64; s += 32 {
		dp, ok1 := c.varint(col)
		dc, ok2 := c.varint(col)
		if !ok1 || !ok2 {
			return 0, false
		}
		q := unpackCost(uint32(last >> s))
		p := PhaseCost{Phase: Phase(int64(q.Phase) + dp), Cycles: q.Cycles + clock.Cycles(dc)}
		v |= packCost(p) << s
	}
	return v, true
}
