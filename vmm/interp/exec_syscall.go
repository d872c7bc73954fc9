package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// flatCode and flatData are the fixed segments of fast system calls. Intel SDM
// vol. 2B, "SYSCALL—Fast System Call".
func flatCode(sel uint16, dpl uint32, long bool) vmm.Segment {
	attr := attrG | attrP | attrS | 0xb | dpl<<5
	if long {
		attr |= attrL
	} else {
		attr |= attrDB
	}
	return vmm.Segment{Selector: sel, Limit: 0xffffffff, Attr: attr}
}

func flatData(sel uint16, dpl uint32) vmm.Segment {
	return vmm.Segment{Selector: sel, Limit: 0xffffffff, Attr: attrG | attrDB | attrP | attrS | 3 | dpl<<5}
}

func execSYSCALL(c *CPU, _ *op) {
	if c.efer&eferSCE == 0 || c.w.mode != mode64 {
		c.raise(excUD, 0)
		return
	}
	f := c.flags() &^ flagRF
	c.r[vmm.RCX], c.r[vmm.R11] = c.r[regIP], f
	c.r[regIP] = c.msr.lstar
	c.setFlags(f &^ c.msr.sfmask &^ flagRF)
	c.noTrap = c.rflags&flagTF == 0
	sel := uint16(c.msr.star>>32) &^ 3
	c.seg[segCS] = flatCode(sel, 0, true)
	c.seg[segSS] = flatData(sel+8, 0)
	c.moved()
}

func execSYSRET(c *CPU, o *op) {
	if c.efer&eferSCE == 0 || c.w.mode != mode64 {
		c.raise(excUD, 0)
		return
	}
	if !c.privileged() {
		return
	}
	sel := uint16(c.msr.star >> 48)
	if o.size == 8 {
		if !canonical(c.r[vmm.RCX]) {
			c.raise(excGP, 0)
			return
		}
		c.r[regIP] = c.r[vmm.RCX]
		c.seg[segCS] = flatCode((sel+16)|3, 3, true)
	} else {
		c.r[regIP] = c.r[vmm.RCX] & 0xffffffff
		c.seg[segCS] = flatCode(sel|3, 3, false)
	}
	const keep = 0x3c7fd7
	c.setFlags(c.r[vmm.R11] & keep)
	c.seg[segSS] = flatData((sel+8)|3, 3)
	c.moved()
}

func execSYSENTER(c *CPU, _ *op) {
	if !c.w.prot || c.msr.sysenterCS&^3 == 0 {
		c.raise(excGP, 0)
		return
	}
	c.setFlags(c.flags() &^ (flagVM | flagIF | flagRF))
	sel := uint16(c.msr.sysenterCS) &^ 3
	c.seg[segCS] = flatCode(sel, 0, c.w.long)
	c.seg[segSS] = flatData(sel+8, 0)
	c.r[regIP], c.r[vmm.RSP] = c.msr.sysenterEIP, c.msr.sysenterESP
	if !c.w.long {
		c.r[regIP], c.r[vmm.RSP] = c.r[regIP]&0xffffffff, c.r[vmm.RSP]&0xffffffff
	}
	c.moved()
}

func execSYSEXIT(c *CPU, o *op) {
	if !c.w.prot || c.w.cpl != 0 || c.msr.sysenterCS&^3 == 0 {
		c.raise(excGP, 0)
		return
	}
	long := o.size == 8
	if long && (!canonical(c.r[vmm.RCX]) || !canonical(c.r[vmm.RDX])) {
		c.raise(excGP, 0)
		return
	}
	sel := uint16(c.msr.sysenterCS) &^ 3
	code, stack := sel+16, sel+24
	if long {
		code, stack = sel+32, sel+40
	}
	c.seg[segCS] = flatCode(code|3, 3, long)
	c.seg[segSS] = flatData(stack|3, 3)
	c.r[regIP], c.r[vmm.RSP] = c.r[vmm.RDX], c.r[vmm.RCX]
	if !long {
		c.r[regIP], c.r[vmm.RSP] = c.r[regIP]&0xffffffff, c.r[vmm.RSP]&0xffffffff
	}
	c.moved()
}
