package interp

import (
	"math/bits"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// operand reads the E operand as size bytes.
func (c *CPU) operand(o *op, reg, size uint8) (uint64, bool) {
	if o.flags&opMem != 0 {
		return c.loadOp(o, size, accRead)
	}
	return c.getN(reg, size), true
}

// result writes the E operand.
func (c *CPU) result(o *op, reg, size uint8, v uint64) bool {
	if o.flags&opMem != 0 {
		return c.storeOp(o, size, v)
	}
	c.putN(reg, size, v)
	return true
}

// setWide stores a double-width product: AX for bytes, else rDX:rAX.
func (c *CPU) setWide(size uint8, hi, lo uint64) {
	if size == 1 {
		c.putN(vmm.RAX, 2, lo)
		return
	}
	c.putN(vmm.RAX, size, lo)
	c.putN(vmm.RDX, size, hi)
}

func execMUL(c *CPU, o *op) {
	b, ok := c.operand(o, o.dst, o.size)
	if !ok {
		return
	}
	hi, lo := bits.Mul64(c.getN(vmm.RAX, o.size), b)
	if o.size < 8 {
		hi = lo >> (8 * o.size)
	}
	c.setWide(o.size, hi, lo)
	setRes(c, sext(lo, o.size), zext(hi, o.size) != 0, zext(hi, o.size) != 0)
}

// mulSigned returns the double-width product of the lowest size bytes of a and
// b, and whether it does not fit the single width.
func mulSigned(a, b uint64, size uint8) (hi, lo uint64, over bool) {
	x, y := sext(a, size), sext(b, size)
	if size < 8 {
		p := x * y
		return uint64(p >> (8 * size)), uint64(p), p != sext(uint64(p), size)
	}
	hi, lo = bits.Mul64(uint64(x), uint64(y))
	if x < 0 {
		hi -= uint64(y)
	}
	if y < 0 {
		hi -= uint64(x)
	}
	return hi, lo, int64(hi) != int64(lo)>>63
}

func execIMUL1(c *CPU, o *op) {
	b, ok := c.operand(o, o.dst, o.size)
	if !ok {
		return
	}
	hi, lo, over := mulSigned(c.getN(vmm.RAX, o.size), b, o.size)
	c.setWide(o.size, hi, lo)
	setRes(c, sext(lo, o.size), over, over)
}

// execIMUL2 is IMUL r, r/m and IMUL r, r/m, imm.
func execIMUL2(c *CPU, o *op) {
	b, ok := c.operand(o, o.src, o.size)
	if !ok {
		return
	}
	a := c.getN(o.dst, o.size)
	if o.flags&opImm != 0 {
		a = o.imm
	}
	_, lo, over := mulSigned(a, b, o.size)
	c.putN(o.dst, o.size, lo)
	setRes(c, sext(lo, o.size), over, over)
}

func execDIV(c *CPU, o *op) {
	d, ok := c.operand(o, o.dst, o.size)
	if !ok {
		return
	}
	hi, lo := c.dividend(o.size)
	if d == 0 || hi >= d {
		c.raise(excDE, 0)
		return
	}
	var q, r uint64
	if o.size == 8 {
		q, r = bits.Div64(hi, lo, d)
	} else {
		n := hi<<(8*o.size) | lo
		q, r = n/d, n%d
	}
	c.setQuotient(o.size, q, r)
}

// dividend returns AX, or rDX:rAX, as two words of size bytes.
func (c *CPU) dividend(size uint8) (hi, lo uint64) {
	if size == 1 {
		return c.r[vmm.RAX] >> 8 & 0xff, c.r[vmm.RAX] & 0xff
	}
	return c.getN(vmm.RDX, size), c.getN(vmm.RAX, size)
}

func (c *CPU) setQuotient(size uint8, q, r uint64) {
	if size == 1 {
		c.putN(vmm.RAX, 2, q&0xff|r<<8&0xff00)
		return
	}
	c.putN(vmm.RAX, size, q)
	c.putN(vmm.RDX, size, r)
}

func execIDIV(c *CPU, o *op) {
	u, ok := c.operand(o, o.dst, o.size)
	if !ok {
		return
	}
	d := sext(u, o.size)
	hi, lo := c.dividend(o.size)
	negative := sext(hi, o.size) < 0
	if negative { // magnitude of the dividend
		lo = -lo
		hi = ^hi
		if zext(lo, o.size) == 0 {
			hi++
		}
		hi, lo = zext(hi, o.size), zext(lo, o.size)
	}
	m := uint64(max(d, -d))
	if d == -d && d != 0 {
		m = 1 << 63
	}
	if m == 0 || hi >= m {
		c.raise(excDE, 0)
		return
	}
	var q, r uint64
	if o.size == 8 {
		q, r = bits.Div64(hi, lo, m)
	} else {
		n := hi<<(8*o.size) | lo
		q, r = n/m, n%m
	}
	limit := uint64(1) << (8*o.size - 1)
	if minus := negative != (d < 0); minus && q > limit || !minus && q >= limit {
		c.raise(excDE, 0)
		return
	} else if minus {
		q = -q
	}
	if negative {
		r = -r
	}
	c.setQuotient(o.size, q, r)
}

func execCBW(c *CPU, o *op) { c.putN(vmm.RAX, o.size, uint64(sext(c.r[vmm.RAX], o.size/2))) }

func execCWD(c *CPU, o *op) { c.putN(vmm.RDX, o.size, uint64(sext(c.r[vmm.RAX], o.size)>>63)) }
