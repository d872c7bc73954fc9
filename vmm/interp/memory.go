package interp

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
)

// The sizes of guest-physical memory's parts.
const (
	pageShift = 12
	pageSize  = 1 << pageShift
	pageMask  = pageSize - 1
	dirPages  = 512
)

// apicPage is the local APIC's page, which is never RAM. Intel SDM vol. 3A,
// 10.4.1 "The Local APIC Block Diagram".
const apicPage = 0xfee00

// page is the content of one page.
type page [pageSize]byte

// dir is one 2 MiB part of memory. It may be shared between the memory and any
// number of snapshots; only the one whose epoch it carries may change it.
type dir struct {
	pages [dirPages]*page
	// owned has a bit for each page that only this dir points to.
	owned [dirPages / 64]uint64
	epoch uint64
}

// pageMeta is what caches need to know of a page. It follows from the past use
// of the page, not from its content.
type pageMeta struct {
	// lines has bit n set if bytes n×64 to n×64+63 were decoded as code.
	lines uint64
	// gen changes whenever bytes of a line with code do.
	gen uint32
	// table is true once a page walk has read an entry from the page.
	table bool
	// code is true for a page that nobody may write directly because it holds code, or
	// did so lately: cold counts the writes since then.
	code bool
	cold uint8
}

// coldWrites is how many writes to a page without code make it data again. Code and data
// that take turns in one line would otherwise empty every TLB at each turn.
const coldWrites = 64

// Memory is the RAM of one virtual machine. Pages that nobody has written share
// one page of zeroes, and pages are shared with snapshots until the next write.
type Memory struct {
	size  uint64
	dirs  []*dir
	epoch uint64
	meta  []pageMeta
	zero  *page // what untouched pages share
	// mapGen changes when a host page pointer, a mapping or the right to write
	// directly may have been cached wrongly; codeGen when decoded bytes changed.
	mapGen, codeGen uint64
}

// NewMemory returns zeroed RAM of size bytes: a multiple of 4096, at most 1 TiB.
func NewMemory(size uint64) (*Memory, error) {
	if size == 0 || size&pageMask != 0 || size > 1<<40 {
		return nil, fmt.Errorf("memory of %d bytes: the size must be a multiple of 4096 up to 2^40", size)
	}
	zero := new(page)
	empty := new(dir)
	for i := range empty.pages {
		empty.pages[i] = zero
	}
	n := size >> pageShift
	m := &Memory{
		size:  size,
		dirs:  make([]*dir, (n+dirPages-1)/dirPages),
		epoch: 1,
		zero:  zero,
		meta:  make([]pageMeta, n),
	}
	for i := range m.dirs {
		m.dirs[i] = empty
	}
	return m, nil
}

// Size returns the amount of RAM in bytes.
func (m *Memory) Size() uint64 { return m.size }

// ram reports whether page number n is RAM.
func (m *Memory) ram(n uint64) bool { return n < uint64(len(m.meta)) && n != apicPage }

// page returns page n for reading.
func (m *Memory) page(n uint64) *page { return m.dirs[n/dirPages].pages[n%dirPages] }

// own returns page n for writing, having copied it if it is shared. old is the
// page as it was if a copy was made, else nil.
func (m *Memory) own(n uint64) (p, old *page) {
	d := m.dirs[n/dirPages]
	if d.epoch != m.epoch {
		d = &dir{pages: d.pages, epoch: m.epoch}
		m.dirs[n/dirPages] = d
	}
	i := n % dirPages
	if d.owned[i/64]>>(i%64)&1 != 0 {
		return d.pages[i], nil
	}
	old = d.pages[i]
	p = new(page)
	*p = *old
	d.pages[i] = p
	d.owned[i/64] |= 1 << (i % 64)
	m.mapGen++
	return p, old
}

// touch notes that bytes [off, off+size) of page n change: decoded code there
// becomes invalid, and so does what was cached from a page table.
func (m *Memory) touch(n, off, size uint64) {
	t := &m.meta[n]
	if t.table {
		t.table = false
		m.mapGen++
	}
	if t.lines == 0 {
		return
	}
	mask := ^uint64(0) << (off / 64)
	if end := (off + size - 1) / 64; end < 63 {
		mask &= 1<<(end+1) - 1
	}
	if t.lines&mask != 0 {
		t.lines &^= mask
		t.gen++
		m.codeGen++
	}
}

