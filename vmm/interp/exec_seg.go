package interp

import "ticktrap/vmm"

func execMOVfromSeg(c *CPU, o *op) {
	if o.reg > 5 {
		c.raise(excUD, 0)
		return
	}
	v := uint64(c.seg[o.reg].Selector)
	if o.flags&opMem != 0 {
		c.storeOp(o, 2, v)
		return
	}
	c.putN(o.rm, o.size, v)
}

func execMOVtoSeg(c *CPU, o *op) {
	if o.reg > 5 || o.reg == segCS {
		c.raise(excUD, 0)
		return
	}
	v, ok := c.operand(o, o.rm, 2)
	if ok && c.loadSeg(int(o.reg), uint16(v)) {
		c.segLoaded(int(o.reg))
	}
}

// segLoaded ends an op that loaded segment register i: a load of SS blocks
// interrupts for one instruction.
func (c *CPU) segLoaded(i int) {
	if i == segSS {
		c.shadow, c.shadowSS = true, true
	}
	c.leave()
}

func execPOPseg(c *CPU, o *op) {
	s := c.newStack()
	v, ok := s.pop(o.size)
	if !ok || !c.loadSeg(int(o.imm), uint16(v)) {
		return
	}
	c.setSP(s.sp, s.mask)
	c.segLoaded(int(o.imm))
}

// loadFar returns the handler of LES, LDS, LSS, LFS, LGS.
func loadFar(i int) handler {
	return func(c *CPU, o *op) {
		sel, off, ok := c.farPointer(o)
		if ok && c.loadSeg(i, sel) {
			c.putN(o.dst, o.size, off)
			c.leave()
		}
	}
}

// tableSize is the size of the base in LGDT, SGDT and so on.
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

func execSWAPGS(c *CPU, _ *op) {
	if c.privileged() {
		c.seg[segGS].Base, c.msr.kernelGSBase = c.msr.kernelGSBase, c.seg[segGS].Base
		c.w.segBase[segGS] = c.seg[segGS].Base
	}
}

// execFSGSBase is RDFSBASE, RDGSBASE, WRFSBASE, WRGSBASE: ModRM.reg 0–3.
func execFSGSBase(c *CPU, o *op) {
	if c.cr4&cr4FSGSBASE == 0 {
		c.raise(excUD, 0)
		return
	}
	i := segFS + int(o.reg&1)
	if o.reg&2 == 0 {
		c.putN(o.rm, o.size, c.seg[i].Base)
		return
	}
	v := c.getN(o.rm, o.size)
	if !canonical(v) {
		c.raise(excGP, 0)
		return
	}
	c.seg[i].Base = v
	c.w.segBase[i] = v
}
