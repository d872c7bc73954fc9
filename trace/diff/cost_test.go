package diff_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/diff"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

func costOf(t *testing.T, d *diff.Diff, f diff.Figure) *diff.Stat {
	t.Helper()
	for i := range d.Costs {
		if d.Costs[i].Name == f.String() {
			return &d.Costs[i]
		}
	}
	t.Fatalf("the comparison has no %v: %+v", f, d.Costs)
	return nil
}

// Without the fastpath a deadline costs the host more, and that comes first where
// the lateness does not change.
func TestFastpathOffIsACostInTheHeadline(t *testing.T) {
	a := side(t, "mode=spin", 1, 1000, map[trace.Knob]uint64{trace.KnobAdvance: 1000})
	b := side(t, "mode=spin", 1, 1000, map[trace.Knob]uint64{trace.KnobAdvance: 1000, trace.KnobFastpath: uint64(vmm.RulesOff)})
	b.Late = a.Late // the lateness is the same
	d := diff.Compare(a, b, diff.DefaultOptions)
	host := costOf(t, d, diff.HostCycles)
	if d.Cost != "higher" || !host.Significant || host.Delta < 100 {
		t.Errorf("fastpath off costs %+v (%s), want more host cycles", host, d.Cost)
	}
	if d.Change != "none" || !strings.HasPrefix(d.Headline, "It costs ") || !strings.Contains(d.Headline, "more host cycles per deadline") {
		t.Errorf("change %s, headline %q, want the cost first", d.Change, d.Headline)
	}
	exits := costOf(t, d, diff.Exits)
	if exits.Significant || exits.A < 1 {
		t.Errorf("the exits are the same with and without fastpath: %+v", exits)
	}
	back := diff.Compare(b, a, diff.DefaultOptions)
	if back.Cost != "lower" || !strings.Contains(back.Headline, "fewer host cycles") {
		t.Errorf("the other way round the cost is %s: %s", back.Cost, back.Headline)
	}
}

func TestSameSettingsCostTheSame(t *testing.T) {
	wrong, n := 0, 0
	for seed := range uint64(10) {
		a, b := side(t, "mode=mixed", 2*seed+1, 800, nil), side(t, "mode=mixed", 2*seed+2, 800, nil)
		o := diff.DefaultOptions
		o.Draws = 800
		d := diff.Compare(a, b, o)
		for i := range d.Costs {
			n++
			if d.Costs[i].Significant {
				wrong++
				t.Logf("seeds %d and %d: %+v", 2*seed+1, 2*seed+2, d.Costs[i])
			}
		}
	}
	if wrong > 2 {
		t.Errorf("%d of %d figures of the same settings were told apart", wrong, n)
	}
}

// synthetic is a side whose deadlines cost about mean cycles each.
func synthetic(seed uint64, n int, mean float64) *diff.Side {
	s := blank()
	s.Late, s.Known = wave(seed, n), trace.SpentKnown{Host: true, Exits: true}
	r := rand.New(rand.NewPCG(seed, 1))
	for range n {
		s.Costs = append(s.Costs, trace.DeadlineCost{Host: uint32(mean * (0.9 + 0.2*r.Float64())), Exits: 2})
	}
	return s
}

func TestMoreIsAskedForUntilItIsClear(t *testing.T) {
	for _, tt := range []struct {
		name      string
		n         int
		b         float64 // a is 10,000
		change    string
		wantsMore bool
	}{
		{"a great change at once", 60, 12_000, "higher", false},
		{"a small one not from a few", 60, 10_080, "none", true},
		{"but from many", 40_000, 10_080, "higher", false},
		{"none from a few", 60, 10_000, "none", true},
		{"none from many", 40_000, 10_000, "none", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := diff.DefaultOptions
			o.Draws = 600
			d := diff.Compare(synthetic(1, tt.n, 10_000), synthetic(2, tt.n, tt.b), o)
			s := costOf(t, d, diff.HostCycles)
			if d.Cost != tt.change || (s.More > 0) != tt.wantsMore {
				t.Errorf("cost %s, %+v; want %s, more wanted: %v", d.Cost, s, tt.change, tt.wantsMore)
			}
		})
	}
}

func TestUnknownCostsAreNotCompared(t *testing.T) {
	a, b := synthetic(1, 500, 10_000), synthetic(2, 500, 20_000)
	b.Known.Host = false
	d := diff.Compare(a, b, diff.DefaultOptions)
	for _, s := range d.Costs {
		if s.Name == diff.HostCycles.String() {
			t.Errorf("host cycles are compared with a side that does not know them: %+v", s)
		}
	}
	a.Costs = nil
	if d := diff.Compare(a, b, diff.DefaultOptions); d.Cost != "unknown" || len(d.Costs) != 0 {
		t.Errorf("a side without costs gives %s, %+v", d.Cost, d.Costs)
	}
}
