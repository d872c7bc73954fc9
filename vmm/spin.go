package vmm

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
)

// grownSpin is __grow_ple_window and shrunkSpin __shrink_ple_window, for the module
// parameters of pause-loop exiting in k: a factor below the window, else a summand;
// 0 is "to the window" (arch/x86/kvm/x86.h).
func grownSpin(k *kernel.Pause, w uint32) uint32 {
	if k.Grow < 1 {
		return k.Window
	}
	n := uint64(w)
	if k.Grow < k.Window {
		n *= uint64(k.Grow)
	} else {
		n += uint64(k.Grow)
	}
	return uint32(min(n, uint64(k.Max)))
}

func shrunkSpin(k *kernel.Pause, w uint32) uint32 {
	switch {
	case k.Shrink < 1:
		return k.Window
	case k.Shrink < k.Window:
		w /= k.Shrink
	default:
		w -= min(w, k.Shrink)
	}
	return max(w, k.Window)
}

// handlePause is handle_pause: a vCPU that spins is not asked so soon again, and
// kvm_vcpu_on_spin lets another thread have the CPU.
func handlePause(m *Machine, p PCPU, v *vcpu) {
	m.setSpin(p, v, grownSpin(&m.cfg.Kernel.Pause, v.spinWindow))
	v.cpu.Skip()
	if m.host.OtherRunnable(p) {
		m.host.Yield(p, v.id)
	}
}

// shrinkSpin is shrink_ple_window, when the thread of v is scheduled in again
// (arch/x86/kvm/vmx/vmx.c, vmx_sched_in; from 6.12 on vmx_vcpu_load).
func (m *Machine) shrinkSpin(p PCPU, v *vcpu) {
	m.setSpin(p, v, shrunkSpin(&m.cfg.Kernel.Pause, v.spinWindow))
}

// resetSpin gives v the window that a new vCPU has.
func (m *Machine) resetSpin(v *vcpu) {
	v.spinWindow = m.cfg.Kernel.Pause.Window
	v.cpu.SetIntercepts(m.intercepts(v))
}

func (m *Machine) setSpin(p PCPU, v *vcpu, w uint32) {
	if v.spinWindow != w {
		m.emit(p, v.id, trace.KindPLEWindow, uint64(w), uint64(v.spinWindow), 0, 0)
		v.spinWindow = w
		v.cpu.SetIntercepts(m.intercepts(v))
	}
}

// intercepts are the exits that the knobs leave on.
func (m *Machine) intercepts(v *vcpu) Intercepts {
	d := m.st.knobs.ExitsDisabled
	i := Intercepts{HLT: d&DisableHLT == 0, MWAIT: d&DisableMWAIT == 0}
	if d&DisablePause == 0 {
		i.PLEGap, i.PLEWindow = clock.Cycles(m.cfg.Kernel.Pause.Gap), clock.Cycles(v.spinWindow)
	}
	return i
}
