package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// Result is what a comparison found.
type Result struct {
	Kernel string `json:"kernel"` // whose rules
	Vendor string `json:"vendor"`
	Guest  string `json:"guest"`
	Args   string `json:"args,omitempty"`
	Host   string `json:"host,omitempty"` // what ran
	Exits  uint64 `json:"exits"`
	// Decisions has a row for each kind of decision.
	Decisions []Row `json:"decisions"`
	// Disagreements lists the first of each kind.
	Disagreements []Case `json:"disagreements"`
}

// Row is the count of one kind of decision.
type Row struct {
	Decision    string   `json:"decision"`
	Agreed      uint64   `json:"agreed"`
	Disagreed   uint64   `json:"disagreed"`
	Undecidable uint64   `json:"undecidable"`
	Why         []Reason `json:"why,omitempty"` // of the undecidable, the most frequent first
}

// Reason is why decisions cannot be compared.
type Reason struct {
	Why   string `json:"why"`
	Count uint64 `json:"count"`
}

// Case is one disagreement.
type Case struct {
	Decision string `json:"decision"`
	TSC      uint64 `json:"tsc"`
	VCPU     uint8  `json:"vcpu"`
	Exit     uint64 `json:"exit"`   // its number in the run
	Reason   string `json:"reason"` // of that exit
	Did      string `json:"did"`
	Want     string `json:"want"`
	Clause   string `json:"clause,omitempty"` // the first that fails by the rules
}

// Result ends the comparison: what is still under way is not decidable.
func (c *Checker) Result(h *trace.Header) *Result {
	c.settleKicks()
	for i := range c.vcpus {
		v := &c.vcpus[i]
		for range v.out {
			c.undecided(Delivery, "the trace ends before it shows")
		}
		v.out = nil
		if v.exp.open {
			v.exp.open = false
			c.undecided(Expiry, "the trace ends before it shows")
		}
	}
	r := &Result{Kernel: c.k.Release.String(), Vendor: c.k.Vendor.String(), Guest: h.Guest, Args: h.Args,
		Host: h.Host, Exits: c.exits, Decisions: []Row{}, Disagreements: []Case{}}
	for d := BadDecision + 1; d < NumDecisions; d++ {
		t := c.tallies[d]
		row := Row{Decision: d.String(), Agreed: t.Agreed, Disagreed: t.Disagreed, Undecidable: t.Undecided}
		for why, n := range c.why[d] {
			row.Why = append(row.Why, Reason{why, n})
		}
		slices.SortFunc(row.Why, func(a, b Reason) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Why, b.Why)) })
		r.Decisions = append(r.Decisions, row)
	}
	list := slices.Clone(c.list)
	slices.SortStableFunc(list, func(a, b Disagreement) int { return cmp.Compare(a.TSC, b.TSC) })
	for _, x := range list {
		k := Case{Decision: x.Decision.String(), TSC: uint64(x.TSC), VCPU: x.VCPU, Exit: x.Exit, Did: x.Did, Want: x.Want}
		if x.Exit != 0 {
			k.Reason = x.Reason.String()
		}
		if x.Clause != trace.ClauseNone {
			k.Clause = x.Clause.String()
		}
		r.Disagreements = append(r.Disagreements, k)
	}
	return r
}

// Disagreed is the number of decisions that the kernel made otherwise.
func (r *Result) Disagreed() (n uint64) {
	for i := range r.Decisions {
		n += r.Decisions[i].Disagreed
	}
	return n
}

// Compared is the number of decisions that could be compared.
func (r *Result) Compared() (n uint64) {
	for i := range r.Decisions {
		n += r.Decisions[i].Agreed
	}
	return n + r.Disagreed()
}

// Text is the result as a table, with the reasons and the disagreements below.
func (r *Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-11s%s\n", "rules", "Linux "+r.Kernel+", "+r.Vendor)
	if r.Host != "" {
		fmt.Fprintf(&b, "%-11s%s\n", "ran", r.Host)
	}
	fmt.Fprintf(&b, "%-11s%s\n\n", "guest", strings.TrimSpace(r.Guest+" "+r.Args))
	fmt.Fprintf(&b, "%-10s %10s %10s %12s\n", "decisions", "agree", "disagree", "undecidable")
	for _, d := range r.Decisions {
		fmt.Fprintf(&b, "%-10s %10d %10d %12d\n", d.Decision, d.Agreed, d.Disagreed, d.Undecidable)
	}
	fmt.Fprintf(&b, "\n%s\n", r.verdict())
	if len(r.Disagreements) > 0 {
		b.WriteByte('\n')
	}
	for _, x := range r.Disagreements {
		fmt.Fprintf(&b, "%d vcpu %d", x.TSC, x.VCPU)
		if x.Exit != 0 {
			fmt.Fprintf(&b, ", exit %d %s", x.Exit, x.Reason)
		}
		fmt.Fprintf(&b, ": %s: the kernel did %s; by the rules %s", x.Decision, x.Did, x.Want)
		if x.Clause != "" {
			fmt.Fprintf(&b, ", because of %s", x.Clause)
		}
		b.WriteByte('\n')
	}
	head := "\nnot decidable\n"
	for _, d := range r.Decisions {
		for _, w := range d.Why {
			fmt.Fprintf(&b, "%s%s: %d: %s\n", head, d.Decision, w.Count, w.Why)
			head = ""
		}
	}
	return b.String()
}

func (r *Result) verdict() string {
	n, bad := r.Compared(), r.Disagreed()
	switch {
	case n == 0:
		return "No decision could be compared."
	case bad == 0:
		return fmt.Sprintf("All %d decisions that can be compared are as Linux %s makes them.", n, r.Kernel)
	}
	listed := ""
	if uint64(len(r.Disagreements)) < bad {
		listed = fmt.Sprintf("; the first %d are listed", len(r.Disagreements))
	}
	return fmt.Sprintf("%d of %d decisions are not as Linux %s makes them%s.", bad, n, r.Kernel, listed)
}
