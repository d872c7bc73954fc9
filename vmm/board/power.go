package board

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// pmTimerHz is the ACPI power-management timer's frequency. Source: ACPI 6.5,
// 4.8.2.1 "Power Management Timer".
const pmTimerHz = clock.Hz(3_579_545)

// ExitPowerOff is the status of a guest that powers the machine off.
const ExitPowerOff = 0

// sleepS5 is the sleep type that powers off: the value that the DSDT's _S5 names.
const sleepS5 = 0

// power is the fixed ACPI hardware and the reset latches.
type power struct {
	status, enable, control uint16
	portA                   uint8
	bochs                   uint8 // characters of the shutdown text seen
}

// bochsText powers off when it is written to the Bochs shutdown port.
const bochsText = "Shutdown"

func (b *Board) powerOff() { b.lines.Exit(ExitPowerOff, true) }
func (b *Board) reset()    { b.lines.Reset() }

// pmTimerIn reads the timer's 24 bits: bits 8i+7:8i at port 0x608 + i.
func pmTimerIn(b *Board, now clock.TSC, port uint16, _ uint8) uint32 {
	v := uint32(b.cfg.Hz.Ticks(now-b.cfg.Start, pmTimerHz)) & 0xffffff
	return v >> (8 * (port & 3))
}

// pm1EventIn reads PM1a status (offset 0) or enable (2).
func pm1EventIn(b *Board, _ clock.TSC, port uint16, _ uint8) uint32 {
	if port&2 == 0 {
		return uint32(b.st.power.status)
	}
	return uint32(b.st.power.enable)
}

// pm1EventOut clears status bits by ones, or sets the enables. No event happens
// on this board, so none interrupts.
func pm1EventOut(b *Board, _ clock.TSC, port uint16, _ uint8, v uint32) {
	if port&2 == 0 {
		b.st.power.status &^= uint16(v)
	} else {
		b.st.power.enable = uint16(v)
	}
}

func pm1ControlIn(b *Board, _ clock.TSC, _ uint16, _ uint8) uint32 {
	return uint32(b.st.power.control) | 1 // SCI_EN: ACPI mode is on
}

// pm1ControlOut writes PM1a control. Sleep enable (bit 13) with S5's type (bits
// 12:10) powers off. Source: ACPI 6.5, 4.8.3.2.1 "PM1 Control Registers".
func pm1ControlOut(b *Board, _ clock.TSC, _ uint16, _ uint8, v uint32) {
	b.st.power.control = uint16(v) &^ 0x2001
	if v&0x2000 != 0 && v>>10&7 == sleepS5 {
		b.powerOff()
	}
}

// portAIn reads port A: A20 (bit 1) is always on.
func portAIn(b *Board, _ clock.TSC, _ uint16, _ uint8) uint32 {
	return uint32(b.st.power.portA) | 2
}

func portAOut(b *Board, _ clock.TSC, _ uint16, _ uint8, v uint32) {
	rising := v&1 != 0 && b.st.power.portA&1 == 0
	b.st.power.portA = uint8(v)
	if rising {
		b.reset()
	}
}

// bochsOut follows the text that Bochs' port takes.
func bochsOut(b *Board, _ clock.TSC, _ uint16, _ uint8, v uint32) {
	p := &b.st.power
	switch uint8(v) {
	case bochsText[p.bochs]:
		p.bochs++
	case bochsText[0]:
		p.bochs = 1
	default:
		p.bochs = 0
	}
	if int(p.bochs) == len(bochsText) {
		p.bochs = 0
		b.powerOff()
	}
}
