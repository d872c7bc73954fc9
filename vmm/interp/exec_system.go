package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// privileged raises #GP unless at level 0.
func (c *CPU) privileged() bool {
	if c.w.cpl != 0 {
		c.raise(excGP, 0)
		return false
	}
	return true
}

// intercept makes an op exit with reason; pending says how it is answered.
func (c *CPU) intercept(reason vmm.ExitKind, wait waitKind) {
	c.exit = vmm.Exit{Reason: reason}
	c.pending = completion{kind: wait}
	c.stop = stopExit
}

func execCPUID(c *CPU, _ *op) {
	c.intercept(vmm.ExitCPUID, waitCPUID)
	c.exit.Addr, c.exit.Data = c.r[vmm.RAX]&0xffffffff, c.r[vmm.RCX]&0xffffffff
	c.pending.leaf = uint32(c.exit.Addr)
}

func execHLT(c *CPU, _ *op) {
	if !c.privileged() {
		return
	}
	if c.intercepts.HLT {
		c.intercept(vmm.ExitHLT, waitSkip)
		return
	}
	c.halted, c.monitor.armed = true, false
	c.leave()
}

func execVMCALL(c *CPU, _ *op) { c.intercept(vmm.ExitVMCALL, waitSkip) }

// exits returns the handler of a privileged instruction that always exits.
func exits(reason vmm.ExitKind) handler {
	return func(c *CPU, _ *op) {
		if c.privileged() {
			c.intercept(reason, waitSkip)
		}
	}
}

func execRDPMC(c *CPU, _ *op) {
	if c.w.prot && c.w.cpl != 0 && c.cr4&cr4PCE == 0 {
		c.raise(excGP, 0)
		return
	}
	c.intercept(vmm.ExitRDPMC, waitMSR)
	c.exit.Addr = c.r[vmm.RCX] & 0xffffffff
}

// execPAUSE takes part in pause-loop exiting at level 0.
func execPAUSE(c *CPU, o *op) {
	c.probe.pauses++
	if c.intercepts.PLEWindow == 0 || c.w.cpl != 0 {
		return
	}
	t := c.now + tscOf(o.cyc)
	p := &c.ple
	if !p.valid || t-p.last > uint64TSC(c.intercepts.PLEGap) {
		p.first = t
	} else if t-p.first > uint64TSC(c.intercepts.PLEWindow) {
		*p = pauseLoop{}
		c.intercept(vmm.ExitPause, waitSkip)
		return
	}
	p.last, p.valid = t, true
}

func execRDTSC(c *CPU, o *op) {
	if c.cr4&cr4TSD != 0 && c.w.cpl != 0 {
		c.raise(excGP, 0)
		return
	}
	c.probe.time = true
	t := c.tsc(o)
	c.r[vmm.RAX], c.r[vmm.RDX] = t&0xffffffff, t>>32
}

func execRDTSCP(c *CPU, o *op) {
	if execRDTSC(c, o); c.stop == stopNone {
		c.r[vmm.RCX] = c.msr.tscAux & 0xffffffff
	}
}

func execCLI(c *CPU, _ *op) {
	if c.w.prot && c.w.cpl > uint8(c.rflags>>12&3) {
		c.raise(excGP, 0)
		return
	}
	c.rflags &^= flagIF
}

func execSTI(c *CPU, _ *op) {
	if c.w.prot && c.w.cpl > uint8(c.rflags>>12&3) {
		c.raise(excGP, 0)
		return
	}
	if c.rflags&flagIF == 0 {
		c.rflags |= flagIF
		c.shadow = true
	}
	c.leave()
}

func execCLTS(c *CPU, _ *op) {
	if c.privileged() {
		c.cr0 &^= cr0TS
	}
}

func execINVLPG(c *CPU, _ *op) { c.privileged() } // the TLB is never stale

// acFlag returns the handler of CLAC and STAC.
func acFlag(on uint64) handler {
	return func(c *CPU, _ *op) {
		if c.w.cpl != 0 {
			c.raise(excUD, 0)
			return
		}
		c.rflags = c.rflags&^flagAC | on
		c.setTLBKey()
	}
}

// softInt delivers INT n and the like.
func (c *CPU) softInt(n uint8) {
	if c.vector(n, fromSoftware, false, 0) {
		c.leave()
	}
}

func execINT(c *CPU, o *op)  { c.softInt(uint8(o.imm)) }
func execINT3(c *CPU, _ *op) { c.softInt(excBP) }

// execINT1 is a trap: RIP is already past it. A data breakpoint that MOV SS has
// held back is reported with it.
func execINT1(c *CPU, _ *op) {
	c.dr[6] |= c.hits
	c.hits = 0
	if c.vector(excDB, fromHardware, false, 0) {
		c.leave()
	}
}

func execINTO(c *CPU, _ *op) {
	if c.of() {
		c.softInt(excOF)
	}
}

func execUndefined(c *CPU, _ *op) { c.raise(excUD, 0) }
func execTooLong(c *CPU, _ *op)   { c.raise(excGP, 0) }

// execUnknown exits with the bytes of an encoding that the table lacks.
func execUnknown(c *CPU, o *op) { c.exitUnknown(o) }

func (c *CPU) exitUnknown(o *op) {
	c.exit = vmm.Exit{Reason: vmm.ExitUnknown}
	c.pending = completion{kind: waitSkip}
	c.stop = stopExit
	a := c.r[regIP] - uint64(o.len)
	if c.w.mode != mode64 {
		a = (a + c.seg[segCS].Base) & 0xffffffff
	}
	for i := range c.exit.Bytes {
		phys, ok := c.fetchPhys(c.wrap(a + uint64(i)))
		if !ok || !c.mem.ram(phys>>pageShift) {
			break
		}
		c.exit.Bytes[i] = c.mem.page(phys >> pageShift)[phys&pageMask]
		c.exit.NBytes++
	}
	c.stop = stopExit
}
