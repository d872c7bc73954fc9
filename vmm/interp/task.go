package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// taskKind is what causes a task switch.
type taskKind uint8

// The causes.
const (
	taskJump taskKind = iota
	taskCall
	taskInt
	taskReturn
)

// The layout of a 32-bit TSS. Intel SDM vol. 3A, 7.2.1 "Task-State Segment
// (TSS)".
const (
	tssLink  = 0x00
	tssCR3   = 0x1c
	tssEIP   = 0x20
	tssFlags = 0x24
	tssGPR   = 0x28
	tssSeg   = 0x48
	tssLDT   = 0x60
	tssMin   = 0x67
)

// switchTask switches to the 32-bit TSS of selector sel. Intel SDM vol. 3A, 7.3
// "Task Switching". 16-bit TSSs are taken as invalid. KVM emulates every task switch,
// and only in RAM (kvm_task_switch in arch/x86/kvm/x86.c).
func (c *CPU) switchTask(sel uint16, how taskKind, hasCode bool, code uint32) bool {
	defer c.withDevices(c.needRAM(vmm.InternalEmulation))
	if sel&4 != 0 || sel&^3 == 0 {
		c.raise(excTS, uint32(sel)&^3)
		return false
	}
	raw, at, ok := c.readDescriptor(sel, excTS, 0)
	if !ok {
		return false
	}
	d := segmentOf(sel, raw)
	busy := how == taskReturn
	switch want := uint8(bit(busy, 2)) | 9; {
	case d.Attr&attrS != 0 || d.system() != want, d.Limit < tssMin:
		c.raise(excTS, uint32(sel)&^3)
		return false
	case d.Attr&attrP == 0:
		c.raise(excNP, uint32(sel)&^3)
		return false
	}
	f := c.flags()
	if how == taskReturn {
		f &^= flagNT
	}
	if !c.saveTask(f) {
		return false
	}
	old := c.tr.Selector
	if how == taskJump || how == taskReturn {
		if !c.setBusy(old, false) {
			return false
		}
	}
	if !busy && !c.writeAs(at+5, 1, raw>>40&0xff|2, accSysWrite) {
		return false
	}
	d.Attr |= 2
	if how == taskCall || how == taskInt {
		if !c.writeAs(d.Base+tssLink, 2, uint64(old), accSysWrite) {
			return false
		}
	}
	c.tr = d.Segment
	if !c.loadTask(how) {
		return false
	}
	if hasCode && !c.push(4, uint64(code)) {
		return false
	}
	return true
}

// setBusy sets or clears the busy bit of the TSS descriptor of sel.
func (c *CPU) setBusy(sel uint16, busy bool) bool {
	raw, at, ok := c.readDescriptor(sel, excTS, 0)
	return ok && c.writeAs(at+5, 1, raw>>40&0xff&^2|bit(busy, 2), accSysWrite)
}

// saveTask stores the registers in the current TSS.
func (c *CPU) saveTask(f uint64) bool {
	ok := true
	put := func(off, v uint64, size uint8) {
		ok = ok && c.writeAs(c.wrap(c.tr.Base+off), size, zext(v, size), accSysWrite)
	}
	put(tssEIP, c.r[regIP], 4)
	put(tssFlags, f, 4)
	for i := range 8 {
		put(tssGPR+uint64(i)*4, c.r[i], 4)
	}
	for i := range c.seg {
		put(tssSeg+uint64(i)*4, uint64(c.seg[i].Selector), 2)
	}
	return ok
}

// loadTask loads the registers from the current TSS. What it finds wrong faults
// in the new task.
func (c *CPU) loadTask(how taskKind) bool {
	ok := true
	get := func(off uint64, size uint8) uint64 {
		v, good := c.read(c.wrap(c.tr.Base+off), size, accSys)
		ok = ok && good
		return v
	}
	cr3, ip, f := get(tssCR3, 4), get(tssEIP, 4), get(tssFlags, 4)
	ldt := uint16(get(tssLDT, 2))
	var r [8]uint64
	for i := range r {
		r[i] = get(tssGPR+uint64(i)*4, 4)
	}
	var sel [6]uint16
	for i := range sel {
		sel[i] = uint16(get(tssSeg+uint64(i)*4, 2))
	}
	if !ok {
		return false
	}
	if c.cr0&cr0PG != 0 {
		c.cr3 = cr3
	}
	copy(c.r[:8], r[:])
	c.r[regIP] = ip
	if how == taskCall || how == taskInt {
		f |= flagNT
	}
	c.setFlags(f &^ flagVM)
	c.cr0 |= cr0TS
	c.dr[7] &^= 0x55
	for i := range c.seg {
		c.seg[i] = vmm.Segment{Selector: sel[i], Attr: attrUnusable}
	}
	c.flushTLB()
	if !c.loadLDT(ldt, excTS) {
		return false
	}
	cpl := uint8(sel[segCS] & 3)
	c.seg[segSS].Attr |= uint32(cpl) << 5
	cs, ok := c.codeTarget(sel[segCS], cpl, true)
	if !ok {
		c.exc.vector = excTS
		return false
	}
	c.seg[segCS] = cs
	c.refresh()
	for _, i := range [5]int{segSS, segES, segDS, segFS, segGS} {
		s, ok := c.checkSeg(i, sel[i], cpl, excTS)
		if !ok {
			return false
		}
		c.seg[i] = s
	}
	c.refresh()
	return true
}

// returnTask is IRET with NT set: back to the task of the link field.
func (c *CPU) returnTask() {
	link, ok := c.readTSS(tssLink, 2, 0)
	if ok {
		c.switchTask(uint16(link), taskReturn, false, 0)
		c.moved()
	}
}
