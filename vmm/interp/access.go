package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// maxAccesses is the number of device accesses that one instruction can make. KVM's
// emulator splits an access into pieces of 8 bytes at most, and no instruction that it
// emulates in pieces needs as many.
const maxAccesses = 16

// accessLog holds the device accesses of the current instruction that have been
// answered. The instruction is executed again from its start after each answer,
// and takes the answers from here.
type accessLog struct {
	v      [maxAccesses]uint64
	n, pos uint8
}

// loadOp reads the memory operand of o: the slow path.
func (c *CPU) loadOp(o *op, size uint8, acc access) (uint64, bool) {
	a, ok := c.checked(o, size, acc)
	if !ok {
		return 0, false
	}
	return c.read(a, size, acc)
}

// storeOp writes the memory operand of o.
func (c *CPU) storeOp(o *op, size uint8, v uint64) bool {
	a, ok := c.checked(o, size, accWrite)
	return ok && c.write(a, size, v)
}

// checked returns the linear address of o's memory operand after its segment
// checks.
func (c *CPU) checked(o *op, size uint8, acc access) (uint64, bool) {
	if o.flags&opLegacy == 0 {
		a := c.linear(o)
		if !canonical(a) || !canonical(a+uint64(size)-1) {
			if o.seg == segSS || o.seg == segNone && (o.base == vmm.RSP || o.base == vmm.RBP) {
				c.raise(excSS, 0)
			} else {
				c.raise(excGP, 0)
			}
			return 0, false
		}
		return a, c.aligned(a, size)
	}
	ea := (c.r[o.base&31] + c.r[o.index&31]<<(o.scale&3) + o.disp) & o.amask
	a, ok := c.segLinear(o.seg, ea, size, acc.writes())
	return a, ok && c.aligned(a, size)
}

// canonical reports whether a is a canonical 48-bit address.
func canonical(a uint64) bool { return int64(a<<16)>>16 == int64(a) }

// aligned raises #AC if alignment is checked and a is not a multiple of size.
func (c *CPU) aligned(a uint64, size uint8) bool {
	if c.w.cpl != 3 || c.cr0&cr0AM == 0 || c.rflags&flagAC == 0 || a&uint64(size-1) == 0 {
		return true
	}
	c.raise(excAC, 0)
	return false
}

// read reads size bytes at linear address a.
func (c *CPU) read(a uint64, size uint8, acc access) (uint64, bool) {
	if a&pageMask > pageSize-uint64(size) {
		return c.readSplit(a, size, acc)
	}
	if c.watched(a, size, acc) {
		return c.readPhys(a, size, acc)
	}
	key := c.tlb.keyR
	if acc.system() {
		key = c.tlb.sys
	}
	e := &c.tlb.r[slot(a)]
	if e.tag == a&^pageMask|key && acc != accModify {
		return peekN(e.page, a&pageMask, size), true
	}
	phys, ok := c.walk(a, acc)
	if !ok {
		return 0, false
	}
	n := phys >> pageShift
	if !c.mem.ram(n) {
		return c.device(phys, size, false, 0)
	}
	p := c.mem.page(n)
	if c.dr[7]&dr7Enable == 0 {
		*e = tlbEntry{tag: a&^pageMask | key, page: p}
	}
	return peekN(p, phys&pageMask, size), true
}

// readPhys reads without the TLB.
func (c *CPU) readPhys(a uint64, size uint8, acc access) (uint64, bool) {
	phys, ok := c.walk(a, acc)
	if !ok {
		return 0, false
	}
	if !c.mem.ram(phys >> pageShift) {
		return c.device(phys, size, false, 0)
	}
	return peekN(c.mem.page(phys>>pageShift), phys&pageMask, size), true
}

// readSplit reads size bytes that lie in two pages.
func (c *CPU) readSplit(a uint64, size uint8, acc access) (uint64, bool) {
	p0, ok := c.walk(a, acc)
	if !ok {
		return 0, false
	}
	next := c.wrap(a&^pageMask + pageSize)
	p1, ok := c.walk(next, acc)
	if !ok {
		return 0, false
	}
	var v uint64
	for i := range uint64(size) {
		at := p0 + i
		if (a+i)&^pageMask != a&^pageMask {
			at = p1 + (a+i)&pageMask
		}
		b := uint64(0xff)
		if c.mem.ram(at >> pageShift) {
			b = uint64(c.mem.page(at >> pageShift)[at&pageMask])
		} else if b, ok = c.device(at, 1, false, 0); !ok {
			return 0, false
		}
		v |= b << (8 * i)
	}
	return v, true
}

// wrap truncates a linear address outside IA-32e mode.
func (c *CPU) wrap(a uint64) uint64 {
	if c.w.long {
		return a
	}
	return a & 0xffffffff
}

