package export

import (
	"strconv"
	"unicode/utf8"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// jsonl writes an object for each event:
//
//	{"seq":9,"tsc":520906,"ns":208362,"vcpu":0,"pcpu":0,"kind":"exit",
//	 "args":{"reason":"HLT","rip":"0x10020e","info1":"0x0","info2":"0x0"}}
//
// The names in args are those of trace.Specs. Numbers are numbers, hexadecimal
// fields and names are strings, masks are lists of names, cost pairs are lists
// of {"phase","cycles"}. A CPU that there is none of, and the all-ones value of a
// decimal field, are null. Text is one character per byte.
type jsonl struct {
	out
	hz   clock.Hz
	keep Keep
}

func newJSONL(j *job) Exporter { return &jsonl{out: out{w: j.w}, hz: j.h.Hz, keep: j.keep} }

// Event implements Exporter.
func (j *jsonl) Event(e *trace.Event, s *trace.State) error {
	if !j.keep(e, s) {
		return nil
	}
	b := strconv.AppendUint(append(j.b, `{"seq":`...), uint64(s.Events-1), 10)
	b = strconv.AppendUint(append(b, `,"tsc":`...), uint64(e.TSC), 10)
	if ns, ok := j.hz.ToNanos(e.TSC); ok {
		b = strconv.AppendInt(append(b, `,"ns":`...), int64(ns), 10)
	}
	b = appendCPU(append(b, `,"vcpu":`...), e.VCPU)
	b = appendCPU(append(b, `,"pcpu":`...), e.PCPU)
	if e.Flags&trace.FlagInferred != 0 {
		b = append(b, `,"inferred":true`...)
	}
	b = appendQuoted(append(b, `,"kind":`...), e.Kind.String())
	b = append(b, `,"args":{`...)
	sp := &trace.Specs[e.Kind]
	for i, v := range [4]uint64{e.A, e.B, e.C, e.D} {
		f := &sp.Fields[i]
		if f.Form == trace.NoField {
			break
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendQuoted(b, f.Name), ':')
		b = appendJSON(b, f, v)
	}
	if e.Kind == trace.KindKnob { // the number alone says little
		b = appendQuoted(append(b, `,"value_words":`...), trace.FormatKnob(trace.Knob(e.A), e.B))
		b = appendQuoted(append(b, `,"old_words":`...), trace.FormatKnob(trace.Knob(e.A), e.C))
	}
	j.b = append(b, "}}\n"...)
	return j.flushed()
}

// Close implements Exporter.
func (j *jsonl) Close(*trace.State) error { return j.flush() }

func appendCPU(b []byte, n uint8) []byte {
	if n == trace.NoCPU {
		return append(b, "null"...)
	}
	return strconv.AppendUint(b, uint64(n), 10)
}

func appendJSON(b []byte, f *trace.Field, v uint64) []byte {
	switch f.Form {
	case trace.Hex, trace.Enum:
		b = append(b, '"')
		return append(trace.AppendValue(b, f, v), '"')
	case trace.Bool:
		return strconv.AppendBool(b, v != 0)
	case trace.Dec, trace.Point, trace.GuestPoint:
		if v == 1<<64-1 {
			return append(b, "null"...)
		}
	case trace.Mask:
		return appendMask(b, f, v)
	case trace.Text:
		return appendQuoted(b, textOf(v))
	case trace.Costs:
		return appendCosts(b, v)
	}
	return trace.AppendValue(b, f, v)
}

func appendMask(b []byte, f *trace.Field, v uint64) []byte {
	b = append(b, '[')
	for i, first := 0, true; v != 0; i, v = i+1, v>>1 {
		if v&1 == 0 {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(b, '"')
		b = append(trace.AppendValue(b, f, 1<<i), '"')
	}
	return append(b, ']')
}

func appendCosts(b []byte, v uint64) []byte {
	b = append(b, '[')
	p, q := trace.UnpackCosts(v)
	for i, c := range [2]trace.PhaseCost{p, q} {
		if c == (trace.PhaseCost{}) {
			continue
		}
		if i > 0 && b[len(b)-1] == '}' {
			b = append(b, ',')
		}
		b = appendQuoted(append(b, `{"phase":`...), c.Phase.String())
		b = strconv.AppendInt(append(b, `,"cycles":`...), int64(c.Cycles), 10)
		b = append(b, '}')
	}
	return append(b, ']')
}

// appendQuoted appends s as a JSON string.
func appendQuoted(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r < ' ' || r == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
