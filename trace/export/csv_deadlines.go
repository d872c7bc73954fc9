package export

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// deadlines writes a row for each deadline, in the order in which their chains
// were completed; those still open at the end come last.
type deadlines struct {
	table
	hz     clock.Hz
	keep   Keep
	all    bool
	follow chains
}

// deadlineColumns is the header row; the units are in the names.
var deadlineColumns = []string{"num", "vcpu", "vector", "mode", "outcome", "late_cycles", "late_ns", "target_tsc",
	"value", "period_ns", "backing", "backing_clause", "backing_switches", "expire_route", "expire_clause",
	"from_callback", "deliver_route", "deliver_clause", "wait_place", "tune_verdict", "virtual", "inferred", "arm_tsc",
	"backed_tsc", "programmed_tsc", "fired_tsc", "expire_tsc", "wait_tsc", "deliver_tsc", "sync_tsc", "inject_tsc",
	"entry_tsc", "isr_tsc", "eoi_tsc", "advance_cycles", "advance_ns", "delta_cycles", "waited_cycles", "arm_exit",
	"fire_exit", "entry_exit"}

func newDeadlines(j *job) Exporter {
	d := &deadlines{table: table{out: out{w: j.w}}, hz: j.h.Hz, keep: j.keep, all: j.all, follow: follow(j.start)}
	d.header(deadlineColumns...)
	return d
}

// Event implements Exporter.
func (d *deadlines) Event(e *trace.Event, s *trace.State) error {
	d.follow.step(e, s, d.keep, d.row)
	return d.flushed()
}

// Close implements Exporter.
func (d *deadlines) Close(s *trace.State) error {
	d.follow.finish(s, d.all, d.row)
	return d.flush()
}

func (d *deadlines) row(c *trace.Chain, _ clock.TSC) {
	d.uint(uint64(c.Num))
	d.cpu(c.VCPU)
	d.optional(uint64(c.Vector))
	d.name(uint8(c.Mode), c.Mode.String())
	d.text(c.Outcome.String())
	if c.Ran() {
		d.int(int64(c.Late))
		d.int(spanOf(d.hz, c.Late))
	} else {
		d.none()
		d.none()
	}
	d.point(c.Target)
	d.optional(c.Value)
	d.optional(uint64(c.Period))
	d.text(c.Backing.String())
	d.name(uint8(c.Clause), c.Clause.String())
	d.uint(uint64(c.Switches))
	d.name(uint8(c.Route), c.Route.String())
	d.name(uint8(c.RouteClause), c.RouteClause.String())
	d.bool(c.Callback)
	d.name(uint8(c.Deliver), c.Deliver.String())
	d.name(uint8(c.DeliverClause), c.DeliverClause.String())
	d.name(uint8(c.Place), c.Place.String())
	d.name(uint8(c.Verdict), c.Verdict.String())
	d.bool(c.Virtual)
	d.bool(c.Inferred)
	for _, t := range [...]clock.TSC{c.ArmAt, c.BackedAt, c.Fire, c.FireAt, c.ExpireAt, c.WaitAt, c.DeliverAt, c.SyncAt,
		c.InjectAt, c.EntryAt, c.ISRAt, c.EOIAt} {
		d.point(t)
	}
	d.int(int64(c.Advance))
	d.int(int64(c.AdvanceNS))
	if c.WaitAt != 0 {
		d.int(int64(c.Delta))
		d.int(int64(c.Waited))
	} else {
		d.none()
		d.none()
	}
	d.optional(uint64(c.ArmExit))
	d.optional(uint64(c.FireExit))
	d.optional(uint64(c.EntryExit))
	d.end()
}
