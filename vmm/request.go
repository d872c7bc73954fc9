package vmm

import "codeberg.org/ticktrap/ticktrap/trace"

// Request is a set of KVM_REQ_* bits: work that a vCPU must do before it enters
// the guest again.
type Request uint32

// The requests, in the order of trace.RequestNames.
const (
	ReqEvent        Request = 1 << iota // evaluate and inject events
	ReqUnblock                          // leave a halt (KVM_REQ_PENDING_TIMER in older kernels)
	ReqAPICvUpdate                      // APICv was inhibited or allowed
	ReqNMI                              // an NMI is pending
	ReqMigrateTimer                     // move the hrtimer to this CPU
	ReqScanIOAPIC                       // I/O APIC routes changed
	ReqInit                             // INIT or SIPI is pending
	ReqClockUpdate                      // the TSC offset changed
)

// request sets bits and reports them.
func (m *Machine) request(p PCPU, v *vcpu, r Request) {
	v.requests |= r
	m.emit(p, v.id, trace.KindRequest, uint64(r), uint64(v.requests), 0, 0)
}

// take clears a request and reports whether it was set.
func (v *vcpu) take(r Request) bool {
	had := v.requests&r != 0
	v.requests &^= r
	return had
}
