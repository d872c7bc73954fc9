//go:build linux && amd64

package kvm

import (
	"fmt"
	"strings"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Fidelity is what docs/fidelity.md says of figures and knobs, generated from the
// tables that screens and doctor use.
func Fidelity() string {
	var b strings.Builder
	b.WriteString("\n## Figures\n" + figuresHead)
	b.WriteString("\n| about | figure | model | kvm, LAPIC=vmm | kvm, LAPIC=kernel |\n|---|---|---|---|---|\n")
	for _, topic := range vmm.FigureTopics {
		for n := vmm.BadFigure + 1; n < vmm.NumFigures; n++ {
			if spec := &vmm.FigureSpecs[n]; spec.Topic == topic {
				fmt.Fprintf(&b, "| %s | **%s**: %s | **modelled** | %s | %s |\n", topic, spec.Name, spec.Doc, cell(known(loopFigures[n])),
					cell(kernelCell(n)))
			}
		}
	}
	b.WriteString("\n## Knobs\n" + knobsHead)
	b.WriteString("\n| knob | values | model | kvm, LAPIC=vmm | kvm, LAPIC=kernel |\n|---|---|---|---|---|\n")
	for k := trace.BadKnob + 1; k < trace.NumKnobs; k++ {
		fmt.Fprintf(&b, "| `%s` | %s | **live** | %s | %s |\n", k, cell(trace.KnobValues(k)), cell(bold(loopKnob(k))),
			cell(knobCell(k)))
	}
	return b.String()
}

const figuresHead = `
*Measured* is read from the machine, or traced by it, with its own time.
*Modelled* is the same loop and the same LAPIC on virtual time: what they decide
is as on KVM, what it costs is the profile's (see model.md for how far off that
is). *Inferred* is deduced from what is measured. Where there are several entries
the first whose condition holds on a host counts: ` + "`ticktrap doctor`" + ` says which
that is here, and what would make it better. In a run on KVM the panes show
inferred figures with a tilde and those that are not available as a question
mark, and the help of a pane lists what each of its figures rests on. A recording
and an imported trace say of every event whether it was inferred.
`

const knobsHead = `
*Live* takes effect at the next exit. *Rebuild* moves the running guest into a new
VM over the same memory. *Host-wide* is a setting of the host: it is asked for
first and put back at the end. *Fixed* and *gone* cannot be turned, and say why.
`

func known(k vmm.Known) string { return bold(k.Basis.String(), k.By) }

func bold(word, rest string) string {
	if rest == "" {
		return "**" + word + "**"
	}
	return "**" + word + "**: " + rest
}

func kernelCell(n vmm.Figure) string {
	var rows []string
	for _, r := range kernelFigures[n] {
		rows = append(rows, under(len(rows) > 0, r.where, known(r.known)))
	}
	return strings.Join(rows, "\n")
}

func knobCell(k trace.Knob) string {
	var rows []string
	for _, r := range kernelKnobs[k] {
		words := bold(vmm.TagNames[r.tag], strings.ReplaceAll(r.why, ", RELEASE", "'s version"))
		rows = append(rows, under(len(rows) > 0, r.where, words))
	}
	return strings.Join(rows, "\n")
}

// under puts the conditions in front of what holds under them.
func under(others bool, cs []condition, words string) string {
	switch {
	case len(cs) > 0:
		return "where " + where(cs) + ", " + words
	case others:
		return "else " + words
	}
	return words
}

// loopKnob is what can be done about a knob with the LAPIC in user space.
func loopKnob(k trace.Knob) (tag, why string) {
	switch {
	case fixedInLoop[k] != "":
		return vmm.TagNames[vmm.TagFixed], fixedInLoop[k]
	case k == trace.KnobExitsDisabled:
		return vmm.TagNames[vmm.TagRebuild], rebuiltInLoop
	}
	return vmm.TagNames[vmm.TagLive], ""
}

// rebuiltInLoop is why turning exits-disabled takes a new VM.
const rebuiltInLoop = "fixed when a VM is made: " + newVM

// cell writes text as one cell of a table.
func cell(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "|", `\|`), "\n", "<br>")
}
