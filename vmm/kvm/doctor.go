package kvm

import (
	"fmt"
	"strings"
)

// Finding says how one thing stands on this host.
type Finding string

// The findings.
const (
	Good    Finding = "ok"
	Limited Finding = "limited" // works in part, or not with every placement
	Missing Finding = "missing"
)

// Row is one thing that doctor looked at.
type Row struct {
	Section string  `json:"section"`
	Name    string  `json:"name"`
	Finding Finding `json:"finding"`
	// Detail is its value, or what follows from it.
	Detail string `json:"detail,omitempty"`
	// Cure is what would make it possible; empty if it is, or nothing would.
	Cure string `json:"cure,omitempty"`
}

// Report is what a host can do for this program.
type Report struct {
	// Usable is true if guests can run on KVM here.
	Usable bool  `json:"usable"`
	Rows   []Row `json:"rows"`
}

// The sections, in the order of the report.
const (
	secHost   = "host"
	secDevice = "kvm"
	secCaps   = "capabilities"
	secParams = "module parameters"
	secTrace  = "tracing"
	secVMM    = "knobs, LAPIC=vmm"
	secKernel = "knobs, LAPIC=kernel"

	secLoopFigures   = "figures, LAPIC=vmm"
	secKernelFigures = "figures, LAPIC=kernel"
)

func (r *Report) add(section, name string, f Finding, detail, cure string) {
	r.Rows = append(r.Rows, Row{section, name, f, detail, cure})
}

// addError adds a row for something that failed.
func (r *Report) addError(section, name string, err error) {
	row := Row{Section: section, Name: name, Finding: Missing, Detail: err.Error()}
	if u, ok := err.(*UnavailableError); ok {
		row.Detail, row.Cure = u.What, u.Cure
		if u.Err != nil {
			row.Detail += " (" + u.Err.Error() + ")"
		}
	}
	r.Rows = append(r.Rows, row)
}

// marks stand for findings at the start of a line; the word follows for those
// that are not good.
var marks = map[Finding]string{Good: "  ok     ", Limited: "  limited", Missing: "  missing"}

// Text is the report for people.
func (r *Report) Text() string {
	var b strings.Builder
	section := ""
	for _, row := range r.Rows {
		if row.Section != section {
			if section != "" {
				b.WriteByte('\n')
			}
			section = row.Section
			fmt.Fprintf(&b, "%s\n", section)
		}
		fmt.Fprintf(&b, "%s  %-26s", marks[row.Finding], row.Name)
		if row.Detail != "" {
			b.WriteString("  " + row.Detail)
		}
		b.WriteByte('\n')
		if row.Cure != "" {
			fmt.Fprintf(&b, "%41s-> %s\n", "", row.Cure)
		}
	}
	b.WriteByte('\n')
	if r.Usable {
		b.WriteString("Guests can run on KVM here: --engine=kvm.\n")
	} else {
		b.WriteString("Guests cannot run on KVM here; --engine=model works everywhere.\n")
	}
	return b.String()
}
