package interp

// The bits of DR6 and DR7. Intel SDM vol. 3B, 18.2 "Debug Registers".
const (
	dr6Fixed = 0xffff0ff0
	dr6BD    = 1 << 13
	dr6BS    = 1 << 14

	dr7Fixed  = 0x400
	dr7Enable = 0xff
	dr7GD     = 1 << 13
)

// breakpoint returns the type (0 execute, 1 write, 2 port, 3 read or write) and
// the length of breakpoint i, and whether it is enabled.
func (c *CPU) breakpoint(i int) (kind uint8, length uint64, on bool) {
	f := c.dr[7] >> (16 + 4*i)
	return uint8(f & 3), [4]uint64{1, 2, 8, 4}[f>>2&3], c.dr[7]>>(2*i)&3 != 0
}

// watched notes data breakpoints that an access meets, and reports whether any
// data breakpoint is on: then the TLB must not be used.
func (c *CPU) watched(a uint64, size uint8, acc access) bool {
	if c.dr[7]&dr7Enable == 0 {
		return false
	}
	for i := range 4 {
		kind, length, on := c.breakpoint(i)
		if !on || kind != 3 && (kind != 1 || !acc.writes()) {
			continue
		}
		if b := c.dr[i] &^ (length - 1); a < b+length && b < a+uint64(size) {
			c.hits |= 1 << i
		}
	}
	return true
}

// execBreak reports whether an instruction breakpoint is at the present RIP, and
// raises #DB for it.
func (c *CPU) execBreak() bool {
	if c.rflags&flagRF != 0 || c.dr[7]&dr7Enable == 0 {
		return false
	}
	a := c.r[regIP]
	if c.w.mode != mode64 {
		a = (a + c.seg[segCS].Base) & 0xffffffff
	}
	var hits uint64
	for i := range 4 {
		if kind, _, on := c.breakpoint(i); on && kind == 0 && c.dr[i] == a {
			hits |= 1 << i
		}
	}
	if hits == 0 {
		return false
	}
	c.dr[6] = c.dr[6]&^0xf | hits
	c.rflags |= flagRF
	c.raise(excDB, 0)
	return true
}
