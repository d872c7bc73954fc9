package export

import (
	"strconv"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// chainSteps are the steps of a deadline that become instants on its vCPU's
// track, joined by the flow. The host timer is written when it fires, for the
// chain does not know on which CPU that was.
var chainSteps = []struct {
	name string
	at   func(*trace.Chain) clock.TSC
}{
	{"arm", func(c *trace.Chain) clock.TSC { return c.ArmAt }},
	{"expire", func(c *trace.Chain) clock.TSC { return c.ExpireAt }},
	{"deliver", func(c *trace.Chain) clock.TSC { return c.DeliverAt }},
	{"inject", func(c *trace.Chain) clock.TSC { return c.InjectAt }},
	{"handler", func(c *trace.Chain) clock.TSC { return c.ISRAt }},
	{"EOI", func(c *trace.Chain) clock.TSC { return c.EOIAt }},
}

// chain writes a deadline that is complete, or open at the end.
func (p *perfetto) chain(c *trace.Chain, end clock.TSC) {
	if int(c.VCPU) >= len(p.vcpus) {
		return
	}
	begin := firstStep(c)
	if begin == 0 || begin > end {
		return
	}
	id := uint64(c.Num)
	lane, begin := p.lane(&p.vcpus[c.VCPU], c.VCPU, begin, end)
	p.start(typeSliceBegin, lane)
	p.category("deadline")
	p.named("deadline", id)
	p.chainArgs(c)
	p.flow(id)
	p.emit(begin)
	p.stage(lane, "armed", begin, c.ArmAt, c.ExpireAt, end, c.ArmAt != 0)
	p.stage(lane, "delivery", begin, c.ExpireAt, c.ISRAt, end, c.ExpireAt != 0)
	p.stage(lane, "handler", begin, c.ISRAt, c.EOIAt, end, c.ISRAt != 0)
	p.start(typeSliceEnd, lane)
	p.emit(end)
	p.steps(c, id)
	if c.Ran() {
		p.count(c.ISRAt, p.child(uuidLateness+uint64(c.VCPU), uuidVM, "vCPU "+strconv.Itoa(int(c.VCPU))+" lateness",
			unitTimeNS), spanOf(p.hz, c.Late))
	}
}

func firstStep(c *trace.Chain) clock.TSC {
	for _, s := range chainSteps {
		if t := s.at(c); t != 0 {
			return t
		}
	}
	return 0
}

func (p *perfetto) chainArgs(c *trace.Chain) {
	p.argUint("target", uint64(c.Target))
	p.argText("outcome", c.Outcome.String())
	if c.Ran() {
		p.argInt("late_cycles", int64(c.Late))
		p.argInt("late_ns", spanOf(p.hz, c.Late))
	}
	p.argText("mode", c.Mode.String())
	p.argText("backing", c.Backing.String())
	if c.Clause != trace.ClauseNone {
		p.argText("backing_clause", c.Clause.String())
	}
	if c.Route != trace.BadRoute {
		p.argText("expire_route", c.Route.String())
	}
	if c.Deliver != trace.BadDeliver {
		p.argText("deliver_route", c.Deliver.String())
		p.argHex("vector", uint64(c.Vector))
	}
	if c.WaitAt != 0 {
		p.argInt("delta", int64(c.Delta))
		p.argInt("waited", int64(c.Waited))
	}
	if c.Inferred {
		p.argText("provenance", "inferred")
	}
}

// stage writes a part of a deadline's slice, cut to begin … end. A part whose end
// is not known goes on to the end.
func (p *perfetto) stage(lane uint64, name string, begin, from, to, end clock.TSC, known bool) {
	if !known {
		return
	}
	if to == 0 {
		to = end
	}
	from = min(max(from, begin), end)
	to = min(max(to, from), end)
	p.start(typeSliceBegin, lane)
	p.category("deadline")
	p.name(name)
	p.emit(from)
	p.start(typeSliceEnd, lane)
	p.emit(to)
}

// steps writes the instants; the last one ends the flow.
func (p *perfetto) steps(c *trace.Chain, id uint64) {
	last := -1
	for i := range chainSteps {
		if chainSteps[i].at(c) != 0 {
			last = i
		}
	}
	for i := range chainSteps {
		t := chainSteps[i].at(c)
		if t == 0 {
			continue
		}
		p.start(typeInstant, p.vcpu(c.VCPU))
		p.category("deadline")
		p.name(chainSteps[i].name)
		p.argUint("deadline", id)
		if i == last {
			p.flowEnd(id)
		} else {
			p.flow(id)
		}
		p.emit(t)
	}
}

// lane picks the track of a deadline: the first on which it overlaps no other.
// If there is none left, the slice begins where the last one ends.
func (p *perfetto) lane(v *pfVCPU, n uint8, begin, end clock.TSC) (uint64, clock.TSC) {
	i := 0
	for i < len(v.lanes) && v.lanes[i] > begin {
		i++
	}
	switch {
	case i == maxLanes:
		i = maxLanes - 1
		begin = min(v.lanes[i], end)
	case i == len(v.lanes):
		v.lanes = append(v.lanes, 0)
	}
	v.lanes[i] = end
	return p.child(uuidLane+uint64(n)*maxLanes+uint64(i), uuidVM, "vCPU "+strconv.Itoa(int(n))+" deadlines", 0), begin
}
