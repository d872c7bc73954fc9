package trace

import "codeberg.org/ticktrap/ticktrap/internal/clock"

func foldExit(s *State, v *VCPU, e *Event) {
	r := ExitReason(min(e.A, uint64(ExitOther)))
	n := s.Exits.Push(ExitRecord{VCPU: e.VCPU, PCPU: e.PCPU, Reason: r, Seq: s.Events, At: e.TSC, RIP: e.B,
		Info1: e.C, Info2: e.D})
	v.Exit = Num(n + 1)
	s.Exits.Get(n).Num = v.Exit
	v.ExitAt, v.ExitReason, v.RIP = e.TSC, r, e.B
	v.InGuest, v.Requeued = false, false
	v.Exits++
	v.PCPU = e.PCPU
	if s.Knobs[KnobFastpath] <= fastpathOff {
		v.LoopMode = OutsideGuestMode
	}
	s.ExitStats[r].Count++
	s.Rates.at(e.TSC).Exits++
}

// fastpathOff is the number of "off" in RuleSetNames.
const fastpathOff = 1

// current is the record of the exit that v is in, or was in last; nil if there
// is none or the ring has lost it.
func (s *State) current(v *VCPU) *ExitRecord {
	if v.Exit == NoNum {
		return nil
	}
	return s.Exits.Get(uint64(v.Exit) - 1)
}

// linkExit notes that the exit v is in concerns deadline n.
func (s *State) linkExit(v *VCPU, n Num) {
	if x := s.current(v); x != nil && !v.InGuest {
		x.Deadline = n
	}
}

// foldFastpath: as long as the fastpath re-enters, vcpu->mode stays
// IN_GUEST_MODE; any other result leaves the inner loop.
func foldFastpath(s *State, v *VCPU, e *Event) {
	st := &s.ExitStats[min(e.A, uint64(ExitOther))]
	count(st.Results[:], e.B)
	count(st.Clauses[:], e.C)
	if x := s.current(v); x != nil {
		x.Result, x.Clause, x.HasFast = FastpathResult(e.B), Clause(e.C), true
	}
	if FastpathResult(e.B) != FastReenter {
		v.LoopMode = OutsideGuestMode
	}
	if b := s.Rates.at(e.TSC); e.B != uint64(FastNone) {
		b.Fastpath++
		if e.B == uint64(FastReenter) {
			b.Reentered++
		}
	}
}

// foldEntry: every request has been handled when a vCPU enters.
func foldEntry(s *State, v *VCPU, e *Event) {
	if v.Exit != NoNum && !v.InGuest {
		st := &s.ExitStats[v.ExitReason]
		if d := e.TSC.Sub(v.ExitAt); s.lasted(d) {
			st.Cycles.Add(d)
		}
		if e.D != 0 {
			st.Reentries++
		}
		if x := s.current(v); x != nil {
			x.EntryAt, x.Vector, x.Reentry = e.TSC, uint8(e.B), e.D != 0
		}
	}
	if v.User.Since != 0 {
		s.leaveUser(v, e)
	}
	v.InGuest, v.LoopMode, v.Requests, v.Halt = true, InGuestMode, 0, BadHalt
	v.MP = MPRunnable // a trace of the kernel's does not tell INIT and SIPI
	v.EntryAt, v.RIP = e.TSC, e.A
	v.PCPU, v.Loaded = e.PCPU, true
	for i := range v.Flight[:v.NFlight] {
		if c := &v.Flight[i]; c.DeliverAt != 0 {
			c.EntryAt, c.EntryExit = e.TSC, v.Exit
		}
	}
}

// foldCost adds cycles to their phases and, until the VM-entry, to the exit: what
// comes after it, such as a posted interrupt that arrives in the guest, is no work
// of the host for that exit.
func foldCost(s *State, v *VCPU, e *Event) {
	var nowhere CostSplit
	into := &nowhere
	if x := s.current(v); x != nil && x.EntryAt == 0 {
		into = &x.Costs
	}
	seen := into.seen()
	for _, arg := range [4]uint64{e.A, e.B, e.C, e.D} {
		for ; arg != 0; arg >>= 32 {
			c := unpackCost(uint32(arg))
			if c.Phase == BadPhase || c.Phase >= NumPhases {
				continue
			}
			s.Costs[c.Phase].Count++
			s.Costs[c.Phase].Cycles += c.Cycles
			s.spend(c)
			seen = into.add(c, seen)
		}
	}
}

func foldKick(s *State, v *VCPU, e *Event) {
	k := &s.Kicks
	count(k.Decisions[:], e.A)
	count(k.Modes[:], e.B)
	for i := range k.Steps {
		k.Steps[i] += e.C >> i & 1
	}
	if e.D == uint64(e.VCPU) {
		k.Self++
	}
	d := KickDecision(e.A)
	if d == KickIPI || d == KickExiting {
		v.LoopMode = ExitingGuestMode
	}
	s.KickLedger.Push(KickRecord{At: e.TSC, Target: e.VCPU, From: uint8(e.D), PCPU: e.PCPU, Decision: d,
		Mode: Mode(e.B), Steps: KickSteps(e.C)})
	b := s.Rates.at(e.TSC)
	b.Kicks++
	if d == KickIPI {
		b.IPIs++
	}
}

func foldRequest(_ *State, v *VCPU, e *Event) { v.Requests = e.B }

func foldHalt(s *State, v *VCPU, e *Event) {
	count(s.Halts.Steps[:], e.A)
	if v.Halt == BadHalt {
		v.HaltedAt = e.TSC
	}
	s.polled(v, e)
	v.Halt, v.Poll, v.LoopMode = HaltStep(e.A), clock.Nanos(e.B), OutsideGuestMode
}

// polled ends a time of halt polling.
func (s *State) polled(v *VCPU, e *Event) {
	if v.Halt == HaltPolling {
		s.stretch(Stretch{From: v.HaltedAt, To: e.TSC, Kind: StretchPoll, VCPU: e.VCPU, PCPU: v.PCPU})
	}
}

// foldWake: a spurious wake-up does not end the halt.
func foldWake(s *State, v *VCPU, e *Event) {
	count(s.Halts.Wakes[:], e.A)
	v.Poll = clock.Nanos(e.D)
	if WakeReason(e.A) == WakeSpurious {
		return
	}
	if cycles, ok := s.Hz.ToCycles(clock.Nanos(e.B)); ok && s.lasted(clock.Cycles(cycles)) {
		s.Halts.Halted += clock.Nanos(e.B)
	}
	s.Halts.Polled += min(e.C, 1)
	s.polled(v, e)
	v.Halt = BadHalt
}
