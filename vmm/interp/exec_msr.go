package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

// The model-specific registers that belong to the CPU. Intel SDM vol. 4, 2.1
// "Architectural MSRs".
const (
	msrTSC          = 0x10
	msrSysenterCS   = 0x174
	msrSysenterESP  = 0x175
	msrSysenterEIP  = 0x176
	msrPAT          = 0x277
	msrEFER         = 0xc0000080
	msrSTAR         = 0xc0000081
	msrLSTAR        = 0xc0000082
	msrCSTAR        = 0xc0000083
	msrSFMASK       = 0xc0000084
	msrFSBase       = 0xc0000100
	msrGSBase       = 0xc0000101
	msrKernelGSBase = 0xc0000102
	msrTSCAux       = 0xc0000103
)

// msrPlace returns where the value of a pass-through MSR is kept.
func (c *CPU) msrPlace(index uint32) *uint64 {
	m := &c.msr
	switch index {
	case msrSysenterCS:
		return &m.sysenterCS
	case msrSysenterESP:
		return &m.sysenterESP
	case msrSysenterEIP:
		return &m.sysenterEIP
	case msrPAT:
		return &m.pat
	case msrSTAR:
		return &m.star
	case msrLSTAR:
		return &m.lstar
	case msrCSTAR:
		return &m.cstar
	case msrSFMASK:
		return &m.sfmask
	case msrFSBase:
		return &c.seg[segFS].Base
	case msrGSBase:
		return &c.seg[segGS].Base
	case msrKernelGSBase:
		return &m.kernelGSBase
	case msrTSCAux:
		return &m.tscAux
	}
	return nil
}

// msrValid reports whether v is a value that MSR index takes.
func msrValid(index uint32, v uint64) bool {
	switch index {
	case msrSysenterESP, msrSysenterEIP, msrLSTAR, msrCSTAR, msrFSBase, msrGSBase, msrKernelGSBase:
		return canonical(v)
	case msrTSCAux:
		return v>>32 == 0
	case msrPAT: // 2, 3 and above 7 are no memory types
		for ; v != 0; v >>= 8 {
			if t := v & 0xff; t > 7 || t == 2 || t == 3 {
				return false
			}
		}
	}
	return true
}

// ReadMSR reads an MSR that belongs to the CPU.
func (c *CPU) ReadMSR(index uint32) (v uint64, ok bool) {
	if index == msrEFER {
		return c.efer, true
	}
	if p := c.msrPlace(index); p != nil {
		return *p, true
	}
	return 0, false
}

// WriteMSR writes an MSR that belongs to the CPU.
func (c *CPU) WriteMSR(index uint32, v uint64) (ok bool) {
	if index == msrEFER {
		lme := c.efer&eferLME ^ v&eferLME
		if v&^(eferSCE|eferLME|eferLMA|eferNXE) != 0 || lme != 0 && c.cr0&cr0PG != 0 {
			return false
		}
		c.efer = v&^eferLMA | c.efer&eferLMA
		c.flushTLB()
		c.refresh()
		return true
	}
	p := c.msrPlace(index)
	if p == nil || !msrValid(index, v) {
		return false
	}
	*p = v
	c.refresh()
	return true
}

func execRDMSR(c *CPU, o *op) {
	if !c.privileged() {
		return
	}
	index := uint32(c.r[vmm.RCX])
	var v uint64
	if index == msrTSC {
		c.probe.time = true
		v = c.tsc(o)
	} else if p := c.msrPlace(index); p != nil {
		v = *p
	} else {
		c.intercept(vmm.ExitRDMSR, waitMSR)
		c.exit.Addr = uint64(index)
		return
	}
	c.r[vmm.RAX], c.r[vmm.RDX] = v&0xffffffff, v>>32
}

func execWRMSR(c *CPU, _ *op) {
	if !c.privileged() {
		return
	}
	index := uint32(c.r[vmm.RCX])
	v := c.r[vmm.RDX]<<32 | c.r[vmm.RAX]&0xffffffff
	switch {
	case c.msrPlace(index) == nil:
		c.intercept(vmm.ExitWRMSR, waitSkip)
		c.exit.Addr, c.exit.Data, c.exit.Write = uint64(index), v, true
	case !c.WriteMSR(index, v):
		c.raise(excGP, 0)
	default:
		c.leave()
	}
}
