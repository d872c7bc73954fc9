package ftrace

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// maxLine bounds the length of a line; longer ones are no trace lines.
const maxLine = 64 << 10

// Read decodes a whole trace into sink. Where neither the caller nor the trace
// ties time stamps to the guest's TSC it is estimated from the deadlines and
// their deltas; so the text is read twice.
//
// An error is one of reading r, a *ParseError with Options.Strict, or a
// *ParseError if there is no trace line at all.
func Read(r io.Reader, o Options, sink trace.Sink) (Report, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return Report{}, fmt.Errorf("reading %s: %w", o.File, err)
	}
	from := ""
	if !o.Time.Set {
		o.Time, from = estimate(text, o.Time.Hz)
	}
	d := NewDecoder(o, sink)
	d.report.TimeFrom = from
	s := bufio.NewScanner(bytes.NewReader(text))
	s.Buffer(nil, maxLine)
	for s.Scan() {
		if err := d.Line(s.Bytes()); err != nil {
			return d.Report(), err
		}
	}
	if err := s.Err(); err != nil {
		return d.Report(), &ParseError{o.File, d.line + 1, 1, "the line is too long for a trace: " + err.Error()}
	}
	d.Flush()
	rep := d.Report()
	if rep.Lines == 0 {
		return rep, &ParseError{o.File, 1, 1, "no line of a KVM trace in this file"}
	}
	return rep, nil
}

// estimate ties time stamps to the guest's TSC by kvm_wait_lapic_expire: at its
// time stamp the guest's TSC is the deadline plus the delta. One such point ties
// an x86-tsc trace; two tie a trace in seconds and give the frequency as well.
func estimate(text []byte, hz clock.Hz) (TimeBase, string) {
	e := estimator{hz: hz}
	c := NewDecoder(Options{}, trace.SinkFunc(func(trace.Event) {}))
	c.table = map[string]*eventForms{}
	for _, name := range []string{"kvm_msr", "kvm_wait_lapic_expire", "kvm_write_tsc_offset"} {
		c.table[name] = &eventForms{name: name}
		for i := range forms {
			if r := &forms[i]; r.event == name {
				c.table[name].forms = append(c.table[name].forms, form{row: r, pieces: compile(r.form)})
			}
		}
	}
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, " \t\r\n")
		var l rawLine
		if ok, _ := parseLine(line, &l); !ok {
			continue
		}
		ev := c.table[string(l.event)]
		if ev == nil {
			continue
		}
		for i := range ev.forms {
			if ok, _ := ev.forms[i].match(l.body, &c.m); ok {
				if !e.take(&l, &c.m) {
					return TimeBase{Hz: hz}, "" // the trace says it itself
				}
				break
			}
		}
	}
	return e.result()
}

// estimator collects points where both clocks are known.
type estimator struct {
	hz       clock.Hz
	deadline map[int32]uint64 // by thread
	first    point
	last     point
	points   int
	unit     Unit
}

type point struct{ stamp, guest uint64 }

// take looks at one line; false stops: an exact offset is in the trace.
func (e *estimator) take(l *rawLine, m *match) bool {
	if e.deadline == nil {
		e.deadline = map[int32]uint64{}
	}
	switch string(l.event) {
	case "kvm_write_tsc_offset":
		return l.unit != Cycles
	case "kvm_msr":
		if m.num[fIndex] == msrTSCDeadline && string(m.text[fWord]) == "write" && m.num[fValue] != 0 {
			e.deadline[l.pid] = m.num[fValue]
		}
	case "kvm_wait_lapic_expire":
		if dl, ok := e.deadline[l.pid]; ok && l.unit != NoUnit {
			e.unit = l.unit
			e.last = point{l.ts, dl + m.num[fDelta]}
			if e.points == 0 {
				e.first = e.last
			}
			e.points++
			delete(e.deadline, l.pid)
		}
	}
	return true
}

func (e *estimator) result() (TimeBase, string) {
	t := TimeBase{Hz: e.hz, Stamp: e.first.stamp, TSC: clock.TSC(e.first.guest), Guest: true, Set: true}
	switch {
	case e.points == 0:
		return TimeBase{Hz: e.hz}, ""
	case e.unit == Cycles:
		if t.Hz == 0 {
			t.Hz = 1e9
		}
		return t, "a deadline and its delta, within a few hundred cycles"
	case t.Hz != 0:
		return t, "a deadline and its delta, at the frequency given"
	}
	ns, cycles := e.last.stamp-e.first.stamp, e.last.guest-e.first.guest
	if e.points < 2 || ns == 0 || cycles == 0 || cycles > 1<<62 {
		return TimeBase{}, ""
	}
	hz, ok := rate(cycles, ns)
	if !ok {
		return TimeBase{}, ""
	}
	t.Hz = hz
	return t, fmt.Sprintf("%d deadlines and their deltas: the guest's TSC runs at about %d.%06d MHz", e.points,
		hz/1e6, hz%1e6)
}

// rate is cycles per second from cycles in ns.
func rate(cycles, ns uint64) (clock.Hz, bool) {
	// As ToCycles of one second on a clock of cycles/ns GHz, in 128 bits:
	// cycles × 10^9 / ns.
	c, ok := clock.Hz(cycles).ToCycles(1e9) // cycles × 10^9 / 10^9
	if !ok || ns == 0 {
		return 0, false
	}
	n, ok := clock.Hz(ns).ToNanos(c)
	return clock.Hz(n), ok
}
