package explain

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// nanos converts cycles, rounding to the nearest nanosecond; 0 if the rate is not
// known.
func (b *builder) nanos(c clock.Cycles) int64 {
	if b.s.Hz == 0 {
		return 0
	}
	return int64(math.Round(float64(c) * 1e9 / float64(b.s.Hz)))
}

// told is nanos for an Explanation: nil if the rate is not known.
func (b *builder) told(c clock.Cycles) *int64 {
	if b.s.Hz == 0 {
		return nil
	}
	ns := b.nanos(c)
	return &ns
}

// inNS is " (12 ns)", or nothing where the rate is not known.
func inNS(ns *int64, sign int64) string {
	if ns == nil {
		return ""
	}
	return fmt.Sprintf(" (%d ns)", sign**ns)
}

// rank makes causes of the spans between the deadline and the handler, the
// greatest first.
func (b *builder) rank() []Cause {
	from, to := b.c.Target, b.end
	if b.c.ISRAt != 0 && b.c.ISRAt < from {
		from, to = b.c.ISRAt, b.c.Target
	}
	totals := b.totals(from, to)
	if b.c.ISRAt == 0 && len(b.spans) > 0 {
		last := b.spans[len(b.spans)-1].cause // it goes on: the others have ended
		slices.SortStableFunc(totals, func(x, y total) int { return rankOf(x, last) - rankOf(y, last) })
	}
	cycles := make([]clock.Cycles, len(totals))
	for i, t := range totals {
		cycles[i] = t.cycles
	}
	tenths := shares(cycles)
	out := []Cause{}
	for i, t := range totals {
		row := &causeTable[t.cause]
		k := Cause{ID: row.id, Words: row.words, Cycles: int64(t.cycles), NS: b.told(t.cycles), Tenths: tenths[i],
			Inferred: t.cause == causeGuestOff || t.cause == causeTimerLate}
		if t.detail != "" {
			k.Words += " (" + t.detail + ")"
		}
		why, clause := b.why(t.cause)
		k.Why = why
		if clause != trace.ClauseNone {
			k.Clause = clause.String()
		}
		k.Cure = cures[t.cause]
		if row.advice != nil {
			if a := row.advice(b); a.knob != trace.BadKnob {
				k.Knob, k.Value = a.knob.String(), trace.FormatKnob(a.knob, a.value)
			}
		}
		out = append(out, k)
	}
	return out
}

func rankOf(t total, first cause) int {
	if t.cause == first {
		return 0
	}
	return 1
}

// shares divides 1000 among amounts by the largest remainder, so that they add up
// to 1000 exactly; nothing at all gets no shares.
func shares(amounts []clock.Cycles) []int {
	out := make([]int, len(amounts))
	var sum clock.Cycles
	for _, a := range amounts {
		sum += a
	}
	if sum <= 0 {
		return out
	}
	left := 1000
	order := make([]int, len(amounts))
	rest := make([]float64, len(amounts))
	for i, a := range amounts {
		exact := float64(a) * 1000 / float64(sum)
		out[i] = int(exact)
		rest[i] = exact - float64(out[i])
		order[i] = i
		left -= out[i]
	}
	sort.SliceStable(order, func(i, j int) bool { return rest[order[i]] > rest[order[j]] })
	for _, i := range order[:min(left, len(order))] {
		out[i]++
	}
	return out
}

// verdict is the answer in one sentence.
func (b *builder) verdict(x *Explanation) string {
	c := b.c
	if len(x.Causes) == 0 {
		return "The handler began exactly at the deadline."
	}
	top := &x.Causes[0]
	most := fmt.Sprintf("the largest part is %s, %d cycles (%s)", top.Words, top.Cycles, percent(top.Tenths))
	switch {
	case c.ISRAt == 0 && isSilence(b.top()):
		return fmt.Sprintf("The deadline passed %d cycles%s ago and its handler has not run: %s.", x.Late, inNS(x.LateNS, 1),
			top.Why)
	case c.ISRAt == 0:
		return fmt.Sprintf("The deadline passed %d cycles%s ago and its handler has not run: %s.", x.Late, inNS(x.LateNS, 1),
			top.Words)
	case x.Late < 0:
		return fmt.Sprintf("Early by %d cycles%s: %s.", -x.Late, inNS(x.LateNS, -1), most)
	}
	return fmt.Sprintf("Late by %d cycles%s: %s.", x.Late, inNS(x.LateNS, 1), most)
}

// top is the cause that goes on, of a deadline whose handler has not run.
func (b *builder) top() cause {
	if len(b.spans) == 0 {
		return causeUnknown
	}
	return b.spans[len(b.spans)-1].cause
}

func percent(tenths int) string { return fmt.Sprintf("%d.%d %%", tenths/10, tenths%10) }

// fates say what became of a deadline whose handler did not run.
var fates = map[trace.Outcome]string{
	trace.OutcomeOpen:      "It is still armed, and its time has not come.",
	trace.OutcomeRearmed:   "It never expired: the guest armed another deadline before its time.",
	trace.OutcomeCancelled: "It never expired: the guest disarmed its timer before its time.",
	trace.OutcomeMerged:    "It expired while an earlier expiry was outstanding: one interrupt stood for both.",
	trace.OutcomeLost:      "It expired and its interrupt was lost",
	trace.OutcomeDropped:   "It expired, but the guest armed its timer again before the interrupt was injected: dropped.",
	trace.OutcomeReset:     "Its handler never ran: INIT, or the VMM restoring the vCPU, reset the local APIC before that.",
	trace.OutcomeHeld:      "Its handler ran, but the debugger held the vCPU on the way: its lateness is the debugger's.",
	trace.OutcomeWithheld:  "Its handler ran, but the deadline cannot be true, so neither can a lateness: it lies before the run or beyond any clock.",
	trace.OutcomeUnknown:   "Events are missing: what became of it is not known.",
}

func (b *builder) fate() string {
	w := fates[b.c.Outcome]
	if c := b.c; c.Outcome == trace.OutcomeOpen && firedEarly(b.s, c) {
		return fmt.Sprintf("It is still armed, and its time has not come; yet %s fired %s before it.", backingWords[c.Backing],
			long(b.s, c.Target.Sub(c.FireAt)))
	}
	if b.c.Outcome == trace.OutcomeLost {
		w += ", because of " + b.c.RouteClause.String() + "."
	}
	return w
}
