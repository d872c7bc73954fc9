package ftrace

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/trace/ftrace/ringbuf"
	"codeberg.org/ticktrap/ticktrap/trace/ftrace/tracedat"
)

// Binary makes records of the kernel's binary ones, by its own format files. It
// serves files and live readers alike.
type Binary struct {
	order   binary.ByteOrder
	plans   map[int]*plan // by event number
	comms   map[int32][]byte
	symbols map[uint64][]byte // names of the functions that matter, by address
	facts   *Facts
}

// plan is how the records of one event are read.
type plan struct {
	name   []byte
	ev     *event // nil if it is not known
	row    *row
	fields []planned
	finish func(*record)
	pid    *ringbuf.Field
	flags  *ringbuf.Field
	era    Era
}

type planned struct {
	bind
	from ringbuf.Field
	text bool
}

// NewBinary prepares reading by format files. kallsyms may be empty.
func NewBinary(formats map[int]*ringbuf.Format, comms map[int32]string, kallsyms []byte, order binary.ByteOrder) *Binary {
	b := &Binary{order: order, plans: map[int]*plan{}, comms: map[int32][]byte{}, symbols: symbols(kallsyms)}
	for id, f := range formats {
		b.plans[id] = newPlan(f)
	}
	for pid, name := range comms {
		b.comms[pid] = []byte(name)
	}
	return b
}

func newPlan(f *ringbuf.Format) *plan {
	p := &plan{name: []byte(f.Name), ev: events().byName[f.Name], pid: f.Field("common_pid"), flags: f.Field("common_flags")}
	if p.ev == nil {
		return p
	}
	p.era = eraOf(f)
	if p.ev.probe != nil {
		for _, x := range f.Fields {
			p.fields = append(p.fields, planned{from: x, bind: bind{kernel: x.Name}})
		}
		return p
	}
	b := bound(f.Name)
	if b == nil || len(p.ev.forms) == 0 {
		return p
	}
	p.row, p.finish = p.ev.forms[0].row, b.finish
	for _, x := range b.binds {
		if from := f.Field(x.kernel); from != nil {
			p.fields = append(p.fields, planned{x, *from, from.Text || from.DataLoc})
		}
	}
	return p
}

// fieldEras tell the kernel by the fields of its records.
var fieldEras = []struct {
	event, field  string
	with, without Era
}{
	{"kvm_exit", "requests", Era{V(6, 14), 0}, Era{0, V(6, 13)}},
	{"kvm_exit", "intr_info", Era{V(5, 10), 0}, Era{0, V(5, 9)}},
	{"kvm_entry", "immediate_exit", Era{V(6, 9), 0}, Era{0, V(6, 8)}},
	{"kvm_inj_virq", "reinjected", Era{V(6, 0), 0}, Era{0, V(5, 19)}},
}

func eraOf(f *ringbuf.Format) (e Era) {
	for _, x := range fieldEras {
		if x.event != f.Name {
			continue
		}
		n := x.without
		if f.Field(x.field) != nil {
			n = x.with
		}
		e, _ = e.Narrow(n)
	}
	return e
}

// symbols finds the addresses of the functions that the decoder looks for in
// /proc/kallsyms; a kernel that hides addresses prints zeros.
func symbols(kallsyms []byte) map[uint64][]byte {
	m := map[uint64][]byte{}
	for line := range bytes.Lines(kallsyms) {
		if !bytes.Contains(line, apicTimerFn) && !bytes.Contains(line, stimerFn) {
			continue
		}
		words := strings.Fields(string(line))
		addr := uint64(0)
		if len(words) >= 3 {
			if _, ok := readHex([]byte(words[0]), &addr); ok && addr != 0 {
				m[addr] = []byte(words[2])
			}
		}
	}
	return m
}

var stimerFn = []byte("stimer_timer_callback")

// flagHardIRQ is the bit of common_flags for interrupt context (enum trace_flag_type,
// include/linux/trace_events.h).
const flagHardIRQ = 0x08

var (
	flagsIRQ    = []byte("..h")
	flagsThread = []byte("...")
)

