package lapic

import "math/bits"

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
	OutcomeIllegal          // dropped: vector below 16, recorded in ESR; deliver LVTError
	numOutcomes
)

// OutcomeNames names the outcomes.
var OutcomeNames = [numOutcomes]string{"bad", "vector", "SMI", "NMI", "INIT", "start-up", "ExtINT", "disabled",
	"ignored", "illegal-vector"}

// String returns the short name.
func (o Outcome) String() string {
	if o < numOutcomes {
		return OutcomeNames[o]
	}
	return OutcomeNames[BadOutcome]
}

// outcomes says what each delivery mode comes to if nothing is in the way.
var outcomes = [8]Outcome{Fixed: OutcomeVector, LowestPriority: OutcomeVector, SMI: OutcomeSMI,
	RemoteRead: OutcomeIgnored, NMI: OutcomeNMI, INIT: OutcomeINIT, StartUp: OutcomeStartUp, ExtINT: OutcomeExtINT}

// Receive says what the APIC makes of a message that is addressed to it.
// Nothing is delivered yet; only ESR may change (Config.Errors). Of the
// delivery modes only fixed and lowest priority need an enabled APIC.
//
// Source: arch/x86/kvm/lapic.c, __apic_accept_irq.
func (a *APIC) Receive(m Message) Outcome {
	o := outcomes[m.Delivery&7]
	switch {
	case m.Level && !m.Assert && (o == OutcomeVector || o == OutcomeINIT):
		return OutcomeIgnored
	case o != OutcomeVector:
		return o
	case !a.Enabled() || !a.SoftEnabled():
		return OutcomeDisabled
	case a.Config.Errors && m.Vector < 16:
		a.Errs |= esrReceiveIllegal
		return OutcomeIllegal
	}
	return o
}

// The bits of ESR. Intel SDM vol. 3A, 10.5.3 "Error Handling".
const (
	esrSendIllegal    uint32 = 1 << 5
	esrReceiveIllegal uint32 = 1 << 6
)

// illegalSend records an attempt to send an illegal vector, if ESR records at
// all.
func (a *APIC) illegalSend(d Delivery, v Vector) bool {
	if !a.Config.Errors || v >= 16 || d != Fixed && d != LowestPriority {
		return false
	}
	a.Errs |= esrSendIllegal
	return true
}

const (
	broadcastXAPIC  = 0xff
	broadcastX2APIC = 0xffffffff
)

// Matches reports whether m is addressed to this APIC, by its Dest and Logical;
// shorthands are the caller's. A message that is no IPI (I/O APIC, MSI) reaches
// APICs in x2APIC mode by the 8-bit broadcast too. A disabled APIC matches
// nothing.
//
// Intel SDM vol. 3A, 10.6.2 "Determining IPI Destination"; KVM:
// kvm_apic_match_dest, kvm_apic_mda.
func (a *APIC) Matches(m Message) bool {
	if !a.Enabled() {
		return false
	}
	bcast := uint32(broadcastXAPIC)
	if a.X2APIC() {
		bcast = broadcastX2APIC
		if !m.IPI && m.Dest == broadcastXAPIC {
			return true
		}
	}
	switch {
	case m.Dest == bcast:
		return true
	case m.Logical:
		return a.matchesLogical(m.Dest)
	case a.X2APIC():
		return m.Dest == a.ID
	}
	return m.Dest == a.reg(ID)>>24
}

// matchesLogical compares a logical destination: cluster and bits in x2APIC mode
// and in the cluster model, bits in the flat model. Intel SDM vol. 3A, 10.6.2.2
// "Logical Destination Mode".
func (a *APIC) matchesLogical(dest uint32) bool {
	id := a.LogicalID()
	switch {
	case a.X2APIC():
		return id>>16 == dest>>16 && id&dest&0xffff != 0
	case a.reg(DFR)>>28 == 0xf:
		return id&dest != 0
	case a.reg(DFR)>>28 == 0:
		return id>>4 == dest>>4 && id&dest&0xf != 0
	}
	return false
}

// LogicalID returns the logical APIC ID in the present mode: LDR bits 31:24, or
// the 32-bit x2APIC LDR.
func (a *APIC) LogicalID() uint32 {
	if a.X2APIC() {
		return a.reg(LDR)
	}
	return a.reg(LDR) >> 24
}

// PickLowest arbitrates a lowest-priority message among the candidates, a bit per
// vCPU, as KVM does with vector hashing on (the default): the n-th of them, n
// being the vector modulo their number. ok is false without candidates.
//
// Source: arch/x86/kvm/lapic.c, kvm_vector_to_index.
func PickLowest(v Vector, candidates uint64) (cpu int, ok bool) {
	if candidates == 0 {
		return 0, false
	}
	for n := int(v) % bits.OnesCount64(candidates); n > 0; n-- {
		candidates &= candidates - 1
	}
	return bits.TrailingZeros64(candidates), true
}

// LocalDeliver returns the message that the local vector in r (LVTT … LVTError)
// raises now; ok is false if it is masked or the APIC disabled by
// IA32_APIC_BASE. Receive still has its say. A performance-counter interrupt
// masks its own vector.
//
// Source: arch/x86/kvm/lapic.c, kvm_apic_local_deliver.
func (a *APIC) LocalDeliver(r Reg) (m Message, ok bool) {
	v := a.reg(r)
	if !a.Enabled() || v&lvtMasked != 0 {
		return Message{}, false
	}
	if r == LVTPC {
		a.Page[LVTPC>>4] |= lvtMasked
	}
	return Message{Delivery: Delivery(v >> 8 & 7), Vector: Vector(v), Level: v>>15&1 != 0, Assert: true}, true
}

// AcceptsPIC reports whether the PIC's output reaches the CPU: LVT0 unmasked in
// ExtINT mode, or the APIC disabled by IA32_APIC_BASE.
func (a *APIC) AcceptsPIC() bool { return !a.Enabled() || a.lint0Is(ExtINT) }

// PICNMI reports whether LVT0 is unmasked in NMI mode: the PIT's output on LINT0
// is then an NMI watchdog.
func (a *APIC) PICNMI() bool { return a.lint0Is(NMI) }

func (a *APIC) lint0Is(d Delivery) bool {
	return a.reg(LVT0)&lvtMasked == 0 && Delivery(a.reg(LVT0)>>8&7) == d
}
