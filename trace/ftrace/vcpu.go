package ftrace

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// vcpu is what the decoder knows of one vCPU.
type vcpu struct {
	id  uint8
	pid int32 // its thread; −1 if not known
	// ptr and apic are the kernel's addresses of it, once a probe in its thread
	// showed them; timer is the hrtimer's.
	ptr, apic, timer uint64
	timerCPU         int16 // where the hrtimer was started last

	inGuest, seen bool
	exitAddress   uint64 // port or physical address of the last exit
	exit          trace.ExitReason
	exitAt        clock.TSC
	msr, msrValue uint64 // of the last MSR exit, if known
	msrKnown      bool
	regSeen       bool // kvm_apic reported this exit's access

	// entry is a VM-entry that is not reported yet: what the wait before it took
	// is printed after it.
	entry struct {
		on     bool
		at     clock.TSC
		pcpu   uint8
		rip    uint64
		vector uint64
	}
	injected   uint64
	virtual    trace.Event // vectors handed to a vCPU with APICv, last one
	hasVirtual bool

	// fast is the fastpath's result of the last exit, not reported yet.
	fast struct {
		on     bool
		at     clock.TSC
		result trace.FastpathResult
	}
	reentry bool

	lvtt, tdcr uint64
	lvttKnown  bool
	mode       trace.TimerMode
	target     clock.TSC
	armed      bool
	period     clock.Nanos
	armedByDL  bool // set_dl reported the write already
	usedHV     bool // the preemption timer was in use at some time
	backing    trace.Backing

	fired    bool // the host timer fired, not expired yet
	firedBy  trace.Backing
	firedAt  clock.TSC
	callback bool
	pending  bool // expired, not delivered

	stimer bool     // a Hyper-V synthetic timer stands for the LAPIC's
	access struct { // the last access to a port or device
		known, write bool
		address      uint64
	}

	halted   bool
	switched bool // to_sw was seen in this halt
	poll     clock.Nanos

	hasOffset bool
	offset    uint64 // guest TSC minus time stamp, x86-tsc clock

	// held are events printed between an MSR exit and its kvm_msr line: an arm
	// belongs before them.
	holding bool
	held    [8]trace.Event
	nheld   int
}

// timerVector is the vector in LVTT, 0 if not known.
func (v *vcpu) timerVector() uint64 {
	if !v.lvttKnown {
		return 0
	}
	return v.lvtt & 0xff
}

// address keeps the kernel's address of v that a probe in its thread shows; a
// probe made by hand may lack the argument.
func (v *vcpu) address(a *probeArgs) {
	if a.ptr != 0 {
		v.ptr = a.ptr
	}
}
