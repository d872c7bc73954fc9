package trace

import (
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// TestStreams folds each stream of testdata/streams and compares what its state
// section names: a path of fields, [index] and method(), " = ", and the value as
// fmt prints it.
func TestStreams(t *testing.T) {
	files, err := filepath.Glob("testdata/streams/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no streams: %v", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			st := readStream(t, f)
			var s State
			s.Reset(&st.header)
			for i := range st.events {
				if err := Validate(&st.events[i]); err != nil {
					t.Errorf("event %d: %v", i, err)
				}
				s.Apply(&st.events[i])
			}
			for _, line := range st.want {
				path, want, ok := strings.Cut(line, " = ")
				if !ok {
					t.Fatalf("expectation without \" = \": %s", line)
				}
				if got := probe(t, &s, path); got != want {
					t.Errorf("%s = %s, want %s", path, got, want)
				}
			}
			checkInvariants(t, &s)
		})
	}
}

type stream struct {
	header Header
	events []Event
	want   []string
}

func readStream(t testing.TB, file string) (st stream) {
	t.Helper()
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range ar.Files {
		switch f.Name {
		case "header":
			st.header = parseHeader(t, string(f.Data))
		case "events":
			st.events = parseEvents(t, string(f.Data))
		case "state":
			st.want = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
		default:
			t.Fatalf("%s: section %q", file, f.Name)
		}
	}
	if len(st.events) == 0 || len(st.want) == 0 {
		t.Fatalf("%s: no events or no expectations", file)
	}
	return st
}

func parseHeader(t testing.TB, text string) (h Header) {
	t.Helper()
	h = Header{Engine: "model", LAPIC: "vmm", Provenance: Modelled}
	for word := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "vcpus":
			h.VCPUs, _ = strconv.Atoi(value)
		case "hz":
			hz, _ := strconv.ParseUint(value, 10, 64)
			h.Hz = clock.Hz(hz)
		default:
			k, v, err := ParseKnob(name, value)
			if err != nil {
				t.Fatal(err)
			}
			h.Knobs[k] = v
		}
	}
	return h
}

