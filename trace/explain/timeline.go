package explain

import (
	"sort"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// piece is a stretch of the vCPU's time: in the guest (exit is nil), or in the
// host because of an exit. costs is what is left of the exit's cost split.
type piece struct {
	from, to clock.TSC
	exit     *trace.ExitRecord
	costs    map[trace.Phase]clock.Cycles
}

// span is a stretch of time put down to a cause.
type span struct {
	from, to clock.TSC
	cause    cause
	detail   string // a name that the words of the cause lack
}

// builder divides the time of one deadline among causes.
type builder struct {
	h      *trace.Header
	s      *trace.State
	c      *trace.Chain
	v      *trace.VCPU
	end    clock.TSC // handler, or the end of the run
	pieces []piece
	spans  []span
	at     clock.TSC // up to which spans reach
	// vector is the time from VM-entry to handler when nothing is in the way: the
	// least that the run shows.
	vector clock.Cycles
	missed int // exits that the ring has lost
}

// newBuilder takes the least vectoring time that the run shows, −1 if that is
// not known.
func newBuilder(h *trace.Header, s *trace.State, c *trace.Chain, vector clock.Cycles) *builder {
	b := &builder{h: h, s: s, c: c, end: c.ISRAt, vector: vector}
	if int(c.VCPU) < len(s.VCPUs) {
		b.v = &s.VCPUs[c.VCPU]
	} else {
		b.v = &trace.VCPU{}
	}
	if b.end == 0 {
		b.end = s.Now
	}
	b.at = b.start()
	b.cut()
	return b
}

// start is where the chain's own time begins: when the host timer was to fire,
// or at the deadline if that is earlier.
func (b *builder) start() clock.TSC {
	at := b.c.Target
	if b.c.Fire != 0 {
		at = min(at, b.c.Fire)
	}
	return at
}

// cut makes pieces of the vCPU's exits from start on.
func (b *builder) cut() {
	x := &b.s.Exits
	n := x.Len()
	i := n
	for i > 0 {
		r := x.At(i - 1)
		if r.VCPU == b.c.VCPU && r.EntryAt != 0 && r.EntryAt <= b.at {
			break
		}
		i--
	}
	if i == 0 && x.N > uint64(n) {
		b.missed = int(min(x.N-uint64(n), 1<<30))
	}
	last := b.at
	for ; i < n; i++ {
		r := x.At(i)
		if r.VCPU != b.c.VCPU || r.At >= b.end {
			continue
		}
		to := b.end
		if r.EntryAt != 0 {
			to = min(r.EntryAt, b.end)
		}
		if r.At > last {
			b.pieces = append(b.pieces, piece{from: last, to: r.At})
		}
		from := max(r.At, b.at)
		b.pieces = append(b.pieces, piece{from: from, to: to, exit: r, costs: b.costsOf(&r.Costs)})
		last = max(last, to)
	}
	if last < b.end {
		b.pieces = append(b.pieces, piece{from: last, to: b.end})
	}
}

// costsOf is the cost split of an exit by phase. Phases that found no room in it
// are given what they take on average in this run.
func (b *builder) costsOf(c *trace.CostSplit) map[trace.Phase]clock.Cycles {
	m := make(map[trace.Phase]clock.Cycles, c.N)
	for i := range c.Phases[:c.N] {
		m[c.Phases[i]] = clock.Cycles(c.Cycles[i])
	}
	if c.Rest == 0 {
		return m
	}
	for _, ph := range lastPhases {
		if t := &b.s.Costs[ph]; m[ph] == 0 && t.Count > 0 {
			m[ph] = t.Cycles / clock.Cycles(t.Count)
		}
	}
	return m
}

// lastPhases are the phases at the end of an exit, which a full split lacks.
var lastPhases = []trace.Phase{trace.PhaseEarlyGap, trace.PhaseWaitCheck, trace.PhaseLateGap, trace.PhaseEntry}

// leastVectoring is the least time from VM-entry to handler among the chains
// that the state keeps.
func leastVectoring(s *trace.State) clock.Cycles {
	least := clock.Cycles(-1)
	for i := range s.Chains.Len() {
		c := s.Chains.At(i)
		if !c.Ran() || c.EntryAt == 0 || c.EntryAt < c.ExpireAt || c.ISRAt < c.EntryAt {
			continue
		}
		if d := c.ISRAt.Sub(c.EntryAt); least < 0 || d < least {
			least = d
		}
	}
	return least
}

// add puts the time up to t down to a cause.
func (b *builder) add(t clock.TSC, c cause, detail string) {
	t = min(t, b.end)
	if t <= b.at {
		return
	}
	b.spans = append(b.spans, span{b.at, t, c, detail})
	b.at = t
}

// how says what the time up to some instant is put down to.
type how struct {
	guest cause // time in the guest
	rest  cause // host time that no phase accounts for
	other bool  // host time of exits other than the deadline's own is interference
	// phases are the phases that are accounted here, in the order in which they
	// happen.
	phases []trace.Phase
}

// until divides the time up to t along the vCPU's pieces.
func (b *builder) until(t clock.TSC, h how) {
	t = min(t, b.end)
	for i := range b.pieces {
		p := &b.pieces[i]
		if p.to <= b.at || p.from >= t {
			continue
		}
		to := min(p.to, t)
		switch {
		case p.exit == nil:
			b.add(to, h.guest, "")
		case h.other && !b.own(p.exit.Num):
			b.add(to, causeOtherExit, p.exit.Reason.String())
		default:
			b.host(p, to, h)
		}
	}
	b.add(t, h.rest, "")
}

// own reports whether an exit is the deadline's: it armed it, expired it, or was
// left by the entry before its handler.
func (b *builder) own(n trace.Num) bool {
	return n == b.c.FireExit || n == b.c.EntryExit || n == b.c.ArmExit
}

// host divides one exit's time up to a moment among its phases.
func (b *builder) host(p *piece, to clock.TSC, h how) {
	for _, ph := range h.phases {
		left := p.costs[ph]
		if left <= 0 || b.at >= to || p.exit.Reason == trace.ExitHLT && beforeHalt(ph) {
			continue
		}
		take := min(left, to.Sub(b.at))
		p.costs[ph] -= take
		b.add(b.at.Add(take), phaseCauses[ph], "")
	}
	b.add(to, h.rest, "")
}

// beforeHalt reports whether a phase of a HLT exit lies before the halt itself,
// and so before the expiry that ends the halt.
func beforeHalt(ph trace.Phase) bool {
	return ph == trace.PhaseExit || ph == trace.PhaseFastDispatch || ph == trace.PhaseDispatch
}

// phaseCauses says which cause a phase belongs to.
var phaseCauses = [trace.NumPhases]cause{
	trace.PhaseExit: causeExit, trace.PhaseFastDispatch: causeExit, trace.PhaseDispatch: causeOuter,
	trace.PhaseHrtimerStart: causeProgram, trace.PhaseHrtimerStop: causeProgram, trace.PhaseHVStart: causeProgram,
	trace.PhaseHrtimerIRQ: causeHostTimer, trace.PhaseHostIRQ: causeOtherExit, trace.PhaseExpire: causeExpire,
	trace.PhaseInjectTimer: causeOuter, trace.PhaseEvent: causeInject, trace.PhasePIRSync: causePost,
	trace.PhaseOuter: causeOuter, trace.PhasePrepare: causeOuter, trace.PhaseExitTest: causePost,
	trace.PhaseWait: causeWait, trace.PhaseEarlyGap: causeEarlyGap, trace.PhaseLateGap: causeLateGap,
	trace.PhaseEntry: causeEntry, trace.PhasePost: causePost, trace.PhaseKickRCU: causeKick,
	trace.PhaseKickTask: causeKick, trace.PhaseKickCmpxchg: causeKick, trace.PhaseKickStore: causeKick,
	trace.PhaseIPISend: causeKick, trace.PhaseNotify: causeNotify, trace.PhaseWake: causeWake,
	trace.PhaseSwitchOut: causeSwitch, trace.PhaseSwitchIn: causeSwitch, trace.PhaseWaitCheck: causeWaitCheck,
}

// total adds up the spans after the deadline by cause and detail.
type total struct {
	cause  cause
	detail string
	cycles clock.Cycles
}

// totals clips the spans to the time between from and to and adds them up, the
// greatest first. Time without a span is unknown.
func (b *builder) totals(from, to clock.TSC) []total {
	var sum []total
	add := func(c cause, detail string, n clock.Cycles) {
		for i := range sum {
			if sum[i].cause == c && sum[i].detail == detail {
				sum[i].cycles += n
				return
			}
		}
		sum = append(sum, total{c, detail, n})
	}
	at := from
	for _, s := range b.spans {
		lo, hi := max(s.from, at), min(s.to, to)
		if hi <= lo {
			continue
		}
		if lo > at {
			add(causeUnknown, "", lo.Sub(at))
		}
		add(s.cause, s.detail, hi.Sub(lo))
		at = hi
	}
	if at < to {
		add(causeUnknown, "", to.Sub(at))
	}
	sort.SliceStable(sum, func(i, j int) bool { return sum[i].cycles > sum[j].cycles })
	return sum
}