// write writes size bytes at linear address a.
func (c *CPU) write(a uint64, size uint8, v uint64) bool {
	return c.writeAs(a, size, v, accWrite)
}

func (c *CPU) writeAs(a uint64, size uint8, v uint64, acc access) bool {
	if a&pageMask > pageSize-uint64(size) {
		return c.writeSplit(a, size, v, acc)
	}
	key := c.tlb.keyW
	if acc.system() && !c.probe.on {
		key = c.tlb.sys
	}
	e := &c.tlb.w[slot(a)]
	if e.tag == a&^pageMask|key {
		pokeN(e.page, a&pageMask, size, v)
		return true
	}
	c.watched(a, size, acc)
	phys, ok := c.walk(a, acc)
	if !ok {
		return false
	}
	n := phys >> pageShift
	if !c.mem.ram(n) {
		_, ok := c.device(phys, size, true, v)
		return ok
	}
	p := c.ownPage(n)
	c.poke(n, p, phys&pageMask, size, v)
	if t := &c.mem.meta[n]; !t.table && !t.code && !c.probe.on && c.dr[7]&dr7Enable == 0 {
		*e = tlbEntry{tag: a&^pageMask | key, page: p}
	}
	return true
}

// writeSplit writes size bytes that lie in two pages.
func (c *CPU) writeSplit(a uint64, size uint8, v uint64, acc access) bool {
	p0, ok := c.walk(a, acc)
	if !ok {
		return false
	}
	p1, ok := c.walk(c.wrap(a&^pageMask+pageSize), acc)
	if !ok {
		return false
	}
	for i := range uint64(size) {
		at := p0 + i
		if (a+i)&^pageMask != a&^pageMask {
			at = p1 + (a+i)&pageMask
		}
		b := v >> (8 * i) & 0xff
		if n := at >> pageShift; c.mem.ram(n) {
			c.poke(n, c.ownPage(n), at&pageMask, 1, b)
		} else if _, ok := c.device(at, 1, true, b); !ok {
			return false
		}
	}
	return true
}

// ownPage returns RAM page n for writing.
func (c *CPU) ownPage(n uint64) *page {
	p, old := c.mem.own(n)
	if old != nil {
		c.tlb.dropPage(old)
		c.tlb.mapGen = c.mem.mapGen
	}
	return p
}

// poke writes to page p, number n, and tells the caches.
func (c *CPU) poke(n uint64, p *page, off uint64, size uint8, v uint64) {
	if c.probe.on && peekN(p, off, size) != zext(v, size) {
		c.probe.changed = true
	}
	pokeN(p, off, size, v)
	t := &c.mem.meta[n]
	if !t.table && t.lines == 0 {
		if t.cold++; t.cold >= coldWrites {
			t.code, t.cold = false, 0
		}
		return
	}
	code := c.mem.codeGen
	table := t.table
	c.mem.touch(n, off, uint64(size))
	if table {
		c.flushTLB()
		c.leave()
	}
	if code != c.mem.codeGen {
		c.blocks.codeGen = c.mem.codeGen
		c.blocks.recheck()
		c.leave()
	}
}

// leave makes the run loop look for a new block after this op, unless the op
// asks for something else.
func (c *CPU) leave() {
	if c.stop == stopNone {
		c.stop = stopNext
	}
}

// device accesses physical address phys outside RAM. Without an answer in the
// log the instruction is given up and exits.
func (c *CPU) device(phys uint64, size uint8, write bool, v uint64) (uint64, bool) {
	if c.onlyRAM != 0 {
		return c.internalError(c.onlyRAM, phys)
	}
	if c.log.pos < c.log.n {
		c.log.pos++
		return c.log.v[c.log.pos-1], true
	}
	if c.log.n == maxAccesses {
		return c.internalError(vmm.InternalEmulation, phys)
	}
	c.exit = vmm.Exit{Reason: vmm.ExitMMIO, Addr: phys, Size: size, Write: write, Data: zext(v, size)}
	c.pending = completion{kind: waitAccess, size: size}
	c.stop = stopExit
	return 0, false
}

// internalError gives up the current instruction, or the delivery of an event, for
// good: KVM does not carry it out where physical address phys is no RAM.
func (c *CPU) internalError(sub vmm.InternalError, phys uint64) (uint64, bool) {
	c.exit = vmm.Exit{Reason: vmm.ExitInternal, Addr: uint64(sub), Data: phys}
	c.pending = completion{}
	c.stop = stopExit
	return 0, false
}

// needRAM makes device accesses end in an internal error. The error of whoever asked
// first stands; what was before is returned, for withDevices.
func (c *CPU) needRAM(sub vmm.InternalError) (before vmm.InternalError) {
	before = c.onlyRAM
	if before == 0 {
		c.onlyRAM = sub
	}
	return before
}

// withDevices ends what needRAM began.
func (c *CPU) withDevices(before vmm.InternalError) { c.onlyRAM = before }
