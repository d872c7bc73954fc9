package sweep_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
	"codeberg.org/ticktrap/ticktrap/vmm/sweep"
)

// plan is a run of the guest "deadline", spinning, with an advance of 1000 ns.
func plan(t testing.TB, deadlines uint64) *sweep.Run {
	t.Helper()
	prof, err := model.LoadProfile("generic")
	if err != nil {
		t.Fatal(err)
	}
	p, err := guest.ParseParams("deadline", "mode=spin", prof.Hz)
	if err != nil {
		t.Fatal(err)
	}
	img, err := guest.Builtin("deadline", p)
	if err != nil {
		t.Fatal(err)
	}
	base := vmm.DefaultKnobs()
	base.Advance = 1000
	return &sweep.Run{Base: base, Seed: 1,
		Limits: func(*trace.Header) session.Limits { return session.Limits{Deadlines: deadlines} },
		Make: func(k vmm.Knobs, seed uint64) session.Factory {
			return func(s trace.Sink) (vmm.Engine, error) {
				return model.New(model.Config{Guest: img, VCPUs: 1, Profile: prof, Knobs: k, Seed: seed, RAM: 32 << 20}, s)
			}
		}}
}

func grid(t testing.TB, axes ...string) sweep.Grid {
	t.Helper()
	var g sweep.Grid
	for _, s := range axes {
		a, err := sweep.ParseAxis(s)
		if err != nil {
			t.Fatal(err)
		}
		g = append(g, a)
	}
	return g
}

func TestAxesAreParsed(t *testing.T) {
	for _, c := range []struct {
		text   string
		values int
		err    string
	}{
		{"timer-advance=0:5000:250", 21, ""},
		{"timer-advance=off,adaptive,1us", 3, ""},
		{"vmentry-advance=0:400ns:100", 5, ""},
		{"apicv=on,off", 2, ""},
		{"fastpath=off,5.15,6.18", 3, ""},
		{"kick-tax-cut=on,off", 2, ""},
		{"apicv=on:off:1", 0, "a range needs numbers"},
		{"timer-advance=5:1:1", 0, "lower to the higher"},
		{"timer-advance=0:5:0", 0, "above 0"},
		{"timer-advance=0:5", 0, "FROM:TO:STEP"},
		{"timer-advance=", 0, "want NAME="},
		{"apicv=on,on", 0, "twice"},
		{"nonsense=1", 0, "no knob is called"},
		{"timer-advance=0:2000000000:1", 0, "more than"},
	} {
		a, err := sweep.ParseAxis(c.text)
		switch {
		case c.err == "" && err != nil:
			t.Errorf("%s: %v", c.text, err)
		case c.err == "" && len(a.Values) != c.values:
			t.Errorf("%s: %d values, want %d", c.text, len(a.Values), c.values)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: %v, want an error with %q", c.text, err, c.err)
		}
	}
	if err := grid(t, "apicv=on,off", "apicv=on,off").Check(); err == nil {
		t.Error("a knob varied twice is accepted")
	}
}

