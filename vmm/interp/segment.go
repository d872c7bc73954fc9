package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// The bits of vmm.Segment.Attr.
const (
	attrAccessed   = 1 << 0
	attrWrite      = 1 << 1 // data: writable; code: readable
	attrConforming = 1 << 2 // data: expand-down
	attrCode       = 1 << 3
	attrS          = 1 << 4
	attrP          = 1 << 7
	attrL          = 1 << 13
	attrDB         = 1 << 14
	attrG          = 1 << 15
	attrUnusable   = 1 << 16
)

// descriptor is a segment read from a table, not yet loaded.
type descriptor struct{ vmm.Segment }

func (d descriptor) dpl() uint8       { return uint8(d.Attr >> 5 & 3) }
func (d descriptor) isCode() bool     { return d.Attr&(attrS|attrCode) == attrS|attrCode }
func (d descriptor) isData() bool     { return d.Attr&(attrS|attrCode) == attrS }
func (d descriptor) readable() bool   { return d.isData() || d.isCode() && d.Attr&attrWrite != 0 }
func (d descriptor) system() uint8    { return uint8(d.Attr & 15) }
func (d descriptor) conforming() bool { return d.isCode() && d.Attr&attrConforming != 0 }

// segmentOf takes the 8 bytes of a descriptor apart. Intel SDM vol. 3A, 3.4.5
// "Segment Descriptors".
func segmentOf(sel uint16, d uint64) descriptor {
	s := vmm.Segment{
		Selector: sel,
		Base:     d>>16&0xffffff | d>>56<<24,
		Limit:    uint32(d&0xffff | d>>32&0xf0000),
		Attr:     uint32(d >> 40 & 0xf0ff),
	}
	if s.Attr&attrG != 0 {
		s.Limit = s.Limit<<12 | 0xfff
	}
	return descriptor{s}
}

// nullSS is SS with a null selector, as 64-bit mode allows for levels below 3.
func nullSS(cpl uint8) vmm.Segment {
	return vmm.Segment{Selector: uint16(cpl), Attr: attrUnusable | uint32(cpl)<<5, Limit: 0xffffffff}
}

// readDescriptor reads the descriptor of sel and its linear address. Outside the
// table's limit it raises vector with the selector as error code.
func (c *CPU) readDescriptor(sel uint16, vector uint8, ext uint32) (d, at uint64, ok bool) {
	base, limit := c.gdtr.Base, uint32(c.gdtr.Limit)
	if sel&4 != 0 {
		base, limit = c.ldtr.Base, c.ldtr.Limit
		if c.ldtr.Attr&attrUnusable != 0 || c.ldtr.Selector&^3 == 0 {
			limit = 0
		}
	}
	if uint32(sel|7) > limit {
		c.raise(vector, uint32(sel)&^3|ext)
		return 0, 0, false
	}
	at = c.wrap(base + uint64(sel&^7))
	d, ok = c.read(at, 8, accSys)
	return d, at, ok
}

// setAccessed sets the accessed bit of descriptor d at linear address at.
func (c *CPU) setAccessed(at, d uint64) bool {
	if d>>40&1 != 0 {
		return true
	}
	return c.writeAs(at+5, 1, d>>40&0xff|1, accSysWrite)
}

// setRealSeg loads a segment register in real mode: only selector and base.
func (c *CPU) setRealSeg(i int, sel uint16) {
	c.seg[i].Selector = sel
	c.seg[i].Base = uint64(sel) << 4
	if i == segCS {
		c.seg[i].Attr = c.seg[i].Attr&^attrDB | 0x9b
		if c.seg[i].Attr&attrUnusable != 0 {
			c.seg[i].Attr &^= attrUnusable
		}
	}
}

// loadSeg loads a data or stack segment register. Intel SDM vol. 2B, "MOV—Move".
func (c *CPU) loadSeg(i int, sel uint16) bool {
	if !c.w.prot {
		c.setRealSeg(i, sel)
		c.refresh()
		return true
	}
	s, ok := c.checkSeg(i, sel, c.w.cpl, excGP)
	if ok {
		c.seg[i] = s
		c.refresh()
	}
	return ok
}

// checkSeg checks and returns what loading sel into segment register i at level
// cpl gives. Errors raise vector (but #SS and #NP if not present).
func (c *CPU) checkSeg(i int, sel uint16, cpl, vector uint8) (vmm.Segment, bool) {
	code := uint32(sel) &^ 3
	if sel&^3 == 0 {
		if i == segSS {
			if !(c.w.mode == mode64 && cpl != 3 && uint8(sel&3) == cpl) {
				c.raise(vector, code)
				return vmm.Segment{}, false
			}
			return nullSS(cpl), true
		}
		s := c.seg[i]
		s.Selector, s.Attr = sel, attrUnusable
		if !c.w.long || i < segFS {
			s.Base, s.Limit = 0, 0
		}
		return s, true
	}
	raw, at, ok := c.readDescriptor(sel, vector, 0)
	if !ok {
		return vmm.Segment{}, false
	}
	d := segmentOf(sel, raw)
	rpl := uint8(sel & 3)
	missing := uint8(excNP)
	bad := false
	if i == segSS {
		missing = excSS
		bad = rpl != cpl || d.dpl() != cpl || !d.isData() || d.Attr&attrWrite == 0
	} else {
		bad = !d.readable() || !d.conforming() && (rpl > d.dpl() || cpl > d.dpl())
	}
	if bad {
		c.raise(vector, code)
		return vmm.Segment{}, false
	}
	if d.Attr&attrP == 0 {
		c.raise(missing, code)
		return vmm.Segment{}, false
	}
	if !c.setAccessed(at, raw) {
		return vmm.Segment{}, false
	}
	d.Attr |= attrAccessed
	return d.Segment, true
}

// segLinear checks an access of size bytes at offset ea of segment i outside
// 64-bit mode and returns the linear address. Intel SDM vol. 3A, 5.3 "Limit
// Checking" and 5.4 "Type Checking".
func (c *CPU) segLinear(i uint8, ea uint64, size uint8, write bool) (uint64, bool) {
	s := &c.seg[i]
	vector := uint8(excGP)
	if i == segSS {
		vector = excSS
	}
	last := ea + uint64(size) - 1
	var bad bool
	switch {
	case s.Attr&(attrUnusable|attrP) != attrP, write && c.w.prot && s.Attr&(attrCode|attrWrite) != attrWrite,
		!write && c.w.prot && s.Attr&(attrCode|attrWrite) == attrCode:
		bad = true
	case s.Attr&(attrCode|attrConforming) == attrConforming: // expand-down
		top := uint64(0xffff)
		if s.Attr&attrDB != 0 {
			top = 0xffffffff
		}
		bad = ea <= uint64(s.Limit) || last > top
	default:
		bad = last > uint64(s.Limit)
	}
	if bad {
		c.raise(vector, 0)
		return 0, false
	}
	return (ea + s.Base) & 0xffffffff, true
}

// readTSS reads size bytes at offset off of the current TSS; beyond its limit it
// raises #TS.
func (c *CPU) readTSS(off uint64, size uint8, ext uint32) (uint64, bool) {
	if off+uint64(size)-1 > uint64(c.tr.Limit) {
		c.raise(excTS, uint32(c.tr.Selector)&^3|ext)
		return 0, false
	}
	return c.read(c.wrap(c.tr.Base+off), size, accSys)
}
