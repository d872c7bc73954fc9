package export

import (
	"strconv"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// exits writes a row for each VM-exit when the vCPU enters again. Exits that
// were followed by no entry have no entry_tsc.
type exits struct {
	table
	hz   clock.Hz
	keep Keep
	all  bool
	open openExits
}

var exitColumns = []string{"num", "vcpu", "pcpu", "tsc", "ns", "reason", "rip", "info1", "info2", "fastpath", "clause",
	"entry_tsc", "cycles", "reentry", "entry_vector", "deadline", "host_cycles", "costs"}

func newExits(j *job) Exporter {
	x := &exits{table: table{out: out{w: j.w}}, hz: j.h.Hz, keep: j.keep, all: j.all}
	x.header(exitColumns...)
	return x
}

// Event implements Exporter.
func (x *exits) Event(e *trace.Event, s *trace.State) error {
	done, entered := x.open.step(e, s)
	if done != nil && (x.all || entered && x.keep(e, s)) {
		x.row(done)
	}
	return x.flushed()
}

// Close implements Exporter.
func (x *exits) Close(*trace.State) error {
	if x.all {
		x.open.rest(x.row)
	}
	return x.flush()
}

func (x *exits) row(r *trace.ExitRecord) {
	x.uint(uint64(r.Num))
	x.cpu(r.VCPU)
	x.cpu(r.PCPU)
	x.uint(uint64(r.At))
	x.int(nanosOf(x.hz, r.At))
	x.text(r.Reason.String())
	x.hex(r.RIP)
	x.hex(r.Info1)
	x.hex(r.Info2)
	if r.HasFast {
		x.text(r.Result.String())
		x.text(r.Clause.String())
	} else {
		x.none()
		x.none()
	}
	x.point(r.EntryAt)
	if r.EntryAt != 0 {
		x.int(int64(r.Cycles()))
	} else {
		x.none()
	}
	x.bool(r.Reentry)
	x.optional(uint64(r.Vector))
	x.optional(uint64(r.Deadline))
	x.costs(&r.Costs)
	x.end()
}

// costs writes the sum and the split, "exit:474 dispatch:165".
func (x *exits) costs(c *trace.CostSplit) {
	if c.N == 0 {
		x.none()
		x.none()
		return
	}
	x.int(int64(c.Total()))
	x.b = x.cell()
	for i := range c.N {
		if i > 0 {
			x.b = append(x.b, ' ')
		}
		x.b = append(append(x.b, c.Phases[i].String()...), ':')
		x.b = strconv.AppendUint(x.b, uint64(c.Cycles[i]), 10)
	}
	if c.Rest > 0 {
		x.b = strconv.AppendUint(append(x.b, " rest:"...), uint64(c.Rest), 10)
	}
}
