package trace

// KindSet is a set of event kinds: bit k is kind k.
type KindSet uint64

// Kinds returns the set of the kinds given.
func Kinds(kinds ...Kind) (s KindSet) {
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

// Has reports whether k is in s.
func (s KindSet) Has(k Kind) bool { return s>>k&1 != 0 }

// PhaseSet is a set of phases: bit p is phase p.
type PhaseSet uint64

// AllPhases is every phase.
const AllPhases PhaseSet = 1<<NumPhases - 1

// Phases returns the set of the phases given.
func Phases(phases ...Phase) (s PhaseSet) {
	for _, p := range phases {
		s |= 1 << p
	}
	return s
}

// Has reports whether p is in s.
func (s PhaseSet) Has(p Phase) bool { return s>>p&1 != 0 }
