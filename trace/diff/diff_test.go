package diff_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/diff"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// side runs a built-in guest on the model and collects it.
func side(t testing.TB, args string, seed, deadlines uint64, knobs map[trace.Knob]uint64) *diff.Side {
	t.Helper()
	prof, err := model.LoadProfile("generic")
	if err != nil {
		t.Fatal(err)
	}
	p, err := guest.ParseParams("deadline", args, prof.Hz)
	if err != nil {
		t.Fatal(err)
	}
	img, err := guest.Builtin("deadline", p)
	if err != nil {
		t.Fatal(err)
	}
	k := vmm.DefaultKnobs()
	for n, v := range knobs {
		if err := k.Set(n, v); err != nil {
			t.Fatal(err)
		}
	}
	r, err := session.NewRunner(func(s trace.Sink) (vmm.Engine, error) {
		return model.New(model.Config{Guest: img, VCPUs: 1, Profile: prof, Knobs: k, Seed: seed, RAM: 32 << 20}, s)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Engine().Close()
	col := diff.NewCollector(r.Header())
	r.Tee(trace.SinkFunc(func(trace.Event) { col.Look(r.State()) }))
	r.SetLimits(session.Limits{Deadlines: deadlines})
	if _, err := r.RunTo(clock.Never, nil); err != nil {
		t.Fatal(err)
	}
	return col.Side("seed", r.State())
}

// long reports whether the long form of the statistical tests is asked for.
func long() bool { return os.Getenv("TICKTRAP_LONG") != "" }

// TestSeedsOfOneRunDoNotDiffer measures how often two seeds of the same run are
// told apart: 100 pairs with TICKTRAP_LONG, 12 without.
func TestSeedsOfOneRunDoNotDiffer(t *testing.T) {
	trials, deadlines, wrongAllowed := 8, uint64(1000), 1
	if long() {
		trials, deadlines, wrongAllowed = 100, 4000, 5
	}
	for _, args := range []string{"mode=spin", "mode=mixed", "mode=hlt distance=60000"} {
		t.Run(args, func(t *testing.T) {
			n, wrong := trials, 0
			if !long() && args != "mode=mixed" {
				n = 4
			}
			for i := range n {
				a := side(t, args, uint64(2*i+1), deadlines, nil)
				b := side(t, args, uint64(2*i+2), deadlines, nil)
				o := diff.DefaultOptions
				o.Draws = 1000
				if d := diff.Compare(a, b, o); d.Change != "none" {
					wrong++
					t.Logf("seeds %d and %d: %s", 2*i+1, 2*i+2, d.Verdict)
				}
			}
			t.Logf("%d of %d pairs of seeds: no significant change", n-wrong, n)
			if wrong > wrongAllowed {
				t.Errorf("%d of %d pairs of seeds were told apart, want at most %d", wrong, n, wrongAllowed)
			}
		})
	}
}

func TestShiftOfFivePercentIsFound(t *testing.T) {
	a := side(t, "mode=mixed", 1, 10_000, nil)
	b := side(t, "mode=mixed", 2, 10_000, nil)
	o := diff.DefaultOptions
	o.Draws = 1000
	for _, factor := range []float64{1.05, 0.95} {
		c := *b
		c.Late = nil // the ordinals stay
		for _, l := range b.Late {
			c.Late = append(c.Late, clock.Cycles(float64(l)*factor))
		}
		want := "higher"
		if factor < 1 {
			want = "lower"
		}
		if d := diff.Compare(a, &c, o); d.Change != want {
			t.Errorf("lateness times %g: %s (%s), want %s", factor, d.Change, d.Verdict, want)
		}
	}
}

// wave is a process whose values stay near each other for long: single draws
// would take its slow swings for a difference.
func wave(seed uint64, n int) []clock.Cycles {
	var out []clock.Cycles
	x := 0.0
	for range n {
		seed = seed*6364136223846793005 + 1442695040888963407
		x = 0.97*x + float64(int64(seed)>>40)/float64(1<<22)
		out = append(out, clock.Cycles(1000+100*x))
	}
	return out
}

func TestAutocorrelatedRunsAreNotToldApart(t *testing.T) {
	wrong := 0
	const trials = 20
	for i := range uint64(trials) {
		a, b := blank(), blank()
		a.Late, b.Late = wave(2*i+1, 3000), wave(2*i+2, 3000)
		o := diff.DefaultOptions
		o.Draws = 400
		if diff.Compare(a, b, o).Change != "none" {
			wrong++
		}
	}
	if wrong > 2 {
		t.Errorf("%d of %d pairs of autocorrelated runs were told apart", wrong, trials)
	}
}

// blank is a side without a run behind it.
func blank() *diff.Side {
	h := &trace.Header{Engine: "test", Provenance: trace.Modelled, Hz: 1_000_000_000, VCPUs: 1}
	var st trace.State
	st.Reset(h)
	return &diff.Side{Name: "blank", Report: trace.NewReport(h, &st)}
}

func TestKnobThatMattersIsFoundWithItsCause(t *testing.T) {
	a := side(t, "mode=spin", 1, 1000, map[trace.Knob]uint64{trace.KnobAdvance: 0})
	b := side(t, "mode=spin", 2, 1000, nil)
	d := diff.Compare(a, b, diff.DefaultOptions)
	if d.Change != "lower" || !d.Stats[0].Significant {
		t.Fatalf("advance from off to adaptive: %s", d.Verdict)
	}
	if len(d.Causes) == 0 || d.Causes[0].Name != "vm-exit" || d.Causes[0].B > 1 {
		t.Errorf("the cause that shrank most is %+v, want vm-exit hidden by the advance", d.Causes)
	}
	var mean float64
	for _, c := range d.Causes {
		mean += c.Delta
	}
	if diffOf := mean - d.Stats[4].Delta; diffOf > 1 || diffOf < -1 {
		t.Errorf("causes add up to a difference of %.1f cycles, the means differ by %.1f", mean, d.Stats[4].Delta)
	}
	knob := false
	for _, c := range d.Conditions {
		knob = knob || c.Name == "timer-advance" && c.A == "off" && c.B == "adaptive"
	}
	if !knob {
		t.Errorf("conditions %+v lack the knob", d.Conditions)
	}
	for name, text := range map[string]string{"Text": d.Text(), "LKML": d.LKML()} {
		for _, line := range strings.Split(text, "\n") {
			if n := len([]rune(line)); n > 80 {
				t.Errorf("%s: %d columns: %q", name, n, line)
			}
		}
	}
	if !strings.Contains(d.LKML(), "before: timer-advance=off, after: timer-advance=adaptive") {
		t.Errorf("the table for a patch does not name the change:\n%s", d.LKML())
	}
}

func TestSameInputSameAnswer(t *testing.T) {
	a, b := blank(), blank()
	a.Late, b.Late = wave(5, 500), wave(6, 500)
	x, y := diff.Compare(a, b, diff.DefaultOptions), diff.Compare(a, b, diff.DefaultOptions)
	if !reflect.DeepEqual(x, y) {
		t.Errorf("two comparisons of the same runs differ:\n%+v\n%+v", x, y)
	}
	if back := diff.Compare(b, a, diff.DefaultOptions); back.Stats[0].Delta > 0 == (x.Stats[0].Delta > 0) {
		t.Errorf("swapping the sides keeps the sign: %+v and %+v", x.Stats[0], back.Stats[0])
	}
}

func TestReportsGetNoVerdict(t *testing.T) {
	a := side(t, "mode=spin", 1, 200, nil)
	text, err := a.Report.JSON()
	if err != nil {
		t.Fatal(err)
	}
	b, err := diff.ReadReport("b.json", text)
	if err != nil {
		t.Fatal(err)
	}
	d := diff.Compare(a, b, diff.DefaultOptions)
	if d.Change != "unknown" || d.Stats[0].HasInterval || !strings.HasPrefix(d.Verdict, "No verdict: a report") {
		t.Errorf("change %q, verdict %q", d.Change, d.Verdict)
	}
	if d.Stats[0].Delta != 0 || len(d.Exits) == 0 || d.Exits[0].Delta != 0 {
		t.Errorf("a run differs from its own report: %+v %+v", d.Stats[0], d.Exits)
	}
	for _, bad := range []string{"{", "[]", `{"format": 99}`, `{}`} {
		if _, err := diff.ReadReport("bad.json", []byte(bad)); err == nil || !strings.Contains(err.Error(), "bad.json") {
			t.Errorf("%s: %v, want an error that names the file", bad, err)
		}
	}
	if !json.Valid(text) {
		t.Error("the report is not JSON")
	}
}

func TestTooFewDeadlinesGetNoVerdict(t *testing.T) {
	a, b := blank(), blank()
	a.Late, b.Late = wave(1, 10), wave(2, 10)
	if d := diff.Compare(a, b, diff.DefaultOptions); d.Change != "unknown" {
		t.Errorf("10 deadlines give the verdict %q", d.Verdict)
	}
}

func BenchmarkCompare(b *testing.B) {
	x, y := blank(), blank()
	x.Late, y.Late = wave(1, 10_000), wave(2, 10_000)
	for range b.N {
		diff.Compare(x, y, diff.DefaultOptions)
	}
}
