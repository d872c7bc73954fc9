package bench

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/golden"
	"codeberg.org/ticktrap/ticktrap/trace"
)

const (
	pagePath  = "../../docs/model.md"
	pageBegin = "<!-- residuals begin"
	pageEnd   = "<!-- residuals end -->"
)

// residuals are the rows of the page's table.
func residuals(rs []Result) []string {
	lines := []string{"| row | published | ours | change | ours | | |", "|---|---|---|---|---|---|---|"}
	pair := func(a, b string) string {
		if a == "-" {
			return b
		}
		return a + " → " + b
	}
	figure := func(s string) string {
		if v, err := strconv.ParseFloat(strings.Replace(s, "−", "-", 1), 64); err == nil {
			return whole(v)
		}
		return s
	}
	for i := range rs {
		r := &rs[i]
		lines = append(lines, fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s |", r.Row.ID, pair(r.published(0), r.published(1)),
			pair(figure(r.ours(0)), figure(r.ours(1))), r.publishedChange(), figure(r.ourChange()), r.standing(), r.Verdict))
	}
	return append(lines, "", "Of the calibrated rows "+tally(rs, true)+", of the predicted rows "+tally(rs, false)+" come out.")
}

func tally(rs []Result, calibrated bool) string {
	c := Count(rs)
	if calibrated {
		return fmt.Sprintf("%d of %d", c.CalibratedHits, c.Calibrated)
	}
	return fmt.Sprintf("%d of %d", c.PredictedHits, c.Predicted)
}

// The table of residuals in docs/model.md must say what the model does. Figures may
// be off by what a change of a few guest instructions makes.
func TestModelPageHasTheResiduals(t *testing.T) {
	page, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), pageBegin)
	old, tail, ok2 := strings.Cut(rest, pageEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the residuals", pagePath)
	}
	comment, old, _ := strings.Cut(old, "\n")
	now := residuals(table(t))
	if golden.Updating() {
		text := head + pageBegin + comment + "\n" + strings.Join(now, "\n") + "\n" + pageEnd + tail
		if err := os.WriteFile(pagePath, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	then := strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	if len(then) != len(now) {
		t.Fatalf("%s has %d lines of residuals, want %d (-update rewrites them)", pagePath, len(then), len(now))
	}
	for i := range now {
		if !alike(then[i], now[i]) {
			t.Errorf("%s says\n%s\nand the model\n%s\n(-update rewrites it)", pagePath, then[i], now[i])
		}
	}
}

// alike compares lines by words, numbers within 1 % or 8.
func alike(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		p, err1 := strconv.ParseFloat(strings.Replace(x[i], "−", "-", 1), 64)
		q, err2 := strconv.ParseFloat(strings.Replace(y[i], "−", "-", 1), 64)
		if err1 == nil && err2 == nil {
			if math.Abs(p-q) > max(8, 0.01*math.Abs(p)) {
				return false
			}
		} else if x[i] != y[i] {
			return false
		}
	}
	return true
}

func TestModelPageNamesEveryPhase(t *testing.T) {
	page, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	_, phases, _ := strings.Cut(string(page), "## Phases")
	phases, _, _ = strings.Cut(phases, "## Profiles")
	named := map[string]bool{}
	for _, l := range strings.Split(phases, "\n") {
		if cells := strings.Split(l, "|"); len(cells) > 1 {
			for _, n := range strings.Split(cells[1], ",") {
				named[strings.TrimSpace(n)] = true
			}
		}
	}
	for ph := trace.BadPhase + 1; ph < trace.NumPhases; ph++ {
		if !named[ph.String()] {
			t.Errorf("%s does not describe phase %s", pagePath, ph)
		}
	}
}
