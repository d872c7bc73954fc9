package interp

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

var _ vmm.CPU = (*CPU)(nil)
var _ vmm.Memory = (*Memory)(nil)

// WantWindow asks for a stop as soon as an event could be taken.
func (c *CPU) WantWindow(irq, nmi bool) {
	c.wantIRQ, c.wantNMI = irq, nmi
	c.look()
}

// Interruptible reports whether a maskable interrupt could be taken now. While
// an access waits to be replayed the answer is for the moment after that
// instruction, which is when the event would be delivered.
func (c *CPU) Interruptible() (ok bool, why vmm.NotReady) {
	switch {
	case c.event.Kind != vmm.BadEvent:
		return false, vmm.NotReadyEvent
	case c.rflags&flagIF == 0:
		return false, vmm.NotReadyIF
	case c.shadow && c.log.n == 0:
		return false, vmm.NotReadyShadow
	}
	return true, vmm.Ready
}

// NMIReady reports whether an NMI could be taken now.
func (c *CPU) NMIReady() bool {
	return c.event.Kind == vmm.BadEvent && !c.nmiBlocked && (!c.shadow || c.log.n != 0)
}

// Inject hands over an event for delivery at the next Run.
func (c *CPU) Inject(e vmm.Event) {
	if c.event.Kind != vmm.BadEvent {
		panic("BUG: interp: an event waits for delivery already")
	}
	c.event = e
	c.look()
}

// Skip moves RIP past the intercepted instruction of the last exit.
func (c *CPU) Skip() {
	switch c.pending.kind {
	case waitNone, waitAccess:
		return
	}
	c.r[regIP] = c.pending.next
	c.pending = completion{}
	c.shadow, c.shadowSS = false, false
	c.stats.Executed++
	c.refresh()
	if c.rflags&flagTF != 0 && c.event.Kind == vmm.BadEvent {
		c.dr[6] |= dr6BS
		c.Inject(vmm.Event{Kind: vmm.EventException, Vector: excDB})
	}
}

// CompleteRead supplies the result of the last exit.
func (c *CPU) CompleteRead(v uint64) {
	switch c.pending.kind {
	case waitPort:
		c.putN(vmm.RAX, c.pending.size, v)
	case waitMSR:
		c.r[vmm.RAX], c.r[vmm.RDX] = v&0xffffffff, v>>32
	case waitAccess:
		c.log.v[c.log.n] = zext(v, c.pending.size)
		c.log.n++
		c.pending = completion{}
		c.look()
	}
}

// CompleteCPUID supplies EAX, EBX, ECX and EDX. The bit of leaf 1 that mirrors
// CR4.OSXSAVE is the CPU's own.
func (c *CPU) CompleteCPUID(r [4]uint32) {
	if c.pending.leaf == 1 {
		r[2] = r[2]&^(1<<27) | uint32(bit(c.cr4&cr4OSXSAVE != 0, 1<<27))
	}
	c.r[vmm.RAX], c.r[vmm.RBX], c.r[vmm.RCX], c.r[vmm.RDX] =
		uint64(r[0]), uint64(r[1]), uint64(r[2]), uint64(r[3])
}

// CR8 returns the task priority, 0–15.
func (c *CPU) CR8() uint8 { return c.cr8 }

// SetCR8 sets the task priority.
func (c *CPU) SetCR8(v uint8) { c.cr8 = v & 15 }

// SetTPRThreshold sets the value below which a MOV to CR8 exits.
func (c *CPU) SetTPRThreshold(v uint8) { c.tprThreshold = v }

// SetIntercepts says which optional instructions exit.
func (c *CPU) SetIntercepts(i vmm.Intercepts) { c.intercepts = i }

// RIP returns the instruction pointer.
func (c *CPU) RIP() uint64 { return c.r[regIP] }

// GPR returns general register n.
func (c *CPU) GPR(n int) uint64 { return c.r[n&15] }

// SetGPR sets general register n.
func (c *CPU) SetGPR(n int, v uint64) { c.r[n&15] = v }

// SetXCR0 is XSETBV: x87 state must stay on, and beside it there is only SSE.
func (c *CPU) SetXCR0(v uint64) (ok bool) {
	if v&1 == 0 || v&^3 != 0 {
		return false
	}
	c.xcr0 = v
	return true
}

// SetTSCOffset sets guest TSC minus host TSC.
func (c *CPU) SetTSCOffset(d clock.Cycles) { c.tscOffset = d }

// refresh rebuilds what follows from the state.
func (c *CPU) refresh() {
	w := &c.w
	w.long = c.efer&eferLMA != 0
	w.prot = c.cr0&cr0PE != 0
	w.cpl = 0
	if w.prot {
		w.cpl = uint8(c.seg[segSS].Attr >> 5 & 3)
	}
	cs := c.seg[segCS].Attr
	switch {
	case w.long && cs&attrL != 0:
		w.mode, w.ipMask = mode64, ^uint64(0)
	case cs&attrDB != 0:
		w.mode, w.ipMask = mode32, 0xffffffff
	default:
		w.mode, w.ipMask = mode16, 0xffff
	}
	for i := range c.seg {
		w.segBase[i] = c.seg[i].Base
		if w.mode == mode64 && i < segFS {
			w.segBase[i] = 0
		}
	}
	c.blocks.setKey(w.mode, w.cpl, c.seg[segCS].Base, c.seg[segCS].Limit)
	c.setTLBKey()
	c.look()
}

// look rebuilds the reasons for attention.
func (c *CPU) look() {
	var a attention
	if c.log.n != 0 {
		a |= attnReplay
	}
	if c.event.Kind != vmm.BadEvent {
		a |= attnEvent
	}
	if c.halted {
		a |= attnHalt
	}
	if c.wantIRQ || c.wantNMI {
		a |= attnWindow
	}
	if c.shadow {
		a |= attnShadow
	}
	if c.rflags&(flagTF|flagRF) != 0 || c.dr[7]&dr7Enable != 0 {
		a |= attnStep
	}
	if c.dead {
		a |= attnDead
	}
	c.w.attn = a
}
