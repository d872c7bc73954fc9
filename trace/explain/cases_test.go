package explain_test

import (
	"os"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
	"codeberg.org/ticktrap/ticktrap/trace/ftrace"
)

// TestTracesOfKnownFaults: kernel traces without kprobes, each of a fault that is
// known, and what must be said of them.
func TestTracesOfKnownFaults(t *testing.T) {
	for _, tt := range []struct {
		file     string
		pick     explain.Pick
		late     [2]int64 // of the deadline, in cycles; both 0 if it is not looked at
		top      string   // first cause
		tenths   int      // its least share
		words    string   // in the text
		findings []string
	}{
		{"held-off-by-ktimers", explain.Pick{Deadline: 21}, [2]int64{2_260_000, 2_270_000}, "held-off", 985,
			"ktimers/5, pid 61, real-time priority 98", nil},
		{"timer-on-another-cpu", explain.Pick{}, [2]int64{7_500_000, 7_520_000}, "not-kicked", 990,
			"fired on CPU 0 while the vCPU was in the guest on CPU 5", []string{"timer-on-other-cpu"}},
		{"cpu-was-idle", explain.Pick{}, [2]int64{600_000, 650_000}, "idle-exit", 950, "CPU 5 was idle when the timer was due", nil},
		{"preemption-timer-too-early", explain.Pick{Earliest: true}, [2]int64{}, "", 0, "fired 171.79 s before it",
			[]string{"host-timer-early"}},
		{"deadline-an-hour-ahead", explain.Pick{}, [2]int64{0, 30_000}, "switch-in", 0, "deadline 21 lies 3600.00 s ahead",
			[]string{"deadline-far-ahead"}},
		{"catch-up-storm", explain.Pick{}, [2]int64{12_497_000_000, 12_510_000_000}, "host-timer-late", 990,
			"a periodic timer of 1000000 ns expired 4 times", []string{"catch-up-storm"}},
		{"period-below-the-limit", explain.Pick{}, [2]int64{15_000, 25_000}, "wake-up", 0, "asked for a period of 20000 ns",
			[]string{"period-limited"}},
		{"nothing-is-wrong", explain.Pick{}, [2]int64{20_000, 30_000}, "switch-in", 0, "", nil},
	} {
		t.Run(tt.file, func(t *testing.T) {
			f, err := os.Open("testdata/cases/" + tt.file + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			h := &trace.Header{Engine: "import", Provenance: trace.Measured, Hz: 2_500_000_000, Knobs: trace.UnknownKnobs()}
			var st trace.State
			st.Reset(h)
			find, w := explain.NewFinder(tt.pick), &explain.Watcher{}
			_, err = ftrace.Read(f, ftrace.Options{Time: ftrace.TimeBase{Hz: h.Hz}}, trace.SinkFunc(func(e trace.Event) {
				st.Apply(&e)
				find.Look(&st)
				w.Look(&e, &st)
			}))
			if err != nil {
				t.Fatal(err)
			}
			find.Finish(&st)
			c, s, ok := find.Found()
			if !ok {
				t.Fatal("there is no deadline to explain")
			}
			x := explain.Explain(h, s, c)
			x.Findings = w.Findings(&st)
			var ids []string
			for _, f := range x.Findings {
				ids = append(ids, f.ID)
			}
			if strings.Join(ids, " ") != strings.Join(tt.findings, " ") {
				t.Errorf("found %v, want %v", ids, tt.findings)
			}
			if text := strings.Join(strings.Fields(x.Text()), " "); !strings.Contains(text, tt.words) {
				t.Errorf("nothing says %q:\n%s", tt.words, x.Text())
			}
			if tt.top == "" {
				return
			}
			if top := &x.Causes[0]; top.ID != tt.top || top.Tenths < tt.tenths || x.Late < tt.late[0] || x.Late > tt.late[1] {
				t.Errorf("late %d, first %s with %d tenths of a percent; want %v, %s, at least %d", x.Late, top.ID, top.Tenths,
					tt.late, tt.top, tt.tenths)
			}
		})
	}
}
