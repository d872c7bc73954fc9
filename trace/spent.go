package trace

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// Spent is what the host spent on a run, on all vCPUs.
type Spent struct {
	// Host is host work: all phases but those in which no host CPU works for the
	// guest (phaseIdle). It is 0 where the source splits no costs.
	Host clock.Cycles
	// Burnt is the part of it that did nothing: busy waits for an expired deadline,
	// and halt polling where the source splits costs.
	Burnt clock.Cycles
	// Exits are VM-exits. IPIs are those that kicks and posted interrupts sent.
	// Lost are the deadlines that expired without a handler of their own: lost,
	// merged and dropped ones.
	Exits, IPIs, Lost uint64
}

// DeadlineCost is what the host spent from the handler of one deadline to that of
// the next, on all vCPUs. The mean over many is the cost of a deadline. Values
// saturate.
type DeadlineCost struct {
	Host, Burnt       uint32
	Exits, IPIs, Lost uint16
}

// phaseIdle are the phases that cost the host no cycles of work: guest code, an
// IPI on its way, a CPU that leaves its idle state.
var phaseIdle = [NumPhases]bool{BadPhase: true, PhaseGuest: true, PhaseIPIFlight: true, PhaseIdleExit: true}

// SpentKnown says which fields of Spent a source tells.
type SpentKnown struct{ Host, Burnt, Exits, IPIs bool }

// SpentKnown says what the source of the events tells of what was spent: one that
// splits costs tells all of it, another only what it has events of.
func (s *State) SpentKnown() SpentKnown {
	all := s.Kinds[KindCost] > 0
	return SpentKnown{Host: all, Burnt: all || s.Waits.Count > 0, Exits: s.Exits.N > 0, IPIs: all || s.Kinds[KindKick] > 0}
}

// Spent is what has been spent so far.
func (s *State) Spent() Spent {
	d := &s.Deadlines.Outcomes
	return Spent{Host: s.HostCycles, Burnt: s.Polled + s.Waits.Waited.Sum, Exits: s.Exits.N,
		IPIs: s.Kicks.Decisions[KickIPI] + s.Deliveries[DeliverNotify],
		Lost: d[OutcomeLost] + d[OutcomeMerged] + d[OutcomeDropped]}
}

// spend counts a phase's cycles.
func (s *State) spend(c PhaseCost) {
	if !phaseIdle[c.Phase] {
		s.HostCycles += c.Cycles
	}
	if c.Phase == PhasePoll {
		s.Polled += c.Cycles
	}
}

// sinceLast is what was spent since the last call.
func (s *State) sinceLast() DeadlineCost {
	now, old := s.Spent(), s.SpentAt
	s.SpentAt = now
	small := func(n uint64) uint16 { return uint16(min(n, 1<<16-1)) }
	return DeadlineCost{Host: addSaturating(0, max(now.Host-old.Host, 0)), Burnt: addSaturating(0, max(now.Burnt-old.Burnt, 0)),
		Exits: small(now.Exits - old.Exits), IPIs: small(now.IPIs - old.IPIs), Lost: small(now.Lost - old.Lost)}
}
