package interp

import (
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/interp/softfloat"
)

// fpuLoad pushes a memory operand, converted exactly.
func fpuLoad(from fpuMem) handler {
	return fpu(func(c *CPU, o *op) {
		x, ok := from(c, o)
		switch {
		case !ok:
		case !c.empty(7):
			c.pushST(x)
		default:
			e := c.fpuEnv()
			x = e.Convert(softfloat.Extended, x)
			if c.fpuNote(&e) {
				c.pushST(x)
			}
		}
	})
}

// rawST pushes an 80-bit image without a look at it.
func (c *CPU) rawST(x vmm.X87) {
	c.clearC1()
	if !c.empty(7) {
		c.pushST(softfloat.Num{})
		return
	}
	c.setTop(c.fpu.Top - 1)
	c.fpu.ST[0] = x
	c.fpu.Tag |= 1 << c.fpu.Top
}

func execFLD80(c *CPU, o *op) {
	m, ok := load[int64](c, o)
	if !ok {
		return
	}
	at := *o
	at.disp += 8
	if se, ok := load[int16](c, &at); ok {
		c.rawST(vmm.X87{Mant: uint64(m), Exp: uint16(se)})
	}
}

func execFLDreg(c *CPU, o *op) {
	i := o.rm & 7
	if c.empty(i) {
		if !c.empty(7) {
			c.pushST(softfloat.Num{})
		} else if c.stackFault(false) {
			c.setTop(c.fpu.Top - 1)
			c.setST(0, softfloat.Indefinite())
		}
		return
	}
	c.rawST(c.fpu.ST[i])
}

// store80 writes an 80-bit image.
func (c *CPU) store80(o *op, x vmm.X87) bool {
	at := *o
	at.disp += 8
	if _, ok := c.loadOp(&at, 2, accModify); !ok {
		return false
	}
	return store(c, o, int64(x.Mant)) && store(c, &at, int16(x.Exp))
}

func execFSTP80(c *CPU, o *op) {
	x := c.fpu.ST[0]
	if c.empty(0) {
		if !c.stackFault(false) {
			return
		}
		x.Mant, x.Exp = softfloat.Indefinite().Extended()
	} else {
		c.clearC1()
	}
	if c.store80(o, x) {
		c.popST()
	}
}

// fpuStore is FST and FSTP to memory in format f.
func fpuStore(f softfloat.Format, pop bool) handler {
	return fpu(func(c *CPU, o *op) {
		before := c.fpu.Status
		x := softfloat.Indefinite()
		done := false
		if c.empty(0) {
			done = c.stackFault(false)
		} else {
			n := c.st(0)
			n.Denormal = false // no denormal exception
			e := c.fpuEnv()
			x = e.Convert(f, n)
			done = c.fpuStored(&e)
		}
		if !done {
			return
		}
		ok := false
		if f == softfloat.Single {
			ok = store(c, o, int32(x.Single()))
		} else {
			ok = store(c, o, int64(x.Double()))
		}
		if !ok {
			c.fpu.Status = before
		} else if pop {
			c.popST()
		}
	})
}

// fpuStoreInt is FIST, FISTP and FISTTP.
func fpuStoreInt(size uint8, pop, truncate bool) handler {
	return fpu(func(c *CPU, o *op) {
		before := c.fpu.Status
		v, done := c.toInt(uint(size)*8, truncate)
		if !done {
			return
		}
		if !c.storeOp(o, size, zext(uint64(v), size)) {
			c.fpu.Status = before
		} else if pop {
			c.popST()
		}
	})
}

// toInt is ST(0) as an integer of so many bits, the indefinite integer if there
// is none. done is false if an unmasked exception forbids to store it.
func (c *CPU) toInt(size uint, truncate bool) (v int64, done bool) {
	v = -1 << (size - 1)
	if c.empty(0) {
		return v, c.stackFault(false)
	}
	e := c.fpuEnv()
	mode := e.Round
	if truncate {
		mode = softfloat.Truncate
	}
	if n, ok := e.ToInt(c.st(0), size, mode); ok {
		v = n
	}
	return v, c.fpuNote(&e)
}

func execFSTreg(c *CPU, o *op)  { c.storeReg(o, false) }
func execFSTPreg(c *CPU, o *op) { c.storeReg(o, true) }

func (c *CPU) storeReg(o *op, pop bool) {
	x := c.fpu.ST[0]
	if c.empty(0) {
		if !c.stackFault(false) {
			return
		}
		x.Mant, x.Exp = softfloat.Indefinite().Extended()
	} else {
		c.clearC1()
	}
	i := o.rm & 7
	c.fpu.ST[i] = x
	c.fpu.Tag |= 1 << ((c.fpu.Top + i) & 7)
	if pop {
		c.popST()
	}
}

func execFXCH(c *CPU, o *op) {
	i := o.rm & 7
	c.clearC1()
	if c.empty(0) || c.empty(i) {
		e0, ei := c.empty(0), c.empty(i)
		if !c.stackFault(false) {
			return
		}
		if e0 {
			c.setST(0, softfloat.Indefinite())
		}
		if ei {
			c.setST(i, softfloat.Indefinite())
		}
	}
	c.fpu.ST[0], c.fpu.ST[i] = c.fpu.ST[i], c.fpu.ST[0]
}

