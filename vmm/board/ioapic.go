package board

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// numPins is the number of I/O APIC inputs and of interrupt lines.
const numPins = 24

// A redirection entry (Intel 82093AA data sheet, "I/O Redirection Table
// Registers"):
//
//	63   56 55          17 16   15    14  13  12    11    10  8 7    0
//	| dest |   reserved   |mask|level|IRR|pol|sent|logical|mode|vector|
//
// IRR and sent are read-only. Polarity is stored and has no effect.
const (
	redirLogical = 1 << 11
	redirSent    = 1 << 12
	redirIRR     = 1 << 14
	redirLevel   = 1 << 15
	redirMask    = 1 << 16
	redirFixed   = redirSent | redirIRR
	redirUsed    = 0xff<<56 | (1<<17 - 1)
)

// ioapicVersion: version 0x11 and the number of the last pin. Version 0x11 has
// no EOI register.
const ioapicVersion = 0x11 | (numPins-1)<<16

// ioapic is the I/O APIC. Source: Intel 82093AA data sheet; where it leaves
// room, KVM's arch/x86/kvm/ioapic.c.
type ioapic struct {
	sel   uint8
	id    uint8 // bits 27:24 of the ID register
	level uint32
	redir [numPins]uint64
}

// newIOAPIC is the state after reset: all pins masked.
func newIOAPIC() ioapic {
	var a ioapic
	for i := range a.redir {
		a.redir[i] = redirMask
	}
	return a
}

// ioapicLine sets the level of an input pin.
func (b *Board) ioapicLine(now clock.TSC, pin uint8, level bool) {
	a := &b.st.ioapic
	m := uint32(1) << pin
	old := a.level & m
	if !level {
		a.level &^= m
		return
	}
	a.level |= m
	if a.redir[pin]&redirLevel != 0 || old == 0 {
		b.ioapicSend(pin)
	}
}

// ioapicSend sends a pin's message, unless it is masked or its last level
// interrupt has not seen an EOI. An edge on a masked pin is lost.
func (b *Board) ioapicSend(pin uint8) {
	e := &b.st.ioapic.redir[pin]
	if *e&redirMask != 0 || *e&redirLevel != 0 && *e&redirIRR != 0 {
		return
	}
	if *e&redirLevel != 0 {
		*e |= redirIRR
	}
	b.lines.Message(vmm.Message{
		Dest: uint32(*e >> 56), Logical: *e&redirLogical != 0, Delivery: uint8(*e>>8) & 7, Vector: uint8(*e),
		Level: *e&redirLevel != 0, Assert: true,
	})
}

// EOI ends the level-triggered interrupts of a vector. A pin that is still high
// sends again.
func (b *Board) EOI(now clock.TSC, vector uint8) {
	a := &b.st.ioapic
	for pin := range uint8(numPins) {
		e := &a.redir[pin]
		if uint8(*e) != vector || *e&redirLevel == 0 {
			continue
		}
		*e &^= redirIRR
		if a.level>>pin&1 != 0 {
			b.ioapicSend(pin)
		}
	}
}

// ioapicRead reads the selector (0x00) or the selected register (0x10).
func ioapicRead(b *Board, _ clock.TSC, off uint64, _ uint8) uint64 {
	a := &b.st.ioapic
	switch off {
	case 0x00:
		return uint64(a.sel)
	case 0x10:
		return uint64(a.register())
	}
	return 0
}

// register is the selected register's value; one that does not exist reads as
// all ones.
func (a *ioapic) register() uint32 {
	switch n := int(a.sel) - 0x10; {
	case a.sel == 0, a.sel == 2: // ID, arbitration ID
		return uint32(a.id) << 24
	case a.sel == 1:
		return ioapicVersion
	case n >= 0 && n < 2*numPins:
		return uint32(a.redir[n/2] >> (32 * (n & 1)))
	}
	return ^uint32(0)
}

// ioapicWrite writes the selector or the selected register.
func ioapicWrite(b *Board, now clock.TSC, off uint64, _ uint8, v64 uint64) {
	a, v := &b.st.ioapic, uint32(v64)
	switch n := int(a.sel) - 0x10; {
	case off == 0x00:
		a.sel = uint8(v)
	case off != 0x10:
	case a.sel == 0:
		a.id = uint8(v>>24) & 0xf
	case n >= 0 && n < 2*numPins:
		b.pitCatchUp(now)
		b.setRedir(uint8(n/2), n&1 != 0, v)
		b.pitVisible(now)
	}
}

// setRedir writes half a redirection entry. A pin that becomes edge-triggered
// loses its remote IRR; a level pin that is unmasked while high sends at once.
func (b *Board) setRedir(pin uint8, high bool, v uint32) {
	a := &b.st.ioapic
	e := &a.redir[pin]
	if high {
		*e = *e&0xffffffff | uint64(v)<<32&redirUsed
	} else {
		*e = *e&(0xffffffff<<32|redirFixed) | uint64(v)&(redirUsed&^redirFixed)
	}
	if *e&redirLevel == 0 {
		*e &^= redirIRR
	} else if a.level>>pin&1 != 0 {
		b.ioapicSend(pin)
	}
}
