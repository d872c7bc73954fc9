package diff

import (
	"fmt"
	"math"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/prose"
)

// maxRows is how many rows of a kind the text shows.
const maxRows = 8

// Text returns the comparison for a terminal of 80 columns.
func (d *Diff) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "A  %s\nB  %s\n(every figure %s)\n", d.A, d.B, d.Provenance)
	for _, c := range d.Conditions {
		fmt.Fprintf(&b, "   %s: %s, then %s\n", c.Name, c.A, c.B)
	}
	b.WriteByte('\n')
	prose.Write(&b, "", "", d.Headline)
	fmt.Fprintf(&b, "\n%-18s%10s%10s%10s%8s  interval of B-A\n", "lateness, "+d.Unit, "A", "B", "B-A", "change")
	for i := range d.Stats {
		s := &d.Stats[i]
		fmt.Fprintf(&b, "  %-16s%10.1f%10.1f%+10.1f%8s%s\n", s.Name, s.A, s.B, s.Delta, change(s.A, s.B), intervalText(s))
	}
	if len(d.Costs) > 0 {
		fmt.Fprintf(&b, "\n%-18s%10s%10s%10s%8s  interval\n", "cost / deadline", "A", "B", "B-A", "change")
	}
	for i := range d.Costs {
		s := &d.Costs[i]
		digits := 3
		if s.Unit != "" {
			digits = 1
		}
		fmt.Fprintf(&b, "  %-16s%10.*f%10.*f%+10.*f%8s%s\n", s.Name, digits, s.A, digits, s.B, digits, s.Delta, change(s.A, s.B), costInterval(s, digits))
	}
	d.rows(&b, "cause, "+d.Unit+" / deadline", d.Causes)
	d.rows(&b, "exits / deadline", d.Exits)
	d.rows(&b, "rates", d.Rates)
	for _, w := range d.Warnings {
		prose.Write(&b, "", "", "warning: "+w)
	}
	return b.String()
}

func intervalText(s *Stat) string {
	if !s.HasInterval {
		return "  -"
	}
	w := fmt.Sprintf("  %+.1f..%+.1f", s.Low, s.High)
	if s.Significant {
		w += " *"
	}
	return w
}

func costInterval(s *Stat, digits int) string {
	w := fmt.Sprintf("  %+.*f..%+.*f", digits, s.Low, digits, s.High)
	if s.Significant {
		w += " *"
	}
	return w
}

func change(a, b float64) string {
	if a == 0 {
		return "-"
	}
	return fmt.Sprintf("%+.1f%%", 100*(b-a)/math.Abs(a))
}

func (d *Diff) rows(b *strings.Builder, name string, rows []Row) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%-40s%12s%12s%12s\n", name, "A", "B", "B-A")
	for i, r := range rows {
		if i == maxRows && len(rows) > maxRows+1 {
			fmt.Fprintf(b, "  and %d more\n", len(rows)-i)
			return
		}
		fmt.Fprintf(b, "  %-38s%12.3f%12.3f%+12.3f\n", r.Name, r.A, r.B, r.Delta)
	}
}

// LKML returns the before/after table as it is put into a patch description.
func (d *Diff) LKML() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-30s%12s%12s%12s\n", "lateness ("+d.Unit+", "+d.Provenance+")", "before", "after", "change")
	for i := range d.Stats {
		s := &d.Stats[i]
		mark := ""
		if s.HasInterval && !s.Significant {
			mark = "  (n.s.)"
		}
		fmt.Fprintf(&b, "%-30s%12.1f%12.1f%12s%s\n", s.Name, s.A, s.B, change(s.A, s.B), mark)
	}
	for i := range d.Costs {
		s := &d.Costs[i]
		mark := ""
		if !s.Significant {
			mark = "  (n.s.)"
		}
		fmt.Fprintf(&b, "%-30s%12.2f%12.2f%12s%s\n", s.Name+" / deadline", s.A, s.B, change(s.A, s.B), mark)
	}
	for _, r := range d.Rates[:min(len(d.Rates), 4)] {
		fmt.Fprintf(&b, "%-30s%12.2f%12.2f%12s\n", r.Name, r.A, r.B, change(r.A, r.B))
	}
	for _, c := range d.Conditions {
		if c.Name != "seed" {
			fmt.Fprintf(&b, "\nbefore: %s=%s, after: %s=%s", c.Name, c.A, c.Name, c.B)
		}
	}
	b.WriteByte('\n')
	prose.Write(&b, "", "", d.Headline)
	return b.String()
}
