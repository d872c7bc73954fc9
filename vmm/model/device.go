package model

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// MSI is a device assigned to the guest without posted interrupts of its own: its
// host interrupt handler runs on a host CPU and delivers a message to a vCPU from
// interrupt context (drivers/vfio/pci/vfio_pci_intrs.c, vfio_msihandler). It
// interrupts every so many cycles, Count times; 0 means no end.
type MSI struct {
	Every  clock.TSC
	Count  uint64
	CPU    vmm.PCPU
	Vector uint8
	Dest   uint32
}

// startMSI queues the first interrupt.
func (h *host) startMSI() {
	if h.msi.Every != 0 {
		h.st.msis = 1
		h.post(h.msi.CPU, irq{at: h.msi.Every, kind: vmm.IRQDevice, vcpu: -1})
	}
}

// message is the device's interrupt handler on p; at is when the interrupt was
// due.
func (h *host) message(p vmm.PCPU, at clock.TSC) {
	h.m.OnDevice(p)
	h.m.Message(vmm.Message{Dest: h.msi.Dest, Vector: h.msi.Vector})
	if h.msi.Count == 0 || h.st.msis < h.msi.Count {
		h.st.msis++
		h.post(p, irq{at: at + h.msi.Every, kind: vmm.IRQDevice, vcpu: -1})
	}
}

// Suspend takes vCPU v off its CPU for d cycles: its thread is in user space and
// does not call KVM_RUN. Host timers go on. It reports whether that was possible
// now: the vCPU must be Outside.
func (e *Engine) Suspend(v int, d clock.Cycles) bool {
	if !e.m.Outside(v) {
		return false
	}
	h := e.host
	p := h.st.threads[v].cpu
	c := h.cpu(p)
	if c.cur != v {
		return false
	}
	h.m.HostWork(p, trace.PhaseUser)
	h.post(p, irq{at: c.now.Add(d), kind: vmm.IRQResched, vcpu: v, wake: true})
	h.Sleep(p, v)
	h.st.threads[v].asleep = false // nobody but that interrupt wakes it
	h.schedule(p)
	return true
}
