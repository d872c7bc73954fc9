//go:build linux && amd64

package kvm

import (
	"encoding/binary"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// decode translates the exit in the run page, whose time and RIP are known. Port and memory accesses are
// finished by the next KVM_RUN, from the same page.
func (c *CPU) decode(e *vmm.Exit) {
	p := c.page
	switch p.ExitReason {
	case _KVM_EXIT_IO:
		c.decodeIO(e)
	case _KVM_EXIT_MMIO:
		m := p.mmio()
		e.Reason, e.Addr, e.Size, e.Write = vmm.ExitMMIO, m.PhysAddr, uint8(m.Len), m.IsWrite != 0
		if e.Write {
			e.Data = load(m.Data[:], uint8(m.Len))
		} else {
			c.pending = pendRead
		}
	case _KVM_EXIT_HLT:
		e.Reason = vmm.ExitHLT
		if e.RIP != 0 {
			e.RIP-- // KVM has passed the one-byte instruction
		}
	case _KVM_EXIT_IRQ_WINDOW_OPEN:
		e.Reason = vmm.StopWindow
	case _KVM_EXIT_X86_RDMSR, _KVM_EXIT_X86_WRMSR:
		m := p.msr()
		m.Error = 0
		c.pending = pendMSR
		e.Reason, e.Addr = vmm.ExitRDMSR, uint64(m.Index)
		if p.ExitReason == _KVM_EXIT_X86_WRMSR {
			e.Reason, e.Data, e.Write = vmm.ExitWRMSR, m.Data, true
		}
	case _KVM_EXIT_SET_TPR:
		e.Reason = vmm.ExitSetTPR
	default:
		c.decodeEnd(e)
	}
}

// decodeEnd translates an exit after which the guest cannot go on.
func (c *CPU) decodeEnd(e *vmm.Exit) {
	e.RIP = c.RIP()
	switch c.page.ExitReason {
	case _KVM_EXIT_SHUTDOWN, _KVM_EXIT_SYSTEM_EVENT:
		e.Reason = vmm.ExitTriple
		return
	case _KVM_EXIT_FAIL_ENTRY:
		e.Reason, e.Data = vmm.ExitFailEntry, c.page.fail().Reason
	case _KVM_EXIT_INTERNAL_ERROR:
		i := c.page.internal()
		e.Reason, e.Addr, e.Data = vmm.ExitInternal, uint64(i.Suberror), i.Data[0]
	default:
		e.Reason, e.Addr = vmm.ExitInternal, internalReason|uint64(c.page.ExitReason)
	}
	c.failed = *e
}

func (c *CPU) decodeIO(e *vmm.Exit) {
	io := c.page.io()
	n := uint64(io.Size) * uint64(io.Count)
	c.pio = portRun{data: c.raw[io.DataOffset : io.DataOffset+n], size: io.Size, write: io.Direction == 1, port: io.Port}
	first, _ := c.nextItem()
	first.At, first.RIP = e.At, e.RIP
	*e = first
}

// nextItem gives the loop the next item of a port access.
func (c *CPU) nextItem() (vmm.Exit, bool) {
	if len(c.pio.data) == 0 {
		return vmm.Exit{}, false
	}
	p := &c.pio
	e := vmm.Exit{Reason: vmm.ExitIO, At: c.vm.Now(), RIP: c.shownRIP(),
		Size: p.size, Write: p.write, Addr: uint64(p.port)}
	item := p.data[:p.size]
	if p.write {
		e.Data = load(item, p.size)
		p.data = p.data[p.size:]
	} else {
		c.pending = pendIn
	}
	return e, true
}

// CompleteRead implements vmm.CPU.
func (c *CPU) CompleteRead(v uint64) {
	switch c.pending {
	case pendIn:
		store(c.pio.data[:c.pio.size], v)
		c.pio.data = c.pio.data[c.pio.size:]
	case pendRead:
		m := c.page.mmio()
		store(m.Data[:m.Len], v)
	case pendMSR:
		c.page.msr().Data = v
		return // an exception may still take the place of the value
	}
	c.pending = pendNothing
}

// CompleteCPUID implements vmm.CPU: KVM answers CPUID by itself.
func (c *CPU) CompleteCPUID([4]uint32) { panic("BUG: CPUID completed on KVM, where it never exits") }

// load reads a number of 1, 2, 4 or 8 bytes.
func load(b []byte, size uint8) uint64 {
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	var x [8]byte // MMIO may have other sizes
	copy(x[:], b[:size])
	return binary.LittleEndian.Uint64(x[:])
}

func store(b []byte, v uint64) {
	var x [8]byte
	binary.LittleEndian.PutUint64(x[:], v)
	copy(b, x[:])
}
