package trace

import (
	"fmt"
	gofmt "go/format"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/golden"
)

// TestAccessorsAreGenerated: event_fields.go is made of Specs.
func TestAccessorsAreGenerated(t *testing.T) {
	var b strings.Builder
	b.WriteString("// Code generated from Specs by: go test ./trace -run Accessors -update. DO NOT EDIT.\n\npackage trace\n\n" +
		"import \"codeberg.org/ticktrap/ticktrap/internal/clock\"\n")
	for k := BadKind + 1; k < numKinds; k++ {
		accessor(&b, k)
	}
	src, err := gofmt.Source([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "event_fields.go", src)
}

func accessor(b *strings.Builder, k Kind) {
	sp := &Specs[k]
	name := goName(sp.Name)
	typ := name + "Args"
	fmt.Fprintf(b, "\n// %s holds the arguments of %s %s event: %s.\ntype %s struct {\n", typ, article(sp.Name), sp.Name, sp.Doc, typ)
	fields := sp.Fields[:sp.numFields()]
	for _, f := range fields {
		fmt.Fprintf(b, "%s %s // %s\n", goName(f.Name), goType(&f), f.Doc)
	}
	fmt.Fprintf(b, "}\n\n// %s reads e as %s %s event.\nfunc (e *Event) %s() %s { return %s{", name, article(sp.Name), sp.Name, name, typ, typ)
	for i, f := range fields {
		fmt.Fprintf(b, read(&f)+", ", "e."+"ABCD"[i:i+1])
	}
	fmt.Fprintf(b, "} }\n\n// Event makes an event of x.\nfunc (x %s) Event(at clock.TSC, vcpu, pcpu uint8) Event {\nreturn Event{TSC: at, Kind: Kind%s, VCPU: vcpu, PCPU: pcpu", typ, name)
	for i, f := range fields {
		write := "uint64(x.%s)"
		if f.Form == Bool {
			write = "bit(x.%s)"
		} else if goType(&f) == "uint64" {
			write = "x.%s"
		}
		fmt.Fprintf(b, ", %s: "+write, "ABCD"[i:i+1], goName(f.Name))
	}
	b.WriteString("}\n}\n")
}

// read is the expression for a field's value, %s being the argument.
func read(f *Field) string {
	switch typ := goType(f); {
	case f.Form == Bool:
		return "%s != 0"
	case typ == "uint64":
		return "%s"
	case f.Form == Enum || f.Form == Mask:
		return typ + "(byteOf(%s))"
	default:
		return typ + "(%s)"
	}
}

func goType(f *Field) string {
	switch f.Form {
	case Signed:
		return "int64"
	case Point:
		return "clock.TSC"
	case GuestPoint:
		return "clock.TSC"
	case Cycles:
		return "clock.Cycles"
	case Nanos:
		return "clock.Nanos"
	case Bool:
		return "bool"
	case Enum, Mask:
		for _, e := range enumTypes {
			if &e.names[0] == &f.Names[0] && (f.Form == Enum || e.name == "KickSteps") {
				return e.name
			}
		}
	}
	return "uint64"
}

var enumTypes = []struct {
	names []string
	name  string
}{{KnobNames, "Knob"}, {ExitNames, "ExitReason"}, {FastpathNames, "FastpathResult"}, {ClauseNames, "Clause"},
	{TimerModeNames, "TimerMode"}, {BackingNames, "Backing"}, {ExpireNames, "ExpireRoute"}, {PlacementNames, "Placement"},
	{TuneNames, "TuneVerdict"}, {DeliverNames, "DeliverRoute"}, {SourceNames, "Source"}, {KickNames, "KickDecision"},
	{ModeNames, "Mode"}, {KickStepNames, "KickSteps"}, {HaltNames, "HaltStep"}, {WakeNames, "WakeReason"},
	{MPStateNames, "MPState"}, {EndNames, "EndKind"}, {TaskStateNames, "TaskState"}, {LossNames, "LossReason"},
	{UserExitNames, "UserExit"}, {HostTimerNames, "HostTimerStep"}, {HostIRQNames, "HostIRQ"}, {InhibitNames, "Inhibit"},
	{DebuggerNames, "DebuggerAct"}, {VendorNames, "Vendor"}}

var acronyms = map[string]string{"rip": "RIP", "msr": "MSR", "apic": "APIC", "irq": "IRQ", "eoi": "EOI", "ipi": "IPI",
	"tsc": "TSC", "mp": "MP", "pir": "PIR", "hv": "HV", "gp": "GP", "icr": "ICR", "pcpu": "PCPU", "pid": "PID", "ple": "PLE",
	"id": "ID", "errno": "Errno"}

func goName(s string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(s, "_") {
		if a, ok := acronyms[part]; ok {
			b.WriteString(a)
		} else {
			b.WriteString(upper(part))
		}
	}
	return b.String()
}

func article(s string) string {
	if strings.ContainsRune("aeio", rune(s[0])) {
		return "an"
	}
	return "a"
}
