package vmm

// Figure is something that a screen shows about a run, or a group of figures that
// one source tells.
type Figure uint8

// The figures. BadFigure is the invalid zero value.
const (
	BadFigure Figure = iota
	FigureAPIC
	FigureCount
	FigureSets
	FigurePIR
	FigureDeadline
	FigureBacking
	FigureFire
	FigureAdvance
	FigureDelta
	FigurePending
	FigureWhere
	FigureMode
	FigureMP
	FigureRequests
	FigureHalt
	FigureOffset
	FigurePCPU
	FigureLateness
	FigureHostFire
	FigureExpiry
	FigureDelivery
	FigureEOI
	FigureSamples
	FigureFastpath
	FigureClauses
	FigureKicks
	FigureKickSteps
	FigureExits
	FigureExitInfo
	FigureExitCycles
	FigureCosts
	FigureRegisters
	FigureConsole
	NumFigures
)

// FigureSpec describes a figure.
type FigureSpec struct {
	Name  string
	Topic string // what it is about: one of FigureTopics
	Doc   string
}

// FigureTopics are what figures are about, in the order of the documentation.
var FigureTopics = []string{"timer", "deadlines", "fastpath", "kicks", "exits", "console"}

// FigureSpecs describes the figures, by Figure.
var FigureSpecs = [NumFigures]FigureSpec{
	FigureRegisters:  {"registers", "exits", "general registers, RIP, RFLAGS and the code at RIP"},
	FigureAPIC:       {"LAPIC registers", "timer", "LVT entries, TPR, TMICT, TDCR, LDR, SVR and the TSC-deadline MSR"},
	FigureCount:      {"TMCCT", "timer", "the timer's current count"},
	FigureSets:       {"IRR and ISR", "timer", "interrupts requested and in service, and the PPR that follows"},
	FigurePIR:        {"PIR and ON", "timer", "posted interrupts not taken over yet, and the notification bit"},
	FigureDeadline:   {"deadline", "timer", "when the timer will fire, and since when it is armed"},
	FigureBacking:    {"hv or sw", "timer", "the host timer behind the guest's, and the clause that decided"},
	FigureFire:       {"host timer", "timer", "when the host timer is programmed to fire"},
	FigureAdvance:    {"timer_advance_ns", "timer", "how much earlier than the deadline that is, and how it was tuned"},
	FigureDelta:      {"delta and wait", "timer", "guest TSC minus deadline on arrival at the wait, and the cycles waited"},
	FigurePending:    {"pending", "timer", "an expiry that waits for the outer loop (lapic_timer.pending)"},
	FigureWhere:      {"where", "timer", "in the guest, in the host, polling or blocked"},
	FigureMode:       {"mode", "timer", "vcpu->mode as a kick sees it"},
	FigureMP:         {"MP state", "timer", "runnable, halted, waiting for SIPI"},
	FigureRequests:   {"requests", "timer", "vcpu->requests"},
	FigureHalt:       {"halts", "timer", "why a halt ended, polling time allowed and used"},
	FigureOffset:     {"TSC offset", "timer", "what the guest wrote to its TSC"},
	FigureLateness:   {"lateness", "deadlines", "TSC at the handler's first instruction minus deadline"},
	FigureHostFire:   {"host fires", "deadlines", "when the host timer fired"},
	FigureExpiry:     {"expiry", "deadlines", "when the deadline expired, the route and the clause"},
	FigureDelivery:   {"delivery", "deadlines", "the route of the interrupt to the vCPU, its source and the clause"},
	FigureEOI:        {"EOI", "deadlines", "when the handler ended"},
	FigureExits:      {"exits", "exits", "each VM-exit and VM-entry with reason, RIP and time"},
	FigureExitInfo:   {"exit information", "exits", "MSR and value, port, address"},
	FigureExitCycles: {"cycles of an exit", "exits", "from the exit to the next entry"},
	FigureCosts:      {"cost by phase", "exits", "what of these cycles each phase of the loop took"},
	FigureFastpath:   {"fastpath result", "fastpath", "what the fastpath made of an exit"},
	FigureClauses:    {"fastpath clause", "fastpath", "the first clause that failed"},
	FigureKicks:      {"kicks", "kicks", "each kick with its target and decision"},
	FigureKickSteps:  {"kick ledger", "kicks", "what a kick executed, and its cost"},
	FigurePCPU:       {"pCPU", "timer", "the host CPU of each vCPU, and when its thread was switched out"},
	FigureConsole:    {"console", "console", "what the guest wrote to its serial port"},
	FigureSamples:    {"samples", "deadlines", "latencies that a built-in guest measured itself"},
}

// String returns the figure's name.
func (f Figure) String() string { return FigureSpecs[f].Name }

// Basis says what a figure rests on.
type Basis uint8

// The bases. BadBasis is the invalid zero value: the source does not say.
const (
	BadBasis    Basis = iota
	OnMeasure         // read from the machine, or traced by it, with its own time
	OnModel           // the model's
	OnInference       // deduced from what is measured
	OnNothing         // not available
)

// BasisNames names the bases as screens show them.
var BasisNames = []string{"not said", "measured", "modelled", "inferred", "not available"}

// String returns the word for people.
func (b Basis) String() string { return BasisNames[b] }

// Known says how a run knows a figure.
type Known struct {
	Basis Basis
	// By says in a few words what the figure comes from, or why there is none.
	By string
	// Reading is true for what is read of the machine when a frame is made and is
	// in no event: a recording, and the past of a run, lack it.
	Reading bool
}

// KnownFigures says it of all of them, by Figure.
type KnownFigures [NumFigures]Known

// Past is what is known of the past of the run: there are no readings.
func (k KnownFigures) Past() KnownFigures {
	for i := range k {
		if k[i].Reading {
			k[i] = Known{Basis: OnNothing, By: "read of the present only; events tell the rest"}
		}
	}
	return k
}
