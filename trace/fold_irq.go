package trace

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// foldDeliver follows vectors into PIR or IRR:
//
//	route                       effect
//	pir+ipi, pir, pir+wake,     PIR gets the vector, ON is set
//	pir+kick
//	irr+request                 IRR gets the vector
//	merged, clause pir-set      nothing: it is there
//	merged, clause on-set       PIR gets the vector; ON is set already
//	merged, other clause        IRR gets the vector (it is there already)
//	lost, event                 nothing
func foldDeliver(s *State, v *VCPU, e *Event) {
	count(s.Deliveries[:], e.B)
	count(s.DeliverClauses[:], e.C)
	count(s.DeliverSources[:], e.D)
	vec, route, clause := uint8(e.A), DeliverRoute(e.B), Clause(e.C)
	waits := v.IRR.Has(vec)
	switch route {
	case DeliverNotify, DeliverSelf, DeliverWake, DeliverPIRKick:
		v.PIR.Add(vec)
		v.ON = true
	case DeliverRequest:
		v.IRR.Add(vec)
	case DeliverMerged:
		if clause == ClauseONSet {
			v.PIR.Add(vec)
		} else if clause != ClausePIRSet {
			v.IRR.Add(vec)
		}
	}
	if Source(e.D) == SourceTimer {
		s.deliverChain(v, e, vec, route, clause, waits)
	}
}

// foldPIRSync: PIR moves into IRR as a whole and ON is cleared.
func foldPIRSync(s *State, v *VCPU, e *Event) {
	s.Injections.Syncs++
	s.Injections.Synced += e.A
	v.syncPIR(e.TSC)
}

func (v *VCPU) syncPIR(at clock.TSC) {
	v.IRR.drain(&v.PIR)
	v.ON = false
	for i := range v.Flight[:v.NFlight] {
		if c := &v.Flight[i]; c.DeliverAt != 0 && c.SyncAt == 0 {
			c.SyncAt = at
		}
	}
}

// take moves a vector from IRR into service. A vector that is not in IRR (an
// ExtINT from the PIC, an NMI) leaves both alone. One that is still in PIR was
// moved by the hardware when it processed the notification, which is no event.
func (v *VCPU) take(vec uint8, at clock.TSC) {
	if !v.IRR.Has(vec) && v.PIR.Has(vec) {
		v.syncPIR(at)
	}
	if v.IRR.Has(vec) {
		v.IRR.Remove(vec)
		v.ISR.Add(vec)
	}
}

// foldInject: without virtual-interrupt delivery the vector goes into service
// when it is written to the VM-entry field.
func foldInject(s *State, v *VCPU, e *Event) {
	in := &s.Injections
	if e.C != 0 {
		in.Windows++
		return
	}
	if e.B != 0 {
		in.Reinjected++
	} else {
		in.Injected++
		v.take(uint8(e.A), e.TSC)
	}
	if c := v.inFlight(uint8(e.A)); c != nil {
		c.InjectAt = e.TSC
		s.linkExit(v, c.Num)
	}
}

func foldGuestIRQ(s *State, v *VCPU, e *Event) {
	vec := uint8(e.A)
	s.Injections.Handlers++
	s.Injections.Virtual += min(e.B, 1)
	v.RIP = e.C
	if e.B != 0 {
		v.take(vec, e.TSC)
	}
	s.runChain(v, e, vec)
}

func foldEOI(s *State, v *VCPU, e *Event) {
	s.Injections.EOIs++
	s.Injections.VirtualEOIs += min(e.B, 1)
	if int64(e.A) < 0 {
		return
	}
	vec := uint8(e.A)
	v.ISR.Remove(vec)
	for i := int(v.NServing) - 1; i >= 0; i-- {
		if v.Serving[i].Vector != vec {
			continue
		}
		if c := s.Chains.Get(v.Serving[i].Chain); c != nil {
			c.EOIAt = e.TSC
			s.linkExit(v, c.Num)
		}
		copy(v.Serving[i:], v.Serving[i+1:])
		v.NServing--
		return
	}
}