func parseEvents(t testing.TB, text string) (events []Event) {
	t.Helper()
	r := NewTextReader(strings.NewReader(text))
	for {
		e, err := r.Next()
		if err == io.EOF {
			return events
		}
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
}

// probe evaluates a path such as VCPUs[0].Chain.Num or Deadlines.Count().
func probe(t *testing.T, root any, path string) string {
	t.Helper()
	v := reflect.ValueOf(root).Elem()
	for step := range strings.SplitSeq(path, ".") {
		name, index, _ := strings.Cut(step, "[")
		if m, ok := strings.CutSuffix(name, "()"); ok {
			v = v.Addr().MethodByName(m).Call(nil)[0]
			continue
		}
		f := v.FieldByName(name)
		if !f.IsValid() {
			t.Fatalf("%s: no field %s", path, name)
		}
		v = f
		if index != "" {
			i, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			v = v.Index(i)
		}
	}
	return fmt.Sprint(v.Interface())
}

// checkInvariants is what holds for every state, whatever the events were.
func checkInvariants(t *testing.T, s *State) {
	t.Helper()
	d := &s.Deadlines
	var open, late uint64
	for i := range s.VCPUs {
		s.VCPUs[i].Open(func(c *Chain) {
			open++
			if c.Outcome != OutcomeOpen {
				t.Errorf("open deadline %d has outcome %v", c.Num, c.Outcome)
			}
		})
		late += s.VCPUs[i].Late.Count()
	}
	if open != d.Open() {
		t.Errorf("%d deadlines are open, counters say %d", open, d.Open())
	}
	if d.Count() != d.Late.Count() || d.Count() != late || d.Count() != s.Scatter.N {
		t.Errorf("deadlines: %d done, %d and by vCPU %d latenesses, %d points", d.Count(), d.Late.Count(), late, s.Scatter.N)
	}
	if closed := d.Opened - d.Open(); closed != s.Chains.N {
		t.Errorf("%d deadlines closed, %d chains", closed, s.Chains.N)
	}
	var exits, kinds uint64
	for i := range s.ExitStats {
		exits += s.ExitStats[i].Count
	}
	for _, n := range s.Kinds {
		kinds += n
	}
	if exits != s.Exits.N {
		t.Errorf("%d exits by reason, %d records", exits, s.Exits.N)
	}
	if kinds > uint64(s.Events) {
		t.Errorf("%d events by kind, %d in all", kinds, s.Events)
	}
	if s.Now < s.First {
		t.Errorf("now %d before first %d", s.Now, s.First)
	}
}

func TestEveryKindHasASpec(t *testing.T) {
	seen := map[string]Kind{}
	for k := BadKind + 1; k < numKinds; k++ {
		sp := &Specs[k]
		if sp.Name == "" || sp.Doc == "" || sp.Role == BadRole {
			t.Errorf("kind %d: incomplete row %+v", k, sp)
		}
		if other, ok := seen[sp.Name]; ok {
			t.Errorf("%v and %v have one name", k, other)
		}
		seen[sp.Name] = k
		checkFields(t, k, sp)
	}
}

func checkFields(t *testing.T, k Kind, sp *Spec) {
	t.Helper()
	names := map[string]bool{}
	for i, f := range sp.Fields {
		if f.Form == NoField {
			if i == 0 || f.Name != "" {
				t.Errorf("%v: field %d has no form", k, i)
			}
			continue
		}
		if i > 0 && sp.Fields[i-1].Form == NoField {
			t.Errorf("%v: field %s after a hole", k, f.Name)
		}
		if f.Name == "" || f.Doc == "" || names[f.Name] || strings.ContainsAny(f.Name, " =\"") {
			t.Errorf("%v: field %d is called %q, %q", k, i, f.Name, f.Doc)
		}
		if named := f.Form == Enum || f.Form == Mask || f.Form == Costs; named != (len(f.Names) > 0) {
			t.Errorf("%v.%s: names %v", k, f.Name, f.Names)
		}
		names[f.Name] = true
	}
}

func TestEnumerationsHaveAllNames(t *testing.T) {
	tests := []struct {
		name  string
		names []string
		n     int
	}{
		{"exits", ExitNames, int(NumExits)}, {"fastpath results", FastpathNames, int(NumFastpathResults)},
		{"clauses", ClauseNames, int(NumClauses)}, {"backings", BackingNames, int(NumBackings)},
		{"expire routes", ExpireNames, int(NumRoutes)}, {"placements", PlacementNames, int(NumPlacements)},
		{"tune verdicts", TuneNames, int(NumTunes)}, {"deliver routes", DeliverNames, int(NumDeliverRoutes)},
		{"sources", SourceNames, int(NumSources)}, {"kicks", KickNames, int(NumKicks)},
		{"kick steps", KickStepNames, NumKickSteps}, {"modes", ModeNames, int(NumModes)},
		{"halt steps", HaltNames, int(NumHaltSteps)}, {"wakes", WakeNames, int(NumWakes)},
		{"phases", PhaseNames, int(NumPhases)}, {"outcomes", OutcomeNames, int(NumOutcomes)},
	}
	for _, tt := range tests {
		if len(tt.names) != tt.n {
			t.Errorf("%s: %d names for %d values", tt.name, len(tt.names), tt.n)
		}
		seen := map[string]bool{}
		for _, n := range tt.names {
			if n == "" || seen[n] || strings.ContainsAny(n, " |,:=?\"") {
				t.Errorf("%s: name %q is empty, double or not a word", tt.name, n)
			}
			seen[n] = true
		}
	}
}

// TestApplyTakesAnything: every kind has a fold, and a fold over events that
// nothing validated does not fail, whatever their values.
func TestApplyTakesAnything(t *testing.T) {
	values := []uint64{0, 1, 5, 255, 1 << 40, 1<<64 - 1}
	var s State
	s.Reset(&Header{VCPUs: 2, Hz: 2_500_000_000})
	for k := Kind(0); k < numKinds+2; k++ {
		for _, v := range values {
			for _, w := range values {
				for _, cpu := range []uint8{0, 1, 7, NoCPU} {
					s.Apply(&Event{TSC: clock.TSC(v), Kind: k, VCPU: cpu, PCPU: cpu, A: v, B: w, C: v, D: w})
				}
			}
		}
	}
	checkInvariants(t, &s)
	if len(s.VCPUs) != 8 {
		t.Errorf("%d vCPUs, want 8: the highest that an event named was 7", len(s.VCPUs))
	}
}

// A deadline armed in the very cycle of a knob's turn counts for the new setting, and one
// that is late by the whole band counts as late.
func TestBoundsOfTheCountsOfLateness(t *testing.T) {
	for _, tt := range []struct {
		armed clock.TSC
		late  clock.Cycles
		since uint64
		rate  uint64
	}{{99, 5, 0, 0}, {100, 5, 1, 0}, {100, OnTimeBand - 1, 1, 0}, {100, OnTimeBand, 1, 1}, {101, OnTimeBand + 1, 1, 1}} {
		var s State
		s.Reset(testHeader())
		s.Deadlines.KnobAt = 100
		s.countLate(&s.VCPUs[0], &Chain{ArmAt: tt.armed, Late: tt.late, ISRAt: 1000})
		if n, late := s.Deadlines.SinceKnob.Count(), uint64(s.Rates.at(1000).Late); n != tt.since || late != tt.rate {
			t.Errorf("armed at %d, %d late: %d since the knob, %d late in the rates; want %d and %d", tt.armed, tt.late, n, late,
				tt.since, tt.rate)
		}
	}
}
