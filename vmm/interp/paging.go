package interp

// access is the kind of a memory access.
type access uint8

// The kinds. A modify is a read whose write follows.
const (
	accRead access = iota
	accWrite
	accModify
	accFetch
	accSys // the processor's own access to a descriptor table or TSS: supervisor
	accSysWrite
)

func (a access) writes() bool { return a == accWrite || a == accModify || a == accSysWrite }
func (a access) system() bool { return a == accSys || a == accSysWrite }

// The bits of a page-table entry. Intel SDM vol. 3A, 4.5 "4-Level Paging and
// 5-Level Paging".
const (
	pteP  = 1 << 0
	pteW  = 1 << 1
	pteU  = 1 << 2
	pteA  = 1 << 5
	pteD  = 1 << 6
	ptePS = 1 << 7
	pteG  = 1 << 8
	pteNX = 1 << 63

	// physBits is MAXPHYADDR as CPUID leaf 0x80000008 shows it.
	physBits = 40
	pteAddr  = (1<<physBits - 1) &^ pageMask
	// pteHigh are the address bits above MAXPHYADDR, which are reserved.
	pteHigh = (1<<52 - 1) &^ (1<<physBits - 1)
)

// The bits of a page fault's error code. Intel SDM vol. 3A, 4.7 "Page-Fault
// Exceptions".
const (
	pfP    = 1 << 0
	pfW    = 1 << 1
	pfU    = 1 << 2
	pfRSVD = 1 << 3
	pfI    = 1 << 4
)

// walk translates linear address lin. It sets accessed and dirty bits. If the
// access is not allowed it raises #PF and ok is false.
func (c *CPU) walk(lin uint64, acc access) (phys uint64, ok bool) {
	if c.cr0&cr0PG == 0 {
		return lin & 0xffffffff, true
	}
	user := c.w.cpl == 3 && !acc.system()
	var (
		table   = c.cr3 & pteAddr
		shift   uint
		wide    = c.cr4&cr4PAE != 0
		allow   = uint64(pteW | pteU)
		nx      bool
		above   uint64 // allow and nx without the last entry
		aboveNX bool
		entry   uint64
		at      uint64
		ptes    [4]uint64 // addresses of the entries used, for A and D bits
		n       int
		leaf    bool
		pae     = wide && !c.w.long
		levels  = 4
	)
	switch {
	case !wide:
		levels, shift = 2, 22
	case pae:
		levels, shift, table = 3, 30, c.cr3&0xffffffe0
	default:
		shift = 39
	}
	dir := &c.tlb.dirs[lin>>dirShift&(dirEntries-1)]
	if dirTag := lin&^(1<<dirShift-1) | c.tlb.sys; wide && dir.tag == dirTag {
		levels, shift, table, allow, nx = 1, pageShift, dir.table, dir.allow, dir.nx
	}
	for level := levels; ; level-- {
		if wide {
			index := lin >> shift & 0x1ff
			if pae && level == 3 {
				index = lin >> 30 & 3
			}
			at = table + index*8
			entry = c.mem.u64(at)
		} else {
			at = table + lin>>shift&0x3ff*4
			entry = c.mem.u32(at)
		}
		c.markTable(at)
		if entry&pteP == 0 {
			return c.pageFault(lin, acc, user, 0)
		}
		leaf = level == 1 || level < 4 && entry&ptePS != 0 && (wide || c.cr4&cr4PSE != 0) && !(pae && level == 3)
		if c.reserved(entry, level, wide, pae, leaf) {
			return c.pageFault(lin, acc, user, pfP|pfRSVD)
		}
		above, aboveNX = allow, nx
		if !(pae && level == 3) {
			allow &= entry
			nx = nx || wide && entry&pteNX != 0
			ptes[n] = at
			n++
		}
		if leaf {
			break
		}
		if wide {
			table, shift = entry&pteAddr, shift-9
		} else {
			table, shift = entry&0xfffff000, shift-10
		}
	}
	if !c.allowed(allow, nx, user, acc) {
		return c.pageFault(lin, acc, user, pfP)
	}
	for i, p := range ptes[:n] {
		set := uint64(pteA)
		if i == n-1 && acc.writes() {
			set |= pteD
		}
		c.mem.setBits(c, p, set, wide)
	}
	if wide && shift == pageShift && levels > 1 {
		*dir = dirEntry{tag: lin&^(1<<dirShift-1) | c.tlb.sys, table: table, allow: above, nx: aboveNX}
	}
	mask := uint64(1)<<shift - 1
	base := entry & pteAddr
	if !wide {
		base = entry & 0xfffff000
		if shift == 22 { // PSE-36: bits 20:13 are address bits 39:32
			base = entry&0xffc00000 | entry>>13&0xff<<32
		}
	}
	return base&^mask | lin&mask, true
}

