package bench

import (
	"fmt"
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/prose"
)

// Text is the table for people: rows by series, the reason under each row, and a
// summary. width is the width of the reasons.
func Text(results []Result, width int) string {
	var b strings.Builder
	series := ""
	for i := range results {
		r := &results[i]
		if r.Row.Series != series {
			series = r.Row.Series
			fmt.Fprintf(&b, "%s\n  %-38s %17s  %17s  %17s\n  %-38s %8s %8s  %8s %8s  %9s %7s\n", series, "", "published    ",
				"ours       ", "change", "on "+r.Profile, "before", "after", "before", "after", "published", "ours")
		}
		fmt.Fprintf(&b, "  %-38s %8s %8s  %8s %8s  %9s %7s %6s  %-10s %s\n", r.Row.name(), r.published(0), r.published(1),
			r.ours(0), r.ours(1), r.publishedChange(), r.ourChange(), r.part(), r.standing(), r.Verdict)
		if s := r.Image; s != nil {
			fmt.Fprintf(&b, "      image %s: %s, twin %s, %.1f %% apart\n", s.Subtest, r.sides(s.Score), r.sides(s.Twin),
				s.Apart()*100)
		}
		for _, l := range prose.Lines(r.Reason, width-6) {
			fmt.Fprintf(&b, "      %s\n", l)
		}
	}
	b.WriteByte('\n')
	b.WriteString(Summary(results))
	return b.String()
}

// name is what a row measures.
func (r *Row) name() string {
	unit := ""
	if r.Kind == Cyclic {
		unit = ", ns"
	}
	switch {
	case r.Kind == VMExit:
		return shown(r.Subtest) + r.how()
	case r.Halt:
		return r.Kind.String() + unit + ", HLT"
	}
	return r.Kind.String() + unit + r.how()
}

// shown is a subtest's name in the tool that published the figure.
func shown(subtest string) string {
	switch subtest {
	case immedNop:
		return "tscdeadline_immed"
	case vmcallBare:
		return "vmcall"
	}
	return subtest
}

// how names the knobs that tell rows of one benchmark apart.
func (r *Row) how() string {
	k := &r.Machines[1].Knobs
	switch {
	case r.Series == s002 && k.APICv:
		return ", APICv on"
	case r.Series == s002:
		return ", APICv off"
	case strings.HasPrefix(r.Series, "S004") && k.Advance == 0:
		return ", advance off"
	case strings.HasPrefix(r.Series, "S004"):
		return ", adaptive"
	case r.Series == s000 && r.Kind == Cyclic && k.PreemptionTimer:
		return ", hv timer"
	case r.Series == s000 && r.Kind == Cyclic:
		return ", hrtimer"
	}
	return ""
}

func (r *Result) published(side int) string {
	switch {
	case r.Row.Form == Pair && side == 0:
		return number(r.Row.Before)
	case r.Row.Form == Pair, r.Row.Form == Level && side == 1:
		return number(r.Row.After)
	}
	return "-"
}

func (r *Result) ours(side int) string {
	if r.Row.Form == Level && side == 0 {
		return "-"
	}
	return number(r.Ours[side].Value)
}

// sides are two scores, or one of a level.
func (r *Result) sides(x [2]float64) string {
	if r.Row.Form == Level {
		return number(x[1])
	}
	return number(x[0]) + " → " + number(x[1])
}

func (r *Result) publishedChange() string {
	if c, ok := r.Row.PublishedChange(); ok {
		return number(c)
	}
	return "-"
}

func (r *Result) ourChange() string {
	if c, ok := r.Change(); ok {
		return number(c)
	}
	return "-"
}

// part is the modelled change as a part of the published one.
func (r *Result) part() string {
	c, _ := r.Change()
	if p, ok := r.Row.PublishedChange(); ok && p != 0 {
		return strconv.Itoa(int(c/p*100+0.5)) + " %"
	}
	return ""
}

