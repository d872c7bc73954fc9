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
	Name string
	Pane string // title of the pane that shows it
	Doc  string
}

// FigureSpecs describes the figures, by Figure.
var FigureSpecs = [NumFigures]FigureSpec{
	FigureRegisters:  {"registers", "Exits", "general registers, RIP, RFLAGS and the code at RIP"},
	FigureAPIC:       {"LAPIC registers", "Timer", "LVT entries, TPR, TMICT, TDCR, LDR, SVR and the TSC-deadline MSR"},
	FigureCount:      {"TMCCT", "Timer", "the timer's current count"},
	FigureSets:       {"IRR and ISR", "Timer", "interrupts requested and in service, and the PPR that follows"},
	FigurePIR:        {"PIR and ON", "Timer", "posted interrupts not taken over yet, and the notification bit"},
	FigureDeadline:   {"deadline", "Timer", "when the timer will fire, and since when it is armed"},
	FigureBacking:    {"hv or sw", "Timer", "the host timer behind the guest's, and the clause that decided"},
	FigureFire:       {"host timer", "Timer", "when the host timer is programmed to fire"},
	FigureAdvance:    {"timer_advance_ns", "Timer", "how much earlier than the deadline that is, and how it was tuned"},
	FigureDelta:      {"delta and wait", "Timer", "guest TSC minus deadline on arrival at the wait, and the cycles waited"},
	FigurePending:    {"pending", "Timer", "an expiry that waits for the outer loop (lapic_timer.pending)"},
	FigureWhere:      {"where", "Timer", "in the guest, in the host, polling or blocked"},
	FigureMode:       {"mode", "Timer", "vcpu->mode as a kick sees it"},
	FigureMP:         {"MP state", "Timer", "runnable, halted, waiting for SIPI"},
	FigureRequests:   {"requests", "Timer", "vcpu->requests"},
	FigureHalt:       {"halts", "Timer", "why a halt ended, polling time allowed and used"},
	FigureOffset:     {"TSC offset", "Timer", "what the guest wrote to its TSC"},
	FigureLateness:   {"lateness", "Deadlines", "TSC at the handler's first instruction minus deadline"},
	FigureHostFire:   {"host fires", "Deadlines", "when the host timer fired"},
	FigureExpiry:     {"expiry", "Deadlines", "when the deadline expired, the route and the clause"},
	FigureDelivery:   {"delivery", "Deadlines", "the route of the interrupt to the vCPU, its source and the clause"},
	FigureEOI:        {"EOI", "Deadlines", "when the handler ended"},
	FigureExits:      {"exits", "Exits", "each VM-exit and VM-entry with reason, RIP and time"},
	FigureExitInfo:   {"exit information", "Exits", "MSR and value, port, address"},
	FigureExitCycles: {"cycles of an exit", "Exits", "from the exit to the next entry"},
	FigureCosts:      {"cost by phase", "Exits", "what of these cycles each phase of the loop took"},
	FigureFastpath:   {"fastpath result", "Fastpath", "what the fastpath made of an exit"},
	FigureClauses:    {"fastpath clause", "Fastpath", "the first clause that failed"},
	FigureKicks:      {"kicks", "Kicks", "each kick with its target and decision"},
	FigureKickSteps:  {"kick ledger", "Kicks", "what a kick executed, and its cost"},
	FigurePCPU:       {"pCPU", "Timer", "the host CPU of each vCPU, and when its thread was switched out"},
	FigureConsole:    {"console", "Console", "what the guest wrote to its serial port"},
	FigureSamples:    {"samples", "Deadlines", "latencies that a built-in guest measured itself"},
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
