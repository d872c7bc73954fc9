package trace

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// ReportFormat is the version of the report's JSON: fields are added, never
// renamed.
const ReportFormat = 1

// Report is the summary of a run, computed from a Header and a State alone, so
// that a live run and its recording give the same. Its JSON is deterministic:
// fixed fields in a fixed order, maps by name in ascending order.
type Report struct {
	Format     int    `json:"format"`
	Engine     string `json:"engine"`
	LAPIC      string `json:"lapic"`
	Kernel     string `json:"kernel,omitempty"`
	Deviates   string `json:"kernel_deviates,omitempty"`
	Hide       string `json:"hide,omitempty"`
	Provenance string `json:"provenance"`
	// ProvenanceOf says for each section where its figures come from: the run's
	// provenance, "inferred" where an event behind them was deduced, and "guest"
	// for what the guest measured itself.
	ProvenanceOf map[string]string `json:"provenance_of"`
	Guest        string            `json:"guest"`
	GuestHash    string            `json:"guest_hash"`
	Args         string            `json:"args"`
	Seed         uint64            `json:"seed"`
	Profile      string            `json:"profile"`
	Host         string            `json:"host"`
	Hz           uint64            `json:"hz"`
	VCPUs        int               `json:"vcpus"`
	PCPUs        int               `json:"pcpus"`
	Events       uint64            `json:"events"`
	Duration     ReportSpan        `json:"duration"`

	Deadlines ReportDeadlines `json:"deadlines"`
	// Cost is what a deadline cost the host; absent if no handler ran or the source
	// tells none of it.
	Cost *ReportSpent `json:"cost_per_deadline,omitempty"`

	Exits     map[string]*ReportExit `json:"exits"`
	Kicks     map[string]uint64      `json:"kicks"`
	KickModes map[string]uint64      `json:"kick_modes"`
	KickSteps map[string]uint64      `json:"kick_steps"`
	SelfKicks uint64                 `json:"self_kicks"`
	Deliver   map[string]uint64      `json:"deliveries"`
	Sources   map[string]uint64      `json:"delivery_sources"`
	DelWhy    map[string]uint64      `json:"delivery_clauses"`
	Expiries  map[string]uint64      `json:"expiries"`
	ExpWhy    map[string]uint64      `json:"expiry_clauses"`
	Backings  map[string]uint64      `json:"backings"`
	BackWhy   map[string]uint64      `json:"backing_clauses"`
	HostFires map[string]uint64      `json:"host_fires"`
	Waits     ReportWaits            `json:"waits"`
	Tuning    map[string]uint64      `json:"tuning"`
	AdvanceNS []int64                `json:"advance_ns"` // by vCPU, at the end
	Inject    ReportInjections       `json:"injections"`
	Halts     ReportHalts            `json:"halts"`
	Knobs     map[string]string      `json:"knobs"`
	Turns     []ReportTurn           `json:"knob_turns"`
	TurnCount uint64                 `json:"knob_turn_count"`
	Costs     map[string]ReportCost  `json:"costs"`
	Samples   ReportLateness         `json:"guest_samples"`
	// SamplesNS is Samples in nanoseconds; null where the TSC rate is not known.
	SamplesNS *ReportLateness `json:"guest_samples_ns"`
	Marks     []ReportMark    `json:"bookmarks"`
	End       ReportEnd       `json:"end"`
	// Missing are the accesses to devices that the platform does not have, the
	// first to each address.
	Missing  []string   `json:"missing,omitempty"`
	Lost     ReportLoss `json:"lost"`
	Warnings []string   `json:"warnings"`
}

// ReportSpan is a length of guest time.
type ReportSpan struct {
	Cycles uint64 `json:"cycles"`
	NS     *int64 `json:"ns"` // null where the TSC rate is not known
}

