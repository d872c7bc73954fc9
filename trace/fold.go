package trace

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// ofVCPU marks the kinds that concern one vCPU: without one they only count.
var ofVCPU = [numKinds]bool{
	KindExit: true, KindEntry: true, KindFastpath: true, KindMSR: true, KindAPIC: true, KindArm: true,
	KindBacking: true, KindHostFire: true, KindExpire: true, KindWait: true, KindTune: true, KindDeliver: true,
	KindKick: true, KindPIRSync: true, KindInject: true, KindGuestIRQ: true, KindEOI: true, KindIPI: true,
	KindHalt: true, KindWake: true, KindCost: true, KindRequest: true, KindTSCOffset: true,
	KindMPState: true, KindWaking: true, KindUserExit: true, KindUserEntry: true, KindExitInfo: true, KindPLEWindow: true,
	KindStimerArm: true, KindStimerExpire: true,
}

// Apply takes the next event of the run. It does not allocate, but for the first
// event of a vCPU that the header did not announce and the first lateness of a
// new order of magnitude. Values outside their enumeration are counted nowhere:
// a reader checks them with Validate.
func (s *State) Apply(e *Event) {
	if e.Kind == BadKind || e.Kind >= numKinds {
		s.Events++
		return
	}
	if s.Events == 0 {
		s.First = e.TSC
	}
	s.First, s.Now = min(s.First, e.TSC), max(s.Now, e.TSC)
	s.Kinds[e.Kind]++
	if e.Flags&FlagInferred != 0 {
		s.Inferred[e.Kind]++
	}
	if v := s.vcpu(e.VCPU); v != nil || !ofVCPU[e.Kind] {
		s.fold(v, e)
	}
	s.Events++
}

// fold is a switch and not a table of functions, so that e does not escape: the
// caller's event stays on its stack.
func (s *State) fold(v *VCPU, e *Event) {
	switch e.Kind {
	case KindKnob:
		foldKnob(s, v, e)
	case KindExit:
		foldExit(s, v, e)
	case KindEntry:
		foldEntry(s, v, e)
	case KindFastpath:
		foldFastpath(s, v, e)
	case KindMSR:
		foldMSR(s, v, e)
	case KindAPIC:
		foldAPIC(s, v, e)
	case KindArm:
		foldArm(s, v, e)
	case KindBacking:
		foldBacking(s, v, e)
	case KindHostFire:
		foldHostFire(s, v, e)
	case KindExpire:
		foldExpire(s, v, e)
	case KindWait:
		foldWait(s, v, e)
	case KindTune:
		foldTune(s, v, e)
	case KindDeliver:
		foldDeliver(s, v, e)
	case KindKick:
		foldKick(s, v, e)
	case KindPIRSync:
		foldPIRSync(s, v, e)
	case KindInject:
		foldInject(s, v, e)
	case KindGuestIRQ:
		foldGuestIRQ(s, v, e)
	case KindEOI:
		foldEOI(s, v, e)
	case KindIPI:
		foldIPI(s, v, e)
	case KindHalt:
		foldHalt(s, v, e)
	case KindWake:
		foldWake(s, v, e)
	case KindSched:
		foldSched(s, v, e)
	case KindCost:
		foldCost(s, v, e)
	case KindRequest:
		foldRequest(s, v, e)
	case KindTSCOffset:
		foldTSCOffset(s, v, e)
	case KindMPState:
		foldMPState(s, v, e)
	case KindConsole:
		foldConsole(s, v, e)
	case KindSample:
		foldSample(s, v, e)
	case KindEnd:
		foldEnd(s, v, e)
	case KindLost:
		foldLost(s, v, e)
	case KindMark:
		foldMark(s, v, e)
	case KindDebugger:
		foldDebugger(s, v, e)
	case KindTask:
		foldTask(s, v, e)
	case KindWaking:
		foldWaking(s, v, e)
	case KindUserExit:
		foldUserExit(s, v, e)
	case KindUserEntry:
		foldUserEntry(s, v, e)
	case KindHostIdle:
		foldHostIdle(s, v, e)
	case KindHostIRQ:
		foldHostIRQ(s, v, e)
	case KindExitInfo, KindHostTimer, KindInhibit, KindPLEWindow, KindStimerArm, KindStimerExpire, KindKernel:
		// Kinds counts them.
	case KindMissing:
		foldMissing(s, v, e)
	default:
		panic("BUG: no fold for " + e.Kind.String())
	}
}

