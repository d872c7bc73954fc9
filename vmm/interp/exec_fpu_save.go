package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// The FXSAVE area, which is also the legacy region of an XSAVE area. Intel SDM
// vol. 1, 10.5.1 "FXSAVE Area" and 13.4 "XSAVE Area".
//
//	  0  FCW FSW FTW(8) – FOP(16)   8  FIP (64)
//	 16  FDP (64)                  24  MXCSR (32) MXCSR_MASK (32)
//	 32  ST0–ST7, 16 bytes each   160  XMM0–XMM15
//	512  XSTATE_BV (64), then the rest of the header
const (
	saveSize   = 512
	saveMXCSR  = 24
	saveST     = 32
	saveXMM    = 160
	saveHeader = 512
	headerSize = 64
)

// The state components of XCR0.
const (
	xcr0X87 = 1 << 0
	xcr0SSE = 1 << 1
)

// area is a save area in memory.
type area struct {
	c  *CPU
	at op
	ok bool
}

// newArea checks that n bytes at o's operand, whose address must be a multiple of
// align, can be accessed. write tells how. KVM's emulator moves a save area in RAM only
// (em_fxsave and em_fxrstor in arch/x86/kvm/emulate.c); n bytes lie in two pages at most.
func (c *CPU) newArea(o *op, n, align uint64, write bool) area {
	defer c.withDevices(c.needRAM(vmm.InternalEmulation))
	a := area{c: c, at: *o}
	if c.linear(o)&(align-1) != 0 {
		c.misaligned(o)
		return a
	}
	acc := accRead
	if write {
		acc = accModify
	}
	a.ok = true
	for _, off := range []uint64{0, n - 8} {
		a.at.disp = o.disp + off
		if _, ok := c.loadOp(&a.at, 8, acc); !ok {
			a.ok = false
			break
		}
	}
	a.at.disp = o.disp
	return a
}

// get and put access size bytes at off. After a failure they do nothing.
func (a *area) get(off uint64, size uint8) uint64 {
	if !a.ok {
		return 0
	}
	at := a.at
	at.disp += off
	v, ok := a.c.loadOp(&at, size, accRead)
	a.ok = ok
	return v
}

func (a *area) put(off uint64, size uint8, v uint64) {
	if a.ok {
		at := a.at
		at.disp += off
		a.ok = a.c.storeOp(&at, size, v)
	}
}

// numXMM is the number of XMM registers that there are in this mode.
func (c *CPU) numXMM() int {
	if c.w.mode == mode64 {
		return 16
	}
	return 8
}

// putX87 and putSSE write a component, getX87 and getSSE read it into f.
func (c *CPU) putX87(a *area, wide bool) {
	f := &c.fpu
	a.put(0, 2, uint64(f.Control))
	a.put(2, 2, uint64(c.statusWord()))
	a.put(4, 2, uint64(f.Tag))
	a.put(6, 2, uint64(f.Opcode&0x7ff))
	if wide {
		a.put(8, 8, f.LastIP)
		a.put(16, 8, f.LastDP)
	} else {
		a.put(8, 8, f.LastIP&0xffffffff)
		a.put(16, 8, f.LastDP&0xffffffff)
	}
	for i, x := range f.ST {
		a.put(saveST+uint64(i)*16, 8, x.Mant)
		a.put(saveST+uint64(i)*16+8, 8, uint64(x.Exp))
	}
}

func (c *CPU) putSSE(a *area) {
	for i := range c.numXMM() {
		a.put(saveXMM+uint64(i)*16, 8, c.fpu.XMM[i][0])
		a.put(saveXMM+uint64(i)*16+8, 8, c.fpu.XMM[i][1])
	}
}

func (c *CPU) putMXCSR(a *area) {
	a.put(saveMXCSR, 4, uint64(c.fpu.MXCSR))
	a.put(saveMXCSR+4, 4, mxcsrValid)
}

func (a *area) getX87(f *vmm.FPU, wide bool) {
	f.Control = uint16(a.get(0, 2))&fcwValid | fcwFixed
	sw := uint16(a.get(2, 2))
	f.Status, f.Top = sw&^0x3800, uint8(sw>>11&7)
	f.Tag = uint8(a.get(4, 1))
	f.Opcode = uint16(a.get(6, 2)) & 0x7ff
	size := uint8(4)
	if wide {
		size = 8
	}
	f.LastIP, f.LastDP = a.get(8, size), a.get(16, size)
	for i := range f.ST {
		f.ST[i] = vmm.X87{Mant: a.get(saveST+uint64(i)*16, 8), Exp: uint16(a.get(saveST+uint64(i)*16+8, 2))}
	}
}