func foldIPI(_ *State, v *VCPU, e *Event) {
	v.IPIs++
	v.APIC.ICR = e.A
}

// foldMSR follows the TSC-deadline MSR, and names the MSR of an exit that does
// not.
func foldMSR(s *State, v *VCPU, e *Event) {
	const apicBase, tscDeadline = 0x1b, 0x6e0
	if x := s.current(v); x != nil && !v.InGuest && x.Info1|x.Info2 == 0 && (x.Reason == ExitMSRWrite || x.Reason == ExitMSRRead) {
		x.Info1 = e.A
		if e.C != 0 {
			x.Info2 = e.B
		}
	}
	if e.A == apicBase && e.C != 0 && e.D == 0 {
		v.APIC.Base = e.B
	}
	if e.A == tscDeadline && e.C != 0 && e.D == 0 {
		v.APIC.Deadline = e.B
	}
}

// foldAPIC keeps the last value of each register. Writing LVTT into or out of
// TSC-deadline mode cancels the timer (arch/x86/kvm/lapic.c,
// apic_update_lvtt).
func foldAPIC(s *State, v *VCPU, e *Event) {
	r := v.APIC.register(e.A)
	if r != nil {
		*r = uint32(e.B)
	}
	if e.A < 0x400 {
		v.APIC.Seen |= 1 << (e.A >> 4)
	}
	switch e.A {
	case regICR:
		v.APIC.ICR = e.B
	case regLVTT:
		mode := TimerMode(e.B>>17&3) + OneShot
		if (mode == TSCDeadline) != (v.Mode == TSCDeadline) {
			s.disarm(v)
		}
		v.Mode = mode
	}
}

// The xAPIC offsets that the fold follows. Intel SDM vol. 3A, table "Local APIC
// Register Address Map".
const (
	regLVTT = 0x320
	regICR  = 0x300
)

// register returns where the register at an xAPIC offset is kept, or nil.
func (a *APICRegisters) register(off uint64) *uint32 {
	switch off {
	case 0x20:
		return &a.ID
	case 0x80:
		return &a.TPR
	case 0xd0:
		return &a.LDR
	case 0xe0:
		return &a.DFR
	case 0xf0:
		return &a.SPIV
	case 0x280:
		return &a.ESR
	case regLVTT:
		return &a.LVTT
	case 0x330:
		return &a.LVTThermal
	case 0x340:
		return &a.LVTPerf
	case 0x350:
		return &a.LVT0
	case 0x360:
		return &a.LVT1
	case 0x370:
		return &a.LVTErr
	case 0x380:
		return &a.TMICT
	case 0x3e0:
		return &a.TDCR
	}
	return nil
}

func foldTSCOffset(_ *State, v *VCPU, e *Event) { v.TSCOffset = clock.Cycles(e.A) }

// foldMPState: INIT resets the local APIC, and with it the timer; so does a VMM that
// makes the vCPU anew.
func foldMPState(s *State, v *VCPU, e *Event) {
	v.MP = MPState(e.A)
	if v.MP != MPUninitialized && v.MP != MPInitReceived {
		return
	}
	v.Remade = v.Remade || v.MP == MPUninitialized && v.Exits > 0
	s.closeArmed(v, OutcomeReset)
	for v.NFlight > 0 && v.MP == MPInitReceived { // what a VMM saved may come back with its IRR
		s.closeFlight(v, 0, OutcomeReset)
	}
	s.dropPending(v)
	v.Target, v.Pending = 0, false
	v.IRR, v.ISR, v.PIR, v.ON = Vectors{}, Vectors{}, Vectors{}, false
	v.APIC = APICRegisters{}
	v.Mode, v.NServing = BadTimerMode, 0
}

func foldSample(s *State, _ *VCPU, e *Event) { s.Samples.Add(clock.TSC(e.C).Sub(clock.TSC(e.B))) }
