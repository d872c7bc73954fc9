package vmm

import (
	"math"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// spinRules are the module parameters of pause-loop exiting, in cycles for Intel's
// window. Every kernel since 3.18 grows the window at each exit and shrinks it
// when the thread has been scheduled out and comes back.
type spinRules struct {
	gap, window  uint32
	grow, shrink uint32 // a factor below window, else a summand; 0 is "to window"
	max          uint32
}

// spinIntel are the defaults of kvm_intel: ple_gap, ple_window, ple_window_grow,
// ple_window_shrink, ple_window_max (arch/x86/kvm/vmx/vmx.c; KVM_VMX_DEFAULT_PLE_*
// in arch/x86/kvm/x86.h).
var spinIntel = spinRules{gap: 128, window: 4096, grow: 2, shrink: 0, max: math.MaxUint32}

// grown is __grow_ple_window (arch/x86/kvm/x86.h).
func (r *spinRules) grown(w uint32) uint32 {
	if r.grow < 1 {
		return r.window
	}
	n := uint64(w)
	if r.grow < r.window {
		n *= uint64(r.grow)
	} else {
		n += uint64(r.grow)
	}
	return uint32(min(n, uint64(r.max)))
}

// shrunk is __shrink_ple_window (arch/x86/kvm/x86.h).
func (r *spinRules) shrunk(w uint32) uint32 {
	switch {
	case r.shrink < 1:
		return r.window
	case r.shrink < r.window:
		w /= r.shrink
	default:
		w -= min(w, r.shrink)
	}
	return max(w, r.window)
}

// handlePause is handle_pause: a vCPU that spins is not asked so soon again, and
// kvm_vcpu_on_spin lets another thread have the CPU.
func handlePause(m *Machine, p PCPU, v *vcpu) {
	m.setSpin(p, v, spinIntel.grown(v.spinWindow))
	v.cpu.Skip()
	if m.host.OtherRunnable(p) {
		m.host.Yield(p, v.id)
	}
}

// shrinkSpin is shrink_ple_window, when the thread of v is scheduled in again
// (arch/x86/kvm/vmx/vmx.c, vmx_sched_in; from 6.12 on vmx_vcpu_load).
func (m *Machine) shrinkSpin(p PCPU, v *vcpu) { m.setSpin(p, v, spinIntel.shrunk(v.spinWindow)) }

// resetSpin gives v the window that a new vCPU has.
func (m *Machine) resetSpin(v *vcpu) {
	v.spinWindow = spinIntel.window
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
		i.PLEGap, i.PLEWindow = clock.Cycles(spinIntel.gap), clock.Cycles(v.spinWindow)
	}
	return i
}
