package explain

import (
	"sort"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// Tally adds up the causes of all deadlines of a run. Earliness counts negative,
// so the causes add up to the sum of the lateness. It belongs to one goroutine.
type Tally struct {
	h      *trace.Header
	seen   uint64
	vector clock.Cycles
	n      int
	cycles [numCauses]clock.Cycles
	times  [numCauses]int
}

// NewTally returns the tally of the run that h describes.
func NewTally(h *trace.Header) *Tally { return &Tally{h: h, vector: -1} }

// CauseSum is one cause over a whole run.
type CauseSum struct {
	ID, Words string
	// Deadlines is how many deadlines of Of have it, Cycles the sum over them.
	Deadlines, Of int
	Cycles        int64
}

// Look adds the deadlines that have closed in s since the last call, and calls f
// (which may be nil) with each whose handler ran.
func (t *Tally) Look(s *trace.State, f func(*trace.Chain)) {
	for ; t.seen < s.Chains.N; t.seen++ {
		c := s.Chains.Get(t.seen)
		if c == nil || !c.Ran() {
			continue
		}
		t.add(s, c)
		if f != nil {
			f(c)
		}
	}
}

func (t *Tally) add(s *trace.State, c *trace.Chain) {
	if d := c.ISRAt.Sub(c.EntryAt); c.EntryAt != 0 && c.EntryAt >= c.ExpireAt && (t.vector < 0 || d < t.vector) {
		t.vector = d
	}
	b := newBuilder(t.h, s, c, t.vector)
	from, to, sign := c.Target, b.end, clock.Cycles(1)
	if c.Late < 0 {
		b.early()
		from, to, sign = c.ISRAt, c.Target, -1
	} else {
		b.late()
	}
	for _, x := range b.totals(from, to) {
		t.cycles[x.cause] += sign * x.cycles
		t.times[x.cause]++
	}
	t.n++
}

// CausesBetween are the causes of the deadlines whose handlers ran between two
// times, of those that are kept with the exits that tell of them.
func CausesBetween(h *trace.Header, s *trace.State, from, to clock.TSC) []CauseSum {
	t := NewTally(h)
	kept := clock.TSC(0)
	if s.Exits.First() > 0 {
		kept = s.Exits.At(0).At
	}
	for i := range s.Chains.Len() {
		c := s.Chains.At(i)
		if c.Ran() && c.ISRAt >= from && c.ISRAt <= to && min(c.Target, c.ISRAt) >= kept {
			t.add(s, c)
		}
	}
	return t.Causes()
}

// Deadlines is the number of deadlines added.
func (t *Tally) Deadlines() int { return t.n }

// Causes are the sums by cause, the greatest first.
func (t *Tally) Causes() []CauseSum {
	var out []CauseSum
	for i := range t.cycles {
		if t.times[i] != 0 {
			out = append(out, CauseSum{causeTable[i].id, causeTable[i].words, t.times[i], t.n, int64(t.cycles[i])})
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Cycles > out[j].Cycles })
	return out
}
