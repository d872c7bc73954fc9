package diff

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"
)

func TestParseLimit(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Limit
	}{
		{"delta(p99) > 5%", Limit{Figure: "p99", Bound: 5, Relative: true}},
		{" delta( host-cycles ) > 200 cycles ", Limit{Figure: "host cycles", Bound: 200, Unit: "cycles"}},
		{"delta(ipis) > 0", Limit{Figure: "IPIs", Bound: 0}},
		{"delta(p50) > 1.5us", Limit{Figure: "p50", Bound: 1500, Unit: "ns"}},
		{"delta(typical) < -3%", Limit{Figure: "typical", Below: true, Bound: -3, Relative: true}},
	} {
		got, err := ParseLimit(tt.text)
		tt.want.Text = strings.TrimSpace(tt.text)
		if err != nil || got != tt.want {
			t.Errorf("ParseLimit(%q) = %+v, %v, want %+v", tt.text, got, err, tt.want)
		}
	}
	for text, says := range map[string]string{
		"p99 > 5%":              "want delta(FIGURE)",
		"delta(p99) = 5":        "want delta(FIGURE)",
		"delta(p99) > five":     "want delta(FIGURE)",
		"delta(p98) > 5%":       `no figure "p98": the figures are typical, `,
		"delta(host cycle) > 1": "did you mean host cycles?",
		"":                      "want delta(FIGURE)",
	} {
		if _, err := ParseLimit(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("ParseLimit(%q) = %v, want %q", text, err, says)
		}
	}
}

// A comparison of which each figure is known.
func compared() *Diff {
	return &Diff{Level: 0.99, Unit: "cycles",
		Stats: []Stat{{Name: "p99", Unit: "cycles", A: 1000, B: 1080, Delta: 80, Low: 60, High: 100, HasInterval: true, Significant: true},
			{Name: "p50", Unit: "cycles", A: 500, B: 530, Delta: 30, Low: -10, High: 70, HasInterval: true},
			{Name: "mean", Unit: "cycles", A: 100, B: 100}},
		Costs:  []Stat{{Name: "exits", A: 0, B: 2, Delta: 2, Low: 1.9, High: 2.1, HasInterval: true, Significant: true}},
		counts: map[string]Stat{"lost": {Name: "lost", A: 0, B: 1, Delta: 1}, "kicks": {Name: "kicks", A: 1, B: 1}},
		known:  [NumFigures]bool{IPIs: true}}
}

func TestCheckDecidesByTheInterval(t *testing.T) {
	d := compared()
	for _, tt := range []struct {
		limit string
		want  Outcome
	}{
		{"delta(p99) > 5%", Exceeded},  // all of +6 to +10 %
		{"delta(p99) > 6%", Undecided}, // +6 is not beyond 6
		{"delta(p99) > 7%", Undecided}, // 8 % looks like it, 6 % is possible
		{"delta(p99) > 8%", Holds},     // at the bound
		{"delta(p99) > 50 cycles", Exceeded},
		{"delta(p99) > 1us", Absent}, // compared in cycles
		{"delta(p50) > 5%", Undecided},
		{"delta(p50) > 10%", Holds},
		{"delta(p99) < 0", Holds},
		{"delta(p99) < 200", Exceeded}, // fell short of a gain
		{"delta(p50) < 35", Undecided}, // 30 is below, 70 is possible
		{"delta(p50) < 20", Holds},
		{"delta(mean) > 5%", Undecided}, // no interval
		{"delta(exits) > 5%", Exceeded}, // from nothing
		{"delta(lost) > 0", Exceeded},   // one is one
		{"delta(lost) > 1", Holds},
		{"delta(kicks) > 0", Holds},
		{"delta(IPIs) > 0", Holds}, // known, none on either side
		{"delta(host cycles) > 0", Absent},
	} {
		l, err := ParseLimit(tt.limit)
		if err != nil {
			t.Fatal(err)
		}
		c := d.Check([]Limit{l})[0]
		if c.Outcome != tt.want {
			t.Errorf("%s: %s, want %s (%s)", tt.limit, c.Outcome, tt.want, c.Words)
		}
		if !strings.HasSuffix(c.Words, ".") {
			t.Errorf("%s: %q is no sentence", tt.limit, c.Words)
		}
	}
}

func TestWorstOutcome(t *testing.T) {
	for _, tt := range []struct {
		in   []Outcome
		want Outcome
	}{
		{nil, Holds},
		{[]Outcome{Holds, Absent}, Absent},
		{[]Outcome{Undecided, Absent}, Undecided},
		{[]Outcome{Undecided, Exceeded, Holds}, Exceeded},
	} {
		var checks []Check
		for _, o := range tt.in {
			checks = append(checks, Check{Outcome: o})
		}
		if got := Worst(checks); got != tt.want {
			t.Errorf("Worst(%v) = %v, want %v", tt.in, got, tt.want)
		}
	}
}

func TestJUnitCountsOutcomes(t *testing.T) {
	var b bytes.Buffer
	err := JUnit(&b, []Suite{{Name: "a", Checks: []Check{{"x", Exceeded, "w<"}, {"y", Undecided, "u"}, {"z", Absent, "n"}, {"h", Holds, "ok"}}},
		{Name: "b", Err: "no base"}})
	if err != nil {
		t.Fatal(err)
	}
	var doc junitSuites
	if err := xml.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	a := doc.Suites[0]
	if a.Tests != 4 || a.Failures != 1 || a.Errors != 1 || a.Skipped != 1 || a.Cases[0].Failure.Message != "w<" {
		t.Errorf("suite a: %+v", a)
	}
	if b := doc.Suites[1]; b.Tests != 1 || b.Errors != 1 || b.Cases[0].Error.Message != "no base" {
		t.Errorf("suite b: %+v", b)
	}
}
