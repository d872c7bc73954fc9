package board

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// refreshShift: the refresh bit toggles every 2^14 ns, as in KVM
// (arch/x86/kvm/i8254.c, speaker_ioport_read); on a PC/AT every 15 us.
const refreshShift = 14

// portBIn reads port B: bit 0 channel 2's gate, 1 speaker, 4 refresh, 5 channel
// 2's output.
func portBIn(b *Board, now clock.TSC, _ uint16, _ uint8) uint32 {
	p := &b.st.pit
	ns, _ := b.cfg.Hz.ToNanos(now - b.cfg.Start)
	v := uint32(ns>>refreshShift&1) << 4
	if p.ch[2].gate {
		v |= 1
	}
	if p.speaker {
		v |= 2
	}
	if p.ch[2].output(now, b.cfg.Hz) {
		v |= 0x20
	}
	return v
}

// portBOut writes the gate and the speaker. A rising gate restarts the count in
// all modes but 0 and 4, whose counting it should hold: KVM does not, nor does
// this.
func portBOut(b *Board, now clock.TSC, _ uint16, _ uint8, v uint32) {
	p := &b.st.pit
	c := &p.ch[2]
	gate := v&1 != 0
	if gate && !c.gate && c.mode != 0 && c.mode != 4 {
		c.load = now
	}
	c.gate, p.speaker = gate, v&2 != 0
}
