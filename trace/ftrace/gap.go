package ftrace

import "codeberg.org/ticktrap/ticktrap/trace"

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
	nowhere := rawLine{pid: -1, cpu: -1}
	d.emitAt(d.now, nil, &nowhere, trace.KindLost, false, n, 0, 0, 0)
}

// mark is a line that a program wrote to trace_marker.
func (d *Decoder) mark(l *rawLine, m *match) {
	var name uint64
	for i, c := range m.text[fWhat][:min(8, len(m.text[fWhat]))] {
		name |= uint64(c) << (8 * i)
	}
	d.emit(nil, l, trace.KindMark, false, name, 0, 0, 0)
}
