package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// storeTable is SGDT and SIDT.
func (c *CPU) storeTable(o *op, t vmm.Table) {
	size := c.regSize()
	at := *o
	at.disp += 2
	if c.storeOp(o, 2, uint64(t.Limit)) {
		c.storeOp(&at, size, t.Base)
	}
}

func execSGDT(c *CPU, o *op) { c.storeTable(o, c.gdtr) }
func execSIDT(c *CPU, o *op) { c.storeTable(o, c.idtr) }

// loadTable returns the handler of LGDT and LIDT.
func loadTable(place func(c *CPU) *vmm.Table) handler {
	return func(c *CPU, o *op) {
		if !c.privileged() {
			return
		}
		at := *o
		at.disp += 2
		limit, ok := c.loadOp(o, 2, accRead)
		if !ok {
			return
		}
		base, ok := c.loadOp(&at, c.regSize(), accRead)
		if !ok {
			return
		}
		if o.size == 2 && c.w.mode != mode64 {
			base &= 0xffffff
		}
		if c.w.mode == mode64 && !canonical(base) {
			c.raise(excGP, 0)
			return
		}
		*place(c) = vmm.Table{Base: base, Limit: uint16(limit)}
	}
}

func placeGDTR(c *CPU) *vmm.Table { return &c.gdtr }
func placeIDTR(c *CPU) *vmm.Table { return &c.idtr }

// protected raises #UD in real mode.
func (c *CPU) protected() bool {
	if !c.w.prot {
		c.raise(excUD, 0)
	}
	return c.w.prot
}

func (c *CPU) storeSelector(o *op, sel uint16) {
	if !c.protected() {
		return
	}
	if o.flags&opMem != 0 {
		c.storeOp(o, 2, uint64(sel))
		return
	}
	c.putN(o.rm, o.size, uint64(sel))
}

func execSLDT(c *CPU, o *op) { c.storeSelector(o, c.ldtr.Selector) }
func execSTR(c *CPU, o *op)  { c.storeSelector(o, c.tr.Selector) }

func execLLDT(c *CPU, o *op) {
	if !c.protected() || !c.privileged() {
		return
	}
	if v, ok := c.operand(o, o.rm, 2); ok {
		c.loadLDT(uint16(v), excGP)
	}
}

// loadLDT loads LDTR; errors raise vector.
func (c *CPU) loadLDT(sel uint16, vector uint8) bool {
	if sel&^3 == 0 {
		c.ldtr = vmm.Segment{Selector: sel, Attr: attrUnusable}
		return true
	}
	s, _, ok := c.systemSegment(sel, vector, 2, 2)
	if ok {
		c.ldtr = s
	}
	return ok
}

// systemSegment reads the descriptor of an LDT or TSS of type a or b.
func (c *CPU) systemSegment(sel uint16, vector, a, b uint8) (s vmm.Segment, at uint64, ok bool) {
	code := uint32(sel) &^ 3
	if sel&4 != 0 || sel&^3 == 0 {
		c.raise(vector, code)
		return s, 0, false
	}
	raw, at, ok := c.readDescriptor(sel, vector, 0)
	if !ok {
		return s, 0, false
	}
	d := segmentOf(sel, raw)
	if d.Attr&attrS != 0 || d.system() != a && d.system() != b {
		c.raise(vector, code)
		return s, 0, false
	}
	if d.Attr&attrP == 0 {
		c.raise(excNP, code)
		return s, 0, false
	}
	if c.w.long {
		hi, ok := c.read(at+8, 8, accSys)
		if !ok {
			return s, 0, false
		}
		if d.Base |= hi << 32; !canonical(d.Base) {
			c.raise(vector, code)
			return s, 0, false
		}
	}
	return d.Segment, at, true
}

func execLTR(c *CPU, o *op) {
	if !c.protected() || !c.privileged() {
		return
	}
	v, ok := c.operand(o, o.rm, 2)
	if !ok {
		return
	}
	other := uint8(1)
	if c.w.long {
		other = 9
	}
	s, at, ok := c.systemSegment(uint16(v), excGP, 9, other)
	if !ok || !c.writeAs(at+5, 1, uint64(s.Attr&0xff|2), accSysWrite) {
		return
	}
	s.Attr |= 2
	c.tr = s
}