// standing says what the row is to the profile.
func (r *Result) standing() string {
	switch {
	case r.Row.Form == NoFigure:
		return "no figure"
	case r.Calibrated:
		return "calibrated"
	}
	return "predicted"
}

// number writes a figure with two decimals at most, and a true minus.
func number(x float64) string {
	s := strconv.FormatFloat(x, 'f', 2, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	return strings.Replace(s, "-", "−", 1)
}

// Counts are the verdicts of a set of results.
type Counts struct {
	Calibrated, CalibratedHits int
	Predicted, PredictedHits   int
	NoFigure                   int
}

// Count counts verdicts.
func Count(results []Result) (c Counts) {
	for i := range results {
		r := &results[i]
		hit := 0
		if r.Verdict == Hit {
			hit = 1
		}
		switch {
		case r.Verdict == NotJudged:
			c.NoFigure++
		case r.Calibrated:
			c.Calibrated++
			c.CalibratedHits += hit
		default:
			c.Predicted++
			c.PredictedHits += hit
		}
	}
	return c
}

// Summary is the verdicts in a sentence each.
func Summary(results []Result) string {
	c := Count(results)
	return fmt.Sprintf("calibrated  %d of %d rows within %.0f %% of each figure\n"+
		"predicted   %d of %d rows within %.0f %% of the published change and with its sign\n"+
		"no figure   %d rows, published without a number\n",
		c.CalibratedHits, c.Calibrated, CalibratedWithin*100, c.PredictedHits, c.Predicted, PredictedWithin*100, c.NoFigure)
}

// jsonRow is a result as JSON gives it. Missing figures are null.
type jsonRow struct {
	ID              string           `json:"id"`
	Series          string           `json:"series"`
	Profile         string           `json:"profile"`
	Benchmark       string           `json:"benchmark"`
	Subtest         string           `json:"subtest,omitempty"`
	Unit            string           `json:"unit"`
	Kernels         [2]string        `json:"kernels"`
	PublishedBefore *float64         `json:"published_before"`
	PublishedAfter  *float64         `json:"published_after"`
	PublishedChange *float64         `json:"published_change"`
	Before          *float64         `json:"before"`
	After           *float64         `json:"after"`
	Change          *float64         `json:"change"`
	Standing        string           `json:"standing"`
	Verdict         string           `json:"verdict"`
	Reason          string           `json:"reason"`
	Source          string           `json:"source"`
	Image           *jsonImageScores `json:"image,omitempty"`
}

type jsonImageScores struct {
	Subtest string     `json:"subtest"`
	Score   [2]float64 `json:"score"`
	Twin    [2]float64 `json:"twin"`
}

// JSONRows are the rows as they are written in JSON.
func JSONRows(results []Result) any {
	rows := make([]jsonRow, len(results))
	for i := range results {
		rows[i] = results[i].json()
	}
	return rows
}

func (r *Result) json() jsonRow {
	j := jsonRow{ID: r.Row.ID, Series: r.Row.Series, Profile: r.Profile, Benchmark: r.Row.Kind.String(), Subtest: r.Row.Subtest,
		Unit: r.Row.Kind.Unit(), Kernels: [2]string{r.Row.Machines[0].Kernel, r.Row.Machines[1].Kernel},
		After: &r.Ours[1].Value, Standing: r.standing(), Verdict: r.Verdict.String(), Reason: r.Reason, Source: r.Row.Source}
	if r.Row.Form == Pair {
		j.PublishedBefore = &r.Row.Before
	}
	if r.Row.Form == Pair || r.Row.Form == Level {
		j.PublishedAfter = &r.Row.After
	}
	if c, ok := r.Row.PublishedChange(); ok {
		j.PublishedChange = &c
	}
	if c, ok := r.Change(); ok {
		j.Before, j.Change = &r.Ours[0].Value, &c
	}
	if r.Image != nil {
		j.Image = &jsonImageScores{r.Image.Subtest, r.Image.Score, r.Image.Twin}
	}
	return j
}
