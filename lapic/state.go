package lapic

// StateSize is the size of struct kvm_lapic_state, bytes.
const StateSize = 1024

// Export writes the registers in the layout of KVM_GET_LAPIC: xAPIC offsets. In
// x2APIC mode the ID is all 32 bits if wideID is true (KVM_X2APIC_API_USE_32BIT_IDS),
// else bits 31:24 as in xAPIC mode.
func (a *APIC) Export(p *[StateSize]byte, wideID bool, now Sample) {}

// Import takes registers as KVM_SET_LAPIC does: host timers are cancelled and the
// timer starts anew from the saved TMCCT. IA32_APIC_BASE must be set before,
// IA32_TSC_DEADLINE after.
func (a *APIC) Import(p *[StateSize]byte, wideID bool, now Sample) (Effect, error) {
	return Effect{}, nil
}
