package board

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// crtcSize is the number of registers of a CRT controller.
const crtcSize = 0x19

// crtc is the display controller as far as text consoles use it: the cursor and
// its other registers read back what was written.
type crtc struct {
	index uint8
	regs  [crtcSize]uint8
}

func crtcIn(b *Board, _ clock.TSC, port uint16, _ uint8) uint32 {
	c := &b.st.crtc
	switch {
	case port == 0x3d4:
		return uint32(c.index)
	case c.index < crtcSize:
		return uint32(c.regs[c.index])
	}
	return 0xff
}

func crtcOut(b *Board, now clock.TSC, port uint16, size uint8, v uint32) {
	c := &b.st.crtc
	switch {
	case port == 0x3d4:
		c.index = uint8(v)
		if size == 2 { // index and data in one access
			crtcOut(b, now, 0x3d5, 1, v>>8)
		}
	case c.index < crtcSize:
		c.regs[c.index] = uint8(v)
	}
}
