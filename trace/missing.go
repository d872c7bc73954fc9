package trace

import "fmt"

// MissingNames are the ways to reach for a device that is not there, by number.
var MissingNames = []string{"port-read", "port-write", "memory-read", "memory-write"}

// MissingMax is how many missing devices a run tells of: machines that probe all
// ports fill no report.
const MissingMax = 32

// Missing is an access to a device that the platform does not have.
type Missing struct {
	Address uint64 // port, or guest-physical address
	How     uint8  // index of MissingNames
	RIP     uint64
	Value   uint64 // that was written
}

// MissedKey is an address as Misses counts it.
func MissedKey(address uint64, memory bool) uint64 {
	if memory {
		return address
	}
	return address | 1<<63
}

// Misses remembers what has been told of. Its zero value has told of nothing.
type Misses struct {
	keys [MissingMax]uint64
	n    uint8
}

// First reports whether key is new, and notes it. Once MissingMax are noted
// nothing is new any more.
func (m *Misses) First(key uint64) bool {
	for _, k := range m.keys[:m.n] {
		if k == key {
			return false
		}
	}
	if m.n == MissingMax {
		return false
	}
	m.keys[m.n] = key
	m.n++
	return true
}

func foldMissing(s *State, _ *VCPU, e *Event) {
	if x := e.Missing(); s.NMissing < MissingMax {
		s.Missing[s.NMissing] = Missing{x.Address, uint8(x.How & 3), x.RIP, x.Value}
		s.NMissing++
	}
}

// Words says what was reached for, and from where.
func (m *Missing) Words() string {
	what := "port"
	if m.How >= 2 {
		what = "address"
	}
	verb := "read"
	if m.How&1 != 0 {
		verb = fmt.Sprintf("%#x written", m.Value)
	}
	return fmt.Sprintf("%s %#x: %s at %#x", what, m.Address, verb, m.RIP)
}
