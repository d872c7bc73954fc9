package diff

import (
	"bytes"
	"encoding/json"
	"fmt"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
)

// Side is one of the two runs that are compared.
type Side struct {
	Name   string
	Report *trace.Report
	// Late is the lateness of each deadline in cycles, in the order in which the
	// handlers ran; nil for a report, which has none.
	Late []clock.Cycles
	// Nums are the ordinals of those deadlines.
	Nums []trace.Num
	// Costs are what the host spent per deadline, in the same order; nil for a
	// report. Known says what they tell.
	Costs []trace.DeadlineCost
	Known trace.SpentKnown
	// Causes are what the lateness was made of; nil for a report.
	Causes []explain.CauseSum
}

// Collector makes a Side of a run while its events are folded. It belongs to one
// goroutine.
type Collector struct {
	h     *trace.Header
	tally *explain.Tally
	late  []clock.Cycles
	nums  []trace.Num
	costs []trace.DeadlineCost
	spent uint64 // deadlines whose cost was taken
}

// NewCollector returns a Collector for the run that h describes.
func NewCollector(h *trace.Header) *Collector { return &Collector{h: h, tally: explain.NewTally(h)} }

// Look takes the deadlines that have closed in s since the last call.
func (c *Collector) Look(s *trace.State) {
	for ; c.spent < s.Scatter.N; c.spent++ {
		if p := s.Scatter.Get(c.spent); p != nil {
			c.costs = append(c.costs, p.Cost)
		}
	}
	c.tally.Look(s, func(x *trace.Chain) {
		c.late = append(c.late, x.Late)
		c.nums = append(c.nums, x.Num)
	})
}

// Side returns what was collected, s being the state at the end of the run.
func (c *Collector) Side(name string, s *trace.State) *Side {
	return &Side{Name: name, Report: trace.NewReport(c.h, s), Late: c.late, Nums: c.nums, Causes: c.tally.Causes(), Costs: c.costs, Known: s.SpentKnown()}
}

// ReadReport makes a Side of a report in JSON.
func ReadReport(name string, data []byte) (*Side, error) {
	var r trace.Report
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&r); err != nil {
		return nil, fmt.Errorf("%s: not a report: %w", name, err)
	}
	if r.Format == 0 || r.Format > trace.ReportFormat {
		return nil, fmt.Errorf("%s: report format %d: this program reads formats 1 to %d", name, r.Format, trace.ReportFormat)
	}
	return &Side{Name: name, Report: &r}, nil
}