// read makes a record of a binary one. ok is false if it is of no event that is
// known. The record points into data.
func (b *Binary) read(cpu int, unit Unit, time uint64, data []byte, r *record) (ok bool) {
	if len(data) < 2 {
		return false
	}
	p := b.plans[int(b.order.Uint16(data))]
	b.facts.Lines++
	r.gap, r.line = false, int(b.facts.Lines)
	if p == nil {
		b.facts.unknown([]byte("number " + strconv.Itoa(int(b.order.Uint16(data)))))
		return false
	}
	if p.ev == nil {
		b.facts.unknown(p.name)
		return false
	}
	r.rawLine = rawLine{pid: -1, cpu: int16(min(cpu, 1<<15-1)), unit: unit, ts: time, event: p.name, flags: flagsThread}
	r.ev, r.row, r.has = p.ev, p.row, 0
	if p.pid != nil {
		r.pid = int32(p.pid.Uint(data, b.order))
		r.comm = b.comms[r.pid]
	}
	if p.flags != nil && p.flags.Uint(data, b.order)&flagHardIRQ != 0 {
		r.flags = flagsIRQ
	}
	if p.ev.probe != nil {
		r.args = probeArgs{}
		for i := range p.fields {
			r.args.number(p.fields[i].kernel, p.fields[i].from.Uint(data, b.order))
		}
		return true
	}
	for i := range p.fields {
		x := &p.fields[i]
		if x.text {
			x.set(r, 0, x.from.Bytes(data, b.order))
			continue
		}
		n := x.from.Uint(data, b.order)
		if x.f == fWhat { // a function's address
			x.set(r, n, b.symbols[n])
			continue
		}
		x.set(r, n, nil)
	}
	if p.finish != nil {
		p.finish(r)
	}
	return true
}

// Take decodes one binary record of the ring buffer: the entry point of live
// readers. unit says what the time stamps count.
func (d *Decoder) Take(b *Binary, cpu int, unit Unit, time uint64, data []byte) {
	b.facts = d.facts
	if b.read(cpu, unit, time, data, &d.raw) {
		d.take(&d.raw)
	}
}

// Lose says that events were lost here, n of them if that is known.
func (d *Decoder) Lose(n uint64) { d.lose(n) }

// pages gives the records of one CPU of a trace.dat.
type pages struct {
	b     *Binary
	unit  Unit
	cpu   int
	in    *tracedat.Pages
	lay   ringbuf.Layout
	page  ringbuf.Page
	begun bool
	last  uint64
}

func (p *pages) next(r *record) error {
	for {
		if p.begun {
			if time, data, ok := p.page.Next(); ok {
				p.last = time
				if p.b.read(p.cpu, p.unit, time, data, r) {
					return nil
				}
				continue
			}
		}
		page, at, err := p.in.Next()
		if err == nil {
			if err = p.page.Open(p.lay, page); err != nil {
				err = &tracedat.Error{Offset: at, What: err.Error()}
			}
		}
		if err != nil {
			return err
		}
		p.begun = true
		if missed, n := p.page.Missed(); missed {
			*r = record{gap: true, lost: n, line: r.line}
			r.ts, r.cpu = p.last, int16(p.cpu)
			return nil
		}
	}
}

// datSource merges the CPUs of a trace.dat.
func datSource(f *tracedat.File, unit Unit, facts *Facts) (source, error) {
	b := NewBinary(f.Formats, f.Comms, f.Kallsyms, f.Layout.Order)
	b.facts = facts
	facts.Unit, facts.Printer = unit, TraceDat
	for _, p := range b.plans {
		if p.ev == nil {
			continue
		}
		if n, ok := facts.Kernel.Narrow(p.era); ok {
			facts.Kernel = n
		} else {
			facts.Contradicts = true
		}
	}
	var parts []source
	for _, c := range f.CPUs {
		in, err := f.Pages(c)
		if err != nil {
			return nil, err
		}
		parts = append(parts, &pages{b: b, unit: unit, cpu: c.ID, in: in, lay: f.Layout})
	}
	return newMerge(parts, facts, false)
}

// clockUnit is what the stamps of a trace clock count; ok is false for clocks that
// are no time.
func clockUnit(name string) (u Unit, ok bool) {
	switch name {
	case "x86-tsc":
		return Cycles, true
	case "counter", "uptime":
		return NoUnit, false
	}
	return Nanos, true
}
