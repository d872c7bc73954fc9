package diff

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// Markdown returns the comparison as a table for a review or a mail.
func (d *Diff) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", d.Headline)
	fmt.Fprintf(&b, "| every figure %s | before | after | change | interval |\n|---|---:|---:|---:|---:|\n", d.Provenance)
	for _, list := range [][]Stat{d.Stats, d.Costs} {
		for i := range list {
			s := &list[i]
			name := s.Name
			if s.Unit != "" {
				name += ", " + s.Unit
			}
			fmt.Fprintf(&b, "| %s | %g | %g | %s | %s |\n", name, s.A, s.B, change(s.A, s.B), strings.TrimSpace(intervalText(s)))
		}
	}
	for _, c := range d.Conditions {
		fmt.Fprintf(&b, "\n%s: %s, then %s", c.Name, c.A, c.B)
	}
	for _, w := range d.Warnings {
		fmt.Fprintf(&b, "\nwarning: %s", w)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// benchParts is into how many parts a run is divided for benchstat: each part is
// one measurement.
const benchParts = 10

// Benchstat writes both sides in Go's benchmark format, for
//
//	benchstat -col run FILE
//
// A run is divided into ten parts in the order of time, so that benchstat sees how
// much they differ.
func Benchstat(w io.Writer, sides ...*Side) error {
	for _, s := range sides {
		if len(s.Late) < benchParts {
			return fmt.Errorf("%s: benchstat needs at least %d single deadlines, have %d", s.Name, benchParts, len(s.Late))
		}
		fmt.Fprintf(w, "run: %s\nprovenance: %s\n", filepath.Base(s.Name), s.Report.Provenance)
		for i := range benchParts {
			lo, hi := len(s.Late)*i/benchParts, len(s.Late)*(i+1)/benchParts
			fmt.Fprintf(w, "BenchmarkDeadlines %d", hi-lo)
			values := sorted(s.Late[lo:hi])
			for _, p := range []int{50, 90, 99} {
				fmt.Fprintf(w, " %g p%d-cycles", values[rank(p, len(values))], p)
			}
			for f := range NumFigures {
				if knows(s.Known, f) && len(s.Costs) == len(s.Late) {
					v := f.series(s.Costs[max(0, lo-1):hi], 1)
					fmt.Fprintf(w, " %.6g %s/deadline", mean(v), strings.ReplaceAll(f.String(), " ", "-"))
				}
			}
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// rank is the index of a percentile in n sorted values, by the nearest rank.
func rank(p, n int) int { return max(0, int(math.Ceil(float64(p)/100*float64(n)))-1) }

func sorted(late []clock.Cycles) []float64 {
	out := make([]float64, len(late))
	for i, c := range late {
		out[i] = float64(c)
	}
	slices.Sort(out)
	return out
}

// Words is a figure of a comparison as a table shows it.
type Words struct{ Before, After, Change string }

// Figure is the figure of a name; its words are empty if the runs do not tell it.
func (d *Diff) Figure(name string) Words {
	s, ok := d.stat(name)
	if !ok {
		return Words{}
	}
	return Words{fmt.Sprintf("%g", s.A), fmt.Sprintf("%g", s.B), change(s.A, s.B)}
}
