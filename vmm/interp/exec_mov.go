package interp

import (
	"math/bits"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

func movR[T sint](c *CPU, o *op) { put(c, o.dst, src[T](c, o)) }

func movL[T sint](c *CPU, o *op) {
	if v, ok := load[T](c, o); ok {
		put(c, o.dst, v)
	}
}

func movM[T sint](c *CPU, o *op) { store(c, o, src[T](c, o)) }

// movzxR and the like widen from F to o.size bytes.
func movzxR[F sint](c *CPU, o *op) { c.putN(o.dst, o.size, zx(get[F](c, o.src))) }

func movzxL[F sint](c *CPU, o *op) {
	if v, ok := load[F](c, o); ok {
		c.putN(o.dst, o.size, zx(v))
	}
}

func movsxR[F sint](c *CPU, o *op) { c.putN(o.dst, o.size, uint64(get[F](c, o.src))) }

func movsxL[F sint](c *CPU, o *op) {
	if v, ok := load[F](c, o); ok {
		c.putN(o.dst, o.size, uint64(v))
	}
}

func lea[T sint](c *CPU, o *op) {
	put(c, o.dst, T((c.r[o.base&31]+c.r[o.index&31]<<(o.scale&3)+o.disp)&o.amask))
}

func xchgR[T sint](c *CPU, o *op) {
	a, b := get[T](c, o.dst), get[T](c, o.src)
	put(c, o.dst, b)
	put(c, o.src, a)
}

func xchgM[T sint](c *CPU, o *op) {
	if a, p, ok := modify[T](c, o); ok && commit(c, o, p, get[T](c, o.src)) {
		put(c, o.src, a)
	}
}

func xaddR[T sint](c *CPU, o *op) {
	a, b := get[T](c, o.dst), get[T](c, o.src)
	put(c, o.src, a)
	put(c, o.dst, a+b)
	setAdd(c, a, b, a+b)
}

func xaddM[T sint](c *CPU, o *op) {
	a, p, ok := modify[T](c, o)
	b := get[T](c, o.src)
	if ok && commit(c, o, p, a+b) {
		put(c, o.src, a)
		setAdd(c, a, b, a+b)
	}
}

func cmpxchgR[T sint](c *CPU, o *op) {
	d, a := get[T](c, o.dst), get[T](c, vmm.RAX)
	if a == d {
		put(c, o.dst, get[T](c, o.src))
	} else {
		put(c, vmm.RAX, d)
	}
	setSub(c, a, d, a-d)
}

// cmpxchgM writes memory in both cases, as the processor does.
func cmpxchgM[T sint](c *CPU, o *op) {
	d, p, ok := modify[T](c, o)
	if !ok {
		return
	}
	a := get[T](c, vmm.RAX)
	v := d
	if a == d {
		v = get[T](c, o.src)
	}
	if !commit(c, o, p, v) {
		return
	}
	if a != d {
		put(c, vmm.RAX, d)
	}
	setSub(c, a, d, a-d)
}

// execCMPXCHG8B is CMPXCHG8B, and CMPXCHG16B with REX.W.
func execCMPXCHG8B(c *CPU, o *op) {
	if o.size == 8 {
		c.cmpxchg16(o)
		return
	}
	d, ok := c.loadOp(o, 8, accModify)
	if !ok {
		return
	}
	equal := d == c.r[vmm.RDX]<<32|c.r[vmm.RAX]&0xffffffff
	v := d
	if equal {
		v = c.r[vmm.RCX]<<32 | c.r[vmm.RBX]&0xffffffff
	}
	if !c.storeOp(o, 8, v) {
		return
	}
	if !equal {
		c.r[vmm.RAX], c.r[vmm.RDX] = d&0xffffffff, d>>32
	}
	c.rflags = c.flags()&^flagZF | bit(equal, flagZF)
}

func (c *CPU) cmpxchg16(o *op) {
	a := c.linear(o)
	if a&15 != 0 {
		c.raise(excGP, 0)
		return
	}
	lo, ok := c.loadOp(o, 8, accModify)
	if !ok {
		return
	}
	hi, ok := c.read(a+8, 8, accModify)
	if !ok {
		return
	}
	equal := lo == c.r[vmm.RAX] && hi == c.r[vmm.RDX]
	newLo, newHi := lo, hi
	if equal {
		newLo, newHi = c.r[vmm.RBX], c.r[vmm.RCX]
	}
	if !c.write(a, 8, newLo) || !c.write(a+8, 8, newHi) {
		return
	}
	if !equal {
		c.r[vmm.RAX], c.r[vmm.RDX] = lo, hi
	}
	c.rflags = c.flags()&^flagZF | bit(equal, flagZF)
}

// cmov is CMOVcc: the operand is read in any case.
func cmov[T sint](c *CPU, o *op) {
	v := get[T](c, o.src)
	if o.flags&opMem != 0 {
		var ok bool
		if v, ok = load[T](c, o); !ok {
			return
		}
	}
	if c.cond(o.code) {
		put(c, o.dst, v)
	} else {
		put(c, o.dst, get[T](c, o.dst))
	}
}

func execSETcc(c *CPU, o *op) { c.result(o, o.dst, 1, bit(c.cond(o.code), 1)) }

func execBSWAP(c *CPU, o *op) {
	v := bits.ReverseBytes64(c.getN(o.dst, o.size))
	c.putN(o.dst, o.size, v>>(64-8*o.size))
}

func execMOVBE(c *CPU, o *op) {
	if o.code == 0xf1 {
		c.storeOp(o, o.size, bits.ReverseBytes64(c.getN(o.src, o.size))>>(64-8*o.size))
		return
	}
	if v, ok := c.loadOp(o, o.size, accRead); ok {
		c.putN(o.dst, o.size, bits.ReverseBytes64(v)>>(64-8*o.size))
	}
}

func execXLAT(c *CPU, o *op) {
	ea := (c.r[vmm.RBX] + c.r[vmm.RAX]&0xff) & o.amask
	if v, ok := c.readSeg(o.seg, ea, 1); ok {
		c.putN(vmm.RAX, 1, v)
	}
}

// readSeg and writeSeg access offset ea of segment seg.
func (c *CPU) readSeg(seg uint8, ea uint64, size uint8) (uint64, bool) {
	a, ok := c.segAddress(seg, ea, size, false)
	if !ok {
		return 0, false
	}
	return c.read(a, size, accRead)
}

func (c *CPU) writeSeg(seg uint8, ea uint64, size uint8, v uint64) bool {
	a, ok := c.segAddress(seg, ea, size, true)
	return ok && c.write(a, size, v)
}

// segAddress returns the linear address of an access to offset ea of segment
// seg, in any mode.
func (c *CPU) segAddress(seg uint8, ea uint64, size uint8, write bool) (uint64, bool) {
	if c.w.mode != mode64 {
		return c.segLinear(seg, ea, size, write)
	}
	a := ea + c.w.segBase[seg&7]
	if !canonical(a) {
		c.raise(excGP, 0)
		return 0, false
	}
	return a, true
}
