package trace

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// foldArm begins a deadline, or with target 0 ends one. Every arming by the guest
// drops an expiry that has not been injected yet. An arm event of a periodic
// timer that follows its expiry, with no exit of the vCPU in between, is not the
// guest's: it tells the exact target of the period that the expiry began.
func foldArm(s *State, v *VCPU, e *Event) {
	if v.Requeued && TimerMode(e.B) == Periodic && e.A != 0 && v.Chain.Num != NoNum {
		v.retarget(clock.TSC(e.A))
		return
	}
	v.Value, v.Period = e.C, clock.Nanos(e.D)
	if m := TimerMode(e.B); m != BadTimerMode {
		v.Mode = m
	}
	if e.A == 0 {
		s.Deadlines.Disarms++
		s.disarm(v)
		return
	}
	s.Deadlines.Arms++
	s.closeArmed(v, OutcomeRearmed)
	s.dropPending(v)
	s.openChain(v, e, clock.TSC(e.A))
	c := &v.Chain
	c.ArmExit, c.Value = v.Exit, e.C
	s.linkExit(v, c.Num)
	if c.Target <= e.TSC {
		s.Deadlines.InPast++
	}
}

// retarget corrects the estimated target of the armed deadline.
func (v *VCPU) retarget(t clock.TSC) {
	c := &v.Chain
	if c.Fire != 0 {
		c.Fire += t - c.Target
	}
	c.Target, v.Target, v.Fire, v.Requeued = t, t, c.Fire, false
}

// openChain makes a new deadline the armed one.
func (s *State) openChain(v *VCPU, e *Event, target clock.TSC) {
	s.Deadlines.Opened++
	v.Chain = Chain{Num: Num(s.Deadlines.Opened), VCPU: e.VCPU, Mode: v.Mode, Outcome: OutcomeOpen, Target: target,
		Period: v.Period, ArmAt: e.TSC, AdvanceNS: v.AdvanceNS, Inferred: e.Flags&FlagInferred != 0}
	v.Armed, v.Target, v.ArmedAt = true, target, e.TSC
	v.Backing, v.Clause, v.Fire, v.Advance = BackNone, ClauseNone, 0, 0
}

// disarm ends the armed deadline and drops an expiry that is pending.
func (s *State) disarm(v *VCPU) {
	s.closeArmed(v, OutcomeCancelled)
	s.dropPending(v)
	v.Target = 0
}

// closeArmed ends the armed deadline, if there is one.
func (s *State) closeArmed(v *VCPU, o Outcome) {
	v.Armed, v.Backing, v.Fire, v.Advance = false, BackNone, 0, 0
	if v.Chain.Num == NoNum {
		return
	}
	v.Chain.Outcome = o
	s.closeChain(&v.Chain)
	v.Chain = Chain{}
}

// dropPending ends the deadlines that expired and wait for the outer loop.
func (s *State) dropPending(v *VCPU) {
	v.Pending = false
	for i := 0; i < int(v.NFlight); {
		if c := &v.Flight[i]; c.DeliverAt == 0 && (c.Route == RoutePending || c.Route == RoutePendKick) {
			s.closeFlight(v, i, OutcomeDropped)
			continue
		}
		i++
	}
}

// closeFlight ends the i-th deadline on its way and returns its place in Chains.
func (s *State) closeFlight(v *VCPU, i int, o Outcome) uint64 {
	v.Flight[i].Outcome = o
	n := s.closeChain(&v.Flight[i])
	copy(v.Flight[i:], v.Flight[i+1:v.NFlight])
	v.NFlight--
	v.Flight[v.NFlight] = Chain{}
	return n
}

func (s *State) closeChain(c *Chain) uint64 {
	s.Deadlines.Outcomes[c.Outcome]++
	return s.Chains.Push(*c)
}

// foldBacking: a chain keeps the last host timer that backed it. Where arming
// found the deadline in the past, its expiry comes first and the reason after.
func foldBacking(s *State, v *VCPU, e *Event) {
	count(s.Backings[:], e.A)
	count(s.BackClauses[:], e.B)
	v.Backing, v.Clause, v.Fire, v.Advance = Backing(e.A), Clause(e.B), clock.TSC(e.C), clock.Cycles(e.D)
	c := &v.Chain
	switch {
	case c.Num == NoNum:
		if f := v.lastFlight(); f != nil && f.BackedAt == 0 && v.Backing == BackNone {
			f.Clause = v.Clause
		}
		return
	case v.Backing == BackNone && c.Backing != BackNone:
		return // the timer was cancelled, to be replaced or not
	case c.Backing != BackNone && c.Backing != v.Backing:
		c.Switches++
	}
	c.Backing, c.Clause, c.BackedAt, c.Fire, c.Advance = v.Backing, v.Clause, e.TSC, v.Fire, v.Advance
}

