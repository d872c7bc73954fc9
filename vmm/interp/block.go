package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// The limits of the block cache.
const (
	maxBlockOps = 32
	fastBlocks  = 4096
	maxBlocks   = 1 << 16
)

// block is a run of ops that ends at the first that may leave it. It is good as
// long as its bytes are what they were: nobody has to compare them while the
// generations of its pages stay the same.
type block struct {
	ops   []op
	bytes []byte
	// cycles is the cost of all ops, last that of all but the last.
	cycles, last uint32
	// pages are the pages that the bytes come from, with their generations.
	pages [2]uint64
	gens  [2]uint32
	n     int // number of pages
	// fill is not nil if the block is a loop that fills memory.
	fill *fill
	// time is true if an op reads the time-stamp counter.
	time bool
}

// fastEntry finds a block by RIP. The key holds code size, privilege level and a
// count that changes with everything else that the mapping depends on.
type fastEntry struct {
	rip, key uint64
	b        *block
}

// cache is the block cache of one CPU.
type cache struct {
	fast [fastBlocks]fastEntry
	// all finds blocks by physical address and code size.
	all map[uint64]*block
	// key is what entries of fast must have, fetchKey those of fetch, which do not
	// depend on what the code is.
	key, fetchKey   uint64
	epoch, contents uint64
	// codeGen is the generation of the memory's code that fast is good for.
	codeGen uint64
	// base and limit are those of CS outside 64-bit mode.
	base  uint64
	limit uint32
	fetch [64]fetchEntry
}

// fetchEntry maps a linear page to a physical one for fetches.
type fetchEntry struct{ lin, key, phys uint64 }

func (k *cache) init() { k.all = make(map[uint64]*block); k.epoch = 1 }

// forget makes every block be found anew, and every page be translated anew.
func (k *cache) forget() {
	k.epoch++
	k.setKeys(k.key & 0xff)
}

// recheck makes every block be looked at before it is executed again: some code has
// changed.
func (k *cache) recheck() {
	k.contents++
	k.setKeys(k.key & 0xff)
}

// setKeys follows epoch and contents. Both only grow, so their sum is as good as both.
func (k *cache) setKeys(mode uint64) {
	k.key = (k.epoch+k.contents)<<8 | mode
	k.fetchKey = k.epoch<<8 | mode
}

// setKey follows changes of code size, privilege and code segment.
func (k *cache) setKey(m codeMode, cpl uint8, base uint64, limit uint32) {
	if m == mode64 {
		base, limit = 0, 0
	}
	if base != k.base || limit != k.limit {
		k.base, k.limit = base, limit
		k.epoch++
	}
	k.setKeys(uint64(m) | uint64(cpl)<<4)
}

// lookup returns the block at RIP, or nil with a fault raised.
func (c *CPU) lookup() *block {
	rip := c.r[regIP]
	e := &c.blocks.fast[(rip^rip>>12)&(fastBlocks-1)]
	if e.rip == rip && e.key == c.blocks.key {
		return e.b
	}
	b := c.find(rip)
	if b != nil {
		*e = fastEntry{rip: rip, key: c.blocks.key, b: b}
	}
	return b
}

// find returns the block at RIP from the cache by physical address, or decodes
// it.
func (c *CPU) find(rip uint64) *block {
	lin := rip
	if c.w.mode != mode64 {
		if rip > uint64(c.seg[segCS].Limit) {
			c.raise(excGP, 0)
			return nil
		}
		lin = (rip + c.seg[segCS].Base) & 0xffffffff
	} else if !canonical(rip) {
		c.raise(excGP, 0)
		return nil
	}
	phys, ok := c.fetchPhys(lin)
	if !ok {
		return nil
	}
	if !c.mem.ram(phys >> pageShift) {
		c.internalError(vmm.InternalEmulation, phys) // KVM's emulator fetches from RAM only
		return nil
	}
	id := phys | uint64(c.w.mode)<<60
	if b := c.blocks.all[id]; b != nil && c.valid(b, lin) {
		return b
	}
	if c.stop != stopNone {
		return nil
	}
	if len(c.blocks.all) >= maxBlocks {
		clear(c.blocks.all)
		c.blocks.forget()
	}
	b := c.build(lin, phys)
	if b != nil {
		c.blocks.all[id] = b
	}
	return b
}

// valid reports whether b's bytes are unchanged, and mapped at lin as they were.
func (c *CPU) valid(b *block, lin uint64) bool {
	same := true
	for i := range b.n {
		same = same && c.mem.meta[b.pages[i]].gen == b.gens[i]
	}
	if b.n == 2 {
		phys, ok := c.fetchPhys(c.wrap(lin&^pageMask + pageSize))
		if !ok || phys>>pageShift != b.pages[1] {
			return false
		}
	}
	return same || c.renew(b, lin&pageMask)
}

