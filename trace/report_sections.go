package trace

import (
	"fmt"
	"math"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// sectionKinds are the kinds of events that each section of a report is computed
// from.
var sectionKinds = map[string][]Kind{
	"cost_per_deadline": {KindCost, KindWait, KindExit, KindKick, KindDeliver},
	"deadlines":         {KindArm, KindBacking, KindHostFire, KindExpire, KindDeliver, KindGuestIRQ, KindEOI},
	"exits":             {KindExit, KindEntry, KindFastpath},
	"kicks":             {KindKick},
	"deliveries":        {KindDeliver},
	"expiries":          {KindExpire},
	"backings":          {KindBacking, KindHostFire},
	"waits":             {KindWait},
	"tuning":            {KindTune},
	"injections":        {KindInject, KindGuestIRQ, KindEOI, KindPIRSync},
	"halts":             {KindHalt, KindWake},
	"costs":             {KindCost},
	"knobs":             {KindKnob},
}

// provenances says for each section where its figures come from.
func (s *State) provenances(h *Header) map[string]string {
	m := map[string]string{"guest_samples": "guest"}
	for section, kinds := range sectionKinds {
		p := h.Provenance
		for _, k := range kinds {
			if s.Inferred[k] != 0 {
				p = Inferred
			}
		}
		m[section] = p.String()
	}
	return m
}

func (s *State) reportDeadlines(hz clock.Hz) ReportDeadlines {
	d := &s.Deadlines
	r := ReportDeadlines{Count: d.Count(), Opened: d.Opened, Armed: d.Arms, Disarmed: d.Disarms, Open: d.Open(),
		InPast: d.InPast, Rearmed: d.Outcomes[OutcomeRearmed], Cancelled: d.Outcomes[OutcomeCancelled],
		Merged: d.Outcomes[OutcomeMerged], Lost: d.Outcomes[OutcomeLost], Dropped: d.Outcomes[OutcomeDropped],
		Unknown: d.Outcomes[OutcomeUnknown], Reset: d.Outcomes[OutcomeReset], Held: d.Outcomes[OutcomeHeld],
		Withheld: d.Outcomes[OutcomeWithheld], Lateness: reportLateness(&d.Late, 0), LateNS: latenessNS(&d.Late, hz),
		ByVCPU: []ReportLateness{}}
	for i := range s.VCPUs {
		r.ByVCPU = append(r.ByVCPU, reportLateness(&s.VCPUs[i].Late, 0))
	}
	if s.KnobTurns.N > 0 {
		since := reportLateness(&d.SinceKnob, 0)
		r.SinceKnob = &since
	}
	return r
}

// latenessNS gives l in nanoseconds, nil where the rate is not known.
func latenessNS(l *Lateness, hz clock.Hz) *ReportLateness {
	if hz == 0 {
		return nil
	}
	r := reportLateness(l, hz)
	return &r
}

// reportLateness gives l in cycles, or in nanoseconds at hz if that is not 0.
func reportLateness(l *Lateness, hz clock.Hz) ReportLateness {
	conv := func(c clock.Cycles) int64 {
		if hz == 0 {
			return int64(c)
		}
		return int64(nanosOf(c, hz))
	}
	mean := l.Mean()
	if hz != 0 {
		mean = mean * 1e9 / float64(hz)
	}
	return ReportLateness{Count: l.Count(), Early: l.Early.N, OnTime: l.OnTime, Late: l.Late.N, Min: conv(l.Min),
		P1: conv(l.Percentile(1)), P50: conv(l.Percentile(50)), P90: conv(l.Percentile(90)),
		P99: conv(l.Percentile(99)), P999: conv(l.Percentile(99.9)), Max: conv(l.Max),
		Mean: math.Round(mean*10) / 10}
}

func reportDist(d *Dist) ReportDist {
	return ReportDist{d.N, int64(d.Sum), int64(d.Min), int64(d.Mean()), int64(d.Max)}
}

// reportSpent is the cost per deadline, nil if no handler ran or nothing is known
// of it.
func (s *State) reportSpent() *ReportSpent {
	n := float64(s.Deadlines.Count())
	x, known := s.Spent(), s.SpentKnown()
	if n == 0 || known == (SpentKnown{}) {
		return nil
	}
	per := func(told bool, total, unit float64) *float64 {
		if !told {
			return nil
		}
		v := math.Round(total/n/unit) * unit
		v = math.Round(v*1000) / 1000
		return &v
	}
	return &ReportSpent{per(known.Host, float64(x.Host), 0.1), per(known.Burnt, float64(x.Burnt), 0.1), per(known.Exits, float64(x.Exits), 0.001),
		per(known.IPIs, float64(x.IPIs), 0.001)}
}

func (s *State) reportExits() map[string]*ReportExit {
	m := make(map[string]*ReportExit)
	for i := range s.ExitStats {
		x := &s.ExitStats[i]
		if x.Count == 0 {
			continue
		}
		bails := namedClauses(x.Clauses[:])
		m[ExitNames[i]] = &ReportExit{Count: x.Count, Fastpath: x.Fastpath(), Reenter: x.Results[FastReenter],
			Results: named(FastpathNames, x.Results[:], false), Bails: bails, Cycles: reportDist(&x.Cycles)}
	}
	return m
}

// namedClauses leaves out the clauses that did not occur, and "none": it is no
// reason.
func namedClauses(counts []uint64) map[string]uint64 {
	m := named(ClauseNames, counts, false)
	delete(m, ClauseNames[ClauseNone])
	return m
}

func (r *Report) reportCounters(s *State) {
	r.Kicks = named(KickNames, s.Kicks.Decisions[:], true)
	r.KickModes = named(ModeNames, s.Kicks.Modes[:], true)
	r.KickSteps = named(KickStepNames, s.Kicks.Steps[:], true)
	r.SelfKicks = s.Kicks.Self
	r.Deliver = named(DeliverNames, s.Deliveries[:], true)
	r.Sources = named(SourceNames, s.DeliverSources[:], true)
	r.DelWhy = namedClauses(s.DeliverClauses[:])
	r.Expiries = named(ExpireNames, s.Expiries[:], true)
	r.ExpWhy = namedClauses(s.ExpireClauses[:])
	r.Backings = named(BackingNames, s.Backings[:], true)
	r.BackWhy = namedClauses(s.BackClauses[:])
	r.HostFires = named(BackingNames, s.HostFires[:], true)
	delete(r.HostFires, BackingNames[BackNone])
	r.Tuning = named(TuneNames, s.Tunes[:], true)
	r.AdvanceNS = []int64{}
	for i := range s.VCPUs {
		r.AdvanceNS = append(r.AdvanceNS, int64(s.VCPUs[i].AdvanceNS))
	}
	r.Costs = make(map[string]ReportCost)
	for i, c := range s.Costs {
		if c.Count != 0 {
			r.Costs[PhaseNames[i]] = ReportCost{c.Count, int64(c.Cycles)}
		}
	}
}

func (r *Report) reportKnobs(s *State) {
	r.Knobs = make(map[string]string)
	for k := BadKnob + 1; k < NumKnobs; k++ {
		r.Knobs[k.String()] = FormatKnob(k, s.Knobs[k])
	}
	r.Turns, r.TurnCount, r.Marks = []ReportTurn{}, s.KnobTurns.N, []ReportMark{}
	for i := range s.KnobTurns.Len() {
		m := s.KnobTurns.At(i)
		r.Turns = append(r.Turns, ReportTurn{uint64(m.At), m.Knob.String(), FormatKnob(m.Knob, m.Value),
			FormatKnob(m.Knob, m.Old)})
	}
	for i := range s.Bookmarks.Len() {
		m := s.Bookmarks.At(i)
		r.Marks = append(r.Marks, ReportMark{uint64(m.At), strings.TrimRight(string(m.Name[:]), "\x00")})
	}
}

// warnings are the things a reader of the report should know.
func (s *State) warnings() (w []string) {
	switch l := &s.Lost; {
	case l.Unknown:
		w = append(w, fmt.Sprintf("events were lost in %d places, at least %d of them: counts are too low", l.Gaps, l.Events))
	case l.Events != 0:
		w = append(w, fmt.Sprintf("%d events were lost in %d places: counts are too low", l.Events, l.Gaps))
	}
	var inferred uint64
	for _, n := range s.Inferred {
		inferred += n
	}
	if inferred != 0 {
		w = append(w, fmt.Sprintf("%d of %d events were inferred", inferred, s.Events))
	}
	if n := s.Deadlines.Outcomes[OutcomeUnknown]; n != 0 {
		w = append(w, fmt.Sprintf("%d deadlines could not be followed to their end", n))
	}
	if n := s.Deadlines.Outcomes[OutcomeWithheld]; n != 0 {
		w = append(w, fmt.Sprintf("%d deadlines lie before the run or beyond any clock: their lateness is withheld", n))
	}
	if n := s.Deadlines.Outcomes[OutcomeHeld]; n != 0 {
		w = append(w, fmt.Sprintf("the debugger held the vCPUs %d times: %d deadlines count in no lateness", s.Held.Count, n))
	}
	if s.Untrue != 0 {
		w = append(w, fmt.Sprintf("%d durations that cannot be true are withheld", s.Untrue))
	}
	return w
}
