package vmm

import (
	"fmt"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// Reboot says what a reset does to a run: the guest's own, by port 92h, CF9h or the
// keyboard controller, and a triple fault, which is one on a PC.
type Reboot uint8

// The ways. RebootReset is the zero value.
const (
	// RebootReset: a reset boots the guest anew, a triple fault ends the run, so
	// that it can be looked at.
	RebootReset Reboot = iota
	RebootAlways
	RebootNever
	numReboots
)

// RebootNames names the ways.
var RebootNames = []string{"reset", "always", "never"}

// String returns the name.
func (r Reboot) String() string { return RebootNames[r] }

// ParseReboot returns the way of that name; an empty one is RebootReset.
func ParseReboot(name string) (Reboot, error) {
	for r := range numReboots {
		if r.String() == name {
			return r, nil
		}
	}
	if name == "" {
		return RebootReset, nil
	}
	return 0, fmt.Errorf("no way to reboot %q: there are reset, always and never", name)
}

// Reset is the machine's reset, asked for by a device or a triple fault. It comes
// when the access that caused it has been handled.
func (m *Machine) Reset() {
	if m.cfg.Boot == nil || m.cfg.Reboot == RebootNever {
		m.Stop(m.devCPU(), trace.EndReset, 0, 0)
		return
	}
	m.st.resetting = true
}

// reboot makes all vCPUs new and lets vCPU 0 boot, as a VMM does that has stopped
// their threads (QEMU: qemu_system_reset). Guest memory stays, but for what the
// loader and the firmware write into it. What is in the caches of KVM, such as
// APICv inhibits that only a new VM is free of, stays too.
func (m *Machine) reboot(p PCPU) {
	m.st.resetting = false
	m.host.CatchUp(p)
	m.spend(p, trace.PhaseUser)
	m.flushConsole(p)
	for i := range m.vcpus {
		m.renew(p, &m.vcpus[i])
	}
	m.st.intr = false
	regs, err := m.cfg.Boot()
	if err == nil {
		err = m.vcpus[0].cpu.SetRegisters(&regs)
	}
	if err != nil { // it was possible when the run began
		panic("BUG: the guest cannot be booted again: " + err.Error())
	}
}

// renew puts a vCPU into its power-up state. One that is in the guest leaves it,
// one that sleeps is woken: their threads get a signal.
func (m *Machine) renew(p PCPU, v *vcpu) {
	if v.stage == StageGuest {
		v.exit = Exit{Reason: StopSignal, At: m.host.Now(v.pcpu), RIP: v.cpu.RIP()}
		m.left(v, trace.ExitExternalInterrupt, 0, uint64(irqVectors[IRQResched]))
		m.emit(v.pcpu, v.id, trace.KindExit, uint64(v.reason), v.exit.RIP, v.info[0], v.info[1])
	}
	if v.blocked {
		m.wakeThread(p, v)
	}
	m.cancelSW(p, v)
	v.apic.CancelHV()
	if v.backing != trace.BackNone {
		m.setBacking(p, v, trace.BackNone, trace.ClauseNone, 0)
	}
	v.apic.Reset(false)
	v.cpu.Reset(true)
	n := vcpu{id: v.id, pcpu: v.pcpu, cpu: v.cpu, apic: v.apic, stage: StageOuter, apicv: v.apicv, tscOffset: v.tscOffset,
		costs: v.costs, ncosts: v.ncosts, spinWindow: v.spinWindow, exit: v.exit}
	n.msr.reset()
	n.msr.adjust = v.msr.adjust
	*v = n
	m.setAdvance(v)
	v.cpu.SetCR8(0)
	v.cpu.WantWindow(false, false)
	v.cpu.SetTPRThreshold(0)
	m.setMP(p, v, trace.MPUninitialized, 0)
	if v.id == 0 {
		m.setMP(p, v, trace.MPRunnable, 0)
	}
	m.applyAPICv(p, v)
}
