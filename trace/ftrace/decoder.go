package ftrace

import (
	"fmt"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// Options are what the caller knows about a trace beside its text.
type Options struct {
	// File names the trace in errors.
	File string
	// Time ties time stamps to the VM's common line. The zero value means: find
	// it in the trace, or count from the first line.
	Time TimeBase
	// TSCOffset is guest TSC minus host TSC, if HasTSCOffset: it ties stamps in
	// cycles to the guest's TSC.
	TSCOffset    uint64
	HasTSCOffset bool
	only         string // of merged files the host's
	sharedTimers map[uint64]bool
	mono         line // time stamps by CLOCK_MONOTONIC, n 0 if not known
	monoUnit     Unit
	rateFrom     string // where Time.Hz comes from, if not from the caller
	// Kernel is the release that printed the trace, 0 if not known.
	Kernel Version
	// Advance is timer_advance_ns, 0 if not known or off.
	Advance clock.Nanos
	// APICv says whether APICv was active at the start.
	APICv Known
	// NextRIP says whether an AMD CPU gives the next RIP (kvm_amd.nrips).
	NextRIP Known
	// Mine reports whether a thread may act on the VM that is decoded: its vCPU
	// threads, the VMM's others and KVM's own for it. Lines of all others then
	// belong to other VMs of the host. Nil means that nobody can tell: a vCPU's
	// thread is the first that enters the guest under its number.
	Mine func(comm []byte, pid int32) bool
	// Strict makes the first line that cannot be read an error; otherwise such
	// lines are counted and the first of them kept in the report.
	Strict bool
}

// Known is a fact that may be unknown.
type Known uint8

// The states of a Known.
const (
	NotKnown Known = iota
	No
	Yes
)

// TimeBase ties a trace's time stamps to the VM's common line:
//
//	common = TSC + (stamp − Stamp) × rate
//
// with rate 1 for stamps in cycles and Hz / 10^9 for stamps in nanoseconds.
type TimeBase struct {
	Hz    clock.Hz
	Stamp uint64
	TSC   clock.TSC
	// Guest is true if the common line is the guest's TSC, so that deadlines
	// which the guest wrote can be compared with time stamps.
	Guest bool
	Set   bool
}

// Decoder turns the records of one VM into events.
type Decoder struct {
	opts Options
	sink trace.Sink
	text *parser

	report Report
	facts  *Facts // of the whole trace, written by its reader
	table  *eventTable
	counts []uint64 // records by event
	line   int
	time   TimeBase
	now    clock.TSC
	vcpus  []*vcpu
	last   *vcpu // of the last entry or exit, for lines without a thread
	apicv  Known
	kicks  []pendingKick
	mine   map[int32]bool // answers of Options.Mine
	others map[int32]bool // threads that run vCPUs of other VMs
	timers []timerContext // by host CPU
	order  trace.Order
	cpus   vcpuCPUs // host CPUs that have run one of the vCPUs
	tasks  map[int32]named
	mineN  uint64 // records of its vCPUs' threads that a team gave it

	raw record // what the present line holds; kept here because handlers take pointers
}

// NewDecoder returns a Decoder that emits to sink.
func NewDecoder(o Options, sink trace.Sink) *Decoder {
	facts := &Facts{File: o.File, Kernel: Era{o.Kernel, o.Kernel}}
	return newDecoder(o, sink, facts)
}

// newDecoder returns a Decoder that shares what is known of the trace with others.
func newDecoder(o Options, sink trace.Sink, facts *Facts) *Decoder {
	return &Decoder{opts: o, sink: sink, time: o.Time, apicv: o.APICv, facts: facts,
		text: newParser(facts, o), table: events(), counts: make([]uint64, len(events().byID))}
}

// ParseError is a line that cannot be read.
type ParseError struct {
	File      string
	Line, Col int // from 1
	Msg       string
}

// Error returns "file:line:column: what is wrong".
func (e *ParseError) Error() string { return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg) }

// Line takes the next line, without its newline. The error is a *ParseError,
// and only with Options.Strict.
func (d *Decoder) Line(b []byte) error {
	ok, bad := d.text.parse(b, &d.raw)
	if bad != nil {
		return d.text.reject(bad)
	}
	if ok {
		d.take(&d.raw)
	}
	return nil
}

// take takes the next record.
func (d *Decoder) take(r *record) {
	d.line = r.line
	if r.gap {
		d.lose(r.lost)
		return
	}
	d.setTime(&r.rawLine)
	d.settleKick(&r.rawLine, r.ev)
	if d.foreign(&r.rawLine) {
		d.report.OtherVM++
		return
	}
	d.counts[r.ev.id]++
	switch {
	case r.ev.probe != nil:
		r.ev.probe.handle(d, &r.rawLine, &r.args)
	case r.row != nil:
		r.row.handle(d, &r.rawLine, &r.match)
	}
}

// Flush reports what is still held back. Call it at the end.
func (d *Decoder) Flush() { d.FlushBefore(clock.Never) }

// FlushBefore reports what is held back for a line that tells the rest and is
// older than t: whoever has read all lines up to t and somewhat beyond knows that
// none will come. No event before t is reported later.
func (d *Decoder) FlushBefore(t clock.TSC) {
	for i := range d.kicks {
		if k := &d.kicks[i]; k.at < t {
			d.flushKick(k)
		}
	}
	for _, v := range d.vcpus {
		if v.nheld > 0 && v.held[0].TSC < t {
			d.release(v)
		}
		if v.entry.at < t {
			d.flushEntry(v)
		}
	}
}

// Now is the time of the last line read.
func (d *Decoder) Now() clock.TSC { return d.now }

