package diff

import (
	"fmt"
	"math"
	"slices"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// Options says how runs are compared.
type Options struct {
	// Level is the level of the intervals, such as 0.99; Draws the number of
	// bootstrap draws; Seed that of their generator.
	Level float64
	Draws int
	Seed  uint64
}

// DefaultOptions are those of the command line.
var DefaultOptions = Options{Level: 0.99, Draws: 4000, Seed: 1}

// Margin is the least change that is called one, of the value before: two runs of
// one build on one machine differ by as much through nothing but chance in how
// they start (where adaptive tuning comes to rest, where memory lies), which no
// resampling of a single run can see.
const Margin = 0.005

// MinSamples is the least number of deadlines on each side that an interval is
// computed from.
const MinSamples = 50

// Diff is the comparison of two runs, as plain data.
type Diff struct {
	A          string `json:"a"`
	B          string `json:"b"`
	Provenance string `json:"provenance"` // of both, or "A measured, B modelled"
	// Unit is that of the lateness: cycles, or ns where the TSC rates differ.
	Unit string `json:"unit"`
	// Headline is the answer: what changed, lateness and cost. Change and Cost are
	// "none", "lower", "higher" or "unknown", Verdict and CostVerdict a sentence on
	// each.
	Headline    string `json:"headline"`
	Verdict     string `json:"verdict"`
	Change      string `json:"change"`
	CostVerdict string `json:"cost_verdict"`
	Cost        string `json:"cost"`
	// Paired is true if deadline n is the same request of the same guest in both.
	Paired bool    `json:"paired"`
	Level  float64 `json:"level"`
	// Stats are the statistics of the lateness; the verdict rests on the first.
	Stats []Stat `json:"stats"`
	// Costs are the means of what a deadline cost the host, those that both sides
	// know; the verdict on the cost rests on the first that changed.
	Costs []Stat `json:"cost_per_deadline"`
	// Conditions are the settings in which the runs differ.
	Conditions []Condition `json:"conditions"`
	Exits      []Row       `json:"exits_per_deadline"`
	Rates      []Row       `json:"rates"`
	// Causes are cycles per deadline by cause; they add up to the mean lateness.
	Causes   []Row    `json:"causes_per_deadline"`
	Warnings []string `json:"warnings"`
	// Checks are the limits that were asked for; absent if none were.
	Checks []Check `json:"checks,omitempty"`

	counts map[string]Stat  // figures of the whole runs, by name
	known  [NumFigures]bool // figures of the cost that both sides tell
}

// Stat is one statistic in both runs.
type Stat struct {
	Name string `json:"name"`
	// Unit is "cycles" or "ns", empty for a count.
	Unit  string  `json:"unit,omitempty"`
	A     float64 `json:"a"`
	B     float64 `json:"b"`
	Delta float64 `json:"delta"` // B minus A
	// Low and High bound Delta at the level of the Diff, if HasInterval.
	Low         float64 `json:"low"`
	High        float64 `json:"high"`
	HasInterval bool    `json:"has_interval"`
	// Significant is true if all of the interval is beyond Margin.
	Significant bool `json:"significant"`
	// More is how many more deadlines it takes, about, to tell whether there is a
	// change; 0 if that is clear.
	More int `json:"more,omitempty"`
}

// Condition is a setting in which the runs differ.
type Condition struct {
	Name string `json:"name"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// Row is one figure in both runs.
type Row struct {
	Name  string  `json:"name"`
	A     float64 `json:"a"`
	B     float64 `json:"b"`
	Delta float64 `json:"delta"`
}

// Compare compares b with a: a is before, b after.
func Compare(a, b *Side, o Options) *Diff {
	d := &Diff{A: a.Name, B: b.Name, Level: o.Level, Unit: "cycles", Change: "unknown", Stats: []Stat{}, Costs: []Stat{},
		Conditions: []Condition{}, Exits: []Row{}, Rates: []Row{}, Causes: []Row{}, Warnings: []string{}}
	ra, rb := a.Report, b.Report
	d.Provenance = ra.Provenance
	if ra.Provenance != rb.Provenance {
		d.Provenance = "A " + ra.Provenance + ", B " + rb.Provenance
	}
	switch {
	case ra.Hz == rb.Hz:
	case ra.Hz == 0 || rb.Hz == 0:
		d.Warnings = append(d.Warnings, "The TSC rate of one run is not known: the runs are compared in cycles, which may not "+
			"be of the same length.")
	default:
		d.Unit = "ns"
	}
	d.conditions(ra, rb)
	d.stats(a, b, o)
	d.verdict(a, b)
	d.costs(a, b, o)
	d.costVerdict()
	d.headline()
	d.setCounts(ra, rb)
	d.exits(ra, rb)
	d.rates(ra, rb)
	d.causes(a, b)
	return d
}

// scale is what cycles of a run are multiplied by.
func (d *Diff) scale(r *trace.Report) float64 {
	if d.Unit == "ns" && r.Hz != 0 {
		return 1e9 / float64(r.Hz)
	}
	return 1
}

func (d *Diff) values(s *Side) []float64 {
	k := d.scale(s.Report)
	out := make([]float64, len(s.Late))
	for i, c := range s.Late {
		out[i] = float64(c) * k
	}
	return out
}

// stats fills in the statistics, with intervals where there are deadlines enough.
func (d *Diff) stats(a, b *Side, o Options) {
	if len(a.Late) < MinSamples || len(b.Late) < MinSamples {
		d.reportStats(a.Report, b.Report)
		return
	}
	rnd := &random{state: o.Seed}
	sa, sb := newSample(d.values(a), rnd), newSample(d.values(b), rnd)
	d.Paired = paired(a, b)
	iv := intervals(sa, sb, d.Paired, o, rnd)
	once := func(s *sample) stats {
		ones := make([]int32, len(s.values))
		for i := range ones {
			ones[i] = 1
		}
		return s.stats(ones)
	}
	xa, xb := once(sa), once(sb)
	for i, name := range statNames {
		s := Stat{Name: name, A: xa[i], B: xb[i], Unit: d.Unit}
		s.judge(iv[i], 1, min(len(a.Late), len(b.Late)))
		d.Stats = append(d.Stats, s)
	}
}

// paired reports whether the n-th deadline of both runs is the same request: the
// same guest with the same arguments, and the same deadlines handled.
func paired(a, b *Side) bool {
	x, y := a.Report, b.Report
	return x.GuestHash != "" && x.GuestHash == y.GuestHash && x.Args == y.Args && len(a.Nums) == len(a.Late) && slices.Equal(a.Nums, b.Nums)
}

// reportStats takes the statistics from the reports alone.
func (d *Diff) reportStats(a, b *trace.Report) {
	la, lb := &a.Deadlines.Lateness, &b.Deadlines.Lateness
	if d.Unit == "ns" {
		la, lb = a.Deadlines.LateNS, b.Deadlines.LateNS
	}
	pairs := [numStats][2]float64{{}, {float64(la.P50), float64(lb.P50)}, {float64(la.P90), float64(lb.P90)},
		{float64(la.P99), float64(lb.P99)}, {la.Mean, lb.Mean}}
	for i, name := range statNames {
		if i == statTypical {
			continue // a report does not tell
		}
		d.Stats = append(d.Stats, Stat{Name: name, A: pairs[i][0], B: pairs[i][1], Delta: round(pairs[i][1] - pairs[i][0])})
	}
}

// round keeps one decimal.
func round(x float64) float64 { return math.Round(x*10) / 10 }

func (d *Diff) verdict(a, b *Side) {
	p := &d.Stats[0]
	if !p.HasInterval {
		why := fmt.Sprintf("%s and %s have fewer than %d deadlines", a.Name, b.Name, MinSamples)
		if a.Late == nil || b.Late == nil {
			why = "a report holds no single deadlines"
		}
		d.Verdict = fmt.Sprintf("No verdict: %s, so no interval can be given; %s differs by %s.", why, p.Name, d.amount(p))
		return
	}
	at := fmt.Sprintf("%g %%", d.Level*100)
	if !p.Significant {
		d.Change = "none"
		d.Verdict = fmt.Sprintf("No significant change: the typical lateness differs by %s; the %s interval is %+g to %+g %s, "+
			"and less than %g %% is not called a change.", d.amount(p), at, p.Low, p.High, d.Unit, 100*Margin)
		return
	}
	d.Change = "lower"
	if p.Delta > 0 {
		d.Change = "higher"
	}
	d.Verdict = fmt.Sprintf("The typical lateness is %s by %s; the %s interval is %+g to %+g %s.", d.Change, d.amount(p), at,
		p.Low, p.High, d.Unit)
}

// headline puts in front what has changed.
func (d *Diff) headline() {
	switch costly := d.Cost == "lower" || d.Cost == "higher"; {
	case costly && d.Change == "none":
		d.Headline = d.CostVerdict + " " + d.Verdict
	case costly || d.Change != "none":
		d.Headline = d.Verdict + " " + d.CostVerdict
	default:
		d.Headline = d.Verdict
	}
}

// amount is a difference in the unit and in percent.
func (d *Diff) amount(s *Stat) string {
	w := fmt.Sprintf("%g %s", math.Abs(s.Delta), d.Unit)
	if s.A != 0 {
		w += fmt.Sprintf(" (%.1f %%)", 100*math.Abs(s.Delta/s.A))
	}
	return w
}

// conditions are the differences of the settings, and warnings about those that
// make the comparison doubtful.
func (d *Diff) conditions(a, b *trace.Report) {
	add := func(name, x, y string) bool {
		if x == y {
			return false
		}
		d.Conditions = append(d.Conditions, Condition{name, x, y})
		return true
	}
	add("engine", a.Engine, b.Engine)
	add("lapic", a.LAPIC, b.LAPIC)
	add("kernel", a.Kernel, b.Kernel)
	add("hidden features", a.Hide, b.Hide)
	add("host", a.Host, b.Host)
	add("profile", a.Profile, b.Profile)
	add("seed", fmt.Sprint(a.Seed), fmt.Sprint(b.Seed))
	if add("guest", a.Guest+" "+a.Args, b.Guest+" "+b.Args) || a.GuestHash != b.GuestHash {
		d.Warnings = append(d.Warnings, "the guests differ: a difference may be theirs")
	}
	if add("tsc hz", fmt.Sprint(a.Hz), fmt.Sprint(b.Hz)) && d.Unit == "ns" {
		d.Warnings = append(d.Warnings, "the TSC rates differ: compared in nanoseconds")
	}
	if a.Provenance != b.Provenance {
		d.Warnings = append(d.Warnings, "one run is "+a.Provenance+", the other "+b.Provenance+
			": they cannot be compared by size")
	}
	for _, k := range trace.KnobNames[1:] {
		add(k, a.Knobs[k], b.Knobs[k])
	}
	if a.TurnCount != 0 || b.TurnCount != 0 {
		d.Warnings = append(d.Warnings, "knobs were turned during a run: its lateness mixes settings")
	}
	if a.Lost.Gaps+b.Lost.Gaps != 0 {
		d.Warnings = append(d.Warnings, "events were lost: counts are too low")
	}
}