// ReportDeadlines is the section of deadlines. Count is the number of those
// whose handler ran, and Lateness is theirs.
type ReportDeadlines struct {
	Count     uint64           `json:"count"`
	Opened    uint64           `json:"opened"`
	Armed     uint64           `json:"armed"`
	Disarmed  uint64           `json:"disarmed"`
	Open      uint64           `json:"open"`
	InPast    uint64           `json:"in_past"`
	Rearmed   uint64           `json:"rearmed"`
	Cancelled uint64           `json:"cancelled"`
	Merged    uint64           `json:"merged"`
	Lost      uint64           `json:"lost"`
	Dropped   uint64           `json:"dropped"`
	Unknown   uint64           `json:"unknown"`
	Reset     uint64           `json:"reset"`
	Held      uint64           `json:"held"`
	Withheld  uint64           `json:"withheld"`
	Lateness  ReportLateness   `json:"lateness"`
	LateNS    *ReportLateness  `json:"lateness_ns"` // null where the TSC rate is not known
	ByVCPU    []ReportLateness `json:"lateness_by_vcpu"`
	// SinceKnob is the lateness, in cycles, of what was armed after the last
	// turn of a knob; absent if none was turned.
	SinceKnob *ReportLateness `json:"lateness_since_knob,omitempty"`
}

// ReportLateness is a distribution of signed distances, negative for early, in
// cycles or nanoseconds. Percentiles have the error of Hist: none below 2048
// cycles, below 0.1 % above.
type ReportLateness struct {
	Count  uint64  `json:"count"`
	Early  uint64  `json:"early"`   // before the deadline
	OnTime uint64  `json:"on_time"` // within OnTimeBand of it, either side
	Late   uint64  `json:"late"`    // at or after the deadline
	Min    int64   `json:"min"`
	P1     int64   `json:"p1"`
	P50    int64   `json:"p50"`
	P90    int64   `json:"p90"`
	P99    int64   `json:"p99"`
	P999   int64   `json:"p999"`
	Max    int64   `json:"max"`
	Mean   float64 `json:"mean"` // rounded to 0.1
}

// ReportSpent is what the host spent per deadline whose handler ran, in the mean
// over the run. What the source does not tell is absent; where it splits no costs,
// the burnt cycles are those of busy waits alone.
type ReportSpent struct {
	HostCycles *float64 `json:"host_cycles,omitempty"`
	Burnt      *float64 `json:"burnt_cycles,omitempty"` // busy waits and halt polling
	Exits      *float64 `json:"exits,omitempty"`
	IPIs       *float64 `json:"ipis,omitempty"` // of kicks and posted interrupts
}

// ReportExit is the section of one exit reason.
type ReportExit struct {
	Count    uint64            `json:"count"`
	Fastpath uint64            `json:"fastpath"` // handled by a fastpath
	Reenter  uint64            `json:"reenter"`  // of those straight back into the guest
	Results  map[string]uint64 `json:"results"`
	Bails    map[string]uint64 `json:"bails"` // by the first clause that failed
	Cycles   ReportDist        `json:"cycles"`
}

// ReportDist is a sum with its range, in cycles.
type ReportDist struct {
	Count uint64 `json:"count"`
	Sum   int64  `json:"sum"`
	Min   int64  `json:"min"`
	Mean  int64  `json:"mean"`
	Max   int64  `json:"max"`
}

// ReportWaits is the section of waits for expired deadlines.
type ReportWaits struct {
	Count  uint64            `json:"count"`
	Early  uint64            `json:"early"`
	Capped uint64            `json:"capped"`
	Places map[string]uint64 `json:"places"`
	Waited ReportDist        `json:"waited"`
	Delta  ReportDist        `json:"delta"`
}

// ReportInjections is the section of injected events and handlers.
type ReportInjections struct {
	Injected    uint64 `json:"injected"`
	Reinjected  uint64 `json:"reinjected"`
	Windows     uint64 `json:"windows"`
	Handlers    uint64 `json:"handlers"`
	Virtual     uint64 `json:"virtual"`
	EOIs        uint64 `json:"eois"`
	VirtualEOIs uint64 `json:"virtual_eois"`
	PIRSyncs    uint64 `json:"pir_syncs"`
	PIRMoved    uint64 `json:"pir_moved"`
}

// ReportHalts is the section of halts.
type ReportHalts struct {
	Polling  uint64            `json:"polling"`
	Blocked  uint64            `json:"blocked"`
	Polled   uint64            `json:"polled"`
	HaltedNS int64             `json:"halted_ns"`
	Wakes    map[string]uint64 `json:"wakes"`
}

// ReportTurn is a turn of a knob, values in words.
type ReportTurn struct {
	TSC   uint64 `json:"tsc"`
	Knob  string `json:"knob"`
	Value string `json:"value"`
	Old   string `json:"old"`
}