// markCode notes that bytes [off, end) of page n were decoded. A page that was
// not code before can no longer be written directly.
func (m *Memory) markCode(n, off, end uint64) (first bool) {
	t := &m.meta[n]
	first = !t.code
	t.code, t.cold = true, 0
	for l := off / 64; l <= (end-1)/64; l++ {
		t.lines |= 1 << l
	}
	if first {
		m.mapGen++
	}
	return first
}

// check returns an error if n bytes at gpa are not wholly RAM.
func (m *Memory) check(n int, gpa uint64) error {
	if gpa > m.size || uint64(n) > m.size-gpa {
		return fmt.Errorf("guest-physical %#x, %d bytes: outside the %#x bytes of RAM", gpa, n, m.size)
	}
	return nil
}

// ReadAt fills p from guest-physical address gpa.
func (m *Memory) ReadAt(p []byte, gpa uint64) error {
	if err := m.check(len(p), gpa); err != nil {
		return err
	}
	for len(p) > 0 {
		n := copy(p, m.page(gpa >> pageShift)[gpa&pageMask:])
		p, gpa = p[n:], gpa+uint64(n)
	}
	return nil
}

// WriteAt copies p to guest-physical address gpa.
func (m *Memory) WriteAt(p []byte, gpa uint64) error {
	if err := m.check(len(p), gpa); err != nil {
		return err
	}
	for len(p) > 0 {
		n := gpa >> pageShift
		dst, _ := m.own(n)
		k := copy(dst[gpa&pageMask:], p)
		m.touch(n, gpa&pageMask, uint64(k))
		p, gpa = p[k:], gpa+uint64(k)
	}
	return nil
}

// u64 reads an aligned page-table entry; outside RAM it reads as all ones.
func (m *Memory) u64(gpa uint64) uint64 {
	if !m.ram(gpa >> pageShift) {
		return ^uint64(0)
	}
	return binary.LittleEndian.Uint64(m.page(gpa >> pageShift)[gpa&pageMask&^7:])
}

// u32 is the same for the entries of 32-bit paging.
func (m *Memory) u32(gpa uint64) uint64 {
	if !m.ram(gpa >> pageShift) {
		return 1<<32 - 1
	}
	return uint64(binary.LittleEndian.Uint32(m.page(gpa >> pageShift)[gpa&pageMask&^3:]))
}

// MemSnapshot is the content of a Memory at one moment. It never changes and
// shares every page that was not written since.
type MemSnapshot struct {
	size uint64
	dirs []*dir
}

// Snapshot returns the present content. Its cost, and that of the writes after
// it, grows with the number of pages written, not with the amount of RAM.
func (m *Memory) Snapshot() *MemSnapshot {
	m.epoch++
	m.mapGen++
	return &MemSnapshot{size: m.size, dirs: append([]*dir(nil), m.dirs...)}
}

// Restore brings back the content of s, which must come from a Memory of the
// same size.
func (m *Memory) Restore(s *MemSnapshot) error {
	if s.size != m.size {
		return fmt.Errorf("restoring a snapshot of %#x bytes into %#x bytes of RAM", s.size, m.size)
	}
	m.epoch++
	m.mapGen++
	for i, d := range s.dirs {
		if m.dirs[i] == d {
			continue
		}
		for j, p := range d.pages {
			if n := uint64(i*dirPages + j); m.dirs[i].pages[j] != p && n < uint64(len(m.meta)) {
				m.touch(n, 0, pageSize)
			}
		}
		m.dirs[i] = d
	}
	return nil
}

// Hash returns a hash of the content (FNV-1a, 64 bits, over the number and the
// bytes of every page that is not all zeroes).
func (m *Memory) Hash() uint64 {
	h := fnv.New64a()
	var num [8]byte
	for n := range m.meta {
		if p := m.page(uint64(n)); p != m.zero && *p != (page{}) {
			binary.LittleEndian.PutUint64(num[:], uint64(n))
			h.Write(num[:])
			h.Write(p[:])
		}
	}
	return h.Sum64()
}
