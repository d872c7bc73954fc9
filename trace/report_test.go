package trace

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/internal/golden"
	"codeberg.org/ticktrap/ticktrap/internal/prose"
)

func foldStream(t testing.TB, name string) (*Header, *State) {
	t.Helper()
	st := readStream(t, filepath.Join("testdata/streams", name+".txt"))
	var s State
	s.Reset(&st.header)
	for i := range st.events {
		s.Apply(&st.events[i])
	}
	return &st.header, &s
}

func TestReportGoldens(t *testing.T) {
	for _, name := range []string{"deadline-expired-in-fastpath", "deadline-pending-and-kicked", "halt-and-wake",
		"knobs-console-and-end", "events-lost", "trace-without-deliveries"} {
		t.Run(name, func(t *testing.T) {
			h, s := foldStream(t, name)
			h.Guest, h.Profile, h.Seed, h.Host = name, "plain", 1, "a host"
			r := NewReport(h, s, "the recording is cut")
			js, err := r.JSON()
			if err != nil {
				t.Fatal(err)
			}
			golden.Equal(t, "testdata/reports/"+name+".json", js)
			golden.Equal(t, "testdata/reports/"+name+".txt", []byte(r.Text()))
		})
	}
}

func TestReportTextKeepsTo80Columns(t *testing.T) {
	files, _ := filepath.Glob("testdata/streams/*.txt")
	for _, f := range files {
		h, s := foldStream(t, strings.TrimSuffix(filepath.Base(f), ".txt"))
		h.Guest = strings.Repeat("word ", 40)
		for i, line := range strings.Split(NewReport(h, s).Text(), "\n") {
			if n := utf8.RuneCountInString(line); n > prose.Width {
				t.Errorf("%s: line %d has %d columns: %s", f, i+1, n, line)
			}
		}
	}
}

func TestReportTextIsSafeForTerminals(t *testing.T) {
	h, s := foldStream(t, "halt-and-wake")
	h.Guest, h.Args, h.Host = "a\x1b[31m", "b\nc", "d\x07"
	text := NewReport(h, s).Text()
	if strings.ContainsAny(text, "\x1b\x07") || !strings.Contains(text, `a\x1b[31m b\nc`) {
		t.Errorf("text is %q", text)
	}
}

func TestReportHasTheDocumentedNames(t *testing.T) {
	h, s := foldStream(t, "deadline-expired-in-fastpath")
	js, err := NewReport(h, s).JSON()
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(js, &doc); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path string
		want any
	}{
		{"engine", "model"}, {"provenance", "modelled"}, {"provenance_of.deadlines", "modelled"},
		{"provenance_of.guest_samples", "guest"}, {"hz", 2.5e9}, {"events", 19.0},
		{"deadlines.count", 1.0}, {"deadlines.lateness.p50", 250.0}, {"deadlines.lateness.p99", 250.0},
		{"deadlines.lateness.max", 250.0}, {"deadlines.lateness_ns.max", 100.0},
		{"exits.MSR_WRITE.count", 1.0}, {"exits.MSR_WRITE.fastpath", 1.0}, {"exits.MSR_WRITE.reenter", 1.0},
		{"exits.MSR_WRITE.bails", map[string]any{}}, {"exits.PREEMPTION_TIMER.cycles.sum", 350.0},
		{"kicks.ipi", 0.0}, {"kicks.wake", 0.0}, {"deliveries.pir", 1.0}, {"expiries.direct", 1.0},
		{"waits.count", 1.0}, {"tuning.early", 1.0}, {"halts.blocked", 0.0},
		{"knobs.apicv", "on"}, {"knobs.timer-advance", "adaptive"}, {"knobs.fastpath", "6.18"},
		{"costs.exit.cycles", 60.0}, {"guest_samples.count", 0.0}, {"end.how", "running"}, {"lost.events", 0.0},
		{"warnings", []any{}}, {"knob_turns", []any{}},
	}
	for _, tt := range tests {
		got, ok := lookUp(doc, tt.path)
		if !ok {
			t.Errorf("%s is missing", tt.path)
			continue
		}
		want, _ := json.Marshal(tt.want)
		if have, _ := json.Marshal(got); string(have) != string(want) {
			t.Errorf("%s = %s, want %s", tt.path, have, want)
		}
	}
}

func lookUp(doc any, path string) (any, bool) {
	for step := range strings.SplitSeq(path, ".") {
		m, ok := doc.(map[string]any)
		if !ok {
			return nil, false
		}
		if doc, ok = m[step]; !ok {
			return nil, false
		}
	}
	return doc, true
}

func TestInferredEventsTaintTheirSections(t *testing.T) {
	h, s := foldStream(t, "trace-without-deliveries")
	h.Provenance = Measured
	r := NewReport(h, s)
	for section, want := range map[string]string{"deadlines": "inferred", "exits": "inferred", "kicks": "measured"} {
		if got := r.ProvenanceOf[section]; got != want {
			t.Errorf("%s: provenance %q, want %q", section, got, want)
		}
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "3 of 5 events were inferred") {
		t.Errorf("warnings are %q", r.Warnings)
	}
}

func TestSameStateSameReport(t *testing.T) {
	h, s := foldStream(t, "deadline-pending-and-kicked")
	first, err := NewReport(h, s).JSON()
	if err != nil {
		t.Fatal(err)
	}
	var c State
	for range 20 {
		s.CopyTo(&c)
		if again, _ := NewReport(h, &c).JSON(); string(again) != string(first) {
			t.Fatal("two reports of one state differ")
		}
	}
}

func TestNanosecondsRoundToTheNearest(t *testing.T) {
	tests := []struct {
		c    clock.Cycles
		hz   clock.Hz
		want clock.Nanos
	}{{250, 2_500_000_000, 100}, {-3, 2_500_000_000, -1}, {4, 2_500_000_000, 2}, {7, 0, 0}, {-1 << 62, 1_000_000_000, -1 << 62}}
	for _, tt := range tests {
		if got := nanosOf(tt.c, tt.hz); got != tt.want {
			t.Errorf("nanosOf(%d, %d) = %d, want %d", tt.c, tt.hz, got, tt.want)
		}
	}
}

// Lateness of a slow or busy host has more digits than its column.
func TestFiguresOfTheReportNeverTouch(t *testing.T) {
	tests := []struct {
		name string
		l    ReportLateness
		want string
	}{
		{"narrow", ReportLateness{Min: -12, P50: 3, P90: 4, P99: 5, P999: 6, Max: 7, Mean: 3.2},
			"cycles           -12        3        4        5        6        7        3.2\n"},
		{"wide", ReportLateness{Min: 82497, P50: 216959, P90: 664575, P99: 56754175, P999: 107085823, Max: 128665841,
			Mean: 2148180.6}, "cycles         82497   216959   664575 56754175 107085823 128665841 2148180.6\n"},
		{"a wide one is made up for", ReportLateness{Min: -1234567890, P50: 1, P90: 2, P99: 3, P999: 4, Max: 5, Mean: 1},
			"cycles      -1234567890     1        2        3        4        5        1.0\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var text reportText
			text.lateness("cycles", &tt.l)
			if got := text.String(); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}