// Report says what was read so far.
func (d *Decoder) Report() Report {
	r := d.report
	r.Facts = *d.facts
	r.Time.TimeBase = d.time
	r.finish(d)
	return r
}

// SetAdvance tells the timer advance of the VM, as debugfs shows it.
func (d *Decoder) SetAdvance(ns clock.Nanos) { d.opts.Advance = ns }

// Bind says that the vCPU numbered id runs in the thread pid. Lines of other
// threads that name a vCPU of that number belong to another VM.
func (d *Decoder) Bind(id int, pid int32) {
	for _, v := range d.vcpus {
		if int(v.id) == id {
			v.pid = pid
			return
		}
	}
	d.vcpus = append(d.vcpus, &vcpu{id: uint8(id), pid: pid})
}

// Rebind forgets the threads and addresses of the vCPUs: the guest goes on in
// another VM.
func (d *Decoder) Rebind() {
	for _, v := range d.vcpus {
		d.flushEntry(v)
		v.pid, v.ptr, v.apic, v.timer, v.hasOffset = -1, 0, 0, 0, false
	}
}

// setTime moves d.now to the line's time stamp.
func (d *Decoder) setTime(l *rawLine) {
	if l.unit == NoUnit {
		return
	}
	t := &d.time
	if !t.Set {
		t.Set, t.Stamp = true, l.ts
		if t.Hz == 0 && l.unit == Nanos {
			t.Hz = 1e9 // the line counts nanoseconds
		}
	}
	d.now = t.common(l.ts, l.unit)
	if d.report.First == 0 {
		d.report.First = l.ts
	}
	d.report.Last = l.ts
}

// common converts a time stamp. Times before the line's zero become 0.
func (t *TimeBase) common(ts uint64, u Unit) clock.TSC {
	delta, neg := ts-t.Stamp, ts < t.Stamp
	if neg {
		delta = t.Stamp - ts
	}
	if u == Nanos {
		c, ok := t.Hz.ToCycles(clock.Nanos(delta & (1<<63 - 1)))
		if !ok {
			return 0
		}
		delta = uint64(c)
	}
	if !neg {
		return t.TSC + clock.TSC(delta)
	}
	if delta > uint64(t.TSC) {
		return 0
	}
	return t.TSC - clock.TSC(delta)
}

// vcpuNum finds or makes the vCPU with a printed number. It returns nil for the
// vCPUs of another VM: one whose thread is not the one known.
func (d *Decoder) vcpuNum(l *rawLine, id uint64) *vcpu {
	if id >= trace.MaxVCPUs {
		return nil
	}
	for _, v := range d.vcpus {
		if uint64(v.id) != id {
			continue
		}
		if v.pid < 0 {
			v.pid = l.pid
		}
		if l.pid >= 0 && v.pid != l.pid {
			d.report.OtherVM++
			d.otherThread(l.pid)
			return nil
		}
		return v
	}
	v := &vcpu{id: uint8(id), pid: l.pid}
	d.vcpus = append(d.vcpus, v)
	d.report.addVCPU(l, id)
	return v
}

// thread finds the vCPU whose thread printed the line.
func (d *Decoder) thread(l *rawLine) *vcpu {
	if l.pid < 0 {
		return d.last
	}
	for _, v := range d.vcpus {
		if v.pid == l.pid {
			return v
		}
	}
	return nil
}

// byNumber finds a known vCPU.
func (d *Decoder) byNumber(id uint64) *vcpu {
	for _, v := range d.vcpus {
		if uint64(v.id) == id {
			return v
		}
	}
	return nil
}

// own finds the vCPU that a body names, if the line comes from its own thread
// or from interrupt context. A body without a number is the thread's.
func (d *Decoder) own(l *rawLine, m *match) *vcpu {
	if !m.set(fVCPU) {
		return d.thread(l)
	}
	if l.irq() {
		return d.inTimer(l, d.byNumber(m.num[fVCPU]))
	}
	return d.vcpuNum(l, m.num[fVCPU])
}

// emit reports an event of v now. While v's events are held it waits.
func (d *Decoder) emit(v *vcpu, l *rawLine, k trace.Kind, inferred bool, a, b, c, e uint64) {
	d.emitAt(d.now, v, l, k, inferred, a, b, c, e)
}

func (d *Decoder) emitAt(at clock.TSC, v *vcpu, l *rawLine, k trace.Kind, inferred bool, a, b, c, e uint64) {
	ev := trace.Event{TSC: at, Kind: k, VCPU: trace.NoCPU, PCPU: l.pcpu(), A: a, B: b, C: c, D: e}
	if inferred {
		ev.Flags = trace.FlagInferred
	}
	if v == nil {
		d.send(ev)
		return
	}
	ev.VCPU = v.id
	if v.holding && v.nheld < len(v.held) {
		v.held[v.nheld] = ev
		v.nheld++
		return
	}
	d.release(v)
	d.send(ev)
}

// send reports an event. One that cannot be true, since it contradicts those
// before it, is withheld and counted.
func (d *Decoder) send(e trace.Event) {
	if err := d.order.Check(&e); err != nil {
		d.report.withhold(d.line, err.Error())
		return
	}
	d.report.Events++
	if e.Flags&trace.FlagInferred != 0 {
		d.report.Inferred++
	}
	d.sink.Emit(e)
}

// release reports what was held of v.
func (d *Decoder) release(v *vcpu) {
	v.holding = false
	for _, e := range v.held[:v.nheld] {
		d.send(e)
	}
	v.nheld = 0
}

func (l *rawLine) pcpu() uint8 {
	if l.cpu < 0 || l.cpu >= trace.NoCPU {
		return trace.NoCPU
	}
	return uint8(l.cpu)
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
