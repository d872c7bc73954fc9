package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// regSize is the size of moves to and from control and debug registers.
func (c *CPU) regSize() uint8 {
	if c.w.mode == mode64 {
		return 8
	}
	return 4
}

func execMOVfromCR(c *CPU, o *op) {
	if !c.privileged() {
		return
	}
	var v uint64
	switch o.reg {
	case 0:
		v = c.cr0
	case 2:
		v = c.cr2
	case 3:
		v = c.cr3
	case 4:
		v = c.cr4
	case 8:
		v = uint64(c.cr8)
	default:
		c.raise(excUD, 0)
		return
	}
	c.putN(o.rm, c.regSize(), v)
}

func execMOVtoCR(c *CPU, o *op) {
	if !c.privileged() {
		return
	}
	v := c.getN(o.rm, c.regSize())
	switch o.reg {
	case 0:
		c.setCR0(v)
	case 2:
		c.cr2 = v
	case 3:
		c.setCR3(v)
	case 4:
		c.setCR4(v)
	case 8:
		c.moveCR8(v)
	default:
		c.raise(excUD, 0)
	}
}

// moveCR8 exits after the write if it goes below the threshold.
func (c *CPU) moveCR8(v uint64) {
	if v > 15 {
		c.raise(excGP, 0)
		return
	}
	c.cr8 = uint8(v)
	if c.cr8 < c.tprThreshold {
		c.exit = vmm.Exit{Reason: vmm.ExitSetTPR, Addr: 8, Data: v, Write: true}
		c.stop = stopAfter
	}
}

// setCR0 is a move to CR0, with entry to and exit from IA-32e mode. Intel SDM
// vol. 3A, 9.8.5 "Initializing IA-32e Mode".
func (c *CPU) setCR0(v uint64) {
	if v>>32 != 0 || v&cr0PG != 0 && v&cr0PE == 0 || v&cr0NW != 0 && v&cr0CD == 0 {
		c.raise(excGP, 0)
		return
	}
	v = v&(cr0PE|cr0MP|cr0EM|cr0TS|cr0NE|cr0WP|cr0AM|cr0NW|cr0CD|cr0PG) | cr0ET
	on, off := v&^c.cr0&cr0PG != 0, c.cr0&^v&cr0PG != 0
	if on && c.efer&eferLME != 0 && (c.cr4&cr4PAE == 0 || c.seg[segCS].Attr&attrL != 0) ||
		off && c.w.mode == mode64 {
		c.raise(excGP, 0)
		return
	}
	if on && c.efer&eferLME != 0 {
		c.efer |= eferLMA
	}
	if off {
		c.efer &^= eferLMA
	}
	c.cr0 = v
	c.remap()
}

// remap follows a change of the translation.
func (c *CPU) remap() {
	c.flushTLB()
	c.refresh()
	c.leave()
}

func (c *CPU) setCR3(v uint64) {
	if c.w.long && v&pteHigh != 0 {
		c.raise(excGP, 0)
		return
	}
	c.cr3 = v
	c.remap()
}

func (c *CPU) setCR4(v uint64) {
	if v&^cr4Valid != 0 || c.w.long && v&cr4PAE == 0 {
		c.raise(excGP, 0)
		return
	}
	c.cr4 = v
	c.remap()
}

func execLMSW(c *CPU, o *op) {
	if !c.privileged() {
		return
	}
	if v, ok := c.operand(o, o.rm, 2); ok {
		c.setCR0(c.cr0&^0xe | v&0xf | c.cr0&cr0PE)
	}
}

// execSMSW stores all of CR0 in a register of more than 16 bits.
func execSMSW(c *CPU, o *op) {
	if o.flags&opMem != 0 {
		c.storeOp(o, 2, c.cr0)
		return
	}
	c.putN(o.rm, o.size, c.cr0)
}

// debugReg resolves DR4 and DR5, and raises #DB where DR7.GD protects the
// registers.
func (c *CPU) debugReg(o *op) (n uint8, ok bool) {
	n = o.reg
	if !c.privileged() {
		return 0, false
	}
	if n == 4 || n == 5 {
		if c.cr4&cr4DE != 0 {
			c.raise(excUD, 0)
			return 0, false
		}
		n += 2
	}
	if n > 7 {
		c.raise(excUD, 0)
		return 0, false
	}
	if c.dr[7]&dr7GD != 0 {
		c.dr[6] |= dr6BD
		c.raise(excDB, 0)
		return 0, false
	}
	return n, true
}

func execMOVfromDR(c *CPU, o *op) {
	if n, ok := c.debugReg(o); ok {
		c.putN(o.rm, c.regSize(), c.dr[n])
	}
}

func execMOVtoDR(c *CPU, o *op) {
	n, ok := c.debugReg(o)
	if !ok {
		return
	}
	v := c.getN(o.rm, c.regSize())
	if n >= 6 && v>>32 != 0 {
		c.raise(excGP, 0)
		return
	}
	switch n {
	case 6:
		v = v&0xe00f | dr6Fixed
	case 7:
		v = v&0xffff2fff | dr7Fixed
	}
	c.dr[n] = v
	c.flushTLB()
	c.leave()
}
