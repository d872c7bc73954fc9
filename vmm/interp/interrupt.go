package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// The types of gates. Intel SDM vol. 3A, 6.11 "IDT Descriptors".
const (
	gateTask   = 0x5
	gateInt16  = 0x6
	gateTrap16 = 0x7
	gateInt32  = 0xe
	gateTrap32 = 0xf
)

// gate is a decoded IDT or call gate.
type gate struct {
	kind   uint8
	dpl    uint8
	sel    uint16
	offset uint64
	ist    uint8
	params uint8
}

// vector delivers an interrupt or exception through the IDT. RIP must be what
// is to be pushed. If it faults, c.exc is set and registers are unchanged; if it meets
// what is not RAM the guest is left with an internal error, as KVM leaves it.
// Intel SDM vol. 3A, 6.12 "Exception and Interrupt Handling".
func (c *CPU) vector(n uint8, from origin, hasCode bool, code uint32) bool {
	defer c.withDevices(c.needRAM(vmm.InternalDelivery))
	ok := false
	c.noTrap = true
	switch {
	case !c.w.prot:
		ok = c.vectorReal(n)
	default:
		var g gate
		if g, ok = c.readGate(n, from); !ok {
			return false
		}
		switch {
		case g.kind == gateTask:
			ok = c.switchTask(g.sel, taskInt, hasCode, code)
		case c.w.long:
			ok = c.vectorLong(&g, from, hasCode, code)
		default:
			ok = c.vectorProtected(&g, from, hasCode, code)
		}
	}
	c.refresh()
	return ok
}

// vectorReal delivers through the real-mode vector table. Intel SDM vol. 3B,
// 21.1.4 "Interrupt and Exception Handling".
func (c *CPU) vectorReal(n uint8) bool {
	if uint32(n)*4+3 > uint32(c.idtr.Limit) {
		c.raise(excGP, 0)
		return false
	}
	v, ok := c.read(c.idtr.Base+uint64(n)*4, 4, accSys)
	if !ok {
		return false
	}
	f := c.flags()
	s := c.newStack()
	if !s.push(2, f) || !s.push(2, uint64(c.seg[segCS].Selector)) || !s.push(2, c.r[regIP]) {
		return false
	}
	s.done()
	c.setFlags(f &^ (flagIF | flagTF | flagAC | flagRF))
	c.setRealSeg(segCS, uint16(v>>16))
	c.r[regIP] = v & 0xffff
	return true
}

// readGate reads and checks entry n of the IDT.
func (c *CPU) readGate(n uint8, from origin) (g gate, ok bool) {
	code := uint32(n)*8 + 2
	if from == fromHardware {
		code++
	}
	size := uint64(8)
	if c.w.long {
		size = 16
	}
	if uint64(n)*size+size-1 > uint64(c.idtr.Limit) {
		c.raise(excGP, code)
		return g, false
	}
	at := c.idtr.Base + uint64(n)*size
	lo, ok := c.read(at, 8, accSys)
	if !ok {
		return g, false
	}
	var hi uint64
	if c.w.long {
		if hi, ok = c.read(at+8, 8, accSys); !ok {
			return g, false
		}
	}
	g = decodeGate(lo, hi)
	valid := g.kind == gateInt32 || g.kind == gateTrap32 ||
		!c.w.long && (g.kind == gateTask || g.kind == gateInt16 || g.kind == gateTrap16)
	switch {
	case !valid || lo>>44&1 != 0, from == fromSoftware && g.dpl < c.w.cpl:
		c.raise(excGP, code)
		return g, false
	case lo>>47&1 == 0:
		c.raise(excNP, code)
		return g, false
	}
	return g, true
}

// decodeGate takes a gate apart; hi is the upper half of a 64-bit gate.
func decodeGate(lo, hi uint64) gate {
	g := gate{
		kind:   uint8(lo >> 40 & 0xf),
		dpl:    uint8(lo >> 45 & 3),
		sel:    uint16(lo >> 16),
		offset: lo&0xffff | lo>>32&0xffff0000 | hi<<32,
		ist:    uint8(lo >> 32 & 7),
		params: uint8(lo >> 32 & 31),
	}
	if g.kind == gateInt16 || g.kind == gateTrap16 || g.kind == 4 {
		g.offset &= 0xffff
	}
	return g
}

