package interp

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// tscOf and uint64TSC convert cycle counts for comparison with TSC values.
func tscOf(n uint32) clock.TSC           { return clock.TSC(n) }
func uint64TSC(n clock.Cycles) clock.TSC { return clock.TSC(n) }

func execNOP(*CPU, *op) {}

// execNOP90 is opcode 90: with REX.B it is an exchange with R8.
func execNOP90(c *CPU, o *op) {
	if o.rex&1 == 0 {
		return
	}
	a, b := c.getN(o.dst, o.size), c.getN(o.src, o.size)
	c.putN(o.dst, o.size, b)
	c.putN(o.src, o.size, a)
}

// flagOp returns the handler of CLC, CLD and so on.
func flagOp(clear, set, toggle uint64) handler {
	return func(c *CPU, _ *op) { c.rflags = (c.flags()&^clear | set) ^ toggle }
}

func execLAHF(c *CPU, _ *op) { put(c, 0x10, int8(c.flags()&0xd7|flagOne)) }

func execSAHF(c *CPU, _ *op) {
	const m = flagCF | flagPF | flagAF | flagZF | flagSF
	c.rflags = c.flags()&^m | zx(get[int8](c, 0x10))&m
}

func execSALC(c *CPU, _ *op) { put(c, vmm.RAX, -int8(bit(c.cf(), 1))) }

func execBOUND(c *CPU, o *op) {
	at := *o
	at.disp += uint64(o.size)
	lo, ok := c.loadOp(o, o.size, accRead)
	if !ok {
		return
	}
	hi, ok := c.loadOp(&at, o.size, accRead)
	if !ok {
		return
	}
	if i := sext(c.getN(o.dst, o.size), o.size); i < sext(lo, o.size) || i > sext(hi, o.size) {
		c.raise(excBR, 0)
	}
}

func execARPL(c *CPU, o *op) {
	if !c.protected() {
		return
	}
	v, ok := c.operand(o, o.dst, 2)
	if !ok {
		return
	}
	rpl := c.getN(o.src, 2) & 3
	adjust := v&3 < rpl
	if adjust && !c.result(o, o.dst, 2, v&^3|rpl) {
		return
	}
	c.setZF(adjust)
}

// bcdFlags sets SF, ZF and PF of al, with CF and AF as given.
func (c *CPU) bcdFlags(al uint8, cf, af bool) {
	r := int64(int8(al))
	c.cc = lazy{kind: ccRes, cf: cf, a: r, b: int64(bit(af, flagAF)), r: r}
}

func execDAA(c *CPU, _ *op) { c.decimalAdjust(1) }
func execDAS(c *CPU, _ *op) { c.decimalAdjust(-1) }

func (c *CPU) decimalAdjust(sign int) {
	al, cf, af := uint8(c.r[vmm.RAX]), c.cf(), c.af()
	old, carry := al, cf
	low := 0
	if al&15 > 9 || af {
		low, af = 6, true
		cf = cf || sign > 0 && old > 0xf9 || sign < 0 && old < 6
	} else {
		af = false
	}
	r := int(al) + sign*low
	if old > 0x99 || carry {
		r += sign * 0x60
		cf = true
	}
	put(c, vmm.RAX, int8(r))
	c.bcdFlags(uint8(r), cf, af)
}

func execAAA(c *CPU, _ *op) { c.asciiAdjust(1) }
func execAAS(c *CPU, _ *op) { c.asciiAdjust(-1) }

func (c *CPU) asciiAdjust(sign int) {
	ax := int(c.r[vmm.RAX] & 0xffff)
	adjust := ax&15 > 9 || c.af()
	if adjust {
		ax += sign * 0x106
	}
	c.putN(vmm.RAX, 2, uint64(ax&0xff0f))
	c.rflags = c.flags()&^(flagCF|flagAF) | bit(adjust, flagCF|flagAF)
}

func execAAM(c *CPU, o *op) {
	n := uint8(o.imm)
	if n == 0 {
		c.raise(excDE, 0)
		return
	}
	al := uint8(c.r[vmm.RAX])
	c.putN(vmm.RAX, 2, uint64(al/n)<<8|uint64(al%n))
	c.bcdFlags(al%n, false, false)
}

func execAAD(c *CPU, o *op) {
	al := uint8(c.r[vmm.RAX]) + uint8(c.r[vmm.RAX]>>8)*uint8(o.imm)
	c.putN(vmm.RAX, 2, uint64(al))
	c.bcdFlags(al, false, false)
}

// execXGETBV reads XCR0.
func execXGETBV(c *CPU, _ *op) {
	switch {
	case c.cr4&cr4OSXSAVE == 0:
		c.raise(excUD, 0)
	case uint32(c.r[vmm.RCX]) != 0:
		c.raise(excGP, 0)
	default:
		c.r[vmm.RAX], c.r[vmm.RDX] = c.xcr0&0xffffffff, c.xcr0>>32
	}
}

// execXSETBV exits; the loop calls SetXCR0.
func execXSETBV(c *CPU, _ *op) {
	switch {
	case c.cr4&cr4OSXSAVE == 0:
		c.raise(excUD, 0)
	case c.privileged():
		c.intercept(vmm.ExitXSETBV, waitSkip)
		c.exit.Addr = c.r[vmm.RCX] & 0xffffffff
		c.exit.Data = c.r[vmm.RDX]<<32 | c.r[vmm.RAX]&0xffffffff
	}
}
