//go:build linux && amd64

package kvm

import (
	"slices"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Each table says something of everything, and its last row always holds.
func TestTablesOfFiguresAndKnobsAreComplete(t *testing.T) {
	for n := vmm.BadFigure + 1; n < vmm.NumFigures; n++ {
		spec := vmm.FigureSpecs[n]
		if spec.Name == "" || spec.Doc == "" || !slices.Contains(vmm.FigureTopics, spec.Topic) {
			t.Errorf("figure %d: %+v", n, spec)
		}
		if k := loopFigures[n]; k.Basis == vmm.BadBasis || k.By == "" {
			t.Errorf("%v, LAPIC=vmm: %+v", n, k)
		}
		rows := kernelFigures[n]
		if len(rows) == 0 || rows[len(rows)-1].where != nil {
			t.Errorf("%v, LAPIC=kernel: %d rows, or the last has conditions", n, len(rows))
		}
		for _, r := range rows {
			if r.known.Basis == vmm.BadBasis || r.known.By == "" {
				t.Errorf("%v, LAPIC=kernel: %+v", n, r.known)
			}
		}
	}
	for k := trace.BadKnob + 1; k < trace.NumKnobs; k++ {
		rows := kernelKnobs[k]
		if len(rows) == 0 || rows[len(rows)-1].where != nil {
			t.Errorf("%v: %d rows, or the last has conditions", k, len(rows))
		}
		for _, r := range rows {
			can := r.tag == vmm.TagLive || r.tag == vmm.TagRebuild || r.tag == vmm.TagHostWide
			if can != (r.set != nil) || r.why == "" {
				t.Errorf("%v: %s, why %q, can be set %v", k, vmm.TagNames[r.tag], r.why, r.set != nil)
			}
		}
	}
}

func TestFiguresFollowTheHost(t *testing.T) {
	intel := factsOf("6.12.1", Intel)
	amd := factsOf("6.1.0", AMD)
	all := observed{tracefs: true, debugfs: true, probes: []string{"vrun", "kick", "timer_fn", "expired", "block"}}
	tests := []struct {
		name   string
		host   hostFacts
		figure vmm.Figure
		basis  vmm.Basis
		cure   string
	}{
		{"fastpath on Intel", hostFacts{intel, all}, vmm.FigureFastpath, vmm.OnMeasure, ""},
		{"fastpath on AMD before 6.18", hostFacts{amd, all}, vmm.FigureFastpath, vmm.OnMeasure, ""},
		{"fastpath on AMD without its probe", hostFacts{amd, observed{tracefs: true}}, vmm.FigureFastpath, vmm.OnNothing, "kprobe"},
		{"fastpath without its probe", hostFacts{intel, observed{tracefs: true}}, vmm.FigureFastpath, vmm.OnNothing, "kprobe"},
		{"exits without tracefs", hostFacts{intel, observed{}}, vmm.FigureExits, vmm.OnMeasure, "tracefs"},
		{"lateness without tracefs", hostFacts{intel, observed{}}, vmm.FigureLateness, vmm.OnNothing, "tracefs"},
		{"advance without debugfs", hostFacts{intel, observed{tracefs: true}}, vmm.FigureAdvance, vmm.OnInference, "debugfs"},
		{"registers without anything", hostFacts{amd, observed{}}, vmm.FigureAPIC, vmm.OnMeasure, ""},
		{"expiry without its probe", hostFacts{amd, observed{tracefs: true}}, vmm.FigureExpiry, vmm.OnInference, "kprobe"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k, cure := tt.host.figure(tt.figure)
			if k.Basis != tt.basis || (cure == "") != (tt.cure == "") || !strings.Contains(cure, tt.cure) {
				t.Errorf("%v is %v by %q, cure %q; want %v, cure with %q", tt.figure, k.Basis, k.By, cure, tt.basis, tt.cure)
			}
		})
	}
}

func TestKnobsFollowTheHost(t *testing.T) {
	tests := []struct {
		name  string
		facts kernelFacts
		knob  trace.Knob
		tag   vmm.Tag
		why   string
	}{
		{"APICv off on Intel", kernelFacts{vendor: Intel, synic: true}, trace.KnobAPICv, vmm.TagFixed, "enable_apicv"},
		{"AVIC off", kernelFacts{vendor: AMD, synic: true}, trace.KnobAPICv, vmm.TagFixed, "avic=1"},
		{"APICv without SynIC", kernelFacts{vendor: Intel, hasAPICv: true}, trace.KnobAPICv, vmm.TagFixed, "SynIC"},
		{"APICv", kernelFacts{vendor: Intel, hasAPICv: true, synic: true}, trace.KnobAPICv, vmm.TagLive, "AutoEOI"},
		{"advance up to 6.9", factsOf("6.9", Intel), trace.KnobAdvance, vmm.TagRebuild, "new VM"},
		{"advance from 6.10 on", factsOf("6.10", Intel), trace.KnobAdvance, vmm.TagGone, "6.10"},
		{"exits", kernelFacts{exits: vmm.DisableHLT}, trace.KnobExitsDisabled, vmm.TagRebuild, "new VM"},
		{"no exits", kernelFacts{}, trace.KnobExitsDisabled, vmm.TagFixed, "cannot"},
		{"rules of the kernel", kernelFacts{release: "6.1.0-x"}, trace.KnobFastpath, vmm.TagFixed, "6.1.0-x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if r := tt.facts.knobRow(tt.knob); r.tag != tt.tag || !strings.Contains(r.why, tt.why) {
				t.Errorf("%v is %s: %s; want %s with %q", tt.knob, vmm.TagNames[r.tag], r.why, vmm.TagNames[tt.tag], tt.why)
			}
		})
	}
}

// factsOf are the facts that follow from a release.
func factsOf(release string, v Vendor) kernelFacts {
	f := kernelFacts{vendor: v}
	f.at(release)
	return f
}