func foldHostFire(s *State, v *VCPU, e *Event) {
	count(s.HostFires[:], e.A)
	if c := &v.Chain; c.Num != NoNum {
		c.FireAt, c.FireExit = e.TSC, v.Exit
		c.FirePCPU, c.FireVCPU, c.FireGuest = e.PCPU, v.PCPU, v.InGuest
		if e.B != 0 && c.BackedAt == 0 { // a period's is an estimate so far
			c.Fire = clock.TSC(e.B)
		}
		s.linkExit(v, c.Num)
	}
}

// foldExpire moves the armed deadline into flight. It comes before the deliver
// event of a direct or posted injection. A source that does not tell of arming
// gives a deadline whose ArmAt is 0.
func foldExpire(s *State, v *VCPU, e *Event) {
	count(s.Expiries[:], e.B)
	count(s.ExpireClauses[:], e.C)
	route := ExpireRoute(e.B)
	if v.Chain.Num == NoNum {
		if route == RouteMerged {
			return
		}
		s.openChain(v, e, clock.TSC(e.A))
		v.Chain.ArmAt = 0
	}
	c := v.Chain
	v.Chain = Chain{}
	v.Armed, v.Backing = false, BackNone
	c.ExpireAt, c.Route, c.RouteClause, c.Callback = e.TSC, route, Clause(e.C), e.D != 0
	c.Inferred = c.Inferred || e.Flags&FlagInferred != 0
	if e.A != 0 {
		c.Target = clock.TSC(e.A)
	}
	if c.FireExit == NoNum {
		c.FireExit = v.Exit
	}
	s.linkExit(v, c.Num)
	s.expireChain(v, &c)
	if c.Mode == Periodic && c.Period > 0 {
		s.nextPeriod(v, e, &c)
	}
}

func (s *State) expireChain(v *VCPU, c *Chain) {
	switch c.Route {
	case RouteMerged:
		c.Outcome = OutcomeMerged
		s.closeChain(c)
		return
	case RouteLost:
		c.Outcome = OutcomeLost
		s.closeChain(c)
		return
	case RoutePending, RoutePendKick:
		v.Pending = true
	}
	if v.NFlight == MaxFlight {
		s.closeFlight(v, 0, OutcomeUnknown)
	}
	v.Flight[v.NFlight] = *c
	v.NFlight++
}

// nextPeriod opens the next deadline of a periodic timer. Its target is an
// estimate, since KVM counts periods in nanoseconds; an arm event or the next
// expire event tells the right one. The host timer is the same until a backing
// event says otherwise.
func (s *State) nextPeriod(v *VCPU, e *Event, c *Chain) {
	cycles, ok := s.Hz.ToCycles(c.Period)
	if !ok {
		return
	}
	s.openChain(v, e, c.Target+cycles)
	n := &v.Chain
	n.Backing, n.Clause, n.Advance = c.Backing, c.Clause, c.Advance
	if c.Fire != 0 {
		n.Fire = c.Fire + cycles
	}
	v.Backing, v.Clause, v.Fire, v.Advance, v.Requeued = n.Backing, n.Clause, n.Fire, n.Advance, true
}

// foldWait: the wait is for the deadline that expired last; in the timer callback
// it comes before the expiry.
func foldWait(s *State, v *VCPU, e *Event) {
	delta, waited := clock.Cycles(e.A), clock.Cycles(e.B)
	w := &s.Waits
	w.Count++
	w.Delta.Add(delta)
	if s.lasted(waited) {
		w.Waited.Add(waited)
	}
	if delta < 0 {
		w.Early++
		if waited < -delta {
			w.Capped++
		}
	}
	count(w.Places[:], e.D)
	v.Delta, v.Waited, v.DeltaAt = delta, waited, e.TSC
	c := v.lastFlight()
	if Placement(e.D) == WaitCallback && v.Chain.Num != NoNum {
		c = &v.Chain
	}
	if c != nil && c.WaitAt == 0 {
		c.WaitAt, c.Delta, c.Waited, c.Place = e.TSC, delta, waited, Placement(e.D)
	}
}

func (v *VCPU) lastFlight() *Chain {
	if v.NFlight == 0 {
		return nil
	}
	return &v.Flight[v.NFlight-1]
}

