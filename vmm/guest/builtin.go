package guest

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed builtin/*.bin
var code embed.FS

// Default is the guest that runs if none is named.
const Default = "deadline"

// Description tells about a built-in guest.
type Description struct {
	Name string
	// Text is one line for help.
	Text string
	// Sample says what a sample's two times are.
	Sample string
	// Keys are the parameters that mean something to it, beside those that all
	// have.
	Keys []string
	// VCPUs is how many it needs.
	VCPUs int
	// defaults are what differs from newParams.
	defaults func(*Params)
}

// builtins are the built-in guests; a file builtin/NAME.s and .bin belongs to
// each.
var builtins = []Description{
	{"deadline", "TSC-deadline timers one after the other, waiting by spinning and by HLT", "deadline, handler entry",
		[]string{"distance", "spread", "mode"}, 1,
		func(p *Params) { p.Distance, p.Spread, p.Mode = 100_000, 50_000, Mixed }},
	{"immediate", "TSC deadlines that have passed when they are written", "before the write, handler entry",
		[]string{"distance", "spread", "mode"}, 1,
		func(p *Params) { p.Distance, p.Mode = 0, Spin }},
	{"oneshot", "LAPIC timer in one-shot mode", "expected expiry, handler entry",
		[]string{"distance", "divide", "mode"}, 1,
		func(p *Params) { p.Distance, p.Mode = 100_000, Mixed }},
	{"periodic", "LAPIC timer in periodic mode, started once", "expected expiry, handler entry",
		[]string{"distance", "divide", "mode"}, 1,
		func(p *Params) { p.Distance, p.Mode = 1_000_000, Mixed }},
	{"cyclic", "cyclictest's loop: absolute intervals, wake-up latency; mode=poll is idle=poll, mode=hlt idle=hlt",
		"planned wake-up, wake-up", []string{"distance", "mode", "rearms"}, 1,
		func(p *Params) { p.Distance, p.Mode = 500_000, Poll }},
	{"self-ipi", "interrupts to oneself in five ways: sti_nop, sti_hlt, tpr, tpr_sti_nop, tpr_sti_hlt",
		"before the send, handler entry", []string{"variant", "via"}, 1,
		func(p *Params) { p.Variant = AllVariants }},
	{"ping-pong", "two vCPUs send one interrupt back and forth; vCPU 1 waits as mode says",
		"before the send, the receiver's handler entry", []string{"mode"}, 2,
		func(p *Params) { p.Mode = Halt }},
	{"storm", "deadlines that are re-armed halfway to expiry before they may fire", "last deadline, handler entry",
		[]string{"distance", "spread", "rearms", "mode"}, 1,
		func(p *Params) { p.Distance, p.Spread, p.Mode, p.Rearms = 50_000, 20_000, Spin, 7 }},
	{"noisy", "TSC deadlines that pass among CPUID, port and device-memory exits", "deadline, handler entry",
		[]string{"distance", "spread"}, 1,
		func(p *Params) { p.Distance, p.Spread = 100_000, 50_000 }},
	{"device", "interrupts from outside, with a TSC deadline as a guard against lost ones", "guard's deadline, handler entry",
		[]string{"distance", "spread", "mode"}, 1,
		func(p *Params) { p.Distance, p.Mode = 1_000_000, Halt }},
	{"vmexit", "a subtest of the unit tests' vmexit, iterated until a round lasts distance cycles",
		"iterations of a round, its cycles", []string{"test", "distance"}, 1,
		func(p *Params) { p.Distance, p.Variant = 1<<30, 6 }},
	{"latency", "the unit tests' tscdeadline_latency: the handler programs the next deadline", "deadline, handler entry",
		[]string{"distance", "mode"}, 1,
		func(p *Params) { p.Distance, p.Mode, p.Vector = 200_000, Halt, 0xef }},
}

// Names lists the built-in guests, the default first.
func Names() []string {
	var names []string
	for i := range builtins {
		names = append(names, builtins[i].Name)
	}
	return names
}

// Describe returns the description of a built-in guest.
func Describe(name string) (Description, bool) {
	i := slices.IndexFunc(builtins, func(d Description) bool { return d.Name == name })
	if i < 0 {
		return Description{}, false
	}
	d := builtins[i]
	d.Keys = slices.Clone(d.Keys)
	return d, true
}

// Builtin returns a built-in guest with its parameters.
func Builtin(name string, p Params) (*Image, error) {
	d, ok := Describe(name)
	if !ok {
		return nil, fmt.Errorf("no built-in guest %q; there are %s", name, strings.Join(Names(), ", "))
	}
	if err := p.check(&d); err != nil {
		return nil, fmt.Errorf("guest %s: %w", name, err)
	}
	bin, err := code.ReadFile("builtin/" + name + ".bin")
	if err != nil {
		panic(fmt.Sprintf("BUG: built-in guest %s has no code: %v", name, err))
	}
	return &Image{
		Name: name, Format: BuiltIn, SHA256: sha256.Sum256(bin), Args: p.text, bits: 64, entry: CodeBase, cmdline: name,
		segments: []segment{{CodeBase, bin, uint64(len(bin)), "the code"}}, params: &p,
	}, nil
}

// MinVCPUs is the number of vCPUs that the guest needs at least.
func (g *Image) MinVCPUs() int {
	if d, ok := Describe(g.Name); ok && g.Format == BuiltIn {
		return d.VCPUs
	}
	return 1
}
