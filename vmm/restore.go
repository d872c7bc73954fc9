package vmm

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// StatePart is a piece of a vCPU's timer state that a VMM saves and restores by
// itself. The order in which it does that matters: KVM_GET_LAPIC and
// KVM_SET_LAPIC, KVM_GET_MSRS and KVM_SET_MSRS are separate calls.
type StatePart uint8

// The parts. BadPart is the invalid zero value.
const (
	BadPart      StatePart = iota
	PartBase               // IA32_APIC_BASE
	PartTSC                // IA32_TIME_STAMP_COUNTER
	PartLAPIC              // the register page
	PartDeadline           // IA32_TSC_DEADLINE
	PartMove               // no state: the thread is loaded on another CPU
	PartPause              // no state: 200 us go by, in which other state is saved
)

// PartNames names the parts.
var PartNames = []string{"bad", "apic-base", "tsc", "lapic", "tsc-deadline", "move", "pause"}

// The orders of the calls. SaveOrder and RestoreOrder are right: the deadline is
// read before anything that it may turn into is read, and it is set when the
// clock that it counts on and the timer mode are.
var (
	SaveOrder    = []StatePart{PartDeadline, PartBase, PartTSC, PartLAPIC}
	RestoreOrder = []StatePart{PartTSC, PartBase, PartLAPIC, PartDeadline}
)

// pauseNanos is the length of PartPause.
const pauseNanos = 200_000

// Armed reports whether the timer of vCPU id is armed.
func (m *Machine) Armed(id int) bool {
	t := &m.vcpus[id].apic.Timer
	return t.Deadline != 0 && !t.Pending
}

// TimerState is what a VMM has saved of one vCPU.
type TimerState struct {
	Base, Deadline uint64
	TSC            clock.TSC
	Page           [lapic.StateSize]byte
	MP             trace.MPState
}

// Outside reports whether vCPU id is where a VMM can save and restore it: its
// thread is loaded and KVM_RUN has returned, or could.
func (m *Machine) Outside(id int) bool {
	v := &m.vcpus[id]
	return (v.stage == StageOuter || v.stage == StageAfter) && int(m.st.loaded[v.pcpu]) == id
}

// SaveTimer reads the parts in the order given. Each call loads the vCPU; PartMove
// loads it as another CPU would, so that a preemption timer is programmed again.
//
// Preconditions: Outside(id).
func (m *Machine) SaveTimer(id int, order []StatePart) *TimerState {
	v := &m.vcpus[id]
	p := v.pcpu
	s := &TimerState{MP: v.mp}
	for _, part := range order {
		m.spend(p, trace.PhaseUser)
		switch part {
		case PartBase:
			s.Base = v.apic.Base
		case PartTSC:
			s.TSC = m.sample(p, v).Guest
		case PartLAPIC:
			m.syncPIR(p, v) // kvm_arch_vcpu_ioctl_get_lapic does
			v.apic.Export(&s.Page, true, m.sample(p, v))
		case PartDeadline:
			s.Deadline = uint64(v.apic.DeadlineMSR())
		case PartMove:
			if v.apic.Timer.HVInUse {
				m.restartTimer(p, v)
			}
		case PartPause:
			c, _ := m.hz.ToCycles(pauseNanos)
			m.host.Delay(p, clock.Cycles(c))
		}
	}
	return s
}

// RestoreTimer makes vCPU id a new one, whose TSC begins at 0, and sets the parts
// in the order given. Registers and memory are taken to be restored.
//
// Preconditions: Outside(id).
func (m *Machine) RestoreTimer(id int, s *TimerState, order []StatePart) {
	v := &m.vcpus[id]
	p := v.pcpu
	m.cancelSW(p, v)
	v.apic.CancelHV()
	v.apic.Reset(false)
	v.backing, v.requests = trace.BackNone, 0
	m.setMP(p, v, trace.MPUninitialized, 0)
	m.setOffset(p, v, clock.Cycles(-m.common(m.host.Now(p))))
	for _, part := range order {
		m.spend(p, trace.PhaseUser)
		m.restorePart(p, v, s, part)
	}
	m.setMP(p, v, s.MP, 0)
	v.requests |= ReqEvent
	v.stage = StageOuter
}

func (m *Machine) restorePart(p PCPU, v *vcpu, s *TimerState, part StatePart) {
	switch part {
	case PartBase:
		if e, ok := v.apic.WriteBase(s.Base); ok {
			m.apply(p, v, 0, 0, e)
		}
	case PartTSC:
		m.setOffset(p, v, s.TSC.Sub(m.common(m.host.Now(p))))
	case PartLAPIC:
		m.restoreLAPIC(p, v, s)
	case PartDeadline:
		m.writeAPICMSR(p, v, lapic.MSRDeadline, s.Deadline)
		m.emit(p, v.id, trace.KindMSR, uint64(lapic.MSRDeadline), s.Deadline, 1, 0)
	}
}

// restoreLAPIC is KVM_SET_LAPIC. A timer that is due is restarted and may post its
// interrupt; PIR must be empty before that, not after it.
//
// Source: arch/x86/kvm/lapic.c, kvm_apic_set_state; arch/x86/kvm/vmx/vmx.c,
// vmx_apicv_pre_state_restore, vmx_apicv_post_state_restore.
func (m *Machine) restoreLAPIC(p PCPU, v *vcpu, s *TimerState) {
	late := m.cfg.Faults&FaultClearPIR != 0
	if !late {
		v.apic.PI.PIR, v.apic.PI.ON = lapic.Set256{}, false
	}
	e, err := v.apic.Import(&s.Page, true, m.sample(p, v))
	if err != nil {
		panic("BUG: a saved LAPIC was refused: " + err.Error())
	}
	m.emit(p, v.id, trace.KindAPIC, uint64(lapic.LVTT), uint64(v.apic.Page[lapic.LVTT>>4]), 1, 0)
	m.apply(p, v, 0, uint64(v.apic.Page[lapic.TMICT>>4]), e)
	v.cpu.SetCR8(v.apic.CR8())
	if late {
		v.apic.PI.PIR, v.apic.PI.ON = lapic.Set256{}, false
	}
}
