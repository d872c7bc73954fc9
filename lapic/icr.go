package lapic

// ICR is the interrupt command register. In xAPIC mode the high half is ICR2,
// whose bits 31:24 are the destination; in x2APIC mode it is the destination.
//
//	 63        32 31  20 19 18 17 16 15 14 13 12 11 10   8 7      0
//	┌────────────┬──────┬─────┬─────┬──┬──┬──┬──┬──┬──────┬────────┐
//	│destination │      │short│     │TM│L │  │DS│DM│ mode │ vector │
//	└────────────┴──────┴─────┴─────┴──┴──┴──┴──┴──┴──────┴────────┘
//	TM trigger mode (1 level), L level (1 assert), DS delivery status (xAPIC),
//	DM destination mode (1 logical)
//
// Intel SDM vol. 3A, 10.6.1 "Interrupt Command Register (ICR)", and 10.12.9 "ICR
// Operation in x2APIC Mode".
type ICR uint64

// The bits and fields of ICR.
const (
	ICRLogical  ICR = 1 << 11
	ICRBusy     ICR = 1 << 12
	ICRAssert   ICR = 1 << 14
	ICRLevel    ICR = 1 << 15
	icrReserved ICR = 0xfff32000 // bits 31:20, 17:16, 13; bit 12 counts only in x2APIC mode
)

// Delivery is a delivery mode: ICR, LVT and message bits 10:8. Values are the
// field's. Intel SDM vol. 3A, 10.6.1 "Interrupt Command Register (ICR)".
type Delivery uint8

// The delivery modes.
const (
	Fixed          Delivery = 0
	LowestPriority Delivery = 1
	SMI            Delivery = 2
	RemoteRead     Delivery = 3 // reserved
	NMI            Delivery = 4
	INIT           Delivery = 5
	StartUp        Delivery = 6
	ExtINT         Delivery = 7
)

// DeliveryNames names the delivery modes by value.
var DeliveryNames = [8]string{"fixed", "lowest-priority", "SMI", "remote-read", "NMI", "INIT", "start-up", "ExtINT"}

// String returns the manual's name.
func (d Delivery) String() string { return DeliveryNames[d&7] }

// Shorthand is a destination shorthand, ICR bits 19:18. Values are the field's.
type Shorthand uint8

// The destination shorthands.
const (
	NoShorthand Shorthand = 0
	ToSelf      Shorthand = 1
	ToAll       Shorthand = 2 // all including self
	ToOthers    Shorthand = 3 // all excluding self
)

// ShorthandNames names the shorthands by value.
var ShorthandNames = [4]string{"none", "self", "all", "others"}

// String returns the short name.
func (s Shorthand) String() string { return ShorthandNames[s&3] }

// Vector returns bits 7:0.
func (c ICR) Vector() Vector { return Vector(c) }

// Delivery returns bits 10:8.
func (c ICR) Delivery() Delivery { return Delivery(c >> 8 & 7) }

// Shorthand returns bits 19:18.
func (c ICR) Shorthand() Shorthand { return Shorthand(c >> 18 & 3) }

// Dest returns the destination: 32 bits in x2APIC mode, 8 bits in xAPIC mode.
func (c ICR) Dest(x2apic bool) uint32 {
	if x2apic {
		return uint32(c >> 32)
	}
	return uint32(c >> 56)
}

// Message returns the interrupt message that a write of c sends from an APIC in
// the given mode.
func (c ICR) Message(x2apic bool) Message {
	return Message{
		Dest:      c.Dest(x2apic),
		Logical:   c&ICRLogical != 0,
		Delivery:  c.Delivery(),
		Vector:    c.Vector(),
		Level:     c&ICRLevel != 0,
		Assert:    c&ICRAssert != 0,
		Shorthand: c.Shorthand(),
		IPI:       true,
	}
}

// Message is an interrupt message to local APICs, from an ICR, an I/O APIC, an
// MSI or a local vector.
type Message struct {
	Dest      uint32
	Logical   bool // destination mode
	Delivery  Delivery
	Vector    Vector
	Level     bool // level-triggered
	Assert    bool
	Shorthand Shorthand
	IPI       bool // sent by a local APIC
}
