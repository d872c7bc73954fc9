package explain

import (
	"fmt"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/prose"
)

// Text returns the explanation for a terminal of 80 columns.
func (x *Explanation) Text() string {
	var b strings.Builder
	if x.Deadline == 0 {
		prose.Write(&b, "", "  ", x.Verdict)
		x.findings(&b)
		return b.String()
	}
	fmt.Fprintf(&b, "deadline %d of vCPU %d, %s, %s (every figure %s)\n", x.Deadline, x.VCPU, x.Mode, x.Outcome, x.Provenance)
	prose.Indented(&b, 2, x.Verdict)
	units := "cycles; ns of the step"
	if x.Hz == 0 {
		units = "cycles (the TSC rate is not known)"
	}
	b.WriteString("\nchain                 from deadline          step   " + units + "\n")
	for i := range x.Steps {
		s := &x.Steps[i]
		fmt.Fprintf(&b, "  %-10s %21d %13s\n", s.Name, s.FromTarget, s.sinceLast())
		prose.Indented(&b, 4, s.Words)
	}
	x.causes(&b)
	x.checks(&b)
	x.findings(&b)
	for _, w := range x.Withheld {
		prose.Write(&b, "  not proven: ", "  ", w)
	}
	return b.String()
}

func (x *Explanation) findings(b *strings.Builder) {
	if len(x.Findings) > 0 {
		b.WriteString("\nseen in this run\n")
	}
	for i := range x.Findings {
		f := &x.Findings[i]
		prose.Write(b, "  "+f.ID+": ", "  ", fmt.Sprintf("%s (%d times, first at %d)", f.Words, f.Count, f.TSC))
		prose.Write(b, "    rule: ", "    ", f.Rule)
	}
}

// sinceLast is the length of a step.
func (s *Step) sinceLast() string {
	if s.LastNS == nil {
		return fmt.Sprintf("+%d", s.FromLast)
	}
	return fmt.Sprintf("+%d; %d ns", s.FromLast, *s.LastNS)
}

// nsColumn is a time in a column of nanoseconds; a dash where it is not known.
func nsColumn(ns *int64) string {
	if ns == nil {
		return "-"
	}
	return fmt.Sprint(*ns)
}

func (x *Explanation) causes(b *strings.Builder) {
	if len(x.Causes) == 0 {
		return
	}
	what := "lateness"
	if x.Late < 0 {
		what = "earliness"
	}
	unit := "ns"
	if x.Hz == 0 {
		unit = ""
	}
	fmt.Fprintf(b, "\n%-40s%12s%12s%12s\n", "causes of the "+what, "cycles", unit, "share")
	var cycles, sum int64
	var ns *int64
	said := map[string]int{}
	for i := range x.Causes {
		c := &x.Causes[i]
		mark := ""
		if c.Inferred {
			mark = "~"
		}
		fmt.Fprintf(b, "  %-38s%12d%12s%12s\n", fmt.Sprintf("%d. %s%s", i+1, mark, c.ID), c.Cycles, nsColumn(c.NS), percent(c.Tenths))
		prose.Indented(b, 5, c.Words)
		if c.Why != "" {
			reason(b, said, "why: ", c.Why, i+1)
		}
		if c.Knob != "" {
			reason(b, said, "knob: ", c.Knob+"="+c.Value, i+1)
		}
		if c.Cure != "" {
			reason(b, said, "cure: ", c.Cure, i+1)
		}
		cycles += c.Cycles
		if c.NS != nil {
			sum += *c.NS
			ns = &sum
		}
	}
	fmt.Fprintf(b, "  %-38s%12d%12s%12s\n", "sum", cycles, nsColumn(ns), "100.0 %")
}

// reason writes a line under a cause; one that an earlier cause has is not
// written again.
func reason(b *strings.Builder, said map[string]int, label, words string, n int) {
	if first, ok := said[words]; ok {
		words = fmt.Sprintf("as %d", first)
	} else {
		said[words] = n
	}
	prose.Write(b, "     "+label, "     ", words)
}

func (x *Explanation) checks(b *strings.Builder) {
	if len(x.Checks) == 0 {
		return
	}
	b.WriteString("\nthe same deadline again, one knob turned just before it was armed\n")
	for i := range x.Checks {
		c := &x.Checks[i]
		if c.Note != "" {
			prose.Indented(b, 2, fmt.Sprintf("with %s=%s: %s", c.Knob, c.Value, c.Note))
			continue
		}
		prose.Indented(b, 2, fmt.Sprintf("with %s=%s: %d cycles instead of %d", c.Knob, c.Value, c.After, c.Before))
	}
}