// vcpu returns the vCPU numbered n, or nil for NoCPU.
func (s *State) vcpu(n uint8) *VCPU {
	if int(n) < len(s.VCPUs) {
		return &s.VCPUs[n]
	}
	if n == NoCPU {
		return nil
	}
	s.growVCPUs(int(n) + 1)
	return &s.VCPUs[n]
}

// count adds one to entry i of an enumeration's counters, if it has one.
func count(c []uint64, i uint64) {
	if i < uint64(len(c)) {
		c[i]++
	}
}

func foldKnob(s *State, _ *VCPU, e *Event) {
	if e.A >= uint64(NumKnobs) {
		return
	}
	k := Knob(e.A)
	s.Knobs[k] = e.B
	s.KnobTurns.Push(KnobMark{At: e.TSC, Seq: s.Events, Knob: k, Value: e.B, Old: e.C})
	s.Deadlines.SinceKnob.Reset()
	s.Deadlines.KnobAt = e.TSC
	if k == KnobAdvance {
		for i := range s.VCPUs {
			s.VCPUs[i].AdvanceNS = advanceOf(e.B)
		}
	}
}

func foldConsole(s *State, _ *VCPU, e *Event) {
	var p [24]byte
	for i := range 8 {
		p[i], p[8+i], p[16+i] = byte(e.A>>(8*i)), byte(e.B>>(8*i)), byte(e.C>>(8*i))
	}
	s.Console.write(p[:min(e.D, 24)])
}

func foldEnd(s *State, _ *VCPU, e *Event) {
	s.End = End{How: EndKind(e.A), Code: e.B, Detail: e.C, At: e.TSC}
}

// foldLost closes every open deadline: what happened to it in the gap is not
// known.
func foldLost(s *State, _ *VCPU, e *Event) {
	s.Lost.Gaps++
	s.Lost.Events += e.A
	s.Lost.Unknown = s.Lost.Unknown || e.A == 0
	if e.Flags&FlagGap != 0 {
		s.Events += Seq(e.A) - 1 // Apply counts one of them
	}
	for i := range s.VCPUs {
		v := &s.VCPUs[i]
		s.closeArmed(v, OutcomeUnknown)
		for v.NFlight > 0 {
			s.closeFlight(v, 0, OutcomeUnknown)
		}
		v.NServing, v.Pending = 0, false
	}
}

// foldDebugger notes what deadlines must not be blamed for.
func foldDebugger(s *State, _ *VCPU, e *Event) {
	x, h := e.Debugger(), &s.Held
	switch x.Act {
	case DebuggerPause, DebuggerRebuild:
		if h.Since == 0 {
			h.Since = e.TSC
		}
	case DebuggerResume, DebuggerRebuilt, DebuggerStep:
		if h.Since == 0 {
			return
		}
		h.Count++
		if seen := e.TSC.Sub(h.Since) - x.Hidden; seen > 0 {
			h.Cycles += seen
			h.Last = e.TSC
			s.stretch(Stretch{From: h.Since, To: e.TSC, Kind: StretchHeld, VCPU: NoCPU, PCPU: NoCPU})
		}
		h.Since = 0
	}
}

// lasted reports whether something can have taken d, and counts what cannot.
func (s *State) lasted(d clock.Cycles) bool {
	ok := d >= 0 && d <= s.Now.Sub(s.First)
	if !ok {
		s.Untrue++
	}
	return ok
}

func foldMark(s *State, _ *VCPU, e *Event) {
	b := Bookmark{At: e.TSC, Seq: s.Events}
	for i := range b.Name {
		b.Name[i] = byte(e.A >> (8 * i))
	}
	s.Bookmarks.Push(b)
}