// reserved reports whether entry has a reserved bit set.
func (c *CPU) reserved(entry uint64, level int, wide, pae, leaf bool) bool {
	if !wide {
		return level == 2 && leaf && entry&(1<<21) != 0
	}
	if pae && level == 3 {
		return entry&(pteHigh|0x1e6|0xfff<<52) != 0
	}
	rsvd := uint64(pteHigh)
	if c.efer&eferNXE == 0 {
		rsvd |= pteNX
	}
	if pae {
		rsvd |= 0x7ff << 52
	}
	switch {
	case level == 4:
		rsvd |= ptePS
	case leaf && level == 3:
		rsvd |= 1<<30 - 1<<13
	case leaf && level == 2:
		rsvd |= 1<<21 - 1<<13
	}
	return entry&rsvd != 0
}

// allowed applies the access rights. Intel SDM vol. 3A, 4.6 "Access Rights".
func (c *CPU) allowed(rights uint64, nx, user bool, acc access) bool {
	if user {
		return rights&pteU != 0 && (!acc.writes() || rights&pteW != 0) && !(acc == accFetch && nx)
	}
	if acc == accFetch {
		return !nx && (c.cr4&cr4SMEP == 0 || rights&pteU == 0)
	}
	if rights&pteU != 0 && c.cr4&cr4SMAP != 0 && (acc.system() || c.rflags&flagAC == 0) {
		return false
	}
	return !acc.writes() || rights&pteW != 0 || c.cr0&cr0WP == 0
}

// pageFault raises #PF.
func (c *CPU) pageFault(lin uint64, acc access, user bool, code uint32) (uint64, bool) {
	if acc.writes() {
		code |= pfW
	}
	if user {
		code |= pfU
	}
	if acc == accFetch && (c.cr4&cr4SMEP != 0 || c.cr4&cr4PAE != 0 && c.efer&eferNXE != 0) {
		code |= pfI
	}
	c.raise(excPF, code)
	c.exc.addr = lin
	return 0, false
}

// markTable notes that the page of entry address at holds a page table, so that
// writes to it flush.
func (c *CPU) markTable(at uint64) {
	n := at >> pageShift
	if !c.mem.ram(n) || c.mem.meta[n].table {
		return
	}
	c.mem.meta[n].table = true
	c.mem.mapGen++
	c.tlb.dropWrites()
	c.tlb.mapGen = c.mem.mapGen
}

// setBits sets bits in the page-table entry at. Cached translations stay good:
// they were made with these bits set.
func (m *Memory) setBits(c *CPU, at, bits uint64, wide bool) {
	n := at >> pageShift
	if !m.ram(n) || m.u32(at)&bits == bits {
		return
	}
	p := c.ownPage(n)
	poke(p, at&pageMask, int32(peek[int32](p, at&pageMask))|int32(bits))
	c.probe.changed = true
	if t := &m.meta[n]; t.lines != 0 {
		m.meta[n].table = false // touch must not flush
		m.touch(n, at&pageMask, 4)
		t.table = true
		if c.blocks.codeGen != m.codeGen {
			c.blocks.codeGen = m.codeGen
			c.blocks.recheck()
		}
	}
}
