package export

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
)

func TestJSONLinesHoldEveryEventAndField(t *testing.T) {
	eachRun(t, func(t *testing.T, rec *trace.Recording, st *trace.State) {
		es := allEvents(t, rec)
		lines := bytes.Split(bytes.TrimSuffix(write(t, "jsonl", rec, Options{}), []byte("\n")), []byte("\n"))
		if len(lines) != len(es) {
			t.Fatalf("%d lines of %d events", len(lines), len(es))
		}
		for i, l := range lines {
			checkLine(t, l, i, &es[i])
		}
	})
}

type line struct {
	Seq      uint64
	TSC      uint64
	NS       int64
	VCPU     *uint8
	PCPU     *uint8
	Inferred bool
	Kind     string
	Args     map[string]json.RawMessage
}

func checkLine(t *testing.T, text []byte, i int, e *trace.Event) {
	t.Helper()
	var l line
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if l.Seq != uint64(i) || l.TSC != uint64(e.TSC) || l.Kind != e.Kind.String() {
		t.Errorf("line %d: %s is not %v", i, text, e)
	}
	if (l.VCPU == nil) != (e.VCPU == trace.NoCPU) || l.VCPU != nil && *l.VCPU != e.VCPU {
		t.Errorf("line %d: %s has another vCPU than %v", i, text, e)
	}
	for _, f := range trace.Specs[e.Kind].Fields {
		if _, ok := l.Args[f.Name]; !ok && f.Form != trace.NoField {
			t.Errorf("line %d: %s has no %s", i, text, f.Name)
		}
	}
}

func TestJSONValuesByForm(t *testing.T) {
	tests := []struct {
		name  string
		event trace.Event
		want  string // contained in the line
	}{
		{"hexadecimal as a string", trace.Event{Kind: trace.KindExit, A: uint64(trace.ExitHLT), B: 1 << 63}, `"rip":"0x8000000000000000"`},
		{"names", trace.Event{Kind: trace.KindExit, A: uint64(trace.ExitMSRWrite)}, `"reason":"MSR_WRITE"`},
		{"all ones of a decimal is null", trace.Event{Kind: trace.KindEntry, C: 1<<64 - 1}, `"hv":null`},
		{"signed", trace.Event{Kind: trace.KindWait, A: ^uint64(41), D: uint64(trace.WaitLate)}, `"delta":-42`},
		{"booleans", trace.Event{Kind: trace.KindEntry, D: 1}, `"reentry":true`},
		{"masks are lists", trace.Event{Kind: trace.KindKick, A: uint64(trace.KickIPI), C: 0b10101}, `"steps":["rcu","cmpxchg","ipi"]`},
		{"costs", trace.Event{Kind: trace.KindCost, A: trace.PackCosts(trace.PhaseCost{Phase: trace.PhaseExit, Cycles: 7},
			trace.PhaseCost{Phase: trace.PhaseEntry, Cycles: 9})}, `"p0":[{"phase":"exit","cycles":7},{"phase":"entry","cycles":9}],"p1":[]`},
		{"text by byte", trace.Event{Kind: trace.KindMark, A: 0x0a225cff41}, `"name":"Aÿ\\\"\n"`},
		{"a control character", trace.Event{Kind: trace.KindMark, A: 0x1b}, `"name":"\u001b"`},
		{"knobs in words too", trace.Event{Kind: trace.KindKnob, A: uint64(trace.KnobAdvance), B: trace.AdvanceAdaptive, C: 1000},
			`"value_words":"adaptive","old_words":"1000ns"`},
		{"no CPU", trace.Event{Kind: trace.KindLost, A: 3, VCPU: trace.NoCPU, PCPU: trace.NoCPU}, `"vcpu":null,"pcpu":null`},
		{"inferred", trace.Event{Kind: trace.KindLost, Flags: trace.FlagInferred}, `"inferred":true`},
		{"nanoseconds", trace.Event{Kind: trace.KindLost, TSC: 25}, `"tsc":25,"ns":10`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := synthetic(t, trace.Header{Hz: 2_500_000_000, VCPUs: 1}, []trace.Event{tt.event})
			got := string(write(t, "jsonl", rec, Options{}))
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %swant it to hold %s", got, tt.want)
			}
			if !json.Valid([]byte(got)) {
				t.Errorf("not JSON: %s", got)
			}
		})
	}
}
