package explain

import (
	"fmt"
	"sort"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// steps is the chain in words, in the order of time.
func (b *builder) steps() []Step {
	c := b.c
	var all []Step
	add := func(at clock.TSC, name, format string, args ...any) {
		if at != 0 {
			all = append(all, Step{Name: name, TSC: uint64(at), Words: fmt.Sprintf(format, args...)})
		}
	}
	add(c.ArmAt, "arm", "%s", b.armWords())
	add(c.BackedAt, "backing", "%s", b.backingStep())
	if c.Target != 0 {
		add(c.Target, "deadline", "the deadline")
	}
	add(c.FireAt, "fire", "%s handled%s", backingWords[c.Backing], b.fireWords())
	add(c.ExpireAt, "expire", "%s", clauseWords("expired by route "+c.Route.String(), c.RouteClause))
	add(c.WaitAt, "wait", "%s", b.waitWords())
	add(c.DeliverAt, "deliver", "%s", clauseWords(fmt.Sprintf("vector %d delivered by %s", c.Vector, c.Deliver), c.DeliverClause))
	add(c.SyncAt, "sync", "PIR moved to IRR")
	add(c.InjectAt, "inject", "vector %d written to the VM-entry field", c.Vector)
	if c.EntryAt >= c.ExpireAt {
		add(c.EntryAt, "entry", "%s", b.entryWords())
	}
	virtual := ""
	if c.Virtual {
		virtual = ", by virtual-interrupt delivery"
	}
	add(c.ISRAt, "handler", "first instruction of the handler%s", virtual)
	add(c.EOIAt, "eoi", "end of interrupt")
	sort.SliceStable(all, func(i, j int) bool { return all[i].TSC < all[j].TSC })
	for i := range all {
		s := &all[i]
		s.FromTarget = int64(clock.TSC(s.TSC).Sub(c.Target))
		if i > 0 {
			s.FromLast = int64(s.TSC - all[i-1].TSC)
		}
		s.LastNS = b.told(clock.Cycles(s.FromLast))
	}
	return all
}

func clauseWords(w string, c trace.Clause) string {
	if c != trace.ClauseNone {
		w += " (" + c.String() + ")"
	}
	return w
}

func (b *builder) armWords() string {
	c := b.c
	w := fmt.Sprintf("%s timer armed", c.Mode)
	if x := b.exit(c.ArmExit); x != nil {
		w += " in exit " + x.Reason.String()
		if x.HasFast {
			w += ", fastpath " + x.Result.String()
		}
	}
	if c.Target <= c.ArmAt {
		w += ": the deadline had passed"
	}
	return w
}

func (b *builder) backingStep() string {
	c := b.c
	w := clauseWords("backed by "+backingWords[c.Backing], c.Clause)
	if c.Fire != 0 {
		w += fmt.Sprintf(", due %d cycles before the deadline", c.Advance)
	}
	return w
}

func (b *builder) fireWords() string {
	c := b.c
	if c.Fire == 0 {
		return ""
	}
	w := fmt.Sprintf(", %d cycles after it was due", c.FireAt.Sub(c.Fire))
	if x := b.exit(c.FireExit); x != nil && x.At >= c.ArmAt {
		w += ", in exit " + x.Reason.String()
	}
	return w
}

func (b *builder) waitWords() string {
	c := b.c
	w := fmt.Sprintf("arrived at the %s wait %d cycles %s the deadline", c.Place, max(c.Delta, -c.Delta), sideOf(c.Delta))
	if c.Waited > 0 {
		w += fmt.Sprintf(", waited %d", c.Waited)
	}
	if c.Verdict != trace.BadTune {
		w += "; tuning: " + c.Verdict.String()
	}
	return w
}

func sideOf(d clock.Cycles) string {
	if d < 0 {
		return "before"
	}
	return "after"
}

func (b *builder) entryWords() string {
	w := "VM-entry"
	x := b.exit(b.c.EntryExit)
	switch {
	case x == nil:
	case x.Reentry:
		w += " straight from the fastpath"
	case x.HasFast && x.Clause != trace.ClauseNone:
		w += clauseWords(" by the outer loop", x.Clause)
	}
	return w
}

// withheld says what the trace does not tell.
func (b *builder) withheld() []string {
	var w []string
	c := b.c
	if b.missed > 0 {
		w = append(w, "Exits around this deadline are no longer kept, so interference by them cannot be told.")
	}
	if c.ArmAt == 0 {
		w = append(w, "No event tells when it was armed, so its advance and the way of arming are not known.")
	}
	if c.ISRAt != 0 && c.WaitAt == 0 && b.h.Provenance != trace.Modelled {
		w = append(w, "No wait event: either nothing waited, or the trace does not say. Absence is not \"on time\".")
	}
	if b.h.Provenance != trace.Modelled && c.FireAt == 0 && c.ExpireAt != 0 && c.Backing != trace.BackNone {
		w = append(w, "No event tells when the host timer fired, so host delay and expiry cannot be told apart.")
	}
	if !b.knows(trace.KnobFastpath) && !b.knows(trace.KnobAPICv) {
		w = append(w, "The host's knobs are not in the trace, so no setting is proposed.")
	}
	if b.s.Lost.Gaps != 0 {
		w = append(w, fmt.Sprintf("Events were lost in %d places of this run.", b.s.Lost.Gaps))
	}
	if !b.hasCosts() {
		w = append(w, "No cost events: the host's time within one step is not divided further.")
	}
	return w
}

func (b *builder) hasCosts() bool { return b.s.Kinds[trace.KindCost] != 0 }
