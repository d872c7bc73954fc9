package ui

import (
	"slices"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/trace/kernel/rule"
)

// fastpathOf is a set of fastpath handlers as the host's kernel has it.
func (s *scene) fastpathOf(set rule.Fastpath) kernel.Fastpath {
	host := kernel.At(kernel.Default, kernel.Intel)
	if n, err := kernel.Parse(s.f.Header.Kernel); err == nil {
		host = kernel.At(n.Release, kernel.Intel)
	}
	return host.FastpathAs(set)
}

// fastTerms is the predicate that the loop evaluates for an exit.
func fastTerms(f *kernel.Fastpath, x *trace.ExitRecord) kernel.Predicate {
	if f.Set == rule.FastOff {
		return kernel.Predicate{trace.ClauseKnobOff}
	}
	return f.Fast(x.Reason, x.Info1)
}

// predicateOf is the predicate of a reason; for MSR writes that of all MSRs.
func predicateOf(f *kernel.Fastpath, r trace.ExitReason) (p kernel.Predicate) {
	if r != trace.ExitMSRWrite || f.Set == rule.FastOff {
		return fastTerms(f, &trace.ExitRecord{Reason: r})
	}
	p = append(kernel.Predicate{trace.ClauseKnobOff, trace.ClauseNoHandler}, f.Gate()...)
	for _, msr := range []uint64{0, 0x6e0, 0x830} {
		own, _ := f.Handler(r, msr)
		for _, c := range own {
			if !slices.Contains(p, c) {
				p = append(p, c)
			}
		}
	}
	if !f.Gated {
		var host kernel.Kernel
		p = append(p, host.ExitTest()...)
	}
	return p
}

// termWords says a term as the condition that has to hold.
func termWords(c trace.Clause) string {
	if t := kernel.TermOf(c); t.Holds != "" {
		return t.Holds
	}
	return "not: " + clauseShort(c)
}

// term is one clause of a predicate and what is known of it.
type term struct {
	words string
	state termState
}

type termState uint8

const (
	termHeld termState = iota
	termFailed
	termNotReached
)

// judge marks the terms up to the failing clause.
func judge(ts []trace.Clause, failed trace.Clause) []term {
	out := make([]term, 0, len(ts)+1)
	state := termHeld
	found := failed == trace.ClauseNone
	for _, c := range ts {
		st := state
		if c == failed {
			st, state, found = termFailed, termNotReached, true
		}
		out = append(out, term{termWords(c), st})
	}
	if !found { // the loop names a term that this table lacks
		for i := range out {
			out[i].state = termNotReached
		}
		out = append(out, term{"not: " + clauseShort(failed), termFailed})
	}
	return out
}
