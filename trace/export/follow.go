package export

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// chains finds the deadlines whose chain is complete. A handler's EOI comes
// after its deadline has closed, so those deadlines wait for it; no more wait
// than handlers can be nested.
type chains struct {
	seen    uint64 // entries of State.Chains that were looked at
	waiting []served
}

// served is a deadline whose handler runs.
type served struct {
	entry uint64 // of State.Chains
	chain trace.Chain
	keep  bool
}

// follow begins behind the chains that the first state holds: they are in none of
// the recording's events.
func follow(start *trace.State) chains { return chains{seen: start.Chains.N} }

// step calls f with every deadline that the event just applied completed, and with
// its end: the EOI if there was one. keep is asked once for each deadline, at the
// event that closed it.
func (c *chains) step(e *trace.Event, s *trace.State, keep Keep, f func(c *trace.Chain, end clock.TSC)) {
	c.release(e, s, f)
	for ; c.seen < s.Chains.N; c.seen++ {
		ch := s.Chains.Get(c.seen)
		if ch == nil {
			continue
		}
		k := keep(e, s)
		switch {
		case serving(s, ch.VCPU, c.seen):
			c.waiting = append(c.waiting, served{c.seen, *ch, k})
		case k:
			f(ch, e.TSC)
		}
	}
}

// release hands out the deadlines whose handler has written EOI, or has been
// given up.
func (c *chains) release(e *trace.Event, s *trace.State, f func(*trace.Chain, clock.TSC)) {
	if len(c.waiting) == 0 {
		return
	}
	left := c.waiting[:0]
	for i := range c.waiting {
		w := &c.waiting[i]
		if serving(s, w.chain.VCPU, w.entry) {
			left = append(left, *w)
			continue
		}
		if ch := s.Chains.Get(w.entry); ch != nil {
			w.chain = *ch
		}
		if w.keep {
			f(&w.chain, e.TSC)
		}
	}
	c.waiting = left
}

// finish hands out what is left: handlers that run, and open deadlines.
func (c *chains) finish(s *trace.State, withOpen bool, f func(*trace.Chain, clock.TSC)) {
	for i := range c.waiting {
		if w := &c.waiting[i]; w.keep {
			f(&w.chain, s.Now)
		}
	}
	c.waiting = nil
	if !withOpen {
		return
	}
	for i := range s.VCPUs {
		s.VCPUs[i].Open(func(c *trace.Chain) { f(c, s.Now) })
	}
}

func serving(s *trace.State, vcpu uint8, entry uint64) bool {
	if int(vcpu) >= len(s.VCPUs) {
		return false
	}
	v := &s.VCPUs[vcpu]
	for _, sv := range v.Serving[:v.NServing] {
		if sv.Chain == entry {
			return true
		}
	}
	return false
}
