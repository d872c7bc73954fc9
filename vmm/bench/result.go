package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// Verdict is how a row came out.
type Verdict uint8

// The verdicts. BadVerdict is the invalid zero value.
const (
	BadVerdict Verdict = iota
	Hit
	Miss
	NotJudged // no figure was published
	numVerdicts
)

// VerdictNames names the verdicts.
var VerdictNames = [numVerdicts]string{"bad", "hit", "miss", "-"}

// String returns the verdict's word.
func (v Verdict) String() string { return VerdictNames[v%numVerdicts] }

// The tolerances: of calibrated rows on each figure, of predicted rows on the
// published change.
const (
	CalibratedWithin = 0.02
	PredictedWithin  = 0.15
)

// Result is a row with what the model made of it.
type Result struct {
	Row Row
	// Profile is the profile that was used.
	Profile string
	// Calibrated says that the profile's costs were fitted to the row; else it is a
	// prediction.
	Calibrated bool
	Ours       [2]Figure
	Verdict    Verdict
	// Reason says in words where the change comes from, and why a row misses.
	Reason string
	// Image is what the user's image gave in place of the twin, if asked for.
	Image *ImageScores
}

// Change is the modelled change; ok is false for a Level.
func (r *Result) Change() (float64, bool) {
	return r.Ours[1].Value - r.Ours[0].Value, r.Row.Form != Level
}

// judge fills in the verdict and its reason.
func (r *Result) judge() {
	change, _ := r.Change()
	var why []string
	switch r.Row.Form {
	case Level:
		r.Verdict, why = r.judgeLevel()
	case NoFigure:
		r.Verdict = NotJudged
	case Same:
		r.Verdict, why = judgeSame(change)
	default:
		r.Verdict, why = r.judgeChange(change)
	}
	if r.Row.Form != Level {
		why = append(why, r.attribute(&r.Ours[0], &r.Ours[1]))
	}
	if n := r.Row.Note; n != "" {
		why = append(why, n)
	}
	r.Reason = strings.Join(slices.DeleteFunc(why, func(s string) bool { return s == "" }), "; ")
}

func (r *Result) judgeLevel() (Verdict, []string) {
	within := PredictedWithin
	if r.Calibrated {
		within = CalibratedWithin
	}
	off := r.Ours[1].Value/r.Row.After - 1
	if math.Abs(off) <= within {
		return Hit, nil
	}
	return Miss, []string{fmt.Sprintf("%+.1f %% of the published figure", off*100)}
}

func (r *Result) judgeChange(change float64) (Verdict, []string) {
	want, _ := r.Row.PublishedChange()
	part := change / want
	if r.Calibrated {
		return r.judgeCalibrated(part)
	}
	switch {
	case change == 0:
		return Miss, []string{"no change in the model"}
	case part < 0:
		return Miss, []string{"the model's change has the other sign"}
	case math.Abs(part-1) > PredictedWithin:
		return Miss, []string{fmt.Sprintf("%.0f %% of the published change", part*100)}
	}
	return Hit, nil
}

// visible is the change in ns below which a wake-up latency counts as the same: a
// tenth of what cyclictest prints.
const visible = 100

func judgeSame(change float64) (Verdict, []string) {
	if math.Abs(change) < visible {
		return Hit, nil
	}
	return Miss, []string{"published as hardly a change"}
}

func (r *Result) judgeCalibrated(part float64) (Verdict, []string) {
	off := part - 1
	if r.Row.Form == Pair {
		off = r.Ours[0].Value/r.Row.Before - 1
		if o := r.Ours[1].Value/r.Row.After - 1; math.Abs(o) > math.Abs(off) {
			off = o
		}
	}
	if math.Abs(off) <= CalibratedWithin {
		return Hit, nil
	}
	return Miss, []string{fmt.Sprintf("fitted no nearer than %+.1f %%", off*100)}
}

// The most phases that an attribution names, and the least part of the largest
// that one must have.
const (
	attributed   = 5
	attributable = 0.08
)

// attribute says where the change comes from: of a score the phases, largest
// first, of a latency when the wait ends and what follows it.
func (r *Result) attribute(before, after *Figure) string {
	if r.Row.Kind != VMExit {
		return fmt.Sprintf("the wait ends %s → %s cycles after the deadline, the guest runs %s → %s later",
			whole(before.WaitEnd), whole(after.WaitEnd), whole(before.ToGuest), whole(after.ToGuest))
	}
	type part struct {
		phase trace.Phase
		d     float64
	}
	var parts []part
	for ph := trace.BadPhase + 1; ph < trace.NumPhases; ph++ {
		if d := after.Phases[ph] - before.Phases[ph]; math.Abs(d) >= 1 {
			parts = append(parts, part{ph, d})
		}
	}
	if len(parts) == 0 {
		return "no phase of host work changes"
	}
	slices.SortStableFunc(parts, func(a, b part) int {
		switch x, y := math.Abs(a.d), math.Abs(b.d); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	var words []string
	for _, p := range parts[:min(len(parts), attributed)] {
		if math.Abs(p.d) < attributable*math.Abs(parts[0].d) {
			break
		}
		words = append(words, fmt.Sprintf("%s %s", p.phase, signed(p.d)))
	}
	return "host cycles per iteration: " + strings.Join(words, ", ")
}

// whole is a whole number with a true minus.
func whole(x float64) string {
	return strings.Replace(fmt.Sprintf("%.0f", x), "-", "−", 1)
}

// signed is a whole number with its sign, a true minus for people.
func signed(x float64) string {
	s := fmt.Sprintf("%+.0f", x)
	return strings.Replace(s, "-", "−", 1)
}
