package board

import (
	"math/bits"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// pic is one 8259A. Source: Intel 8259A data sheet, "Programming the 8259A";
// where it leaves room, KVM's arch/x86/kvm/i8259.c.
type pic struct {
	last   uint8 // input levels as last seen, for edges
	irr    uint8
	imr    uint8
	isr    uint8
	elcr   uint8 // level-triggered inputs
	base   uint8 // vector of input 0
	lowest uint8 // input of highest priority: the one after the lowest
	step   uint8 // next initialisation word expected, 0 when done
	// The modes that ICW4, OCW2 and OCW3 set.
	readISR, poll, specialMask           bool
	icw4, autoEOI, rotateAEOI, fullyNest bool
}

// elcrMasks are the inputs that can be level-triggered: not the timer, the
// keyboard, the cascade, the real-time clock and the coprocessor.
var elcrMasks = [2]uint8{0xf8, 0xde}

// cascade is the master's input that the slave drives.
const cascade = 2

// picPair is the master (0) and the slave (1).
type picPair struct {
	chip [2]pic
	intr bool // the master's output as last driven
}

func newPICPair() picPair { return picPair{} }

// first returns the set bit of mask with the highest priority, as a distance
// from the highest, or 8.
func (p *pic) first(mask uint8) int {
	return bits.TrailingZeros16(uint16(bits.RotateLeft8(mask, -int(p.lowest))) | 1<<8)
}

// request returns the input that asks for service, or -1.
func (p *pic) request() int {
	n := p.first(p.irr &^ p.imr)
	if n == 8 {
		return -1
	}
	held := p.isr
	if p.specialMask {
		held &^= p.imr
	}
	if p.fullyNest {
		held &^= 1 << cascade
	}
	if n >= p.first(held) {
		return -1
	}
	return (n + int(p.lowest)) & 7
}

// setInput puts a level on an input.
func (p *pic) setInput(n uint8, level bool) {
	m := uint8(1) << n
	switch {
	case !level:
		p.last &^= m
		if p.elcr&m != 0 {
			p.irr &^= m
		}
	case p.elcr&m != 0 || p.last&m == 0:
		p.irr |= m
		p.last |= m
	}
}

// setLine puts a level on IRQ 0–15.
func (pp *picPair) setLine(line uint8, level bool) { pp.chip[line>>3].setInput(line&7, level) }

// acknowledge takes input n into service.
func (p *pic) acknowledge(n int) {
	m := uint8(1) << n
	if p.elcr&m == 0 {
		p.irr &^= m
	}
	switch {
	case !p.autoEOI:
		p.isr |= m
	case p.rotateAEOI:
		p.lowest = uint8(n+1) & 7
	}
}

// output settles the cascade and returns the level of the pair's INTR output.
func (pp *picPair) output() bool {
	m, s := &pp.chip[0], &pp.chip[1]
	// The slave's output is a level, but each new request is an edge for the
	// master, whose cascade input is edge-triggered.
	want := s.request() >= 0
	m.setInput(cascade, false)
	if want {
		m.setInput(cascade, true)
	} else {
		m.irr &^= 1 << cascade
	}
	return m.request() >= 0
}

// picUpdate drives INTR after a change.
func (b *Board) picUpdate() {
	pp := &b.st.pic
	if level := pp.output(); level != pp.intr {
		pp.intr = level
		b.lines.SetINTR(level)
	}
}

// AckPIC is the INTA cycle: it returns the vector of the highest request and
// takes it into service. Without a request the answer is the spurious one, input
// 7 of the chip that lost it.
func (b *Board) AckPIC(now clock.TSC) (vector uint8) {
	b.pitCatchUp(now)
	pp := &b.st.pic
	m, s := &pp.chip[0], &pp.chip[1]
	n := m.request()
	switch {
	case n < 0:
		vector = m.base + 7
	case n == cascade:
		m.acknowledge(n)
		in := s.request()
		if in < 0 {
			in = 7
		} else {
			s.acknowledge(in)
		}
		vector = s.base + uint8(in)
	default:
		m.acknowledge(n)
		vector = m.base + uint8(n)
	}
	b.picUpdate()
	return vector
}

func picIn(b *Board, now clock.TSC, port uint16, _ uint8) uint32 {
	b.pitCatchUp(now)
	p := &b.st.pic.chip[port>>7&1]
	switch {
	case p.poll:
		p.poll = false
		n := p.request()
		if n < 0 {
			return 7
		}
		p.acknowledge(n)
		b.picUpdate()
		return 0x80 | uint32(n)
	case port&1 != 0:
		return uint32(p.imr)
	case p.readISR:
		return uint32(p.isr)
	}
	return uint32(p.irr)
}

func picOut(b *Board, now clock.TSC, port uint16, _ uint8, v32 uint32) {
	b.pitCatchUp(now)
	p, v := &b.st.pic.chip[port>>7&1], uint8(v32)
	switch {
	case port&1 == 0 && v&0x10 != 0:
		p.init(v)
	case port&1 == 0 && v&0x08 != 0:
		p.ocw3(v)
	case port&1 == 0:
		p.ocw2(v)
	case p.step == 0:
		p.imr = v
	default:
		p.icw(v)
	}
	b.picUpdate()
	b.pitVisible(now)
}

// init takes ICW1: the initialisation begins. Requests of level inputs stay,
// ELCR is not touched.
func (p *pic) init(v uint8) {
	*p = pic{last: p.last & p.elcr, irr: p.irr & p.elcr, elcr: p.elcr, base: p.base, icw4: v&1 != 0, step: 2}
}

// icw takes ICW2 to ICW4. ICW3 is not used: the cascade is wired.
func (p *pic) icw(v uint8) {
	switch p.step {
	case 2:
		p.base = v & 0xf8
		p.step = 3
	case 3:
		p.step = 0
		if p.icw4 {
			p.step = 4
		}
	case 4:
		p.fullyNest, p.autoEOI = v&0x10 != 0, v&2 != 0
		p.step = 0
	}
}

// ocw2 takes the EOI and rotation commands of OCW2 bits 7:5.
func (p *pic) ocw2(v uint8) {
	n, specific := v&7, v&0x40 != 0
	if v>>5 == 0 || v>>5 == 4 {
		p.rotateAEOI = v&0x80 != 0
		return
	}
	if v&0x20 != 0 { // EOI
		if !specific {
			f := p.first(p.isr)
			if f == 8 {
				return
			}
			n = (uint8(f) + p.lowest) & 7
		}
		p.isr &^= 1 << n
	}
	if v&0x80 != 0 { // rotate: n becomes the lowest
		p.lowest = (n + 1) & 7
	}
}

// ocw3 takes poll, register selection and special mask.
func (p *pic) ocw3(v uint8) {
	p.poll = v&4 != 0
	if v&2 != 0 {
		p.readISR = v&1 != 0
	}
	if v&0x40 != 0 {
		p.specialMask = v&0x20 != 0
	}
}

func elcrIn(b *Board, _ clock.TSC, port uint16, _ uint8) uint32 {
	return uint32(b.st.pic.chip[port&1].elcr)
}

func elcrOut(b *Board, _ clock.TSC, port uint16, _ uint8, v uint32) {
	b.st.pic.chip[port&1].elcr = uint8(v) & elcrMasks[port&1]
	b.picUpdate()
}
