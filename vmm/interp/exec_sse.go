package interp

import (
	"codeberg.org/ticktrap/ticktrap/vmm/interp/softfloat"
)

// vec is the content of an XMM register, low half first.
type vec = [2]uint64

// sseUsable raises #UD or #NM if SSE instructions may not be used. Intel SDM
// vol. 3A, 13.1 "Providing Operating System Support for SSE Extensions", tables
// 2-2 and 2-3 of vol. 2A.
func (c *CPU) sseUsable() bool {
	switch {
	case c.cr0&cr0EM != 0 || c.cr4&cr4OSFXSR == 0:
		c.raise(excUD, 0)
	case c.cr0&cr0TS != 0:
		c.raise(excNM, 0)
	default:
		return true
	}
	return false
}

// loadVec reads 16 bytes. If aligned, an address that is not a multiple of 16 is
// #GP.
func (c *CPU) loadVec(o *op, aligned bool) (v vec, ok bool) {
	if aligned && c.linear(o)&15 != 0 && !c.misaligned(o) {
		return v, false
	}
	lo, ok := load[int64](c, o)
	if !ok {
		return v, false
	}
	at := *o
	at.disp += 8
	hi, ok := load[int64](c, &at)
	return vec{uint64(lo), uint64(hi)}, ok
}

// misaligned raises the fault of a misaligned operand: that of its address, if
// it is not even canonical or within its segment, else #GP. It is false, for use
// in conditions.
func (c *CPU) misaligned(o *op) bool {
	if _, ok := c.checked(o, 16, accRead); ok {
		c.raise(excGP, 0)
	}
	return false
}

// storeVec writes 16 bytes, or none if the second half cannot be written.
func (c *CPU) storeVec(o *op, v vec, aligned bool) bool {
	a := c.linear(o)
	if aligned && a&15 != 0 {
		return c.misaligned(o)
	}
	at := *o
	at.disp += 8
	if a&pageMask > pageSize-16 || o.flags&opLegacy != 0 {
		if _, ok := c.loadOp(o, 8, accModify); !ok {
			return false
		}
		if _, ok := c.loadOp(&at, 8, accModify); !ok {
			return false
		}
	}
	return store(c, o, int64(v[0])) && store(c, &at, int64(v[1]))
}

// sourceVec is the W operand: register, or 16 bytes of memory, aligned.
func (c *CPU) sourceVec(o *op) (vec, bool) {
	if o.flags&opMem != 0 {
		return c.loadVec(o, true)
	}
	return c.fpu.XMM[o.rm&15], true
}

// source64 and source32 are the low part of the W operand; memory need not be
// aligned.
func (c *CPU) source64(o *op) (uint64, bool) {
	if o.flags&opMem != 0 {
		v, ok := load[int64](c, o)
		return uint64(v), ok
	}
	return c.fpu.XMM[o.rm&15][0], true
}

func (c *CPU) source32(o *op) (uint32, bool) {
	if o.flags&opMem != 0 {
		v, ok := load[int32](c, o)
		return uint32(v), ok
	}
	return uint32(c.fpu.XMM[o.rm&15][0]), true
}

// sse makes a handler that checks that SSE may be used.
func sse(h handler) family {
	return both(func(c *CPU, o *op) {
		if c.sseUsable() {
			h(c, o)
		}
	})
}

// sseOp is the family of V = f(V, W).
func sseOp(f func(a, b vec) vec) family {
	return sse(func(c *CPU, o *op) {
		if b, ok := c.sourceVec(o); ok {
			x := &c.fpu.XMM[o.reg&15]
			*x = f(*x, b)
		}
	})
}

// sseImm is the family of V = f(V, W, imm8).
func sseImm(f func(a, b vec, imm uint8) vec) family {
	return sse(func(c *CPU, o *op) {
		if b, ok := c.sourceVec(o); ok {
			x := &c.fpu.XMM[o.reg&15]
			*x = f(*x, b, uint8(o.imm))
		}
	})
}

// The fields of MXCSR. Intel SDM vol. 1, 10.2.3 "MXCSR Control and Status
// Register".
//
//	15 14 13 12-7       6   5-0
//	FZ RC    exception  DAZ exception
//	         masks          flags
const (
	mxcsrReset = 0x1f80
	mxcsrFlags = 0x3f
	mxcsrDAZ   = 1 << 6
	mxcsrFZ    = 1 << 15
	mxcsrValid = 0xffff
)

// sseEnv is the environment that MXCSR describes.
func (c *CPU) sseEnv() softfloat.Env {
	m := c.fpu.MXCSR
	return softfloat.Env{Round: softfloat.Rounding(m >> 13 & 3), Masked: softfloat.Flags(m >> 7 & 0x3f),
		FlushToZero: m&mxcsrFZ != 0, DenormalsAreZero: m&mxcsrDAZ != 0}
}

// sseNote adds the exceptions of e to MXCSR. It reports false, having raised #XM,
// if one of them is not masked; then nothing may be written.
func (c *CPU) sseNote(e *softfloat.Env) bool {
	if e.Flags == 0 {
		return true
	}
	if pre := e.Flags & softfloat.PreComputation &^ e.Masked; pre != 0 {
		e.Flags &= softfloat.PreComputation
	}
	c.fpu.MXCSR |= uint32(e.Flags)
	if e.Flags&^e.Masked == 0 {
		return true
	}
	if c.cr4&cr4OSXMMEXCPT != 0 {
		c.raise(excXM, 0)
	} else {
		c.raise(excUD, 0)
	}
	return false
}

func execLDMXCSR(c *CPU, o *op) {
	v, ok := load[int32](c, o)
	switch {
	case !ok:
	case uint32(v)&^mxcsrValid != 0:
		c.raise(excGP, 0)
	default:
		c.fpu.MXCSR = uint32(v)
	}
}

func execSTMXCSR(c *CPU, o *op) { store(c, o, int32(c.fpu.MXCSR)) }
