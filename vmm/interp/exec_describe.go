package interp

// describe returns the descriptor that LAR, LSL, VERR and VERW look at, if it is
// visible at the present level.
func (c *CPU) describe(o *op, reg uint8) (d descriptor, ok, fault bool) {
	if !c.protected() {
		return d, false, true
	}
	v, good := c.operand(o, reg, 2)
	if !good {
		return d, false, true
	}
	sel := uint16(v)
	if sel&^3 == 0 {
		return d, false, false
	}
	raw, _, good := c.readDescriptor(sel, excGP, 0)
	if !good {
		if c.exc.vector == excPF {
			return d, false, true
		}
		c.stop = stopNone // a selector beyond the table only clears ZF
		return d, false, false
	}
	d = segmentOf(sel, raw)
	rpl := uint8(sel & 3)
	return d, d.conforming() || d.dpl() >= c.w.cpl && d.dpl() >= rpl, false
}

func (c *CPU) setZF(on bool) { c.rflags = c.flags()&^flagZF | bit(on, flagZF) }

// The system descriptors that LAR and LSL accept, by type, outside and inside
// IA-32e mode. Intel SDM vol. 2A, "LAR" and "LSL".
const (
	larTypes     = 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<9 | 1<<11 | 1<<12
	larTypesLong = 1<<2 | 1<<9 | 1<<11 | 1<<12
	lslTypes     = 1<<1 | 1<<2 | 1<<3 | 1<<9 | 1<<11
	lslTypesLong = 1<<2 | 1<<9 | 1<<11
)

func execLAR(c *CPU, o *op) {
	types := uint32(larTypes)
	if c.w.long {
		types = larTypesLong
	}
	d, ok, fault := c.describe(o, o.src)
	if fault {
		return
	}
	if ok = ok && (d.Attr&attrS != 0 || types>>d.system()&1 != 0); ok {
		c.putN(o.dst, o.size, uint64(d.Attr&0xf0ff)<<8)
	}
	c.setZF(ok)
}

func execLSL(c *CPU, o *op) {
	types := uint32(lslTypes)
	if c.w.long {
		types = lslTypesLong
	}
	d, ok, fault := c.describe(o, o.src)
	if fault {
		return
	}
	if ok = ok && (d.Attr&attrS != 0 || types>>d.system()&1 != 0); ok {
		c.putN(o.dst, o.size, uint64(d.Limit))
	}
	c.setZF(ok)
}

func execVERR(c *CPU, o *op) {
	if d, ok, fault := c.describe(o, o.rm); !fault {
		c.setZF(ok && d.readable())
	}
}

func execVERW(c *CPU, o *op) {
	if d, ok, fault := c.describe(o, o.rm); !fault {
		c.setZF(ok && d.isData() && d.Attr&attrWrite != 0)
	}
}
