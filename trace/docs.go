package trace

import (
	"fmt"
	"strings"
)

// Docs is the text of docs/events.md: the event table for people, generated from
// Specs.
func Docs() string {
	var b strings.Builder
	b.WriteString(docsHead)
	for k := BadKind + 1; k < numKinds; k++ {
		docsKind(&b, k)
	}
	b.WriteString("\n## Names\n\nThe numbers are those of the recording format.\n")
	seen := map[string]bool{}
	for k := BadKind + 1; k < numKinds; k++ {
		for _, f := range Specs[k].Fields {
			if len(f.Names) == 0 || seen[strings.Join(f.Names, " ")] {
				continue
			}
			seen[strings.Join(f.Names, " ")] = true
			fmt.Fprintf(&b, "\n### %s.%s\n\n", Specs[k].Name, f.Name)
			for i, n := range f.Names {
				if f.Form == Mask {
					fmt.Fprintf(&b, "bit %d `%s`", i, n)
				} else {
					fmt.Fprintf(&b, "%d `%s`", i, n)
				}
				b.WriteString(map[bool]string{true: "\n", false: ", "}[i == len(f.Names)-1])
			}
		}
	}
	return b.String()
}

const docsHead = `# Events

<!-- Generated from trace.Specs by: go test ./trace -run EventDocs -update -->

Everything that ticktrap shows, records, reports and exports is computed from
these events. An engine emits them, an importer makes them of a foreign trace, a
recording holds them.

Each has a TSC on the virtual machine's common line (the guest TSC before any
offset that a guest wrote to one vCPU's TSC), the vCPU concerned and the host CPU
on which it happened, where known. ` + "`flags=inferred`" + ` marks what a source does not
state and was deduced. An *input* is needed to replay a run; a *derived* event
must re-appear when it is replayed.

In text an event is one line:

` + "```" + `
4770 vcpu=0 pcpu=0 wait delta=-230 waited=230 cap=2500 place=late
` + "```" + `
`

var formNames = map[Form]string{Dec: "decimal", Hex: "hexadecimal", Signed: "signed decimal", Point: "TSC, common line",
	GuestPoint: "TSC as the guest reads it", Cycles: "cycles, signed", Nanos: "ns, signed", Bool: "0 or 1", Enum: "name",
	Mask: "names joined by `|`", Text: "quoted text, 8 bytes", Costs: "`phase:cycles,phase:cycles`"}

func docsKind(b *strings.Builder, k Kind) {
	sp := &Specs[k]
	role := map[Role]string{Input: "input", Derived: "derived"}[sp.Role]
	fmt.Fprintf(b, "\n## %s\n\n%s. Kind %d, %s.\n\n| field | form | meaning |\n|---|---|---|\n", sp.Name, upper(sp.Doc), k, role)
	for _, f := range sp.Fields {
		if f.Form != NoField {
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", f.Name, formNames[f.Form], strings.ReplaceAll(f.Doc, "|", `\|`))
		}
	}
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
