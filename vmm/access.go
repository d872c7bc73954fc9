package vmm

import (
	"fmt"
	"io"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// HostWork spends a phase of host work on p that the host itself does, such as
// taking an interrupt.
func (m *Machine) HostWork(p PCPU, ph trace.Phase) { m.spend(p, ph) }

// Account adds host work that has already been spent on p.
func (m *Machine) Account(p PCPU, ph trace.Phase, c clock.Cycles) { m.account(p, ph, c) }

// OnDevice says that devices act on p until further notice.
func (m *Machine) OnDevice(p PCPU) { m.st.devCPU = p }

// CanPostTimer is kvm_can_post_timer_interrupt for vCPU id.
func (m *Machine) CanPostTimer(id int) bool { return m.canPost(&m.vcpus[id]) }

// APICEnabled reports whether IA32_APIC_BASE enables the local APIC of vCPU id:
// CPUID shows it.
func (m *Machine) APICEnabled(id int) bool { return m.vcpus[id].apic.Enabled() }

// Snapshot is a copy of a machine's state without CPUs' registers, devices and
// memory.
type Snapshot struct {
	vcpus []vcpu
	st    shared
	cpus  []any
	bus   any
}

// Save returns a copy of all state but guest memory and the host's.
func (m *Machine) Save() *Snapshot {
	s := &Snapshot{vcpus: append([]vcpu(nil), m.vcpus...), st: m.st, bus: m.bus.Save()}
	for i := range m.vcpus {
		s.cpus = append(s.cpus, m.vcpus[i].cpu.Save())
	}
	return s
}

// Restore brings back a state that Save returned. The Snapshot can be used again.
func (m *Machine) Restore(s *Snapshot) {
	copy(m.vcpus, s.vcpus)
	m.st = s.st
	for i := range m.vcpus {
		m.vcpus[i].cpu.Restore(s.cpus[i])
	}
	m.bus.Restore(s.bus)
}

// Fingerprint writes all state of the loop to w, for comparisons.
func (m *Machine) Fingerprint(w io.Writer) {
	for i := range m.vcpus {
		v := m.vcpus[i]
		v.cpu = nil
		fmt.Fprintf(w, "%+v\n", v)
	}
	fmt.Fprintf(w, "%+v\n", m.st)
}
