package explain

import (
	"fmt"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// Standing is what a state alone tells to be wrong with a run: what is lost, stuck
// or without effect. It complements a Watcher, which sees every event.
func Standing(s *trace.State) (out []Finding) {
	out = append(out, lostTimers(s)...)
	for i := range s.VCPUs {
		out = append(out, overdue(i, &s.VCPUs[i], s)...)
	}
	out = append(out, sleepers(s)...)
	return append(out, idleFastpath(s)...)
}

// lostOutcomes says for each way of losing a deadline what happened, and what to
// look at.
var lostOutcomes = []struct {
	outcome         trace.Outcome
	id, words, rule string
}{
	{trace.OutcomeLost, "deadline-lost", "expired without an interrupt: LVTT was masked or the APIC disabled when the timer's vector was to be delivered (kvm_apic_local_deliver)",
		"in the guest: unmask LVTT and set SVR bit 8 before the timer is armed"},
	{trace.OutcomeDropped, "deadline-dropped", "expired, but the guest armed its timer again before the interrupt was injected: start_apic_timer clears lapic_timer.pending",
		"in the guest: handle the interrupt before arming again"},
	{trace.OutcomeMerged, "deadline-merged", "expired while the interrupt of an earlier expiry was outstanding: one interrupt stood for both",
		"in the guest: EOI earlier, or a longer period"},
}

func lostTimers(s *trace.State) (out []Finding) {
	for _, l := range lostOutcomes {
		n := s.Deadlines.Outcomes[l.outcome]
		if n == 0 {
			continue
		}
		f := Finding{ID: l.id, VCPU: -1, Count: n, Rule: l.rule, Words: "a deadline " + l.words}
		if n > 1 {
			f.Words = fmt.Sprintf("%d deadlines %s", n, l.words)
		}
		if c := LastOf(s, l.outcome); c != nil {
			f.VCPU, f.TSC = int(c.VCPU), uint64(max(c.ExpireAt, c.Target))
			f.Words += fmt.Sprintf("; deadline %d was the last", c.Num)
		}
		out = append(out, f)
	}
	return out
}

// LastOf is the last deadline of an outcome that is kept, nil if there is none.
func LastOf(s *trace.State, o trace.Outcome) *trace.Chain {
	for i := range s.Chains.Len() {
		if c := s.Chains.Last(i); c.Outcome == o {
			return c
		}
	}
	return nil
}

// overdueAfter is how long a deadline must have passed before it is stuck, in
// nanoseconds.
const overdueAfter clock.Nanos = 10_000_000

// overdue looks for a deadline that has passed long ago and has not run.
func overdue(i int, v *trace.VCPU, s *trace.State) (out []Finding) {
	limit, _ := s.Hz.ToCycles(overdueAfter)
	v.Open(func(c *trace.Chain) {
		by := s.Now.Sub(c.Target)
		if c.Target == 0 || by < clock.Cycles(limit) {
			return
		}
		words, rule := "its host timer has not fired", "look at the backing in Timer: no hrtimer or preemption timer ends this wait"
		vec := c.Vector
		if c.DeliverAt == 0 {
			vec = v.TimerVector()
		}
		k, why := silence(s, v, vec)
		switch {
		case c.ExpireAt != 0 && k != causeUnknown:
			words, rule = why, cures[k]
		case c.DeliverAt != 0:
			words, rule = "it was delivered, and no handler has run", "look at IRR, PPR and RFLAGS.IF: the guest holds the vector back"
		case c.ExpireAt != 0:
			words, rule = "it expired, and the loop has not injected it (kvm_inject_pending_timer_irqs)", "look at MP state and halt: nothing has made the vCPU run since"
		}
		out = append(out, Finding{ID: "deadline-overdue", VCPU: i, TSC: uint64(c.Target), Count: 1, Rule: rule,
			Words: fmt.Sprintf("deadline %d is overdue by %d cycles: %s", c.Num, by, words)})
	})
	return out
}

// sleepers are the vCPUs that wait to be started.
func sleepers(s *trace.State) []Finding {
	var n uint64
	first := -1
	for i := range s.VCPUs {
		if mp := s.VCPUs[i].MP; mp == trace.MPUninitialized || mp == trace.MPInitReceived {
			if n++; first < 0 {
				first = i
			}
		}
	}
	if n == 0 || int(n) == len(s.VCPUs) || s.Deadlines.Count() < startedBy {
		return nil
	}
	words := fmt.Sprintf("vCPU %d waits for its SIPI: the guest has not started it", first)
	if n > 1 {
		words = fmt.Sprintf("%d of %d vCPUs wait for their SIPI, vCPU %d the first: the guest has not started them", n, len(s.VCPUs), first)
	}
	return []Finding{{ID: "waits-for-sipi", VCPU: first, Count: n, Words: words, Rule: "a guest that starts its APs, or fewer vCPUs"}}
}

// startedBy is by how many deadlines a guest has started the vCPUs that it uses.
const startedBy = 50

// idleAfter is how many exits with a fastpath none of which took it are a finding.
const idleAfter = 200

// idleFastpath looks for a fastpath that is on and never goes straight back.
func idleFastpath(s *trace.State) []Finding {
	if k := s.Knobs[trace.KnobFastpath]; k == trace.UnknownKnob || k <= 1 { // off
		return nil
	}
	x := &s.ExitStats[trace.ExitMSRWrite]
	if x.Count < idleAfter || x.Fastpath() != 0 || x.Results[trace.FastNone] == 0 {
		return nil
	}
	most := trace.ClauseNone
	for c := range x.Clauses {
		if c != 0 && x.Clauses[c] > x.Clauses[most] {
			most = trace.Clause(c)
		}
	}
	if most == trace.ClauseNone {
		return nil
	}
	return []Finding{{ID: "fastpath-without-effect", VCPU: -1, Count: x.Count, Words: fmt.Sprintf(
		"the fastpath is on, but took none of %d MSR_WRITE exits: the first clause that failed was %s in %d of them", x.Count, most, x.Clauses[most]),
		Rule: "the rule set of another kernel, or what the clause asks for; Fastpath lists the clauses"}}
}