func (a *area) getSSE(f *vmm.FPU) {
	for i := range a.c.numXMM() {
		f.XMM[i] = [2]uint64{a.get(saveXMM+uint64(i)*16, 8), a.get(saveXMM+uint64(i)*16+8, 8)}
	}
}

// getMXCSR raises #GP for reserved bits.
func (a *area) getMXCSR(f *vmm.FPU) {
	f.MXCSR = uint32(a.get(saveMXCSR, 4))
	if a.ok && f.MXCSR&^mxcsrValid != 0 {
		a.c.raise(excGP, 0)
		a.ok = false
	}
}

// setFPU makes f the state and brings ES in line with its flags.
func (c *CPU) setFPU(f *vmm.FPU) {
	c.fpu = *f
	c.fpuSummary()
}

// execFXSAVE is FXSAVE, and FXSAVE64 with REX.W.
func execFXSAVE(c *CPU, o *op) {
	if !c.fpuUsable() {
		return
	}
	a := c.newArea(o, saveSize, 16, true)
	c.putX87(&a, o.rex&8 != 0)
	c.putMXCSR(&a)
	if c.cr4&cr4OSFXSR != 0 {
		c.putSSE(&a)
	}
}

// execFXRSTOR is FXRSTOR, and FXRSTOR64 with REX.W.
func execFXRSTOR(c *CPU, o *op) {
	if !c.fpuUsable() {
		return
	}
	a := c.newArea(o, saveSize, 16, false)
	f := c.fpu
	a.getX87(&f, o.rex&8 != 0)
	a.getMXCSR(&f)
	if c.cr4&cr4OSFXSR != 0 {
		a.getSSE(&f)
	}
	if a.ok {
		c.setFPU(&f)
	}
}

// xsaveUsable raises #UD or #NM if XSAVE and its kin may not be used.
func (c *CPU) xsaveUsable() bool {
	switch {
	case c.cr4&cr4OSXSAVE == 0:
		c.raise(excUD, 0)
	case c.cr0&cr0TS != 0:
		c.raise(excNM, 0)
	default:
		return true
	}
	return false
}

// requested is the bitmap of components that EDX:EAX asks for.
func (c *CPU) requested() uint64 {
	return c.xcr0 & (c.r[vmm.RDX]<<32 | c.r[vmm.RAX]&0xffffffff)
}

// inUse are the components that are not in their initial state.
func (c *CPU) inUse() uint64 {
	m := uint64(0)
	f := &c.fpu
	if f.Control != fcwReset || f.Status != 0 || f.Top != 0 || f.Tag != 0 || f.Opcode != 0 || f.LastIP|f.LastDP != 0 ||
		f.ST != [8]vmm.X87{} {
		m |= xcr0X87
	}
	if f.XMM != [16][2]uint64{} {
		m |= xcr0SSE
	}
	return m
}

func execXSAVE(c *CPU, o *op) {
	if !c.xsaveUsable() {
		return
	}
	a := c.newArea(o, saveHeader+headerSize, 64, true)
	want := c.requested()
	old := a.get(saveHeader, 8)
	if want&xcr0X87 != 0 {
		c.putX87(&a, o.rex&8 != 0)
	}
	if want&xcr0SSE != 0 {
		c.putMXCSR(&a)
		c.putSSE(&a)
	}
	a.put(saveHeader, 8, old&^want|c.inUse()&want)
}

func execXRSTOR(c *CPU, o *op) {
	if !c.xsaveUsable() {
		return
	}
	a := c.newArea(o, saveHeader+headerSize, 64, false)
	want := c.requested()
	have := a.get(saveHeader, 8)
	if rest := a.get(saveHeader+8, 8) | a.get(saveHeader+16, 8); a.ok && (have&^c.xcr0 != 0 || rest != 0) {
		c.raise(excGP, 0)
		return
	}
	f := c.fpu
	if want&xcr0X87 != 0 {
		if have&xcr0X87 != 0 {
			a.getX87(&f, o.rex&8 != 0)
		} else {
			f = vmm.FPU{Control: fcwReset, XMM: f.XMM, MXCSR: f.MXCSR}
		}
	}
	if want&xcr0SSE != 0 {
		a.getMXCSR(&f)
		if have&xcr0SSE != 0 {
			a.getSSE(&f)
		} else {
			clear(f.XMM[:c.numXMM()])
		}
	}
	if a.ok {
		c.setFPU(&f)
	}
}
