package lapic

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// deadlineGuard is the condition for IA32_TSC_DEADLINE to do anything: the timer
// in TSC-deadline mode and, with GuardEnabled, the APIC enabled by IA32_APIC_BASE. The
// CPUID bit is not consulted but for the mode bits that it lets stick.
func (a *APIC) deadlineGuard() bool {
	return a.Timer.Mode == TSCDeadline && (a.Enabled() || !a.rules().GuardEnabled)
}

// DeadlineMSR returns IA32_TSC_DEADLINE as the guest reads it: the deadline until
// its expiry is injected, so after it has passed too; 0 in other modes.
//
// Intel SDM vol. 3A, 10.5.4.1 "TSC-Deadline Mode"; KVM:
// kvm_get_lapic_tscdeadline_msr.
func (a *APIC) DeadlineMSR() clock.TSC {
	if !a.deadlineGuard() {
		return 0
	}
	return a.Timer.Deadline
}

// WriteDeadline writes IA32_TSC_DEADLINE. It never faults; in other modes it is
// dropped. A value of 0 takes the same way as any other: Restart then finds
// nothing to arm. A pending expiry is dropped.
//
// Source: arch/x86/kvm/lapic.c, kvm_set_lapic_tscdeadline_msr.
func (a *APIC) WriteDeadline(v clock.TSC) Effect {
	if !a.deadlineGuard() {
		return Effect{}
	}
	a.Timer.Deadline = v
	a.Timer.Pending = false
	return Effect{Do: EffectCancelSW | EffectArm}
}
