package vmm

import "codeberg.org/ticktrap/ticktrap/trace"

// Faults is a set of known bugs, of kernels or of their users, that a machine can
// be given on purpose to show what they look like. The zero value has none.
type Faults uint8

// The faults.
const (
	// FaultLateStores: a kick that reads the target's task pointer without a
	// barrier (KickKC) may read it before its own stores, the request and the
	// pending expiry, are visible to the target. A target that checks meanwhile
	// and then sleeps is not woken. That is the objection to S002.
	FaultLateStores Faults = 1 << iota
	// FaultNoSwitchBack: after a halt the timer stays on the hrtimer, and is not
	// moved back to the preemption timer.
	FaultNoSwitchBack
	// FaultClearPIR: restoring the LAPIC empties PIR after it has restarted the
	// timer, so an expiry posted by the restart is lost
	// (arch/x86/kvm/vmx/vmx.c, vmx_apicv_post_state_restore).
	FaultClearPIR
)

// FaultNames names the faults by bit.
var FaultNames = []string{"late-stores", "no-switch-back", "clear-pir"}

// storeDelay is how long a store stays in the sender's buffer, in cycles: an order
// of magnitude above a cache-line transfer, so that the race is met in a run of
// some thousand deadlines.
const storeDelay = 400

// delayStores hides from v what its kicker has just stored, where the kick has no
// barrier and does not see v's task pointer.
func (m *Machine) delayStores(p PCPU, v *vcpu, steps trace.KickSteps) {
	if m.cfg.Faults&FaultLateStores == 0 || steps&trace.StepRCU != 0 || v.blocked || v.pcpu == p {
		return
	}
	v.hidden = m.host.Now(p).Add(storeDelay)
}