func TestParallelSweepIsInGridOrderAndRepeatsItself(t *testing.T) {
	g := grid(t, "timer-advance=0:1000:250", "apicv=on,off")
	one, err := sweep.Go(context.Background(), g, plan(t, 60), 1, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	four, err := sweep.Go(context.Background(), g, plan(t, 60), 4, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, b := encode(t, one), encode(t, four)
	if a != b {
		t.Errorf("one job and four jobs differ:\n%s\n%s", a, b)
	}
	if len(one) != 10 || one[3].Knobs["timer-advance"] != "250ns" || one[3].Knobs["apicv"] != "off" {
		t.Errorf("point 3 of %d is %+v", len(one), one[3].Knobs)
	}
	if one[0].P50 <= one[8].P50 {
		t.Errorf("an advance of 1000 ns (%g ns late) is no better than none (%g ns)", one[8].P50, one[0].P50)
	}
}

func encode(t *testing.T, points []*sweep.Point) string {
	t.Helper()
	b, err := json.Marshal(points)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// memFile is a file open for reading and appending.
type memFile struct {
	r *bytes.Reader
	b *bytes.Buffer
}

func open(b *bytes.Buffer) *memFile {
	return &memFile{bytes.NewReader(bytes.Clone(b.Bytes())), b}
}

func (m *memFile) Read(p []byte) (int, error)  { return m.r.Read(p) }
func (m *memFile) Write(p []byte) (int, error) { return m.b.Write(p) }

var _ io.ReadWriter = (*memFile)(nil)

func TestInterruptedSweepGoesOn(t *testing.T) {
	g := grid(t, "timer-advance=0:2000:250")
	whole, err := sweep.Go(context.Background(), g, plan(t, 60), 2, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var disk bytes.Buffer
	file, done, err := sweep.Resume(open(&disk), "a sweep", g)
	if err != nil || len(done) != 0 {
		t.Fatalf("new file: %d points, %v", len(done), err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err = sweep.Go(ctx, g, plan(t, 60), 2, done, file.Keep, func(n, _ int) {
		if n == 4 {
			cancel()
		}
	})
	if err == nil {
		t.Fatal("a cancelled sweep says that it is done")
	}
	disk.WriteString(`{"knobs":{"timer-advance":"20`) // cut in the middle of a line

	measured := 0
	file, done, err = sweep.Resume(open(&disk), "a sweep", g)
	if err != nil {
		t.Fatal(err)
	}
	if len(done) < 4 || len(done) == g.Size() {
		t.Fatalf("%d points survived, want 4 or a few more", len(done))
	}
	again, err := sweep.Go(context.Background(), g, plan(t, 60), 2, done, func(p *sweep.Point) error {
		measured++
		return file.Keep(p)
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if measured != g.Size()-len(done) {
		t.Errorf("%d points were measured, want the %d that were missing", measured, g.Size()-len(done))
	}
	if a, b := encode(t, whole), encode(t, again); a != b {
		t.Errorf("the resumed sweep differs:\n%s\n%s", a, b)
	}
	if _, done, err = sweep.Resume(open(&disk), "a sweep", g); err != nil || len(done) != g.Size() {
		t.Errorf("the finished file holds %d points, %v", len(done), err)
	}
}

func TestForeignResultsAreRefused(t *testing.T) {
	g := grid(t, "apicv=on,off")
	for text, want := range map[string]string{
		`{"format":1,"sweep":"another"}` + "\n": "it holds another sweep",
		`{"format":7,"sweep":"a sweep"}` + "\n": "format 7",
		"hello\n":                               "not a file of sweep results",
		`{"format":1`:                           "its first line is cut",
	} {
		if _, _, err := sweep.Resume(open(bytes.NewBufferString(text)), "a sweep", g); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", text, err, want)
		}
	}
}

func TestVerdictCanBeNotWorthIt(t *testing.T) {
	never := func() bool { return false }
	for _, c := range []struct {
		name  string
		axis  string
		base  func(*vmm.Knobs)
		worth bool
		knee  string // empty: flat
	}{
		{"from no advance", "timer-advance=0:2000:250", func(k *vmm.Knobs) { k.Advance = 0 }, true, "500ns"},
		{"from enough advance", "timer-advance=0:2000:250", func(*vmm.Knobs) {}, false, "500ns"},
		{"a knob that does not matter", "halt-poll=0:30000:10000", func(*vmm.Knobs) {}, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, r := grid(t, c.axis), plan(t, 200)
			c.base(&r.Base)
			points, err := sweep.Go(context.Background(), g, r, 2, nil, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := sweep.Judge(g, r, points, "p99", never)
			if err != nil {
				t.Fatal(err)
			}
			if res.Worth != c.worth || strings.HasPrefix(res.Verdict, "Worth it") != c.worth {
				t.Errorf("worth %v: %s", res.Worth, res.Verdict)
			}
			if len(res.Knees) != 1 || res.Knees[0].Flat != (c.knee == "") || c.knee != "" && res.Knees[0].Value != c.knee {
				t.Errorf("knees %+v, want %q", res.Knees, c.knee)
			}
			if res.Checked[1].Seed == r.Seed {
				t.Error("the best point was not run with another seed")
			}
			for _, line := range strings.Split(res.Text(g), "\n") {
				if n := len([]rune(line)); n > 80 {
					t.Errorf("%d columns: %q", n, line)
				}
			}
		})
	}
}

// BenchmarkTwoHundredPoints is the sweep of the documentation: 200 points of 1000
// deadlines each.
func BenchmarkTwoHundredPoints(b *testing.B) {
	g := grid(b, "timer-advance=0:4750:250", "apicv=on,off", "fastpath=off,s004v3,5.8,5.15,6.18")
	r := plan(b, 1000)
	for range b.N {
		if _, err := sweep.Go(context.Background(), g, r, 2, nil, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(g.Size()), "points/op")
}

func TestKneeAtTheEdgeIsBeyondTheGrid(t *testing.T) {
	g, r := grid(t, "timer-advance=0:300:100"), plan(t, 60)
	r.Base.Advance = 0
	k := vmm.DefaultKernel()
	r.Kernel = &k
	points, err := sweep.Go(context.Background(), g, r, 2, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := sweep.Judge(g, r, points, "p99", func() bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(res.Text(g)), " ")
	for _, want := range []string{"The knee is beyond the grid: p99 still falls at timer-advance=300ns",
		"p99 of 60 deadlines is their maximum: give --deadlines 100 or more.",
		"But Linux 6.12 has no number of nanoseconds for the advance"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not said:\n%s", want, res.Text(g))
		}
	}
}
