package ftrace

import (
	"bytes"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// meta takes lines that are no events: headers, notes about lost events and
// about buffers. It reports whether b was one.
func (d *Decoder) meta(b []byte) bool {
	switch {
	case b[0] == '#':
		d.header(b)
	case bytes.HasPrefix(b, []byte("cpus=")):
		d.report.Printer = TraceCmd
	case bytes.HasPrefix(b, []byte("version = ")):
	case bytes.HasPrefix(b, []byte("CPU:")):
		d.lost(b)
	case bytes.HasPrefix(b, []byte("Lost events: ")):
		n := uint64(0)
		readDec(b[len("Lost events: "):], &n)
		d.lose(n)
	default:
		return false
	}
	return true
}

// header reads the two numbers of "entries-in-buffer/entries-written": where
// they differ, the ring buffer has overwritten the rest.
func (d *Decoder) header(b []byte) {
	const key = "entries-in-buffer/entries-written: "
	i := bytes.Index(b, []byte(key))
	if i < 0 {
		return
	}
	var in, written uint64
	rest := b[i+len(key):]
	n, ok := readDec(rest, &in)
	if !ok || n >= len(rest) || rest[n] != '/' {
		return
	}
	if _, ok := readDec(rest[n+1:], &written); ok && written > in {
		d.lose(written - in)
	}
}

// lost reads "CPU:3 [LOST 128 EVENTS]" (ftrace), "CPU:3 [128 EVENTS DROPPED]"
// and "CPU:3 [EVENTS DROPPED]" (trace-cmd).
func (d *Decoder) lost(b []byte) {
	if !bytes.Contains(b, []byte("LOST")) && !bytes.Contains(b, []byte("DROPPED")) {
		return
	}
	n := uint64(0)
	for i := bytes.IndexByte(b, '['); i >= 0 && i < len(b); i++ {
		if b[i] >= '0' && b[i] <= '9' {
			readDec(b[i:], &n)
			break
		}
	}
	d.lose(n)
}

// lose reports a gap and forgets what was half known.
func (d *Decoder) lose(n uint64) {
	for i := range d.kicks {
		d.flushKick(&d.kicks[i])
	}
	for _, v := range d.vcpus {
		d.release(v)
		d.flushEntry(v)
		v.fired, v.pending, v.fast.on, v.injected, v.hasVirtual = false, false, false, 0, false
		v.seen, v.armedByDL, v.halted, v.msrKnown = false, false, false, false
	}
	d.report.Lost += n
	d.report.Gaps++
	d.raw = rawLine{pid: -1, cpu: -1}
	d.emitAt(d.now, nil, &d.raw, trace.KindLost, false, n, 0, 0, 0)
}

// mark is a line that a program wrote to trace_marker.
func (d *Decoder) mark(l *rawLine, m *match) {
	var name uint64
	for i, c := range m.text[fWhat][:min(8, len(m.text[fWhat]))] {
		name |= uint64(c) << (8 * i)
	}
	d.emit(nil, l, trace.KindMark, false, name, 0, 0, 0)
}
