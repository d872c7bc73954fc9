package interp

// tlbSize is the number of entries per kind of access.
const tlbSize = 256

// tlbEntry maps one linear page to the host page behind it. The tag is the
// linear page address with a key in its low bits:
//
//	63            12 11       3   2    1    0
//	┌───────────────┬──────────┬────┬────┬────┐
//	│ linear page   │ flushes  │ AC │user│ 1  │
//	└───────────────┴──────────┴────┴────┴────┘
//
// so one comparison checks address, privilege and that no flush came between.
type tlbEntry struct {
	tag  uint64
	page *page
}

// dirEntry maps 2 MiB of linear memory to the page table behind it, so that a
// walk reads one entry. Intel SDM vol. 3A, 4.10.3 "Paging-Structure Caches". Its
// tag is that of a tlbEntry with the key of the processor's own accesses: the
// rights of all levels above are kept, not what they amount to.
type dirEntry struct {
	tag, table, allow uint64
	nx                bool
}

const (
	dirShift   = 21
	dirEntries = 64
)

// The bits of a key.
const (
	keyValid = 1 << 0
	keyUser  = 1 << 1
	keyAC    = 1 << 2
	keyFlush = 1 << 3

	// keyNone is the key that no entry has, an empty one included.
	keyNone = keyUser
)

// tlb caches translations for data accesses to RAM. Entries for writing exist
// only for pages that may be changed without anybody being told: not code, not
// page tables, not shared with a snapshot.
type tlb struct {
	r, w [tlbSize]tlbEntry
	dirs [dirEntries]dirEntry
	// keyR and keyW are the keys of data accesses now, sys that of the
	// processor's own accesses to descriptor tables.
	keyR, keyW, sys uint64
	flushes         uint64
	// mapGen is the generation of the memory that the entries are good for.
	mapGen uint64
}

// slot is the entry for linear address a. Higher bits are mixed in because
// stacks and data often lie at round distances from each other.
func slot(a uint64) uint64 { return (a>>pageShift ^ a>>20) & (tlbSize - 1) }

// flush forgets every translation. setTLBKey must follow.
func (t *tlb) flush() {
	t.flushes += keyFlush
	if t.flushes >= pageSize {
		t.flushes = 0
		t.r, t.w, t.dirs = [tlbSize]tlbEntry{}, [tlbSize]tlbEntry{}, [dirEntries]dirEntry{}
	}
}

// dropPage forgets entries for reading that lead to p.
func (t *tlb) dropPage(p *page) {
	for i := range t.r {
		if t.r[i].page == p {
			t.r[i] = tlbEntry{}
		}
	}
}

// dropWrites forgets every entry for writing.
func (t *tlb) dropWrites() { t.w = [tlbSize]tlbEntry{} }

// setTLBKey follows changes of privilege and RFLAGS.AC, and flushes.
func (c *CPU) setTLBKey() {
	t := &c.tlb
	t.sys = t.flushes | keyValid
	t.keyR = t.sys
	if c.w.cpl == 3 {
		t.keyR |= keyUser
	} else if c.rflags&flagAC != 0 && c.cr4&cr4SMAP != 0 {
		t.keyR |= keyAC
	}
	t.keyW = t.keyR
	if c.probe.on {
		t.keyW = keyNone
	}
}

// flushTLB forgets every translation, and every block found by linear address.
func (c *CPU) flushTLB() {
	c.tlb.flush()
	c.tlb.mapGen = c.mem.mapGen
	c.blocks.forget()
	c.setTLBKey()
}

// linear returns the linear address of o's memory operand, without checks.
func (c *CPU) linear(o *op) uint64 {
	return (c.r[o.base&31]+c.r[o.index&31]<<(o.scale&3)+o.disp)&o.amask + c.w.segBase[o.seg&7]
}

// load reads the memory operand of o.
func load[T sint](c *CPU, o *op) (T, bool) {
	a := (c.r[o.base&31]+c.r[o.index&31]<<(o.scale&3)+o.disp)&o.amask + c.w.segBase[o.seg&7]
	e := &c.tlb.r[slot(a)]
	if e.tag == a&^pageMask|c.tlb.keyR && a&pageMask <= pageSize-width[T]() && o.flags&opLegacy == 0 {
		return peek[T](e.page, a&pageMask), true
	}
	v, ok := c.loadOp(o, uint8(width[T]()), accRead)
	return T(v), ok
}

// store writes the memory operand of o.
func store[T sint](c *CPU, o *op, v T) bool {
	a := (c.r[o.base&31]+c.r[o.index&31]<<(o.scale&3)+o.disp)&o.amask + c.w.segBase[o.seg&7]
	e := &c.tlb.w[slot(a)]
	if e.tag == a&^pageMask|c.tlb.keyW && a&pageMask <= pageSize-width[T]() && o.flags&opLegacy == 0 {
		poke(e.page, a&pageMask, v)
		return true
	}
	return c.storeOp(o, uint8(width[T]()), zx(v))
}

// modify reads the memory operand of o with the intent to write it: a page that
// cannot be written faults as for a write. The returned place is for commit.
func modify[T sint](c *CPU, o *op) (v T, p *page, ok bool) {
	a := (c.r[o.base&31]+c.r[o.index&31]<<(o.scale&3)+o.disp)&o.amask + c.w.segBase[o.seg&7]
	e := &c.tlb.w[slot(a)]
	if e.tag == a&^pageMask|c.tlb.keyW && a&pageMask <= pageSize-width[T]() && o.flags&opLegacy == 0 {
		return peek[T](e.page, a&pageMask), e.page, true
	}
	u, ok := c.loadOp(o, uint8(width[T]()), accModify)
	return T(u), nil, ok
}

// commit writes what modify read. p is what modify returned; the registers of
// the address must not have changed.
func commit[T sint](c *CPU, o *op, p *page, v T) bool {
	if p != nil {
		poke(p, c.linear(o)&pageMask, v)
		return true
	}
	return c.storeOp(o, uint8(width[T]()), zx(v))
}

// loadLin reads at a linear address that has passed its segment checks.
func loadLin[T sint](c *CPU, a uint64) (T, bool) {
	e := &c.tlb.r[slot(a)]
	if e.tag == a&^pageMask|c.tlb.keyR && a&pageMask <= pageSize-width[T]() {
		return peek[T](e.page, a&pageMask), true
	}
	v, ok := c.read(a, uint8(width[T]()), accRead)
	return T(v), ok
}

// storeLin writes at a linear address that has passed its segment checks.
func storeLin[T sint](c *CPU, a uint64, v T) bool {
	e := &c.tlb.w[slot(a)]
	if e.tag == a&^pageMask|c.tlb.keyW && a&pageMask <= pageSize-width[T]() {
		poke(e.page, a&pageMask, v)
		return true
	}
	return c.write(a, uint8(width[T]()), zx(v))
}
