package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// portAllowed checks the right to use size ports from port. Intel SDM vol. 1,
// 19.5 "Protected-Mode I/O".
func (c *CPU) portAllowed(port uint16, size uint8) bool {
	if !c.w.prot || c.w.cpl <= uint8(c.rflags>>12&3) {
		return true
	}
	if c.tr.Attr&8 == 0 || c.tr.Limit < tssMin {
		c.raise(excGP, 0)
		return false
	}
	base, ok := c.readTSS(0x66, 2, 0)
	if !ok {
		return false
	}
	at := base + uint64(port)/8
	if at+1 > uint64(c.tr.Limit) {
		c.raise(excGP, 0)
		return false
	}
	v, ok := c.readTSS(at, 2, 0)
	if !ok {
		return false
	}
	if v>>(port&7)&(1<<size-1) != 0 {
		c.raise(excGP, 0)
		return false
	}
	return true
}

// port returns the port number of IN and OUT.
func (c *CPU) port(o *op) uint16 {
	if o.flags&opImm != 0 {
		return uint16(o.imm & 0xff)
	}
	return uint16(c.r[vmm.RDX])
}

func execIN(c *CPU, o *op)  { c.portExit(o, false) }
func execOUT(c *CPU, o *op) { c.portExit(o, true) }

func (c *CPU) portExit(o *op, write bool) {
	port, size := c.port(o), min(o.size, 4)
	if !c.portAllowed(port, size) {
		return
	}
	c.exit = vmm.Exit{Reason: vmm.ExitIO, Addr: uint64(port), Size: size, Write: write}
	c.pending = completion{kind: waitPort, size: size}
	if write {
		c.exit.Data = c.getN(vmm.RAX, size)
		c.pending.kind = waitSkip
	}
	c.stop = stopExit
}

// stringPort makes the port access of INS and OUTS, whose answers go through the
// access log like those of device memory.
func (c *CPU) stringPort(size uint8, write bool, v uint64) (uint64, bool) {
	port := uint16(c.r[vmm.RDX])
	if !c.portAllowed(port, size) {
		return 0, false
	}
	v, ok := c.device(uint64(port), size, write, v)
	if !ok {
		c.exit.Reason, c.exit.String = vmm.ExitIO, true
	}
	return v, ok
}

// insStep checks the destination first, so that no input is lost to a fault.
func insStep(c *CPU, o *op) bool {
	size := min(o.size, 4)
	a, ok := c.segAddress(segES, c.r[vmm.RDI]&o.amask, size, true)
	if !ok {
		return false
	}
	if _, ok = c.walk(a, accWrite); !ok {
		return false
	}
	v, ok := c.stringPort(size, false, 0)
	if !ok || !c.write(a, size, v) {
		return false
	}
	at := *o
	at.size = size
	c.advance(&at, vmm.RDI, 1)
	return true
}

func outsStep(c *CPU, o *op) bool {
	size := min(o.size, 4)
	v, ok := c.readSeg(o.source(), c.r[vmm.RSI]&o.amask, size)
	if !ok {
		return false
	}
	if _, ok = c.stringPort(size, true, v); !ok {
		return false
	}
	at := *o
	at.size = size
	c.advance(&at, vmm.RSI, 1)
	return true
}
