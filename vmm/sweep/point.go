package sweep

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// Point is the outcome of one setting. Times are nanoseconds of distance from
// the deadline, early or late.
type Point struct {
	Knobs  map[string]string `json:"knobs"` // of the axes
	Count  uint64            `json:"count"` // deadlines whose handler ran
	P50    float64           `json:"p50"`
	P90    float64           `json:"p90"`
	P99    float64           `json:"p99"`
	P999   float64           `json:"p999"`
	Mean   float64           `json:"mean"`
	Max    float64           `json:"max"`
	Early  float64           `json:"early"`  // share of early ones, percent
	Exits  float64           `json:"exits"`  // a deadline
	Host   float64           `json:"host"`   // cycles of host work a deadline, waiting included
	Waited float64           `json:"waited"` // cycles waited a deadline
	// Missed counts the deadlines that expired and never ran.
	Missed uint64 `json:"missed"`
	End    string `json:"end,omitempty"` // how the guest ended, if it crashed
}

// Goals are the figures that a sweep can aim at.
var Goals = []string{"p50", "p90", "p99", "p999", "mean", "max"}

// Goal returns a figure by its name in Goals.
func (p *Point) Goal(name string) float64 {
	switch name {
	case "p50":
		return p.P50
	case "p90":
		return p.P90
	case "p999":
		return p.P999
	case "mean":
		return p.Mean
	case "max":
		return p.Max
	}
	return p.P99
}

// Key identifies a point of a grid.
func (p *Point) Key(g Grid) string {
	words := make([]string, len(g))
	for i, a := range g {
		words[i] = a.Knob.String() + "=" + p.Knobs[a.Knob.String()]
	}
	return strings.Join(words, " ")
}

// Run describes the run whose knobs are varied.
type Run struct {
	// Kernel is what a host would run: a setting that it cannot have is said to be
	// none. Nil says nothing.
	Kernel *kernel.Kernel
	Base   vmm.Knobs
	Seed   uint64
	Limits func(*trace.Header) session.Limits
	// Make makes an engine. It is called from several goroutines.
	Make func(k vmm.Knobs, seed uint64) session.Factory
}

// measure runs one setting to its limits; stop ends it early.
func (r *Run) measure(k vmm.Knobs, seed uint64, stop func() bool) (*Point, error) {
	run, err := session.NewRunner(r.Make(k, seed))
	if err != nil {
		return nil, err
	}
	defer run.Engine().Close()
	run.SetLimits(r.Limits(run.Header()))
	var far []clock.Cycles
	var seen uint64
	st := run.State()
	run.Tee(trace.SinkFunc(func(e trace.Event) {
		if e.Kind != trace.KindGuestIRQ {
			return
		}
		for ; seen < st.Chains.N; seen++ {
			if c := st.Chains.Get(seen); c != nil && c.Ran() {
				far = append(far, max(c.Late, -c.Late))
			}
		}
	}))
	n := 0
	if _, err := run.RunTo(clock.Never, func() bool { n++; return n&1023 == 0 && stop() }); err != nil {
		return nil, err
	}
	if stop() {
		return nil, nil
	}
	return pointOf(run.Header(), st, far), nil
}

// pointOf sums up a run.
func pointOf(h *trace.Header, st *trace.State, far []clock.Cycles) *Point {
	slices.Sort(far)
	d := &st.Deadlines
	p := &Point{Knobs: map[string]string{}, Count: uint64(len(far)),
		Missed: d.Outcomes[trace.OutcomeLost] + d.Outcomes[trace.OutcomeMerged] + d.Outcomes[trace.OutcomeDropped]}
	switch e := st.End.How; e {
	case trace.EndTripleFault, trace.EndReset, trace.EndUnknown, trace.EndDeadlock, trace.EndError, trace.EndInternal:
		p.End = e.String()
	}
	if len(far) == 0 {
		return p
	}
	ns := func(c float64) float64 { return round1(c * 1e9 / float64(h.Hz)) }
	rank := func(q float64) float64 {
		return ns(float64(far[min(len(far)-1, int(math.Ceil(q*float64(len(far))))-1)]))
	}
	p.P50, p.P90, p.P99, p.P999, p.Max = rank(.5), rank(.9), rank(.99), rank(.999), rank(1)
	var sum, host float64
	for _, c := range far {
		sum += float64(c)
	}
	n := float64(len(far))
	p.Mean = ns(sum / n)
	for ph := range st.Costs {
		host += float64(st.Costs[ph].Cycles)
	}
	p.Early = round1(100 * float64(d.Late.Early.N) / n)
	p.Exits = round3(float64(st.Kinds[trace.KindExit]) / n)
	p.Host = round1(host / n)
	p.Waited = round1(float64(st.Waits.Waited.Sum) / n)
	return p
}

func round1(x float64) float64 { return math.Round(x*10) / 10 }
func round3(x float64) float64 { return math.Round(x*1000) / 1000 }

// point measures point i of a grid.
func (r *Run) point(g Grid, i int, stop func() bool) (*Point, error) {
	values := g.At(i)
	k, err := g.Turned(r.Base, values)
	if err != nil {
		return nil, err
	}
	p, err := r.measure(k, r.Seed, stop)
	if err != nil || p == nil {
		return nil, err
	}
	for n, a := range g {
		p.Knobs[a.Knob.String()] = trace.FormatKnob(a.Knob, values[n])
	}
	if p.Count == 0 && p.End == "" {
		return nil, fmt.Errorf("%s: no deadline was handled", g.Name(values))
	}
	return p, nil
}
