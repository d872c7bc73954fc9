package interp

import (
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/interp/softfloat"
)

// The bits of the x87 status word. Intel SDM vol. 1, 8.1.3 "x87 FPU Status
// Register".
//
//	15 14 13-11 10 9  8  7  6  5  4  3  2  1  0
//	B  C3 TOP   C2 C1 C0 ES SF PE UE OE ZE DE IE
const (
	fswInvalid = 1 << 0
	fswSF      = 1 << 6
	fswES      = 1 << 7
	fswC0      = 1 << 8
	fswC1      = 1 << 9
	fswC2      = 1 << 10
	fswC3      = 1 << 14
	fswB       = 1 << 15
	fswCC      = fswC0 | fswC1 | fswC2 | fswC3
	fswFlags   = 0x3f

	fcwReset = 0x37f
	fcwFixed = 0x40   // reads as one
	fcwValid = 0x1f3f // the bits that can be written
)

// fpuUsable raises #NM if the x87 may not be used. Intel SDM vol. 3A, 2.5
// "Control Registers", on EM and TS.
func (c *CPU) fpuUsable() bool {
	if c.cr0&(cr0EM|cr0TS) != 0 {
		c.raise(excNM, 0)
		return false
	}
	return true
}

// fpuReady is the start of every waiting x87 instruction: a pending unmasked
// exception is raised first. With CR0.NE clear a PC would get interrupt 13 from
// FERR#; no such line exists here, and the exception stays pending.
func (c *CPU) fpuReady() bool {
	if !c.fpuUsable() {
		return false
	}
	if c.fpu.Status&fswES != 0 && c.cr0&cr0NE != 0 {
		c.raise(excMF, 0)
		return false
	}
	return true
}

// fpu makes a handler that waits and notes the instruction's address.
func fpu(h handler) handler {
	return func(c *CPU, o *op) {
		if !c.fpuReady() {
			return
		}
		h(c, o)
		if c.stop == stopNone {
			c.fpu.LastIP = c.r[regIP] - uint64(o.len)
			if o.flags&opMem != 0 {
				c.fpu.LastDP = c.linear(o) - c.w.segBase[o.seg&7]
			}
		}
	}
}

// fpuEnv is the environment that the control word describes.
func (c *CPU) fpuEnv() softfloat.Env {
	return softfloat.Env{Round: softfloat.Rounding(c.fpu.Control >> 10 & 3), Masked: softfloat.Flags(c.fpu.Control & 0x3f), X87: true}
}

// fpuFormat is the format of results that precision control asks for.
func (c *CPU) fpuFormat() softfloat.Format {
	switch c.fpu.Control >> 8 & 3 {
	case 0:
		return softfloat.Short
	case 2:
		return softfloat.Medium
	}
	return softfloat.Extended
}

// fpuNote adds the exceptions and the rounding of e to the status word. It
// reports false if the operation must not have an effect: an exception found
// before it is not masked.
func (c *CPU) fpuNote(e *softfloat.Env) bool {
	pre := e.Flags & softfloat.PreComputation &^ e.Masked
	if pre != 0 {
		e.Flags &= softfloat.PreComputation
		e.RoundedUp = false
	}
	c.fpu.Status = c.fpu.Status&^fswC1 | uint16(e.Flags)
	if e.RoundedUp {
		c.fpu.Status |= fswC1
	}
	c.fpuSummary()
	return pre == 0
}

// fpuStored is fpuNote for results that go to memory: unmasked overflow and
// underflow keep them from being stored, too.
func (c *CPU) fpuStored(e *softfloat.Env) bool {
	if e.Flags&(softfloat.Overflow|softfloat.Underflow)&^e.Masked != 0 {
		e.Flags &^= softfloat.Inexact
		e.RoundedUp = false
		c.fpuNote(e)
		return false
	}
	return c.fpuNote(e)
}

// fpuSummary sets ES and B if an exception is not masked, else clears them.
func (c *CPU) fpuSummary() {
	c.fpu.Status &^= fswES | fswB
	if c.fpu.Status&fswFlags&^c.fpu.Control != 0 {
		c.fpu.Status |= fswES | fswB
	}
}

// stackFault notes a stack underflow, or overflow if over, and reports whether
// it is masked: then the destination becomes the indefinite NaN. Intel SDM vol.
// 1, 8.5.1.1 "Stack Overflow or Underflow Exception (#IS)".
func (c *CPU) stackFault(over bool) bool {
	c.fpu.Status = c.fpu.Status&^fswC1 | fswInvalid | fswSF
	if over {
		c.fpu.Status |= fswC1
	}
	c.fpuSummary()
	return c.fpu.Control&fswInvalid != 0
}

// empty reports whether ST(i) is.
func (c *CPU) empty(i uint8) bool { return c.fpu.Tag>>((c.fpu.Top+i)&7)&1 == 0 }

// st returns ST(i).
func (c *CPU) st(i uint8) softfloat.Num {
	x := &c.fpu.ST[i&7]
	return softfloat.FromExtended(x.Mant, x.Exp)
}

// setST writes ST(i), which is then not empty.
func (c *CPU) setST(i uint8, n softfloat.Num) {
	m, se := n.Extended()
	c.fpu.ST[i&7] = vmm.X87{Mant: m, Exp: se}
	c.fpu.Tag |= 1 << ((c.fpu.Top + i) & 7)
}

// setTop moves TOP; the registers stay where they are.
func (c *CPU) setTop(top uint8) {
	d := (top - c.fpu.Top) & 7
	if d == 0 {
		return
	}
	old := c.fpu.ST
	for i := range uint8(8) {
		c.fpu.ST[i] = old[(i+d)&7]
	}
	c.fpu.Top = top & 7
}

// pushST pushes n. A full stack is an overflow.
func (c *CPU) pushST(n softfloat.Num) {
	if !c.empty(7) {
		if !c.stackFault(true) {
			return
		}
		n = softfloat.Indefinite()
	}
	c.setTop(c.fpu.Top - 1)
	c.setST(0, n)
}

// popST marks ST(0) empty and moves TOP.
func (c *CPU) popST() {
	c.fpu.Tag &^= 1 << c.fpu.Top
	c.setTop(c.fpu.Top + 1)
}

// clearC1 clears C1, as most instructions do that do not round.
func (c *CPU) clearC1() { c.fpu.Status &^= fswC1 }

// setCC replaces C3, C2 and C0, and clears C1.
func (c *CPU) setCC(cc uint16) { c.fpu.Status = c.fpu.Status&^fswCC | cc }
