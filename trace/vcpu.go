package trace

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// VCPU is one vCPU as its events tell. What no event has told yet is zero.
type VCPU struct {
	// APIC holds the register values last seen in apic events, msr events of
	// TSC-deadline, and arm events.
	APIC APICRegisters

	// Timer state.
	Armed   bool
	Mode    TimerMode
	Target  clock.TSC   // deadline, 0 if disarmed
	Value   uint64      // MSR 0x6e0 or initial count, as written
	Period  clock.Nanos // of one-shot and periodic timers
	ArmedAt clock.TSC
	Backing Backing
	Clause  Clause       // why not the preemption timer
	Fire    clock.TSC    // when the host timer will fire
	Advance clock.Cycles // how much earlier than Target that is
	// AdvanceNS is timer_advance_ns: the last value of a tune event, or what the
	// knob says.
	AdvanceNS clock.Nanos
	// Delta and Waited are those of the last wait, DeltaAt its time, 0 if none.
	Delta   clock.Cycles
	Waited  clock.Cycles
	DeltaAt clock.TSC
	// Pending is true from an expiry that the outer loop has to inject until it
	// is delivered or dropped.
	Pending bool
	// Requeued is true from the expiry of a periodic timer to the next exit: the
	// next arm event is the loop's, not the guest's.
	Requeued bool

	// Interrupt state; see foldDeliver for how events move vectors.
	IRR, ISR, PIR Vectors
	ON            bool

	// Execution state.
	InGuest   bool
	LoopMode  Mode // vcpu->mode
	MP        MPState
	Halt      HaltStep // BadHalt while not halted
	HaltedAt  clock.TSC
	Poll      clock.Nanos // halt-polling time allowed
	Requests  uint64      // bits named by RequestNames
	TSCOffset clock.Cycles
	PCPU      uint8 // host CPU it runs on or ran on last, NoCPU if unknown
	Loaded    bool  // its thread is switched in
	RIP       uint64
	Off       OffCPU // its thread, while it is switched out
	User      InUser // its thread, while it is outside KVM_RUN
	// IPIs is the number of interrupt commands the guest wrote.
	IPIs uint64

	// Exit is the number of the last exit in State.Exits, NoNum if none;
	// ExitAt and ExitReason are kept here because the ring may have lost it.
	Exit       Num
	ExitAt     clock.TSC
	ExitReason ExitReason
	EntryAt    clock.TSC // of the last VM-entry, 0 if none
	Exits      uint64
	// Remade says that the VMM made the vCPU anew after it had run: its registers
	// came with it, and no event tells them.
	Remade bool

	// Chain is the armed deadline, if Chain.Num is not NoNum. Flight are the
	// deadlines that expired and whose handler has not run, oldest first.
	Chain   Chain
	Flight  [MaxFlight]Chain
	NFlight uint8
	// Serving are the handlers of timer interrupts that have not written EOI.
	Serving  [MaxServing]Serving
	NServing uint8

	// Late is the distribution of the vCPU's lateness.
	Late Lateness
}

// MaxFlight is how many expired deadlines of one vCPU can be on their way at a
// time, and MaxServing how many timer handlers can be nested. More do not occur
// in sane guests; the oldest is then given up.
const (
	MaxFlight  = 4
	MaxServing = 4
)

// Serving links a running handler to its chain.
type Serving struct {
	Vector uint8
	Chain  uint64 // entry of State.Chains
}

// APICRegisters are the local APIC's timer registers and those that decide about
// delivery.
type APICRegisters struct {
	LVTT, LVT0, LVT1, LVTErr uint32
	LVTPerf, LVTThermal      uint32
	SPIV, TPR, TMICT, TDCR   uint32
	LDR, DFR, ID, ESR        uint32
	ICR                      uint64 // destination in bits 63:32
	Deadline                 uint64 // MSR 0x6e0 as last written
	Base                     uint64 // IA32_APIC_BASE as last written, 0 if it was not
	// Seen has bit reg>>4 set for every register that was seen, by xAPIC
	// offset.
	Seen uint64
}

// Num is the ordinal of an exit or of a deadline, from 1.
type Num uint64

// NoNum is no exit or deadline.
const NoNum Num = 0

// Open calls f for every deadline of the vCPU that is still open: those on their
// way, oldest first, then the armed one.
func (v *VCPU) Open(f func(*Chain)) {
	for i := range v.Flight[:v.NFlight] {
		f(&v.Flight[i])
	}
	if v.Chain.Num != NoNum {
		f(&v.Chain)
	}
}

// TimerVector is the vector in LVTT.
func (v *VCPU) TimerVector() uint8 { return uint8(v.APIC.LVTT) }

// TimerMasked reports whether LVTT masks the timer.
func (v *VCPU) TimerMasked() bool { return v.APIC.LVTT>>16&1 != 0 }

// Priority returns the processor priority, as PPR would read:
//
//	TPR[7:4] ≥ ISRV[7:4] ? TPR : ISRV & 0xf0
//
// Intel SDM vol. 3A, 10.8.3.1 "Task and Processor Priorities".
func (v *VCPU) Priority() uint8 {
	tpr := uint8(v.APIC.TPR)
	if isrv, _ := v.ISR.Highest(); tpr>>4 < isrv>>4 {
		return isrv & 0xf0
	}
	return tpr
}

func (v *VCPU) copyTo(dst *VCPU) {
	late := dst.Late
	*dst = *v
	dst.Late = late
	v.Late.copyTo(&dst.Late)
}