// ReportMark is a bookmark.
type ReportMark struct {
	TSC  uint64 `json:"tsc"`
	Name string `json:"name"`
}

// ReportCost is the time spent in one phase.
type ReportCost struct {
	Count  uint64 `json:"count"`
	Cycles int64  `json:"cycles"`
}

// ReportEnd says how the guest stopped; How is "running" if it has not.
type ReportEnd struct {
	How    string `json:"how"`
	Code   uint64 `json:"code"`
	Detail uint64 `json:"detail"`
	TSC    uint64 `json:"tsc"`
}

// ReportLoss says what is missing from the event stream.
type ReportLoss struct {
	Gaps    uint64 `json:"gaps"`
	Events  uint64 `json:"events"`
	Unknown bool   `json:"unknown"`
}

// JSON returns the report as an indented document with a final newline.
func (r *Report) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// NewReport summarises s, the state of the run that h describes. Warnings about
// the source of the events (a damaged recording, say) are added to its own.
func NewReport(h *Header, s *State, warnings ...string) *Report {
	r := &Report{Format: ReportFormat, Engine: h.Engine, LAPIC: h.LAPIC, Kernel: h.Kernel, Deviates: h.Deviates, Hide: h.Hide,
		Provenance: h.Provenance.String(),
		Guest:      h.Guest, GuestHash: h.GuestHash, Args: h.Args, Seed: h.Seed, Profile: h.Profile, Host: h.Host,
		Hz: uint64(h.Hz), VCPUs: len(s.VCPUs), PCPUs: h.PCPUs, Events: uint64(s.Events)}
	r.Duration.Cycles = uint64(s.Now - s.First)
	if h.Hz != 0 {
		ns := int64(nanosOf(s.Now.Sub(s.First), h.Hz))
		r.Duration.NS = &ns
	}
	r.ProvenanceOf = s.provenances(h)
	r.Deadlines = s.reportDeadlines(h.Hz)
	r.Cost = s.reportSpent()
	r.Exits = s.reportExits()
	r.reportCounters(s)
	r.reportKnobs(s)
	r.Waits = ReportWaits{Count: s.Waits.Count, Early: s.Waits.Early, Capped: s.Waits.Capped,
		Places: named(PlacementNames, s.Waits.Places[:], true), Waited: reportDist(&s.Waits.Waited),
		Delta: reportDist(&s.Waits.Delta)}
	in := &s.Injections
	r.Inject = ReportInjections{in.Injected, in.Reinjected, in.Windows, in.Handlers, in.Virtual, in.EOIs,
		in.VirtualEOIs, in.Syncs, in.Synced}
	r.Halts = ReportHalts{Polling: s.Halts.Steps[HaltPolling], Blocked: s.Halts.Steps[HaltBlocked],
		Polled: s.Halts.Polled, HaltedNS: int64(s.Halts.Halted), Wakes: named(WakeNames, s.Halts.Wakes[:], true)}
	r.Samples = reportLateness(&s.Samples, 0)
	r.SamplesNS = latenessNS(&s.Samples, h.Hz)
	r.End = ReportEnd{How: "running", Code: s.End.Code, Detail: s.End.Detail, TSC: uint64(s.End.At)}
	if s.End.How != BadEnd {
		r.End.How = s.End.How.String()
	}
	for i := range s.Missing[:s.NMissing] {
		r.Missing = append(r.Missing, s.Missing[i].Words())
	}
	r.Lost = ReportLoss(s.Lost)
	r.Warnings = append(append([]string{}, warnings...), s.warnings()...)
	return r
}

// nanosOf converts a signed distance, rounding to the nearest nanosecond.
func nanosOf(c clock.Cycles, hz clock.Hz) clock.Nanos {
	if hz == 0 {
		return 0
	}
	return clock.Nanos(math.Round(float64(c) * 1e9 / float64(hz)))
}

// named makes a map of an enumeration's counters. Zero counters are left out
// unless all is set; entry 0 is left out if it is the invalid value and zero.
func named(names []string, counts []uint64, all bool) map[string]uint64 {
	m := make(map[string]uint64)
	for i, n := range counts {
		if n != 0 || all && !(i == 0 && strings.EqualFold(names[i], "bad")) {
			m[names[i]] = n
		}
	}
	return m
}
