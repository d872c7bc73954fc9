package ui

import (
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// fastTerms lists the terms of the fastpath's predicate for an exit under a rule
// set, in the order in which the loop looks at them (vmm/fastpath.go). The first
// part is the entry condition, the rest the handler's and the bail-out test's.
func fastTerms(rules vmm.RuleSet, x *trace.ExitRecord) []trace.Clause {
	if rules == vmm.RulesOff {
		return []trace.Clause{trace.ClauseKnobOff}
	}
	ts := []trace.Clause{trace.ClauseKnobOff, trace.ClauseNoHandler}
	if rules == vmm.RulesS004 {
		ts = append(ts, trace.ClauseAPICvOff)
		ts = append(ts, exitTestTerms...)
	}
	own, ok := handlerTerms(rules, x)
	if !ok {
		return ts[:2]
	}
	ts = append(ts, own...)
	if rules != vmm.RulesS004 {
		ts = append(ts, exitTestTerms...)
	}
	return ts
}

// exitTestTerms are those of kvm_vcpu_exit_request.
var exitTestTerms = []trace.Clause{trace.ClauseModeExiting, trace.ClauseRequest, trace.ClauseNeedResched, trace.ClauseSignal}

var hvTerms = []trace.Clause{trace.ClauseNoHVTimer, trace.ClauseMWAITInGuest, trace.ClausePostable}

// handlerTerms are the terms of the exit's fastpath handler; ok is false if the
// rule set has none for it.
func handlerTerms(rules vmm.RuleSet, x *trace.ExitRecord) (ts []trace.Clause, ok bool) {
	host := vmm.DefaultKernel()
	f := host.FastpathAs(rules)
	switch x.Reason {
	case trace.ExitMSRWrite:
		switch {
		case x.Info1 == 0x6e0 && f.Deadline && !f.DeadlineHV:
			return nil, true
		case x.Info1 == 0x6e0 && f.Deadline:
			return hvTerms, true
		case x.Info1 == 0x830 && f.MapICR:
			return []trace.Clause{trace.ClauseNotX2APIC, trace.ClauseNotFixed, trace.ClauseWouldBlock}, true
		case x.Info1 == 0x830:
			return []trace.Clause{trace.ClauseNotX2APIC, trace.ClauseNotFixed, trace.ClauseShorthand, trace.ClauseLogical,
				trace.ClauseBroadcast}, true
		}
		return []trace.Clause{trace.ClauseOtherMSR}, true
	case trace.ExitPreemptionTimer:
		if f.HVOther {
			return []trace.Clause{trace.ClauseImmediateExit}, f.HVTimer
		}
		return []trace.Clause{trace.ClauseImmediateExit, trace.ClauseSoftDisabled}, f.HVTimer
	case trace.ExitHLT:
		return []trace.Clause{trace.ClauseNotRunnable}, f.HLT
	case trace.ExitINVD:
		return nil, f.INVD
	}
	return nil, false
}

// termWords says a term as the condition that has to hold.
var termWords = map[trace.Clause]string{
	trace.ClauseKnobOff: "fastpath on", trace.ClauseNoHandler: "a handler for this exit", trace.ClauseAPICvOff: "APICv active",
	trace.ClauseModeExiting: "mode ≠ EXITING_GUEST_MODE", trace.ClauseRequest: "no request pending",
	trace.ClauseNeedResched: "!need_resched", trace.ClauseSignal: "!signal_pending", trace.ClauseNoHVTimer: "hv timer present",
	trace.ClauseMWAITInGuest: "MWAIT exits", trace.ClausePostable: "timer not postable", trace.ClauseNotX2APIC: "x2APIC mode",
	trace.ClauseNotFixed: "fixed delivery", trace.ClauseWouldBlock: "map-based delivery possible",
	trace.ClauseShorthand: "no shorthand", trace.ClauseLogical: "physical destination", trace.ClauseBroadcast: "not the broadcast",
	trace.ClauseOtherMSR: "0x6e0 or 0x830", trace.ClauseImmediateExit: "!req_immediate_exit",
	trace.ClauseSoftDisabled: "!hv_timer_soft_disabled", trace.ClauseNotRunnable: "still runnable",
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
		out = append(out, term{termWords[c], st})
	}
	if !found { // the loop names a term that this table lacks
		for i := range out {
			out[i].state = termNotReached
		}
		out = append(out, term{"not: " + clauseShort(failed), termFailed})
	}
	return out
}
