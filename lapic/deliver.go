package lapic

// Outcome is what an APIC makes of an interrupt message addressed to it.
type Outcome uint8

// The outcomes. BadOutcome is the invalid zero value.
const (
	BadOutcome      Outcome = iota
	OutcomeVector           // Accept or Post the vector
	OutcomeSMI              // deliver an SMI
	OutcomeNMI              // deliver an NMI
	OutcomeINIT             // INIT
	OutcomeStartUp          // start-up IPI: the vector is the page
	OutcomeExtINT           // the PIC has the vector
	OutcomeDisabled         // dropped: APIC disabled in hardware or software
	OutcomeIgnored          // dropped: level de-assert, reserved delivery mode
	OutcomeIllegal          // dropped: vector below 16, recorded in ESR
	numOutcomes
)

// Receive says what the APIC makes of a message that is addressed to it. Nothing
// is delivered yet; only ESR may change (Config.Errors).
func (a *APIC) Receive(m Message) Outcome { return BadOutcome }

// Matches reports whether m is addressed to this APIC, by its Dest and Logical;
// shorthands are the caller's.
func (a *APIC) Matches(m Message) bool { return false }

// LogicalID returns the logical APIC ID in the present mode: LDR bits 31:24, or
// the 32-bit x2APIC LDR.
func (a *APIC) LogicalID() uint32 { return 0 }

// PickLowest arbitrates a lowest-priority message among the candidates, a bit per
// vCPU, as KVM does with vector hashing on (the default): the n-th of them, n
// being the vector modulo their number. ok is false without candidates.
func PickLowest(v Vector, candidates uint64) (cpu int, ok bool) { return 0, false }

// LocalDeliver returns the message that the local vector in r (LVTT … LVTError)
// raises now; ok is false if it is masked or the APIC disabled.
func (a *APIC) LocalDeliver(r Reg) (m Message, ok bool) { return Message{}, false }

// AcceptsPIC reports whether the PIC's output reaches the CPU: LVT0 unmasked in
// ExtINT mode, or the APIC disabled by IA32_APIC_BASE.
func (a *APIC) AcceptsPIC() bool { return false }

// PICNMI reports whether LVT0 is unmasked in NMI mode: the PIT's output on LINT0
// is then an NMI watchdog.
func (a *APIC) PICNMI() bool { return false }
