package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// loadWhole is V = W of 16 bytes.
func loadWhole(aligned bool) family {
	return sse(func(c *CPU, o *op) {
		v := c.fpu.XMM[o.rm&15]
		if o.flags&opMem != 0 {
			var ok bool
			if v, ok = c.loadVec(o, aligned); !ok {
				return
			}
		}
		c.fpu.XMM[o.reg&15] = v
	})
}

// storeWhole is W = V of 16 bytes.
func storeWhole(aligned bool) family {
	return sse(func(c *CPU, o *op) {
		v := c.fpu.XMM[o.reg&15]
		if o.flags&opMem != 0 {
			c.storeVec(o, v, aligned)
			return
		}
		c.fpu.XMM[o.rm&15] = v
	})
}

// execMOVSSload and its kin: memory clears the rest of the register, a register
// leaves it alone.
func execMOVSSload(c *CPU, o *op) {
	v, ok := c.source32(o)
	switch {
	case !ok:
	case o.flags&opMem != 0:
		c.fpu.XMM[o.reg&15] = vec{uint64(v)}
	default:
		set32(&c.fpu.XMM[o.reg&15], 0, v)
	}
}

func execMOVSSstore(c *CPU, o *op) {
	v := uint32(c.fpu.XMM[o.reg&15][0])
	if o.flags&opMem != 0 {
		store(c, o, int32(v))
		return
	}
	set32(&c.fpu.XMM[o.rm&15], 0, v)
}

func execMOVSDload(c *CPU, o *op) {
	v, ok := c.source64(o)
	if !ok {
		return
	}
	c.fpu.XMM[o.reg&15][0] = v
	if o.flags&opMem != 0 {
		c.fpu.XMM[o.reg&15][1] = 0
	}
}

func execMOVSDstore(c *CPU, o *op) {
	v := c.fpu.XMM[o.reg&15][0]
	if o.flags&opMem != 0 {
		store(c, o, int64(v))
		return
	}
	c.fpu.XMM[o.rm&15][0] = v
}

// execMOVQload clears the upper half in any case, and so does the store to a
// register.
func execMOVQload(c *CPU, o *op) {
	if v, ok := c.source64(o); ok {
		c.fpu.XMM[o.reg&15] = vec{v}
	}
}

func execMOVQstore(c *CPU, o *op) {
	v := c.fpu.XMM[o.reg&15][0]
	if o.flags&opMem != 0 {
		store(c, o, int64(v))
		return
	}
	c.fpu.XMM[o.rm&15] = vec{v}
}

// loadHalf reads a half of V from memory; from a register it is the other half
// (MOVHLPS, MOVLHPS).
func loadHalf(half int) family {
	return sse(func(c *CPU, o *op) {
		v := c.fpu.XMM[o.rm&15][1-half]
		if o.flags&opMem != 0 {
			u, ok := load[int64](c, o)
			if !ok {
				return
			}
			v = uint64(u)
		}
		c.fpu.XMM[o.reg&15][half] = v
	})
}

func storeHalf(half int) family {
	return family{mem: sse(func(c *CPU, o *op) { store(c, o, int64(c.fpu.XMM[o.reg&15][half])) }).mem}
}

// execMOVDload moves 4 bytes, or 8 with REX.W, from E and clears the rest.
func execMOVDload(c *CPU, o *op) {
	if v, ok := c.sourceGPR(o); ok {
		c.fpu.XMM[o.reg&15] = vec{v}
	}
}

func execMOVDstore(c *CPU, o *op) { c.storeGPR(o, c.fpu.XMM[o.reg&15][0]) }

// storeGPR writes 4 bytes, or 8 with REX.W, to E.
func (c *CPU) storeGPR(o *op, v uint64) {
	size := uint8(4)
	if o.rex&8 != 0 {
		size = 8
	}
	c.result(o, o.rm, size, zext(v, size))
}

