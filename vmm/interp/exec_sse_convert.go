package interp

import (
	"codeberg.org/ticktrap/ticktrap/vmm/interp/softfloat"
)

// convert writes what f makes of the source, of which it reads n bytes (4, 8 or
// 16), unless an exception is not masked.
func convert(n int, f func(e *softfloat.Env, old, src vec) vec) family {
	return sse(func(c *CPU, o *op) {
		var src vec
		var ok bool
		switch n {
		case 4:
			src, ok = c.sourceVecOr32(o, true)
		case 8:
			src, ok = c.sourceVecOr64(o, true)
		default:
			src, ok = c.sourceVec(o)
		}
		if !ok {
			return
		}
		x := &c.fpu.XMM[o.reg&15]
		e := c.sseEnv()
		if r := f(&e, *x, src); c.sseNote(&e) {
			*x = r
		}
	})
}

func toDouble(e *softfloat.Env, b uint32) uint64 {
	return e.Convert(softfloat.Double, softfloat.FromSingle(b)).Double()
}

func toSingle(e *softfloat.Env, b uint64) uint32 {
	return e.Convert(softfloat.Single, softfloat.FromDouble(b)).Single()
}

func cvtss2sd(e *softfloat.Env, old, s vec) vec { return vec{toDouble(e, uint32(s[0])), old[1]} }
func cvtps2pd(e *softfloat.Env, _, s vec) vec {
	return vec{toDouble(e, get32(s, 0)), toDouble(e, get32(s, 1))}
}

func cvtsd2ss(e *softfloat.Env, old, s vec) vec {
	set32(&old, 0, toSingle(e, s[0]))
	return old
}

func cvtpd2ps(e *softfloat.Env, _, s vec) vec {
	return vec{uint64(toSingle(e, s[0])) | uint64(toSingle(e, s[1]))<<32}
}

func intToSingle(e *softfloat.Env, v int64) uint32 {
	return e.Convert(softfloat.Single, softfloat.FromInt(v)).Single()
}

func intToDouble(e *softfloat.Env, v int64) uint64 {
	return e.Convert(softfloat.Double, softfloat.FromInt(v)).Double()
}

func cvtdq2ps(e *softfloat.Env, _, s vec) (r vec) {
	for i := range 4 {
		set32(&r, i, intToSingle(e, int64(int32(get32(s, i)))))
	}
	return r
}

func cvtdq2pd(e *softfloat.Env, _, s vec) vec {
	return vec{intToDouble(e, int64(int32(s[0]))), intToDouble(e, int64(s[0])>>32)}
}

// toInt32 and toInt64 give the indefinite integer if there is none.
func toInt32(e *softfloat.Env, n softfloat.Num, mode softfloat.Rounding) uint32 {
	if v, ok := e.ToInt(n, 32, mode); ok {
		return uint32(v)
	}
	return 1 << 31
}

func toInt64(e *softfloat.Env, n softfloat.Num, mode softfloat.Rounding) uint64 {
	if v, ok := e.ToInt(n, 64, mode); ok {
		return uint64(v)
	}
	return 1 << 63
}

// modeOf is the rounding mode of a conversion.
func modeOf(e *softfloat.Env, truncate bool) softfloat.Rounding {
	if truncate {
		return softfloat.Truncate
	}
	return e.Round
}

func cvtps2dq(truncate bool) func(e *softfloat.Env, _, s vec) vec {
	return func(e *softfloat.Env, _, s vec) (r vec) {
		for i := range 4 {
			set32(&r, i, toInt32(e, softfloat.FromSingle(get32(s, i)), modeOf(e, truncate)))
		}
		return r
	}
}

func cvtpd2dq(truncate bool) func(e *softfloat.Env, _, s vec) vec {
	return func(e *softfloat.Env, _, s vec) (r vec) {
		for i := range 2 {
			set32(&r, i, toInt32(e, softfloat.FromDouble(s[i]), modeOf(e, truncate)))
		}
		return r
	}
}

// cvtToGPR is CVTSS2SI and its kin.
func cvtToGPR(double, truncate bool) family {
	return sse(func(c *CPU, o *op) {
		var n softfloat.Num
		if double {
			v, ok := c.source64(o)
			if !ok {
				return
			}
			n = softfloat.FromDouble(v)
		} else {
			v, ok := c.source32(o)
			if !ok {
				return
			}
			n = softfloat.FromSingle(v)
		}
		e := c.sseEnv()
		var v uint64
		if o.rex&8 != 0 {
			v = toInt64(&e, n, modeOf(&e, truncate))
		} else {
			v = uint64(toInt32(&e, n, modeOf(&e, truncate)))
		}
		if c.sseNote(&e) {
			c.r[o.reg&15] = v
		}
	})
}

// cvtFromGPR is CVTSI2SS and CVTSI2SD.
func cvtFromGPR(double bool) family {
	return sse(func(c *CPU, o *op) {
		u, ok := c.sourceGPR(o)
		if !ok {
			return
		}
		v := int64(u)
		if o.rex&8 == 0 {
			v = int64(int32(u))
		}
		x := &c.fpu.XMM[o.reg&15]
		r := *x
		e := c.sseEnv()
		if double {
			r[0] = intToDouble(&e, v)
		} else {
			set32(&r, 0, intToSingle(&e, v))
		}
		if c.sseNote(&e) {
			*x = r
		}
	})
}

// sourceGPR is an E operand of 4 bytes, or 8 with REX.W.
func (c *CPU) sourceGPR(o *op) (uint64, bool) {
	size := uint8(4)
	if o.rex&8 != 0 {
		size = 8
	}
	if o.flags&opMem != 0 {
		return c.loadOp(o, size, accRead)
	}
	return zext(c.r[o.rm&15], size), true
}

// roundMode is the rounding mode that imm8 of ROUNDPS chooses, and whether
// Inexact is to be noted. Intel SDM vol. 2, "ROUNDPD", figure 4-24.
func roundMode(e *softfloat.Env, imm uint64) (softfloat.Rounding, bool) {
	if imm&4 != 0 {
		return e.Round, imm&8 == 0
	}
	return softfloat.Rounding(imm & 3), imm&8 == 0
}

func round32(e *softfloat.Env, b uint32, imm uint64) uint32 {
	mode, note := roundMode(e, imm)
	return e.RoundToInt(softfloat.FromSingle(b), mode, note).Single()
}

func round64(e *softfloat.Env, b, imm uint64) uint64 {
	mode, note := roundMode(e, imm)
	return e.RoundToInt(softfloat.FromDouble(b), mode, note).Double()
}

// roundPacked is ROUNDPS, ROUNDPD, ROUNDSS and ROUNDSD.
func roundPacked(double, scalar bool) family {
	return sse(func(c *CPU, o *op) {
		var b vec
		var ok bool
		if double {
			b, ok = c.sourceVecOr64(o, scalar)
		} else {
			b, ok = c.sourceVecOr32(o, scalar)
		}
		if !ok {
			return
		}
		x := &c.fpu.XMM[o.reg&15]
		r := *x
		e := c.sseEnv()
		n := 4
		if double {
			n = 2
		}
		if scalar {
			n = 1
		}
		for i := range n {
			if double {
				r[i] = round64(&e, b[i], o.imm)
			} else {
				set32(&r, i, round32(&e, get32(b, i), o.imm))
			}
		}
		if c.sseNote(&e) {
			*x = r
		}
	})
}
