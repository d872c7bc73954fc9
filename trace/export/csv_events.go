package export

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// kicks writes a row for each kick.
type kicks struct {
	table
	hz   clock.Hz
	keep Keep
}

var kickColumns = []string{"seq", "tsc", "ns", "target_vcpu", "pcpu", "from_vcpu", "decision", "target_mode", "steps",
	"inferred"}

func newKicks(j *job) Exporter {
	k := &kicks{table: table{out: out{w: j.w}}, hz: j.h.Hz, keep: j.keep}
	k.header(kickColumns...)
	return k
}

// Event implements Exporter.
func (k *kicks) Event(e *trace.Event, s *trace.State) error {
	if e.Kind != trace.KindKick || !k.keep(e, s) {
		return nil
	}
	sp := &trace.Specs[trace.KindKick]
	k.uint(uint64(s.Events - 1))
	k.uint(uint64(e.TSC))
	k.int(nanosOf(k.hz, e.TSC))
	k.cpu(e.VCPU)
	k.cpu(e.PCPU)
	k.cpu(uint8(e.D))
	k.text(trace.KickDecision(e.A).String())
	k.text(trace.Mode(e.B).String())
	k.b = trace.AppendValue(k.cell(), &sp.Fields[2], e.C)
	k.bool(e.Flags&trace.FlagInferred != 0)
	k.end()
	return k.flushed()
}

// Close implements Exporter.
func (k *kicks) Close(*trace.State) error { return k.flush() }

// events writes a row for each event: what all have in common, then the four
// fields of its kind, each with its name.
type events struct {
	table
	hz   clock.Hz
	keep Keep
}

var eventColumns = []string{"seq", "tsc", "ns", "vcpu", "pcpu", "inferred", "kind", "name1", "value1", "name2", "value2",
	"name3", "value3", "name4", "value4"}

func newEvents(j *job) Exporter {
	x := &events{table: table{out: out{w: j.w}}, hz: j.h.Hz, keep: j.keep}
	x.header(eventColumns...)
	return x
}

// Event implements Exporter.
func (x *events) Event(e *trace.Event, s *trace.State) error {
	if !x.keep(e, s) {
		return nil
	}
	x.uint(uint64(s.Events - 1))
	x.uint(uint64(e.TSC))
	x.int(nanosOf(x.hz, e.TSC))
	x.cpu(e.VCPU)
	x.cpu(e.PCPU)
	x.bool(e.Flags&trace.FlagInferred != 0)
	x.text(e.Kind.String())
	sp := &trace.Specs[e.Kind]
	var buf [64]byte
	for i, v := range [4]uint64{e.A, e.B, e.C, e.D} {
		f := &sp.Fields[i]
		x.text(f.Name)
		if f.Form == trace.NoField {
			x.none()
			continue
		}
		x.text(string(trace.AppendValue(buf[:0], f, v)))
	}
	x.end()
	return x.flushed()
}

// Close implements Exporter.
func (x *events) Close(*trace.State) error { return x.flush() }