// execMOVMSKPS and execMOVMSKPD collect sign bits.
func execMOVMSKPS(c *CPU, o *op) {
	v := c.fpu.XMM[o.rm&15]
	c.r[o.reg&15] = v[0]>>31&1 | v[0]>>63<<1 | v[1]>>31&1<<2 | v[1]>>63<<3
}

func execMOVMSKPD(c *CPU, o *op) {
	v := c.fpu.XMM[o.rm&15]
	c.r[o.reg&15] = v[0]>>63 | v[1]>>63<<1
}

func execPMOVMSKB(c *CPU, o *op) { c.r[o.reg&15] = byteSigns(c.fpu.XMM[o.rm&15], 16) }

// execMASKMOVDQU stores the bytes of V whose mask byte in W has its top bit set,
// at DS:rDI.
func execMASKMOVDQU(c *CPU, o *op) { c.maskedStore(o, c.fpu.XMM[o.reg&15], c.fpu.XMM[o.rm&15], 16) }

func (c *CPU) maskedStore(o *op, v, mask vec, n int) {
	at := *o
	at.base, at.index, at.disp = vmm.RDI, regZero, 0
	b, m := bytesOf(v), bytesOf(mask)
	first := true
	for i := range n {
		if m[i]&0x80 == 0 {
			continue
		}
		if first { // all of it must be writable before anything is written
			first = false
			last := at
			last.disp = uint64(lastBit(byteSigns(mask, n), 0))
			if _, ok := c.loadOp(&last, 1, accModify); !ok {
				return
			}
		}
		at.disp = uint64(i)
		if !store(c, &at, int8(b[i])) {
			return
		}
	}
}

// execMOVDDUP, movsldup and movshdup duplicate elements.
func execMOVDDUP(c *CPU, o *op) {
	if v, ok := c.source64(o); ok {
		c.fpu.XMM[o.reg&15] = vec{v, v}
	}
}

func movsldup(_, b vec) vec {
	return vec{b[0]&0xffffffff | b[0]<<32, b[1]&0xffffffff | b[1]<<32}
}

func movshdup(_, b vec) vec {
	return vec{b[0]>>32 | b[0]>>32<<32, b[1]>>32 | b[1]>>32<<32}
}

// Shuffles by an immediate of two bits per element.

func shufps(a, b vec, imm uint8) (r vec) {
	for i, v := range []vec{a, a, b, b} {
		set32(&r, i, get32(v, int(imm>>(2*i)&3)))
	}
	return r
}

func shufpd(a, b vec, imm uint8) vec { return vec{a[imm&1], b[imm>>1&1]} }

func pshufd(_, b vec, imm uint8) (r vec) {
	for i := range 4 {
		set32(&r, i, get32(b, int(imm>>(2*i)&3)))
	}
	return r
}

// shuffleWords shuffles the four words of v.
func shuffleWords(v uint64, imm uint8) (r uint64) {
	for i := range 4 {
		r |= v >> (imm >> (2 * i) & 3 * 16) & 0xffff << (16 * i)
	}
	return r
}

func pshuflw(_, b vec, imm uint8) vec { return vec{shuffleWords(b[0], imm), b[1]} }
func pshufhw(_, b vec, imm uint8) vec { return vec{b[0], shuffleWords(b[1], imm)} }

// blend takes elements of size bytes of b where the bit of imm is set.
func blend(size int) func(a, b vec, imm uint8) vec {
	return func(a, b vec, imm uint8) vec {
		x, y := bytesOf(a), bytesOf(b)
		for i := range x {
			if imm>>(i/size)&1 != 0 {
				x[i] = y[i]
			}
		}
		return vecOf(x)
	}
}

// blendBy is PBLENDVB, BLENDVPS and BLENDVPD: the top bits of XMM0's elements
// choose.
func blendBy(size int) family {
	return sse(func(c *CPU, o *op) {
		b, ok := c.sourceVec(o)
		if !ok {
			return
		}
		x, y, m := bytesOf(c.fpu.XMM[o.reg&15]), bytesOf(b), bytesOf(c.fpu.XMM[0])
		for i := range x {
			if m[i/size*size+size-1]&0x80 != 0 {
				x[i] = y[i]
			}
		}
		c.fpu.XMM[o.reg&15] = vecOf(x)
	})
}