// gateTarget checks the code segment of a gate and returns it with the privilege
// level it will run at.
func (c *CPU) gateTarget(sel uint16, ext uint32) (cs vmm.Segment, cpl uint8, ok bool) {
	if sel&^3 == 0 {
		c.raise(excGP, ext)
		return cs, 0, false
	}
	d, at, ok := c.readDescriptor(sel, excGP, ext)
	if !ok {
		return cs, 0, false
	}
	target := segmentOf(sel, d)
	dpl := target.dpl()
	cs = target.Segment
	switch {
	case !target.isCode() || dpl > c.w.cpl || c.w.long && cs.Attr&(attrL|attrDB) != attrL:
		c.raise(excGP, uint32(sel)&^3|ext)
		return cs, 0, false
	case cs.Attr&attrP == 0:
		c.raise(excNP, uint32(sel)&^3|ext)
		return cs, 0, false
	}
	if !c.setAccessed(at, d) {
		return cs, 0, false
	}
	cs.Attr |= attrAccessed
	cpl = c.w.cpl
	if cs.Attr&attrConforming == 0 {
		cpl = dpl
	}
	cs.Selector = sel&^3 | uint16(cpl)
	return cs, cpl, true
}

// vectorLong delivers in IA-32e mode. Intel SDM vol. 3A, 6.14 "Exception and
// Interrupt Handling in 64-bit Mode".
func (c *CPU) vectorLong(g *gate, from origin, hasCode bool, code uint32) bool {
	ext := uint32(bit(from == fromHardware, 1))
	cs, cpl, ok := c.gateTarget(g.sel, ext)
	if !ok {
		return false
	}
	sp, ss := c.r[vmm.RSP], c.seg[segSS]
	old := [2]uint64{uint64(ss.Selector), sp}
	switch {
	case g.ist != 0:
		sp, ok = c.readTSS(0x24+uint64(g.ist-1)*8, 8, ext)
	case cpl < c.w.cpl:
		sp, ok = c.readTSS(4+uint64(cpl)*8, 8, ext)
	}
	if !ok {
		return false
	}
	if cpl < c.w.cpl {
		ss = nullSS(cpl)
	}
	if !canonical(sp) {
		c.raise(excSS, ext)
		return false
	}
	f := c.flags()
	words := [6]uint64{old[0], old[1], f, uint64(c.seg[segCS].Selector), c.r[regIP], uint64(code)}
	n := 5 + int(bit(hasCode, 1))
	sp &^= 15
	for _, v := range words[:n] {
		sp -= 8
		if !c.writeAs(sp, 8, v, stackAccess(cpl)) {
			return false
		}
	}
	if !canonical(g.offset) {
		c.raise(excGP, ext)
		return false
	}
	c.enterGate(g, cs, f)
	c.seg[segSS] = ss
	c.r[vmm.RSP] = sp
	return true
}

// stackAccess is the kind of access of a push by a gate to level cpl.
func stackAccess(cpl uint8) access {
	if cpl == 3 {
		return accWrite
	}
	return accSysWrite
}

// enterGate sets CS:RIP and RFLAGS.
func (c *CPU) enterGate(g *gate, cs vmm.Segment, f uint64) {
	f &^= flagTF | flagNT | flagRF | flagVM
	if g.kind&1 == 0 {
		f &^= flagIF
	}
	c.setFlags(f)
	c.seg[segCS] = cs
	c.r[regIP] = g.offset
}

// vectorProtected delivers in protected mode.
func (c *CPU) vectorProtected(g *gate, from origin, hasCode bool, code uint32) bool {
	ext := uint32(bit(from == fromHardware, 1))
	cs, cpl, ok := c.gateTarget(g.sel, ext)
	if !ok {
		return false
	}
	size := uint8(2)
	if g.kind >= 8 {
		size = 4
	}
	f := c.flags()
	s := c.newStack()
	if cpl < c.w.cpl {
		if s, ok = c.innerStack(cpl, ext); !ok {
			return false
		}
		if !s.push(size, uint64(c.seg[segSS].Selector)) || !s.push(size, c.r[vmm.RSP]) {
			return false
		}
	}
	if !s.push(size, f) || !s.push(size, uint64(c.seg[segCS].Selector)) || !s.push(size, c.r[regIP]) {
		return false
	}
	if hasCode && !s.push(size, uint64(code)) {
		return false
	}
	if uint32(g.offset) > cs.Limit {
		c.raise(excGP, ext)
		return false
	}
	s.done()
	c.enterGate(g, cs, f)
	return true
}
