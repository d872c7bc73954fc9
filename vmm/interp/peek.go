package interp

// Peek returns up to n bytes of memory from linear address at, as far as it is
// mapped to RAM. It has no effect on the CPU or on memory: no accessed bits, no
// faults, no rights are checked.
func (c *CPU) Peek(at uint64, n int) []byte {
	p := make([]byte, 0, n)
	for len(p) < n {
		phys, ok := c.lookUp(at)
		if !ok {
			return p
		}
		chunk := min(uint64(n-len(p)), pageMask+1-at&pageMask)
		p = p[:uint64(len(p))+chunk]
		if c.mem.ReadAt(p[uint64(len(p))-chunk:], phys) != nil {
			return p[:uint64(len(p))-chunk]
		}
		at += chunk
	}
	return p
}

// lookUp translates a linear address by reading the page tables only.
func (c *CPU) lookUp(lin uint64) (phys uint64, ok bool) {
	if c.cr0&cr0PG == 0 {
		return lin & 0xffffffff, true
	}
	if c.cr4&cr4PAE == 0 {
		return c.lookUp32(lin)
	}
	table, shift, index := c.cr3&pteAddr, uint(39), lin>>39&0x1ff
	if !c.w.long {
		table, shift, index = c.cr3&0xffffffe0, 30, lin>>30&3
	}
	for {
		entry := c.mem.u64(table + index*8)
		if entry&pteP == 0 {
			return 0, false
		}
		if shift == 12 || entry&ptePS != 0 && (shift == 21 || shift == 30 && c.w.long) {
			mask := uint64(1)<<shift - 1
			return entry&pteAddr&^mask | lin&mask, true
		}
		table, shift = entry&pteAddr, shift-9
		index = lin >> shift & 0x1ff
	}
}

// lookUp32 does it for 32-bit paging.
func (c *CPU) lookUp32(lin uint64) (phys uint64, ok bool) {
	entry := c.mem.u32(c.cr3&0xfffff000 + lin>>22&0x3ff*4)
	if entry&pteP == 0 {
		return 0, false
	}
	if entry&ptePS != 0 && c.cr4&cr4PSE != 0 {
		return entry&0xffc00000 | lin&0x3fffff, true
	}
	entry = c.mem.u32(entry&0xfffff000 + lin>>12&0x3ff*4)
	return entry&0xfffff000 | lin&0xfff, entry&pteP != 0
}

// CodeBits is the size of the code that runs: 16, 32 or 64.
func (c *CPU) CodeBits() int { return 16 << c.w.mode }