// insert is PINSRB, PINSRW and PINSRD/Q: element imm of V from E.
func insert(size uint8) family {
	return sse(func(c *CPU, o *op) {
		n := size
		if n == 4 && o.rex&8 != 0 {
			n = 8
		}
		v := c.r[o.rm&15]
		if o.flags&opMem != 0 {
			var ok bool
			if v, ok = c.loadOp(o, n, accRead); !ok {
				return
			}
		}
		x := &c.fpu.XMM[o.reg&15]
		at := uint(o.imm) & (16/uint(n) - 1) * uint(n)
		s := at & 7 * 8
		m := ^uint64(0) >> (64 - 8*uint(n)) << s
		x[at>>3] = x[at>>3]&^m | v<<s&m
	})
}

// extract is PEXTRB, PEXTRW, PEXTRD/Q and EXTRACTPS: element imm of V to E,
// zero-extended in a register.
func extract(size uint8) family {
	return sse(func(c *CPU, o *op) {
		n := size
		if n == 4 && o.rex&8 != 0 {
			n = 8
		}
		at := uint(o.imm) & (16/uint(n) - 1) * uint(n)
		v := zext(c.fpu.XMM[o.reg&15][at>>3]>>(at&7*8), n)
		if o.flags&opMem != 0 {
			c.storeOp(o, n, v)
			return
		}
		c.r[o.rm&15] = v
	})
}

// execEXTRACTPS ignores REX.W.
func execEXTRACTPS(c *CPU, o *op) {
	v := get32(c.fpu.XMM[o.reg&15], int(o.imm&3))
	c.result(o, o.rm, 4, uint64(v))
}

// execPEXTRW is the form of SSE2: a word of W to a general register.
func execPEXTRW(c *CPU, o *op) { c.r[o.reg&15] = uint64(word16(c.fpu.XMM[o.rm&15], int(o.imm&7))) }

// execINSERTPS puts an element of W, or of memory, into one of V and clears
// those that imm's low bits name.
func execINSERTPS(c *CPU, o *op) {
	imm := int(o.imm)
	var v uint32
	if o.flags&opMem != 0 {
		u, ok := load[int32](c, o)
		if !ok {
			return
		}
		v = uint32(u)
	} else {
		v = get32(c.fpu.XMM[o.rm&15], imm>>6&3)
	}
	x := &c.fpu.XMM[o.reg&15]
	set32(x, imm>>4&3, v)
	for i := range 4 {
		if imm>>i&1 != 0 {
			set32(x, i, 0)
		}
	}
}

// packedShift is the family of shifts by an immediate: N is the register.
func packedShift(f intOp) family {
	return family{reg: sse(func(c *CPU, o *op) {
		x := &c.fpu.XMM[o.rm&15]
		*x = f(*x, vec{o.imm & 0xff}, 16)
	}).reg}
}

func execPSLLDQ(c *CPU, o *op) {
	x := &c.fpu.XMM[o.rm&15]
	*x = byteShift(*x, o.imm&0xff, true)
}

func execPSRLDQ(c *CPU, o *op) {
	x := &c.fpu.XMM[o.rm&15]
	*x = byteShift(*x, o.imm&0xff, false)
}

// widening is PMOVSX and PMOVZX, which read only as many bytes as they need.
func widening(from, to uint8, signed bool) family {
	f := widenElements(from, to, signed)
	size := 16 / to * from
	return sse(func(c *CPU, o *op) {
		v := c.fpu.XMM[o.rm&15][0]
		if o.flags&opMem != 0 {
			var ok bool
			if v, ok = c.loadOp(o, size, accRead); !ok {
				return
			}
		}
		c.fpu.XMM[o.reg&15] = f(v)
	})
}
