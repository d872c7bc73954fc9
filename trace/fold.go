package trace

// folds is the fold, one function per kind. A kind without one only counts.
var folds = [numKinds]func(*State, *VCPU, *Event){
	KindKnob:      foldKnob,
	KindExit:      foldExit,
	KindEntry:     foldEntry,
	KindFastpath:  foldFastpath,
	KindMSR:       foldMSR,
	KindAPIC:      foldAPIC,
	KindArm:       foldArm,
	KindBacking:   foldBacking,
	KindHostFire:  foldHostFire,
	KindExpire:    foldExpire,
	KindWait:      foldWait,
	KindTune:      foldTune,
	KindDeliver:   foldDeliver,
	KindKick:      foldKick,
	KindPIRSync:   foldPIRSync,
	KindInject:    foldInject,
	KindGuestIRQ:  foldGuestIRQ,
	KindEOI:       foldEOI,
	KindIPI:       foldIPI,
	KindHalt:      foldHalt,
	KindWake:      foldWake,
	KindSched:     foldSched,
	KindCost:      foldCost,
	KindRequest:   foldRequest,
	KindTSCOffset: foldTSCOffset,
	KindMPState:   foldMPState,
	KindConsole:   foldConsole,
	KindSample:    foldSample,
	KindEnd:       foldEnd,
	KindLost:      foldLost,
	KindMark:      foldMark,
}

// ofVCPU marks the kinds that concern one vCPU: without one they only count.
var ofVCPU = [numKinds]bool{
	KindExit: true, KindEntry: true, KindFastpath: true, KindMSR: true, KindAPIC: true, KindArm: true,
	KindBacking: true, KindHostFire: true, KindExpire: true, KindWait: true, KindTune: true, KindDeliver: true,
	KindKick: true, KindPIRSync: true, KindInject: true, KindGuestIRQ: true, KindEOI: true, KindIPI: true,
	KindHalt: true, KindWake: true, KindSched: true, KindCost: true, KindRequest: true, KindTSCOffset: true,
	KindMPState: true,
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
		folds[e.Kind](s, v, e)
	}
	s.Events++
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
	for i := range s.VCPUs {
		v := &s.VCPUs[i]
		s.closeArmed(v, OutcomeUnknown)
		for v.NFlight > 0 {
			s.closeFlight(v, 0, OutcomeUnknown)
		}
		v.NServing = 0
	}
}

func foldMark(s *State, _ *VCPU, e *Event) {
	b := Bookmark{At: e.TSC, Seq: s.Events}
	for i := range b.Name {
		b.Name[i] = byte(e.A >> (8 * i))
	}
	s.Bookmarks.Push(b)
}