func foldTune(s *State, v *VCPU, e *Event) {
	count(s.Tunes[:], e.D)
	v.AdvanceNS = clock.Nanos(e.B)
	if c := &v.Chain; c.WaitAt != 0 {
		c.Verdict = TuneVerdict(e.D)
	} else if c := v.lastFlight(); c != nil {
		c.Verdict = TuneVerdict(e.D)
	}
	s.Advances.add(AdvancePoint{At: e.TSC, NS: v.AdvanceNS, Delta: clock.Cycles(e.C), VCPU: e.VCPU,
		Verdict: TuneVerdict(e.D)})
}

// deliverChain gives the oldest undelivered deadline its delivery. waits says that
// the vector is in IRR since an earlier one: the two become one interrupt.
func (s *State) deliverChain(v *VCPU, e *Event, vec uint8, route DeliverRoute, clause Clause, waits bool) {
	v.Pending = false
	for i := range int(v.NFlight) {
		c := &v.Flight[i]
		if c.DeliverAt != 0 {
			continue
		}
		c.Vector, c.DeliverAt, c.Deliver, c.DeliverClause = vec, e.TSC, route, clause
		s.linkExit(v, c.Num)
		if route == DeliverLost {
			s.closeFlight(v, i, OutcomeLost)
		} else if (waits || route == DeliverMerged && clause != ClauseONSet) && v.delivered(i, vec) {
			s.closeFlight(v, i, OutcomeMerged)
		}
		return
	}
}

// delivered reports whether one of the first n deadlines on their way waits with
// vector vec.
func (v *VCPU) delivered(n int, vec uint8) bool {
	for i := range v.Flight[:n] {
		if v.Flight[i].DeliverAt != 0 && v.Flight[i].Vector == vec {
			return true
		}
	}
	return false
}

// inFlight returns the oldest delivered deadline with vector vec, or nil.
func (v *VCPU) inFlight(vec uint8) *Chain {
	for i := range v.Flight[:v.NFlight] {
		if c := &v.Flight[i]; c.DeliverAt != 0 && c.Vector == vec {
			return c
		}
	}
	return nil
}

// runChain ends the deadline whose handler begins. A source that does not tell
// of deliveries gives the oldest deadline on its way if vec is LVTT's vector.
func (s *State) runChain(v *VCPU, e *Event, vec uint8) {
	for i := range int(v.NFlight) {
		c := &v.Flight[i]
		if told := c.DeliverAt != 0; told && c.Vector != vec || !told && vec != v.TimerVector() {
			continue
		}
		c.Vector, c.ISRAt, c.Late, c.Virtual = vec, e.TSC, e.TSC.Sub(c.Target), e.B != 0
		c.Inferred = c.Inferred || e.Flags&FlagInferred != 0
		if c.EntryAt == 0 && c.DeliverAt == 0 && v.EntryAt >= c.ExpireAt {
			c.EntryAt, c.EntryExit = v.EntryAt, v.Exit
		}
		v.Pending = v.Pending && c.DeliverAt != 0
		n := s.closeFlight(v, i, s.judge(v, c))
		v.serve(vec, n)
		return
	}
}

// judge is the outcome of a deadline whose handler runs. Only a lateness that can
// be true, and is none of the debugger's doing, is counted: a deadline that a
// kernel wrapped, or that lies before the run, has none.
func (s *State) judge(v *VCPU, c *Chain) Outcome {
	switch {
	case c.Late > s.Now.Sub(s.First):
		return OutcomeWithheld
	case s.Held.Last > min(c.Target, c.ISRAt):
		return OutcomeHeld
	}
	s.countLate(v, c)
	return OutcomeDone
}

func (s *State) countLate(v *VCPU, c *Chain) {
	d := &s.Deadlines
	d.Late.Add(c.Late)
	v.Late.Add(c.Late)
	if c.ArmAt >= d.KnobAt {
		d.SinceKnob.Add(c.Late)
	}
	s.Scatter.Push(LatePoint{At: c.ISRAt, Late: c.Late, Deadline: c.Num, VCPU: c.VCPU, Backing: c.Backing, Route: c.Route,
		Cost: s.sinceLast()})
	b := s.Rates.at(c.ISRAt)
	b.Deadlines++
	if c.Late >= OnTimeBand {
		b.Late++
	}
}

// serve notes a handler that will write EOI; the oldest of too many is
// forgotten.
func (v *VCPU) serve(vec uint8, chain uint64) {
	if v.NServing == MaxServing {
		copy(v.Serving[:], v.Serving[1:])
		v.NServing--
	}
	v.Serving[v.NServing] = Serving{Vector: vec, Chain: chain}
	v.NServing++
}
