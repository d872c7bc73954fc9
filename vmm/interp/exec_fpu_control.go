package interp

import (
	"codeberg.org/ticktrap/ticktrap/vmm"
)

func execFNINIT(c *CPU, _ *op) {
	if !c.fpuUsable() {
		return
	}
	c.setTop(0)
	c.fpu.Control, c.fpu.Status, c.fpu.Tag = fcwReset, 0, 0
	c.fpu.Opcode, c.fpu.LastIP, c.fpu.LastDP = 0, 0, 0
}

func execFNCLEX(c *CPU, _ *op) {
	if c.fpuUsable() {
		c.fpu.Status &^= fswFlags | fswSF | fswES | fswB
	}
}

// execFWAIT depends on CR0.MP and TS instead of EM and TS.
func execFWAIT(c *CPU, _ *op) {
	switch {
	case c.cr0&(cr0MP|cr0TS) == cr0MP|cr0TS:
		c.raise(excNM, 0)
	case c.fpu.Status&fswES != 0 && c.cr0&cr0NE != 0:
		c.raise(excMF, 0)
	}
}

// statusWord is the status word with TOP.
func (c *CPU) statusWord() uint16 { return c.fpu.Status&^0x3800 | uint16(c.fpu.Top)<<11 }

func execFNSTSWAX(c *CPU, _ *op) {
	if c.fpuUsable() {
		put(c, vmm.RAX, int16(c.statusWord()))
	}
}

func execFNSTSW(c *CPU, o *op) {
	if c.fpuUsable() {
		store(c, o, int16(c.statusWord()))
	}
}

func execFNSTCW(c *CPU, o *op) {
	if c.fpuUsable() {
		store(c, o, int16(c.fpu.Control))
	}
}

func execFLDCW(c *CPU, o *op) {
	if v, ok := load[int16](c, o); ok {
		c.setControl(uint16(v))
	}
}

func (c *CPU) setControl(v uint16) {
	c.fpu.Control = v&fcwValid | fcwFixed
	c.fpuSummary()
}

func execFINCSTP(c *CPU, _ *op) {
	c.clearC1()
	c.setTop(c.fpu.Top + 1)
}

func execFDECSTP(c *CPU, _ *op) {
	c.clearC1()
	c.setTop(c.fpu.Top - 1)
}

func execFFREE(c *CPU, o *op) {
	c.clearC1()
	c.fpu.Tag &^= 1 << ((c.fpu.Top + o.rm) & 7)
}

func execFFREEP(c *CPU, o *op) {
	execFFREE(c, o)
	c.setTop(c.fpu.Top + 1)
}

// The x87 environment in memory is seven fields of 2 or 4 bytes: control,
// status, tag, instruction pointer, its selector and opcode, operand pointer, its
// selector. Intel SDM vol. 1, 8.1.10 "Saving the x87 FPU's State with
// FSTENV/FNSTENV and FSAVE/FNSAVE", figures 8-9 to 8-12. Selectors are stored as
// zero, as processors without FCS and FDS do.
const envFields = 7

// envSize is the size of a field with this operand size.
func envSize(o *op) uint8 {
	if o.size == 2 {
		return 2
	}
	return 4
}

// storeEnv writes the environment.
func (c *CPU) storeEnv(o *op) bool {
	ip, dp := c.fpu.LastIP, c.fpu.LastDP
	f := [envFields]uint64{uint64(c.fpu.Control), uint64(c.statusWord()), uint64(c.tagWord()),
		ip, uint64(c.fpu.Opcode & 0x7ff), dp, 0}
	n := envSize(o)
	switch {
	case n == 4 && c.w.prot:
		f[4], f[6] = uint64(c.fpu.Opcode&0x7ff)<<16, 0xffff0000
	case n == 4:
		f[3], f[4], f[5], f[6] = ip&0xffff, ip>>16<<12|f[4], dp&0xffff, dp>>16<<12
	case c.w.prot:
		f[4] = 0
	default:
		f[4], f[6] = ip>>16<<12|f[4], dp>>16<<12
	}
	if n == 4 {
		for i := range 3 {
			f[i] |= 0xffff0000
		}
	}
	at := *o
	at.disp += uint64(n) * (envFields - 1)
	if _, ok := c.loadOp(&at, n, accModify); !ok {
		return false
	}
	for i, v := range f {
		at.disp = o.disp + uint64(i)*uint64(n)
		if !c.storeOp(&at, n, v) {
			return false
		}
	}
	return true
}

// loadEnv reads the environment. The registers keep their places.
func (c *CPU) loadEnv(o *op) bool {
	var f [envFields]uint64
	n := envSize(o)
	at := *o
	for i := range f {
		var ok bool
		at.disp = o.disp + uint64(i)*uint64(n)
		if f[i], ok = c.loadOp(&at, n, accRead); !ok {
			return false
		}
	}
	c.setTop(uint8(f[1] >> 11 & 7))
	c.fpu.Status = uint16(f[1]) &^ 0x3800
	c.setTagWord(uint16(f[2]))
	c.fpu.LastIP, c.fpu.LastDP = f[3], f[5]
	switch {
	case n == 4 && c.w.prot:
		c.fpu.Opcode = uint16(f[4] >> 16 & 0x7ff)
	case !c.w.prot:
		c.fpu.Opcode = uint16(f[4] & 0x7ff)
		c.fpu.LastIP = f[3]&0xffff | f[4]>>12<<16
		c.fpu.LastDP = f[5]&0xffff | f[6]>>12<<16
	}
	c.setControl(uint16(f[0]))
	return true
}

// KVM's emulator knows none of these four (escape_d9 and escape_dd in
// arch/x86/kvm/emulate.c), so they work in RAM only.

func execFNSTENV(c *CPU, o *op) {
	defer c.withDevices(c.needRAM(vmm.InternalEmulation))
	if c.fpuUsable() && c.storeEnv(o) {
		c.fpu.Control |= fswFlags
		c.fpuSummary()
	}
}

func execFLDENV(c *CPU, o *op) {
	defer c.withDevices(c.needRAM(vmm.InternalEmulation))
	if c.fpuReady() {
		c.loadEnv(o)
	}
}

// register80 is the place of ST(i) behind the environment.
func register80(o *op, i int) op {
	at := *o
	at.disp += uint64(envSize(o))*envFields + uint64(i)*10
	return at
}

func execFNSAVE(c *CPU, o *op) {
	defer c.withDevices(c.needRAM(vmm.InternalEmulation))
	if !c.fpuUsable() {
		return
	}
	last := register80(o, 7)
	last.disp += 8
	if _, ok := c.loadOp(&last, 2, accModify); !ok || !c.storeEnv(o) {
		return
	}
	for i := range 8 {
		at := register80(o, i)
		if !c.store80(&at, c.fpu.ST[i]) {
			return
		}
	}
	execFNINIT(c, o)
}

func execFRSTOR(c *CPU, o *op) {
	defer c.withDevices(c.needRAM(vmm.InternalEmulation))
	if !c.fpuReady() {
		return
	}
	var st [8]vmm.X87
	for i := range st {
		at := register80(o, i)
		m, ok := load[int64](c, &at)
		if !ok {
			return
		}
		at.disp += 8
		se, ok := load[int16](c, &at)
		if !ok {
			return
		}
		st[i] = vmm.X87{Mant: uint64(m), Exp: uint16(se)}
	}
	if c.loadEnv(o) {
		c.fpu.ST = st
	}
}
