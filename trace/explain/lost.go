package explain

import (
	"fmt"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/prose"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// LostDeadline is a deadline that was due and whose handler did not run.
type LostDeadline struct {
	Deadline uint64 `json:"deadline"`
	VCPU     int    `json:"vcpu"`
	Mode     string `json:"mode"`
	Target   uint64 `json:"target"`
	Outcome  string `json:"outcome"`
	// Words say what became of it, and why where that is known.
	Words string `json:"words"`
}

// LostList is all lost deadlines of a run.
type LostList struct {
	// Rows are the open ones first, which go on, then the others in the order in
	// which they ended, at most MaxLost of them.
	Rows []LostDeadline `json:"rows"`
	// Outcomes counts all deadlines whose handler did not run, by outcome: those
	// that the guest replaced or disarmed in time are counted here alone.
	Outcomes map[string]uint64 `json:"outcomes"`
	// Left is how many lost deadlines have no row.
	Left uint64 `json:"left"`
}

// MaxLost bounds the rows of a LostList.
const MaxLost = 1000

// forNothing are the outcomes of deadlines that were lost on the way.
var forNothing = [trace.NumOutcomes]bool{trace.OutcomeLost: true, trace.OutcomeDropped: true, trace.OutcomeReset: true,
	trace.OutcomeUnknown: true}

// LostFinder collects lost deadlines while a run's events are folded. It belongs to
// one goroutine.
type LostFinder struct {
	seen uint64
	rows []LostDeadline
	left uint64
}

// Look looks at the deadlines that have closed in s since the last call.
func (f *LostFinder) Look(s *trace.State) {
	for ; f.seen < s.Chains.N; f.seen++ {
		c := s.Chains.Get(f.seen)
		if c == nil || !forNothing[c.Outcome] {
			continue
		}
		if len(f.rows) == MaxLost {
			f.left++
			continue
		}
		w := fates[c.Outcome]
		if c.Outcome == trace.OutcomeLost {
			w = lostWhy(c)
		}
		f.rows = append(f.rows, lostRow(c, w))
	}
}

func lostRow(c *trace.Chain, words string) LostDeadline {
	return LostDeadline{Deadline: uint64(c.Num), VCPU: int(c.VCPU), Mode: c.Mode.String(), Target: uint64(c.Target),
		Outcome: c.Outcome.String(), Words: words}
}

// lostWhy is what a lost interrupt was lost by.
func lostWhy(c *trace.Chain) string {
	why := c.RouteClause
	if c.DeliverAt != 0 {
		why = c.DeliverClause
	}
	w := fates[trace.OutcomeLost]
	if why != trace.ClauseNone {
		w += ", because of " + why.String()
	}
	return w + "."
}

// Finish returns the list; s is the state at the end of the run.
func (f *LostFinder) Finish(h *trace.Header, s *trace.State) *LostList {
	l := &LostList{Rows: []LostDeadline{}, Outcomes: map[string]uint64{}, Left: f.left}
	for i := range s.VCPUs {
		s.VCPUs[i].Open(func(c *trace.Chain) {
			if c.Target < s.Now {
				l.Rows = append(l.Rows, lostRow(c, Explain(h, s, c).Verdict))
			}
		})
	}
	l.Rows = append(l.Rows, f.rows...)
	for o, n := range s.Deadlines.Outcomes {
		if n != 0 && trace.Outcome(o) != trace.OutcomeDone {
			l.Outcomes[trace.Outcome(o).String()] = n
		}
	}
	if n := s.Deadlines.Open(); n != 0 {
		l.Outcomes[trace.OutcomeOpen.String()] = n
	}
	return l
}

// Text returns the list for a terminal of 80 columns.
func (l *LostList) Text() string {
	var b strings.Builder
	if len(l.Rows) == 0 {
		b.WriteString("No deadline of this run came due for nothing.\n")
	}
	for i := range l.Rows {
		r := &l.Rows[i]
		fmt.Fprintf(&b, "deadline %d of vCPU %d, %s, due at %d: %s\n", r.Deadline, r.VCPU, r.Mode, r.Target, r.Outcome)
		prose.Indented(&b, 2, r.Words)
	}
	if l.Left != 0 {
		fmt.Fprintf(&b, "%d more are not listed\n", l.Left)
	}
	var words []string
	for o := range trace.NumOutcomes {
		if n := l.Outcomes[o.String()]; n != 0 {
			words = append(words, fmt.Sprintf("%d %s", n, o))
		}
	}
	if len(words) != 0 {
		prose.Write(&b, "without a handler: ", "  ", strings.Join(words, ", "))
	}
	return b.String()
}
