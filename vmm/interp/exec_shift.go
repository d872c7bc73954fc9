package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// shiftCount returns the masked count of a shift: an immediate, 1, or CL.
func (c *CPU) shiftCount(o *op) uint {
	n := c.r[vmm.RCX]
	switch {
	case o.flags&opImm != 0:
		n = o.imm
	case o.code == 0xd0 || o.code == 0xd1:
		n = 1
	}
	if o.size == 8 {
		return uint(n & 63)
	}
	return uint(n & 31)
}

// shifter returns a handler that applies f to the operand. A count of zero
// changes no flags.
func shifter(f func(c *CPU, v uint64, n uint, size uint8) (uint64, lazy)) handler {
	return func(c *CPU, o *op) {
		n := c.shiftCount(o)
		if o.flags&opMem == 0 {
			if n == 0 {
				c.putN(o.dst, o.size, c.getN(o.dst, o.size))
				return
			}
			v, cc := f(c, c.getN(o.dst, o.size), n, o.size)
			c.putN(o.dst, o.size, v)
			c.cc = cc
			return
		}
		v, ok := c.loadOp(o, o.size, accModify)
		if !ok || n == 0 {
			return
		}
		v, cc := f(c, v, n, o.size)
		if c.storeOp(o, o.size, v) {
			c.cc = cc
		}
	}
}

// resFlags are the flags of a shift's result.
func resFlags(v uint64, size uint8, cf, of bool) lazy {
	r := sext(v, size)
	return lazy{kind: ccRes, cf: cf, of: of, a: r, r: r}
}

// rotFlags are the present flags with other CF and OF.
func (c *CPU) rotFlags(cf, of bool) lazy {
	c.rflags = c.flags()&^(flagCF|flagOF) | bit(cf, flagCF) | bit(of, flagOF)
	return c.cc
}

func msb(v uint64, size uint8) bool { return v>>(8*size-1)&1 != 0 }

func shl(_ *CPU, v uint64, n uint, size uint8) (uint64, lazy) {
	w := uint(size) * 8
	cf := n <= w && v>>(w-n)&1 != 0
	r := v << n
	return r, resFlags(r, size, cf, msb(r, size) != cf)
}

func shr(_ *CPU, v uint64, n uint, size uint8) (uint64, lazy) {
	cf := v>>(n-1)&1 != 0
	r := v >> n
	return r, resFlags(r, size, cf, msb(v, size))
}

func sar(_ *CPU, v uint64, n uint, size uint8) (uint64, lazy) {
	s := sext(v, size)
	r := uint64(s >> n)
	return r, resFlags(r, size, s>>(n-1)&1 != 0, false)
}

func rol(c *CPU, v uint64, n uint, size uint8) (uint64, lazy) {
	w := uint(size) * 8
	n %= w
	r := zext(v<<n|v>>(w-n), size)
	cf := r&1 != 0
	return r, c.rotFlags(cf, msb(r, size) != cf)
}

func ror(c *CPU, v uint64, n uint, size uint8) (uint64, lazy) {
	w := uint(size) * 8
	n %= w
	r := zext(v>>n|v<<(w-n), size)
	cf := msb(r, size)
	return r, c.rotFlags(cf, cf != msb(r<<1, size))
}

func rcl(c *CPU, v uint64, n uint, size uint8) (uint64, lazy) {
	w := uint(size) * 8
	cf := c.cf()
	for range n % (w + 1) {
		out := msb(v, size)
		v = zext(v<<1|bit(cf, 1), size)
		cf = out
	}
	return v, c.rotFlags(cf, msb(v, size) != cf)
}

func rcr(c *CPU, v uint64, n uint, size uint8) (uint64, lazy) {
	w := uint(size) * 8
	cf := c.cf()
	for range n % (w + 1) {
		out := v&1 != 0
		v = v>>1 | bit(cf, 1<<(w-1))
		cf = out
	}
	return v, c.rotFlags(cf, msb(v, size) != msb(v<<1, size))
}

// The shifts that compilers emit all the time have direct forms for registers.

func shlR[T sint](c *CPU, o *op) {
	if n := c.shiftCount(o); n != 0 {
		v := zx(get[T](c, o.dst))
		r := T(v << n)
		put(c, o.dst, r)
		cf := n <= 8*uint(width[T]()) && v>>(8*uint(width[T]())-n)&1 != 0
		setRes(c, r, cf, (r < 0) != cf)
		return
	}
	put(c, o.dst, get[T](c, o.dst))
}

func shrR[T sint](c *CPU, o *op) {
	if n := c.shiftCount(o); n != 0 {
		a := get[T](c, o.dst)
		v := zx(a)
		r := T(v >> n)
		put(c, o.dst, r)
		setRes(c, r, v>>(n-1)&1 != 0, a < 0)
		return
	}
	put(c, o.dst, get[T](c, o.dst))
}

// execSHLD and execSHRD take the bits that come in from the G operand. A count
// above the operand's width gives an undefined result: here, that of the count
// modulo the width.
func execSHLD(c *CPU, o *op) { c.doubleShift(o, true) }
func execSHRD(c *CPU, o *op) { c.doubleShift(o, false) }

func (c *CPU) doubleShift(o *op, left bool) {
	n := uint64(c.shiftCount(o))
	v := c.getN(o.dst, o.size)
	if o.flags&opMem != 0 {
		var ok bool
		if v, ok = c.loadOp(o, o.size, accModify); !ok {
			return
		}
	}
	w := uint64(o.size) * 8
	if n == 0 {
		if o.flags&opMem == 0 {
			c.putN(o.dst, o.size, v)
		}
		return
	}
	if n > w {
		n -= w
	}
	g := c.getN(o.src, o.size)
	var r uint64
	var cf bool
	if left {
		r = zext(v<<n|g>>(w-n), o.size)
		cf = v>>(w-n)&1 != 0
	} else {
		r = zext(v>>n|g<<(w-n), o.size)
		cf = v>>(n-1)&1 != 0
	}
	if c.result(o, o.dst, o.size, r) {
		c.cc = resFlags(r, o.size, cf, msb(r, o.size) != msb(v, o.size))
	}
}
