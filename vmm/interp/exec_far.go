package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// farPointer reads the operand of a far branch: immediate or memory.
func (c *CPU) farPointer(o *op) (sel uint16, off uint64, ok bool) {
	if o.flags&opMem == 0 {
		return uint16(o.disp), o.imm, true
	}
	off, ok = c.loadOp(o, o.size, accRead)
	if !ok {
		return 0, 0, false
	}
	at := *o
	at.disp += uint64(o.size)
	v, ok := c.loadOp(&at, 2, accRead)
	return uint16(v), off, ok
}

// codeTarget checks selector sel as the target of a far jump, call or return to
// level cpl. Intel SDM vol. 2A, "JMP—Jump".
func (c *CPU) codeTarget(sel uint16, cpl uint8, isReturn bool) (vmm.Segment, bool) {
	if sel&^3 == 0 {
		c.raise(excGP, 0)
		return vmm.Segment{}, false
	}
	raw, at, ok := c.readDescriptor(sel, excGP, 0)
	if !ok {
		return vmm.Segment{}, false
	}
	d := segmentOf(sel, raw)
	rpl := uint8(sel & 3)
	bad := !d.isCode() || c.w.long && d.Attr&(attrL|attrDB) == attrL|attrDB
	switch {
	case bad:
	case d.conforming():
		bad = d.dpl() > cpl
	case isReturn:
		bad = d.dpl() != rpl
	default:
		bad = rpl > cpl || d.dpl() != cpl
	}
	if bad {
		c.raise(excGP, uint32(sel)&^3)
		return vmm.Segment{}, false
	}
	if d.Attr&attrP == 0 {
		c.raise(excNP, uint32(sel)&^3)
		return vmm.Segment{}, false
	}
	if !c.setAccessed(at, raw) {
		return vmm.Segment{}, false
	}
	d.Attr |= attrAccessed
	d.Selector = sel&^3 | uint16(cpl)
	return d.Segment, true
}

// enter loads CS and jumps to off. It changes nothing if off is not valid there.
func (c *CPU) enter(cs vmm.Segment, off uint64) bool {
	if c.w.long && cs.Attr&attrL != 0 {
		if !canonical(off) {
			c.raise(excGP, 0)
			return false
		}
	} else if off > uint64(cs.Limit) {
		c.raise(excGP, 0)
		return false
	}
	c.seg[segCS] = cs
	c.r[regIP] = off
	return true
}

// moved ends an op that changed CS.
func (c *CPU) moved() {
	c.refresh()
	c.leave()
}

func execJMPF(c *CPU, o *op) {
	sel, off, ok := c.farPointer(o)
	if !ok {
		return
	}
	if !c.w.prot {
		c.setRealSeg(segCS, sel)
		c.r[regIP] = off & 0xffff
		c.moved()
		return
	}
	if kind, g, ok := c.systemTarget(sel); !ok {
		return
	} else if kind != 0 {
		c.farSystem(kind, sel, g, false)
		return
	}
	if cs, ok := c.codeTarget(sel, c.w.cpl, false); ok && c.enter(cs, off) {
		c.moved()
	}
}

func execCALLF(c *CPU, o *op) {
	sel, off, ok := c.farPointer(o)
	if !ok {
		return
	}
	s := c.newStack()
	if !c.w.prot {
		if s.push(o.size, uint64(c.seg[segCS].Selector)) && s.push(o.size, c.r[regIP]) {
			s.done()
			c.setRealSeg(segCS, sel)
			c.r[regIP] = off & 0xffff
			c.moved()
		}
		return
	}
	if kind, g, ok := c.systemTarget(sel); !ok {
		return
	} else if kind != 0 {
		c.farSystem(kind, sel, g, true)
		return
	}
	cs, ok := c.codeTarget(sel, c.w.cpl, false)
	if !ok || !s.push(o.size, uint64(c.seg[segCS].Selector)) || !s.push(o.size, c.r[regIP]) {
		return
	}
	if c.enter(cs, off) {
		s.done()
		c.moved()
	}
}

// systemTarget reads the descriptor of sel if it is a gate or TSS, and returns
// its type; 0 for a code segment, which codeTarget checks.
func (c *CPU) systemTarget(sel uint16) (kind uint8, g gate, ok bool) {
	if sel&^3 == 0 {
		return 0, g, true
	}
	raw, at, ok := c.readDescriptor(sel, excGP, 0)
	if !ok {
		return 0, g, false
	}
	d := segmentOf(sel, raw)
	if d.Attr&attrS != 0 {
		return 0, g, true
	}
	var hi uint64
	if c.w.long {
		if hi, ok = c.read(at+8, 8, accSys); !ok {
			return 0, g, false
		}
	}
	g = decodeGate(raw, hi)
	rpl := uint8(sel & 3)
	valid := g.kind == 0xc || !c.w.long && (g.kind == 4 || g.kind == gateTask || g.kind == 1 || g.kind == 9)
	if !valid || g.dpl < c.w.cpl || g.dpl < rpl {
		c.raise(excGP, uint32(sel)&^3)
		return 0, g, false
	}
	if d.Attr&attrP == 0 {
		c.raise(excNP, uint32(sel)&^3)
		return 0, g, false
	}
	return g.kind, g, true
}

// farSystem jumps or calls through a call gate, task gate or TSS.
func (c *CPU) farSystem(kind uint8, sel uint16, g gate, call bool) {
	how := taskJump
	if call {
		how = taskCall
	}
	switch kind {
	case gateTask:
		c.switchTask(g.sel, how, false, 0)
		c.moved()
		return
	case 1, 9:
		c.switchTask(sel, how, false, 0)
		c.moved()
		return
	}
	if !call {
		if cs, ok := c.codeTarget(g.sel&^3, c.w.cpl, false); ok && c.enter(cs, g.offset) {
			c.moved()
		}
		return
	}
	c.callGate(kind, &g)
}

// callGate calls through a call gate. Intel SDM vol. 3A, 5.8.3 "Call Gates".
func (c *CPU) callGate(kind uint8, g *gate) {
	cs, cpl, ok := c.gateTarget(g.sel, 0)
	if !ok {
		return
	}
	size := uint8(2)
	if kind == 0xc {
		size = 4
	}
	s := c.newStack()
	old := s
	inner := cpl < c.w.cpl
	if c.w.long {
		size = 8
		s.mask = ^uint64(0)
	}
	if inner {
		if c.w.long {
			if s.sp, ok = c.readTSS(4+uint64(cpl)*8, 8, 0); ok {
				s.ss, s.acc = nullSS(cpl), stackAccess(cpl)
			}
		} else {
			s, ok = c.innerStack(cpl, 0)
		}
		if !ok || !s.push(size, uint64(old.ss.Selector)) || !s.push(size, old.sp) {
			return
		}
		for i := int(g.params) - 1; i >= 0 && !c.w.long; i-- {
			p := old
			p.sp += uint64(i) * uint64(size)
			v, ok := p.pop(size)
			if !ok || !s.push(size, v) {
				return
			}
		}
	}
	if s.push(size, uint64(c.seg[segCS].Selector)) && s.push(size, c.r[regIP]) && c.enter(cs, g.offset) {
		s.done()
		c.moved()
	}
}
