package board

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// pitHz is the 8254's input clock in Hz, as KVM has it (KVM_PIT_FREQ in
// arch/x86/kvm/i8254.h).
const pitHz = clock.Hz(1_193_181)

// pitMinPeriod is the shortest period of channel 0's interrupts in ns: KVM
// stretches shorter ones (min_timer_period_us, arch/x86/kvm/x86.c).
const pitMinPeriod = clock.Nanos(200_000)

// channel is one counter of the PIT. It does not count: what it would hold is
// computed from the time of its load.
type channel struct {
	reload uint32 // 1–65536
	load   clock.TSC
	mode   uint8 // 0–5
	access uint8 // 1 low byte, 2 high byte, 3 both
	bcd    bool  // kept for the status byte; counting is binary, as in KVM
	gate   bool
	// The halves of a two-byte access.
	writeHigh, readHigh bool
	writeLow            uint8
	// Latches of the counter and of the status byte.
	latched, statusLatched bool
	latch                  uint16
	status                 uint8
}

// pit is the 8254 and the part of port B that belongs to it.
type pit struct {
	ch [3]channel
	// next is when channel 0 fires next, clock.Never if it does not; count is
	// how many times it has fired since its load.
	next    clock.TSC
	count   uint64
	visible bool // an interrupt controller lets IRQ 0 through
	speaker bool // port B bit 1
}

// newPIT is the state after reset as KVM has it: mode 3 with the longest count,
// but no interrupts before the first write.
func newPIT(now clock.TSC) pit {
	p := pit{next: clock.Never}
	for i := range p.ch {
		p.ch[i] = channel{reload: 65536, load: now, mode: 3, access: 3, gate: i != 2}
	}
	return p
}

// elapsed is the number of input clocks since the load.
func (c *channel) elapsed(now clock.TSC, f clock.Hz) uint64 { return f.Ticks(now-c.load, pitHz) }

// value is what the counter holds. Source: Intel 8254 data sheet, "Mode
// Definitions".
func (c *channel) value(now clock.TSC, f clock.Hz) uint16 {
	d, n := c.elapsed(now, f), uint64(c.reload)
	switch c.mode {
	case 2:
		return uint16(n - d%n)
	case 3: // counts by twos
		return uint16(n - 2*d%n)
	}
	return uint16(n - d)
}

// output is the level of the OUT pin.
func (c *channel) output(now clock.TSC, f clock.Hz) bool {
	d, n := c.elapsed(now, f), uint64(c.reload)
	switch c.mode {
	case 0:
		return d >= n
	case 1:
		return d < n
	case 2:
		return d%n == 0 && d != 0
	case 3:
		return d%n < (n+1)/2
	}
	return d == n
}

// pitIn reads a counter or its latch; the control port reads as 0.
func pitIn(b *Board, now clock.TSC, port uint16, _ uint8) uint32 {
	if port == 0x43 {
		return 0
	}
	c := &b.st.pit.ch[port&3]
	if c.statusLatched {
		c.statusLatched = false
		return uint32(c.status)
	}
	v := c.latch
	if !c.latched {
		v = c.value(now, b.cfg.Hz)
	}
	high := c.access == 2
	if c.access == 3 {
		high = c.readHigh
		c.readHigh = !c.readHigh
	}
	if c.access != 3 || high {
		c.latched = false
	}
	if high {
		v >>= 8
	}
	return uint32(v) & 0xff
}

// pitOut writes a control word or a byte of a count.
func pitOut(b *Board, now clock.TSC, port uint16, _ uint8, v32 uint32) {
	v := uint8(v32)
	if port == 0x43 {
		b.pitControl(now, v)
		return
	}
	n := int(port & 3)
	c := &b.st.pit.ch[n]
	switch {
	case c.access == 1:
		b.pitLoad(now, n, uint16(v))
	case c.access == 2:
		b.pitLoad(now, n, uint16(v)<<8)
	case !c.writeHigh:
		c.writeLow, c.writeHigh = v, true
	default:
		c.writeHigh = false
		b.pitLoad(now, n, uint16(v)<<8|uint16(c.writeLow))
	}
}

// pitControl takes a control word: read-back (channel 3), latch (access 0) or
// the mode of a channel.
func (b *Board) pitControl(now clock.TSC, v uint8) {
	if v>>6 == 3 {
		for n := range b.st.pit.ch {
			if v>>(n+1)&1 == 0 {
				continue
			}
			c := &b.st.pit.ch[n]
			if v&0x20 == 0 {
				c.latchCount(now, b.cfg.Hz)
			}
			if v&0x10 == 0 {
				c.latchStatus(now, b.cfg.Hz)
			}
		}
		return
	}
	n := int(v >> 6)
	c := &b.st.pit.ch[n]
	if v>>4&3 == 0 {
		c.latchCount(now, b.cfg.Hz)
		return
	}
	c.access, c.mode, c.bcd = v>>4&3, v>>1&7, v&1 != 0
	if c.mode > 5 { // 6 and 7 are 2 and 3
		c.mode &= 3
	}
	c.readHigh, c.writeHigh, c.latched = false, false, false
}

func (c *channel) latchCount(now clock.TSC, f clock.Hz) {
	if !c.latched {
		c.latch, c.latched = c.value(now, f), true
	}
}

// latchStatus latches the status byte: output, null count (always 0: a load is
// immediate), access, mode, BCD.
func (c *channel) latchStatus(now clock.TSC, f clock.Hz) {
	if c.statusLatched {
		return
	}
	s := c.access<<4 | c.mode<<1
	if c.output(now, f) {
		s |= 0x80
	}
	if c.bcd {
		s |= 1
	}
	c.status, c.statusLatched = s, true
}

// pitLoad starts a channel on a count; 0 counts 65536.
func (b *Board) pitLoad(now clock.TSC, n int, count uint16) {
	if n == 0 {
		b.pitCatchUp(now)
	}
	c := &b.st.pit.ch[n]
	c.reload, c.load = uint32(count), now
	if count == 0 {
		c.reload = 65536
	}
	if n == 0 {
		b.st.pit.count = 0
		b.st.pit.schedule(b.cfg.Hz)
	}
}
