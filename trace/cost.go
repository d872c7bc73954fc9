package trace

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// PhaseCost is host time spent in one phase.
type PhaseCost struct {
	Phase  Phase
	Cycles clock.Cycles
}

// MaxPhaseCost is the most cycles that one pair of a cost event holds. Longer
// times are spread over several pairs.
const MaxPhaseCost clock.Cycles = 1<<24 - 1

// PackCosts makes an argument of form Costs of two pairs. Cycles must lie in
// 0 … MaxPhaseCost.
//
//	63             40 39     32 31              8 7        0
//	+----------------+---------+-----------------+---------+
//	|  b.Cycles      | b.Phase |  a.Cycles       | a.Phase |
//	+----------------+---------+-----------------+---------+
func PackCosts(a, b PhaseCost) uint64 {
	return packCost(a) | packCost(b)<<32
}

func packCost(c PhaseCost) uint64 { return uint64(c.Phase) | uint64(c.Cycles&MaxPhaseCost)<<8 }

// UnpackCosts is the inverse of PackCosts. An unused pair has the phase
// BadPhase.
func UnpackCosts(v uint64) (a, b PhaseCost) {
	return unpackCost(uint32(v)), unpackCost(uint32(v >> 32))
}

func unpackCost(v uint32) PhaseCost {
	return PhaseCost{Phase: Phase(v & 0xff), Cycles: clock.Cycles(v >> 8)}
}

// MaxExitCosts is the number of phases that an ExitRecord tells apart.
const MaxExitCosts = 10

// CostSplit is the host time of one exit by phase, in the order in which the
// phases first occurred. A phase that occurred twice is one entry.
type CostSplit struct {
	N      uint8
	Phases [MaxExitCosts]Phase
	Cycles [MaxExitCosts]uint32
	// Rest is the time of phases that found no room.
	Rest uint32
}

// Add adds one phase's time. Sums saturate at 2^32 − 1 cycles.
func (c *CostSplit) Add(p PhaseCost) { c.add(p, c.seen()) }

// phaseSet has bit n set if it holds a phase that is n modulo 64: a phase whose
// bit is clear is not in it.
type phaseSet uint64

func (p Phase) bit() phaseSet { return 1 << (p % 64) }

// seen are the phases of c.
func (c *CostSplit) seen() (s phaseSet) {
	for _, p := range c.Phases[:c.N] {
		s |= p.bit()
	}
	return s
}

// add is Add for a c whose phases are seen. It returns its phases then.
func (c *CostSplit) add(p PhaseCost, seen phaseSet) phaseSet {
	if seen&p.Phase.bit() != 0 {
		for i := range c.Phases[:c.N] {
			if c.Phases[i] == p.Phase {
				c.Cycles[i] = addSaturating(c.Cycles[i], p.Cycles)
				return seen
			}
		}
	}
	if c.N == MaxExitCosts {
		c.Rest = addSaturating(c.Rest, p.Cycles)
		return seen
	}
	c.Phases[c.N], c.Cycles[c.N] = p.Phase, addSaturating(0, p.Cycles)
	c.N++
	return seen | p.Phase.bit()
}

// Total is the sum over all phases.
func (c *CostSplit) Total() clock.Cycles {
	t := clock.Cycles(c.Rest)
	for _, v := range c.Cycles[:c.N] {
		t += clock.Cycles(v)
	}
	return t
}

func addSaturating(a uint32, b clock.Cycles) uint32 {
	return uint32(min(uint64(a)+uint64(b), 1<<32-1))
}