// renew reports whether the bytes of b, which begins at off, are what they were although
// something near them was written, and is code again.
func (c *CPU) renew(b *block, off uint64) bool {
	first := min(uint64(len(b.bytes)), pageSize-off)
	if string(c.mem.page(b.pages[0])[off:off+first]) != string(b.bytes[:first]) {
		return false
	}
	rest := uint64(len(b.bytes)) - first
	if rest > 0 && (b.n < 2 || string(c.mem.page(b.pages[1])[:rest]) != string(b.bytes[first:])) {
		return false
	}
	c.decoded(b, 0, off, off+first)
	if rest > 0 {
		c.decoded(b, 1, 0, rest)
	}
	return true
}

// decoded notes that bytes [off, end) of b's page i are code.
func (c *CPU) decoded(b *block, i int, off, end uint64) {
	if c.mem.markCode(b.pages[i], off, end) {
		c.tlb.dropWrites()
		c.tlb.mapGen = c.mem.mapGen
	}
	b.gens[i] = c.mem.meta[b.pages[i]].gen
}

// fetchPhys translates lin for an instruction fetch.
func (c *CPU) fetchPhys(lin uint64) (uint64, bool) {
	e := &c.blocks.fetch[lin>>pageShift&63]
	if e.lin == lin&^pageMask && e.key == c.blocks.fetchKey {
		return e.phys | lin&pageMask, true
	}
	phys, ok := c.walk(lin, accFetch)
	if ok {
		*e = fetchEntry{lin: lin &^ pageMask, key: c.blocks.fetchKey, phys: phys &^ pageMask}
	}
	return phys, ok
}

// build decodes a block at physical address phys.
func (c *CPU) build(lin, phys uint64) *block {
	c.stats.Blocks++
	n := phys >> pageShift
	b := &block{pages: [2]uint64{n}, n: 1}
	code := c.mem.page(n)
	var ops [maxBlockOps]op
	count := 0
	off := phys & pageMask
	limit := uint64(1) << 63
	if c.w.mode != mode64 {
		limit = uint64(c.seg[segCS].Limit) - c.r[regIP]
	}
	for count < maxBlockOps && off < pageSize {
		o := &ops[count]
		status := decode(o, code[off:min(off+maxInsn, pageSize)], c.w.mode)
		if status == decodeShort && off+maxInsn > pageSize {
			if count > 0 {
				break
			}
			if !c.buildSplit(b, o, lin, off) {
				return nil
			}
		}
		end := uint64(0)
		if count > 0 {
			end = uint64(ops[count-1].end)
		}
		if end += uint64(o.len); end-1 > limit {
			if count > 0 {
				break
			}
			*o = op{fn: execLimit, flags: opEnd, len: o.len, row: o.row}
		}
		o.end = uint16(end)
		o.cost = c.costs[o.row.cost]
		if o.flags&opLock != 0 {
			o.cost = c.costs[costLocked]
		}
		o.cyc = b.cycles
		b.last = b.cycles
		b.cycles += o.cost
		b.time = b.time || o.row.cost == costRDTSC
		count++
		off += uint64(o.len)
		if o.flags&opEnd != 0 {
			break
		}
	}
	start := phys & pageMask
	c.decoded(b, 0, start, min(off, pageSize))
	if b.bytes == nil {
		b.bytes = append(b.bytes, code[start:min(off, pageSize)]...)
	}
	b.ops = append([]op(nil), ops[:count]...)
	b.fill = asFill(b.ops)
	return b
}

// buildSplit decodes the one op of a block that lies in two pages.
func (c *CPU) buildSplit(b *block, o *op, lin, off uint64) bool {
	second, ok := c.fetchPhys(c.wrap(lin&^pageMask + pageSize))
	if !ok {
		return false
	}
	var buf [maxInsn]byte
	n := copy(buf[:], c.mem.page(b.pages[0])[off:])
	if c.mem.ram(second >> pageShift) {
		copy(buf[n:], c.mem.page(second >> pageShift)[:])
	}
	decode(o, buf[:], c.w.mode)
	o.flags |= opEnd
	b.pages[1], b.n = second>>pageShift, 2
	b.bytes = append([]byte(nil), buf[:o.len]...)
	if c.mem.ram(b.pages[1]) && int(o.len) > n {
		c.decoded(b, 1, 0, uint64(int(o.len)-n))
	} else {
		b.n = 1
	}
	return true
}

// execLimit is an instruction whose bytes reach beyond the code segment.
func execLimit(c *CPU, _ *op) { c.raise(excGP, 0) }
