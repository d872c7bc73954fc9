package trace

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// The text form of an event is one line:
//
//	TSC vcpu=N pcpu=N [flags=inferred] kind name=value …
//
// with all fields of the kind's row in Specs in their order. A CPU that there is
// none of is "-". Values are written by their Form: enumerations and masks by
// name ("?9" is a number without a name), text quoted as in Go, cost pairs as
// phase:cycles,phase:cycles. Fields that a kind got in a later format are left out
// if they and those after them are zero. It is lossless for events that Validate
// accepts.

var flagNames = []string{"inferred"}

// String returns the text form.
func (e Event) String() string { return string(AppendText(nil, &e)) }

// AppendText appends the text form of e, without a newline, to b.
func AppendText(b []byte, e *Event) []byte {
	b = strconv.AppendUint(b, uint64(e.TSC), 10)
	b = appendCPU(append(b, " vcpu="...), e.VCPU)
	b = appendCPU(append(b, " pcpu="...), e.PCPU)
	if e.Flags != 0 {
		b = appendMask(append(b, " flags="...), flagNames, uint64(e.Flags))
	}
	b = append(b, ' ')
	if e.Kind >= numKinds {
		return append(b, e.Kind.String()...)
	}
	sp := &Specs[e.Kind]
	b = append(b, sp.Name...)
	args := e.args()
	for i, v := range args[:e.told(&args)] {
		f := &sp.Fields[i]
		b = append(append(append(b, ' '), f.Name...), '=')
		b = AppendValue(b, f, v)
	}
	return b
}

// told is how many arguments of e are worth telling.
func (e *Event) told(args *[4]uint64) int {
	n := Specs[e.Kind].numFields()
	for first := firstFields(e.Kind); n > first && args[n-1] == 0; n-- {
	}
	return n
}

func (e *Event) args() [4]uint64 { return [4]uint64{e.A, e.B, e.C, e.D} }

func appendCPU(b []byte, n uint8) []byte {
	if n == NoCPU {
		return append(b, '-')
	}
	return strconv.AppendUint(b, uint64(n), 10)
}

// AppendValue appends the value v of field f as the text form writes it.
func AppendValue(b []byte, f *Field, v uint64) []byte {
	switch f.Form {
	case Hex:
		return strconv.AppendUint(append(b, "0x"...), v, 16)
	case Signed, Cycles, Nanos:
		return strconv.AppendInt(b, int64(v), 10)
	case Enum:
		if v < uint64(len(f.Names)) {
			return append(b, f.Names[v]...)
		}
		return strconv.AppendUint(append(b, '?'), v, 10)
	case Mask:
		return appendMask(b, f.Names, v)
	case Text:
		p := binary.LittleEndian.AppendUint64(nil, v)
		return strconv.AppendQuoteToASCII(b, strings.TrimRight(string(p), "\x00"))
	case Costs:
		return appendCosts(b, v)
	}
	return strconv.AppendUint(b, v, 10)
}

func appendMask(b []byte, names []string, v uint64) []byte {
	if v == 0 {
		return append(b, '0')
	}
	start := len(b)
	for i := 0; v != 0; i, v = i+1, v>>1 {
		if v&1 == 0 {
			continue
		}
		if len(b) > start {
			b = append(b, '|')
		}
		if i < len(names) {
			b = append(b, names[i]...)
		} else {
			b = strconv.AppendUint(append(b, "0x"...), 1<<i, 16)
		}
	}
	return b
}

func appendCosts(b []byte, v uint64) []byte {
	if v == 0 {
		return append(b, '-')
	}
	p, q := UnpackCosts(v)
	b = appendCost(b, p)
	if q != (PhaseCost{}) {
		b = appendCost(append(b, ','), q)
	}
	return b
}

func appendCost(b []byte, c PhaseCost) []byte {
	if c == (PhaseCost{}) {
		return append(b, '-')
	}
	if int(c.Phase) < len(PhaseNames) {
		b = append(b, PhaseNames[c.Phase]...)
	} else {
		b = strconv.AppendUint(append(b, '?'), uint64(c.Phase), 10)
	}
	return strconv.AppendInt(append(b, ':'), int64(c.Cycles), 10)
}