// fcmov is FCMOVcc. C1 stays as it was.
func fcmov(cond func(c *CPU) bool, want bool) handler {
	return fpu(func(c *CPU, o *op) {
		i := o.rm & 7
		switch {
		case c.empty(0) || c.empty(i):
			if c.stackFault(false) {
				c.setST(0, softfloat.Indefinite())
			}
		case cond(c) == want:
			c.fpu.ST[0] = c.fpu.ST[i]
		}
	})
}

func condB(c *CPU) bool  { return c.cf() }
func condE(c *CPU) bool  { return c.zf() }
func condBE(c *CPU) bool { return c.cf() || c.zf() }
func condU(c *CPU) bool  { return c.pf() }

// signOp is FCHS and FABS, which look at nothing but the sign.
func signOp(f func(se uint16) uint16) handler {
	return fpu(func(c *CPU, _ *op) {
		c.clearC1()
		if c.empty(0) {
			if c.stackFault(false) {
				c.setST(0, softfloat.Indefinite())
			}
			return
		}
		c.fpu.ST[0].Exp = f(c.fpu.ST[0].Exp)
	})
}

// fpuConst are the constants with a rest that decides about rounding: how their
// next bits compare with one half. Intel SDM vol. 1, 8.3.3 "Load Constant
// Instructions".
type fpuConst struct {
	mant uint64
	se   uint16
	half bool // the part cut off is more than half a unit in the last place
}

var (
	const1    = fpuConst{mant: 1 << 63, se: 0x3fff}
	constL2T  = fpuConst{0xd49a784bcd1b8afe, 0x4000, false}
	constL2E  = fpuConst{0xb8aa3b295c17f0bb, 0x3fff, true}
	constPI   = fpuConst{0xc90fdaa22168c234, 0x4000, true}
	constLG2  = fpuConst{0x9a209a84fbcff798, 0x3ffd, true}
	constLN2  = fpuConst{0xb17217f7d1cf79ab, 0x3ffe, true}
	constZero = fpuConst{}
)

func loadConst(k fpuConst) handler {
	return fpu(func(c *CPU, _ *op) {
		m := k.mant
		switch r := softfloat.Rounding(c.fpu.Control >> 10 & 3); {
		case m<<1 == 0: // exact
		case r == softfloat.Up, r == softfloat.Nearest && k.half:
			m++
		}
		c.rawST(vmm.X87{Mant: m, Exp: k.se})
	})
}

// execFBLD loads 18 decimal digits. Intel SDM vol. 1, 4.7 "BCD and Packed BCD
// Integers".
func execFBLD(c *CPU, o *op) {
	at := *o
	at.disp += 8
	lo, ok := load[int64](c, o)
	if !ok {
		return
	}
	hi, ok := load[int16](c, &at)
	if !ok {
		return
	}
	v := int64(0)
	for i := 17; i >= 0; i-- {
		d := uint64(lo) >> (4 * i) & 15
		if i >= 16 {
			d = uint64(hi) >> (4 * (i - 16)) & 15
		}
		v = v*10 + int64(d)
	}
	n := softfloat.FromInt(v)
	n.Neg = hi < 0
	c.clearC1()
	c.pushST(n)
}

// maxBCD is the first integer that FBSTP cannot store.
const maxBCD = 1000000000000000000

func execFBSTP(c *CPU, o *op) {
	before := c.fpu.Status
	v, done := int64(0), false
	neg := c.st(0).Neg
	bad := true
	if c.empty(0) {
		done = c.stackFault(false)
	} else {
		e := c.fpuEnv()
		n, ok := e.ToInt(c.st(0), 64, e.Round)
		if ok && n > -maxBCD && n < maxBCD {
			v, bad = n, false
		} else {
			e.Flags = softfloat.Invalid
			e.RoundedUp = false
		}
		done = c.fpuNote(&e)
	}
	if !done {
		return
	}
	lo, hi := uint64(0xc000000000000000), uint16(0xffff) // packed BCD indefinite
	if !bad {
		lo, hi = packBCD(v)
		if neg {
			hi |= 0x8000
		}
	}
	if c.store80(o, vmm.X87{Mant: lo, Exp: hi}) {
		c.popST()
	} else {
		c.fpu.Status = before
	}
}

// packBCD returns the 18 digits of v, 16 of them in lo.
func packBCD(v int64) (lo uint64, hi uint16) {
	u := uint64(v)
	if v < 0 {
		u = -u
	}
	for i := range 18 {
		d := u % 10
		u /= 10
		if i < 16 {
			lo |= d << (4 * i)
		} else {
			hi |= uint16(d) << (4 * (i - 16))
		}
	}
	return lo, hi
}

// tagWord is the full tag word: two bits per register. Intel SDM vol. 1, 8.1.7
// "x87 FPU Tag Word".
func (c *CPU) tagWord() uint16 {
	w := uint16(0)
	for i := range uint8(8) {
		t := uint16(0)
		x := c.fpu.ST[(i-c.fpu.Top)&7]
		switch {
		case c.fpu.Tag>>i&1 == 0:
			t = 3
		case x.Exp&0x7fff == 0 && x.Mant == 0:
			t = 1
		case x.Exp&0x7fff == 0x7fff, x.Exp&0x7fff == 0, x.Mant>>63 == 0:
			t = 2
		}
		w |= t << (2 * i)
	}
	return w
}

// setTagWord marks the registers empty or not.
func (c *CPU) setTagWord(w uint16) {
	c.fpu.Tag = 0
	for i := range 8 {
		if w>>(2*i)&3 != 3 {
			c.fpu.Tag |= 1 << i
		}
	}
}
