package board

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// serialIRQ is the interrupt line of the first serial port.
const serialIRQ = 4

// The register offsets of a 16550A. Source: National Semiconductor PC16550D data
// sheet, "Registers".
const (
	regData     = 0 // RBR, THR; with DLAB the divisor's low byte
	regIER      = 1 // with DLAB the divisor's high byte
	regIIR      = 2 // write: FCR
	regLCR      = 3
	regMCR      = 4
	regLSR      = 5
	regMSR      = 6
	regScratch  = 7
	lcrDLAB     = 0x80
	lsrReady    = 0x01
	lsrTHRE     = 0x20
	lsrIdle     = 0x40
	ierReceive  = 0x01
	ierTransmit = 0x02
	iirNone     = 0x01
	iirTransmit = 0x02
	iirReceive  = 0x04
	iirFIFO     = 0xc0
	mcrOut2     = 0x08
	mcrLoop     = 0x10
)

// serial is a 16550A whose transmitter is always empty: a byte written to THR
// is on the console at once.
type serial struct {
	ier, lcr, mcr, fcr, scratch uint8
	divisor                     uint16
	txPending                   bool // THR-empty interrupt not yet acknowledged
	rx                          [64]byte
	rxHead, rxLen               uint8
}

// newSerial is the state after reset, with the divisor of 9600 baud.
func newSerial() serial { return serial{divisor: 12} }

// Type gives bytes to the guest's serial receiver and returns how many fit.
func (b *Board) Type(now clock.TSC, p []byte) int {
	s := &b.st.serial
	n := 0
	for ; n < len(p) && int(s.rxLen) < len(s.rx); n++ {
		s.rx[(int(s.rxHead)+int(s.rxLen))%len(s.rx)] = p[n]
		s.rxLen++
	}
	b.serialUpdate(now)
	return n
}

// cause is IIR bits 3:0: the highest interrupt that is enabled and pending.
func (s *serial) cause() uint8 {
	switch {
	case s.ier&ierReceive != 0 && s.rxLen > 0:
		return iirReceive
	case s.ier&ierTransmit != 0 && s.txPending:
		return iirTransmit
	}
	return iirNone
}

// serialUpdate drives IRQ 4; OUT2 gates it, as on a PC.
func (b *Board) serialUpdate(now clock.TSC) {
	s := &b.st.serial
	b.setIRQ(now, serialIRQ, sourceSerial, s.cause() != iirNone && s.mcr&mcrOut2 != 0)
}

func serialIn(b *Board, now clock.TSC, port uint16, _ uint8) uint32 {
	s := &b.st.serial
	dlab := s.lcr&lcrDLAB != 0
	var v uint8
	switch port & 7 {
	case regData:
		switch {
		case dlab:
			v = uint8(s.divisor)
		case s.rxLen > 0:
			v = s.rx[s.rxHead]
			s.rxHead = (s.rxHead + 1) % uint8(len(s.rx))
			s.rxLen--
			b.typeOn(now)
		}
	case regIER:
		v = s.ier
		if dlab {
			v = uint8(s.divisor >> 8)
		}
	case regIIR:
		v = s.cause()
		if v == iirTransmit {
			s.txPending = false
		}
		if s.fcr&1 != 0 {
			v |= iirFIFO
		}
	case regLCR:
		v = s.lcr
	case regMCR:
		v = s.mcr
	case regLSR:
		v = lsrTHRE | lsrIdle
		if s.rxLen > 0 {
			v |= lsrReady
		}
	case regMSR:
		v = 0xb0 // DCD, DSR, CTS: a terminal is there
		if s.mcr&mcrLoop != 0 {
			v = s.mcr&0xc<<4 | s.mcr&1<<5 | s.mcr&2<<3
		}
	case regScratch:
		v = s.scratch
	}
	b.serialUpdate(now)
	return uint32(v)
}

func serialOut(b *Board, now clock.TSC, port uint16, _ uint8, v32 uint32) {
	s := &b.st.serial
	v := uint8(v32)
	dlab := s.lcr&lcrDLAB != 0
	switch port & 7 {
	case regData:
		switch {
		case dlab:
			s.divisor = s.divisor&0xff00 | uint16(v)
		case s.mcr&mcrLoop != 0:
			b.Type(now, []byte{v})
		default:
			s.txPending = true
			b.lines.Console(v)
			b.hears(now, v)
		}
	case regIER:
		if dlab {
			s.divisor = s.divisor&0xff | uint16(v)<<8
			break
		}
		if v&ierTransmit != 0 && s.ier&ierTransmit == 0 {
			s.txPending = true // enabling it with THR empty raises it
		}
		s.ier = v & 0x0f
	case regIIR:
		s.fcr = v & 0xc9
		if v&2 != 0 {
			s.rxLen = 0
		}
	case regLCR:
		s.lcr = v
	case regMCR:
		s.mcr = v & 0x1f
	case regScratch:
		s.scratch = v
	}
	b.serialUpdate(now)
}
