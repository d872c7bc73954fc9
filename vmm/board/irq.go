package board

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// The sources of interrupt lines. A line is high while any source holds it.
const (
	sourceSerial = 1 << iota
	sourceTest
)

// pinOf is the I/O APIC pin of an interrupt line: the PIT's IRQ 0 arrives at
// pin 2, where the MADT's source override says; the others go straight.
func pinOf(line uint8) uint8 {
	if line == 0 {
		return 2
	}
	return line
}

// setIRQ sets one source's level of an interrupt line, 0–23. Lines 0–15 go to
// the PIC pair and to the I/O APIC, as KVM's default routes do, the others to
// the I/O APIC only.
func (b *Board) setIRQ(now clock.TSC, line uint8, source uint8, level bool) {
	l := &b.st.sources[line]
	old := *l
	if level {
		*l |= source
	} else {
		*l &^= source
	}
	if (old != 0) != (*l != 0) {
		b.drive(now, line, *l != 0)
	}
}

// drive puts a level on a line's inputs at the interrupt controllers.
func (b *Board) drive(now clock.TSC, line uint8, level bool) {
	if b.irqs != nil {
		b.irqs.IRQLine(line, level)
		return
	}
	if line < 16 {
		b.st.pic.setLine(line, level)
		b.picUpdate()
	}
	b.ioapicLine(now, pinOf(line), level)
}
