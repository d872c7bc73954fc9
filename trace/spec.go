package trace

import "strconv"

// Kind says what an Event reports.
type Kind uint8

// The event kinds. The order is the wire format: append only.
const (
	BadKind Kind = iota
	KindKnob
	KindExit
	KindEntry
	KindFastpath
	KindMSR
	KindAPIC
	KindArm
	KindBacking
	KindHostFire
	KindExpire
	KindWait
	KindTune
	KindDeliver
	KindKick
	KindPIRSync
	KindInject
	KindGuestIRQ
	KindEOI
	KindIPI
	KindHalt
	KindWake
	KindSched
	KindCost
	KindRequest
	KindTSCOffset
	KindMPState
	KindConsole
	KindSample
	KindEnd
	KindLost
	KindMark
	KindTask
	KindWaking
	KindUserExit
	KindUserEntry
	KindExitInfo
	KindHostIdle
	KindHostTimer
	KindHostIRQ
	KindInhibit
	KindPLEWindow
	KindStimerArm
	KindStimerExpire
	KindDebugger
	KindKernel
	KindMissing
	numKinds
)

// NumKinds is the number of event kinds, the invalid one included.
const NumKinds = int(numKinds)

// String returns the kind's name in the text form.
func (k Kind) String() string {
	if int(k) < len(Specs) {
		return Specs[k].Name
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}

// Form says how a field is printed and parsed.
type Form uint8

// The field forms.
const (
	NoField    Form = iota
	Dec             // unsigned decimal
	Hex             // unsigned, 0x-prefixed
	Signed          // two's complement decimal
	Point           // a clock.TSC on the run's common line, decimal
	GuestPoint      // a clock.TSC as the vCPU's guest reads it, decimal
	Cycles          // a clock.Cycles, signed decimal
	Nanos           // a clock.Nanos, signed decimal
	Bool            // 0 or 1
	Enum            // a name of the field's Names
	Mask            // bits, names of the field's Names joined by '|'
	Text            // up to eight bytes of text, first byte lowest
	Costs           // two phase/cycles pairs: phase u8, cycles u24, twice
)

// Field describes one argument of an event.
type Field struct {
	Name  string
	Form  Form
	Names []string // of Enum (by value) and Mask (by bit)
	Doc   string
}

// Role says what an event is for replay.
type Role uint8

// The roles. BadRole is the invalid zero value.
const (
	BadRole Role = iota
	Input        // needed to replay the run
	Derived      // must re-appear when the run is replayed
)

// Spec is the row of one event kind.
type Spec struct {
	Name   string
	Role   Role
	Fields [4]Field // A, B, C, D
	Doc    string
}

// Specs is the one table of event kinds, indexed by Kind: the binary form, the
// text form, the validator, the fold's documentation and docs/events.md walk it.
var Specs = [numKinds]Spec{
	BadKind: {Name: "bad", Doc: "invalid; never written"},
	KindKnob: {Name: "knob", Role: Input, Doc: "a knob was turned",
		Fields: [4]Field{
			{"knob", Enum, KnobNames, "which one"},
			{"value", Dec, nil, "new value: 0/1 for switches, ns for times, the enumeration's number otherwise"},
			{"old", Dec, nil, "value before"}}},
	KindExit: {Name: "exit", Role: Derived, Doc: "a VM-exit, once each, before any handler",
		Fields: [4]Field{
			{"reason", Enum, ExitNames, "basic exit reason"},
			{"rip", Hex, nil, "guest RIP"},
			{"info1", Hex, nil, "MSR index, port, guest physical address, or CPUID leaf"},
			{"info2", Hex, nil, "value written, or the vector of an external interrupt"}}},
	KindEntry: {Name: "entry", Role: Derived, Doc: "a VM-entry, just before guest code runs",
		Fields: [4]Field{
			{"rip", Hex, nil, "guest RIP"},
			{"vector", Dec, nil, "vector in the VM-entry interruption field, 0 if none"},
			{"hv", Dec, nil, "preemption timer in host TSC cycles; all ones if off"},
			{"reentry", Bool, nil, "entered from the fastpath loop"}}},
	KindFastpath: {Name: "fastpath", Role: Derived, Doc: "the fastpath's verdict on an exit",
		Fields: [4]Field{
			{"reason", Enum, ExitNames, "exit reason"},
			{"result", Enum, FastpathNames, "what the handler returned, after the bail-out test"},
			{"clause", Enum, ClauseNames, "first clause that failed, none if the guest was re-entered"},
			{"msr", Hex, nil, "MSR index for MSR exits"}}},
	KindMSR: {Name: "msr", Role: Derived, Doc: "an emulated MSR access",
		Fields: [4]Field{
			{"index", Hex, nil, "ECX"},
			{"value", Hex, nil, "value read or written"},
			{"write", Bool, nil, "1 for WRMSR"},
			{"gp", Bool, nil, "1 if it faulted with #GP"}}},
	KindAPIC: {Name: "apic", Role: Derived, Doc: "a local APIC register access",
		Fields: [4]Field{
			{"reg", Hex, nil, "xAPIC offset; x2APIC MSRs are shown by their offset too"},
			{"value", Hex, nil, "value read or written"},
			{"write", Bool, nil, "1 for a write"},
			{"virtual", Bool, nil, "1 if APIC virtualization did it without an exit"}}},
	KindArm: {Name: "arm", Role: Derived, Doc: "the guest programmed its timer: a deadline begins",
		Fields: [4]Field{
			{"target", Point, nil, "when it should fire; 0 disarms"},
			{"mode", Enum, TimerModeNames, "timer mode"},
			{"value", Dec, nil, "MSR 0x6e0 value or initial count, as written"},
			{"period", Nanos, nil, "period, one-shot length, or 0 in TSC-deadline mode"}}},
	KindBacking: {Name: "backing", Role: Derived, Doc: "which host timer now backs the guest timer",
		Fields: [4]Field{
			{"backing", Enum, BackingNames, "preemption timer, hrtimer, or none"},
			{"clause", Enum, ClauseNames, "why not the preemption timer (or why none)"},
			{"fire", Point, nil, "when the host timer will fire"},
			{"advance", Cycles, nil, "how much earlier than the deadline that is"}}},
	KindHostFire: {Name: "host_fire", Role: Derived, Doc: "the host timer behind a guest timer fired",
		Fields: [4]Field{
			{"backing", Enum, BackingNames, "which"},
			{"programmed", Point, nil, "when it had been due"}}},
	KindExpire: {Name: "expire", Role: Derived, Doc: "the timer expired in the LAPIC model (apic_timer_expired)",
		Fields: [4]Field{
			{"target", Point, nil, "deadline that expired"},
			{"route", Enum, ExpireNames, "what was done"},
			{"clause", Enum, ClauseNames, "why not a faster route"},
			{"callback", Bool, nil, "1 if from the timer callback (from_timer_fn)"}}},
	KindWait: {Name: "wait", Role: Derived, Doc: "the wait for an expired deadline before VM-entry",
		Fields: [4]Field{
			{"delta", Cycles, nil, "guest TSC minus deadline on arrival, before waiting"},
			{"waited", Cycles, nil, "cycles waited"},
			{"cap", Cycles, nil, "most it may wait: the timer advance"},
			{"place", Enum, PlacementNames, "where in the entry path"}}},
	KindTune: {Name: "tune", Role: Derived, Doc: "adaptive tuning looked at a delta",
		Fields: [4]Field{
			{"old", Nanos, nil, "timer_advance_ns before"},
			{"new", Nanos, nil, "timer_advance_ns after"},
			{"delta", Cycles, nil, "what it saw"},
			{"verdict", Enum, TuneNames, "what it did"}}},
	KindDeliver: {Name: "deliver", Role: Derived, Doc: "an interrupt was handed to a vCPU",
		Fields: [4]Field{
			{"vector", Dec, nil, "vector"},
			{"route", Enum, DeliverNames, "how"},
			{"clause", Enum, ClauseNames, "why no cheaper way"},
			{"source", Enum, SourceNames, "who sent it"}}},
	KindKick: {Name: "kick", Role: Derived, Doc: "kvm_vcpu_kick and what it decided; VCPU is the target",
		Fields: [4]Field{
			{"decision", Enum, KickNames, "outcome"},
			{"mode", Enum, ModeNames, "target's mode when looked at"},
			{"steps", Mask, KickStepNames, "what it executed, so what it cost"},
			{"from", Dec, nil, "vCPU loaded on the kicking CPU, 255 if none"}}},
	KindPIRSync: {Name: "pir_sync", Role: Derived, Doc: "PIR was moved into the virtual IRR",
		Fields: [4]Field{
			{"moved", Dec, nil, "vectors moved"},
			{"highest", Dec, nil, "highest vector now in IRR, 0 if none"}}},
	KindInject: {Name: "inject", Role: Derived, Doc: "an event was written to the VM-entry field",
		Fields: [4]Field{
			{"vector", Dec, nil, "vector"},
			{"reinjected", Bool, nil, "1 if an earlier injection had not completed"},
			{"window", Bool, nil, "1 if none was possible and interrupt-window exiting was turned on"}}},
	KindGuestIRQ: {Name: "guest_irq", Role: Derived, Doc: "the guest reached the first instruction of an interrupt handler",
		Fields: [4]Field{
			{"vector", Dec, nil, "vector"},
			{"virtual", Bool, nil, "1 if delivered by virtual-interrupt delivery"},
			{"rip", Hex, nil, "first instruction of the handler"}}},
	KindEOI: {Name: "eoi", Role: Derived, Doc: "end of interrupt",
		Fields: [4]Field{
			{"vector", Signed, nil, "vector, −1 if none was in service"},
			{"virtual", Bool, nil, "1 if virtualized without an exit"}}},
	KindIPI: {Name: "ipi", Role: Derived, Doc: "the guest wrote an interrupt command",
		Fields: [4]Field{
			{"icr", Hex, nil, "ICR value, destination in bits 63:32"},
			{"targets", Hex, nil, "bit mask of the vCPUs (0–63) it reached"}}},
	KindHalt: {Name: "halt", Role: Derived, Doc: "the vCPU halted",
		Fields: [4]Field{
			{"step", Enum, HaltNames, "polling, blocked"},
			{"poll", Nanos, nil, "halt-polling time allowed now"}}},
	KindWake: {Name: "wake", Role: Derived, Doc: "a halt ended (kvm_vcpu_wakeup)",
		Fields: [4]Field{
			{"why", Enum, WakeNames, "what ended it"},
			{"halted", Nanos, nil, "time since the halt"},
			{"polled", Bool, nil, "1 if it ended while polling"},
			{"poll", Nanos, nil, "halt-polling time after adjustment"}}},
	KindSched: {Name: "sched", Role: Derived, Doc: "the vCPU's thread was switched in or out; without a vCPU, another task took the host CPU from one that is no vCPU's either",
		Fields: [4]Field{
			{"in", Bool, nil, "1 if switched in"},
			{"pcpu", Dec, nil, "host CPU"},
			{"task", Dec, nil, "pid of the task that takes the CPU (from the thread), or leaves it to the thread; 0 is the idle task"},
			{"state", Enum, TaskStateNames, "switched out: the state that the thread is left in"}}},
	KindCost: {Name: "cost", Role: Derived, Doc: "cycles spent in the host since the last exit, by phase",
		Fields: [4]Field{
			{"p0", Costs, PhaseNames, "phases 1 and 2"},
			{"p1", Costs, PhaseNames, "phases 3 and 4"},
			{"p2", Costs, PhaseNames, "phases 5 and 6"},
			{"p3", Costs, PhaseNames, "phases 7 and 8"}}},
	KindRequest: {Name: "request", Role: Derived, Doc: "a request bit was set on a vCPU",
		Fields: [4]Field{
			{"set", Mask, RequestNames, "bits set by this call"},
			{"pending", Mask, RequestNames, "all bits after it"}}},
	KindTSCOffset: {Name: "tsc_offset", Role: Derived, Doc: "the vCPU's guest TSC left the common line",
		Fields: [4]Field{
			{"offset", Cycles, nil, "guest TSC minus common line, from now on"},
			{"old", Cycles, nil, "before"}}},
	KindMPState: {Name: "mp_state", Role: Derived, Doc: "INIT, SIPI and start of a vCPU",
		Fields: [4]Field{
			{"state", Enum, MPStateNames, "new state"},
			{"vector", Dec, nil, "SIPI vector"}}},
	KindConsole: {Name: "console", Role: Derived, Doc: "text that the guest wrote; raw, so filter it before a terminal",
		Fields: [4]Field{
			{"t0", Text, nil, "bytes 1–8"},
			{"t1", Text, nil, "bytes 9–16"},
			{"t2", Text, nil, "bytes 17–24"},
			{"len", Dec, nil, "bytes in all, 1–24"}}},
	KindSample: {Name: "sample", Role: Derived, Doc: "a latency that the guest itself recorded in its memory",
		Fields: [4]Field{
			{"index", Dec, nil, "number of the sample"},
			{"deadline", GuestPoint, nil, "deadline it armed"},
			{"seen", GuestPoint, nil, "RDTSC in its handler"}}},
	KindEnd: {Name: "end", Role: Derived, Doc: "the guest stopped",
		Fields: [4]Field{
			{"how", Enum, EndNames, "how it stopped"},
			{"code", Dec, nil, "exit status it gave"},
			{"detail", Hex, nil, "RIP, or the bytes of an unknown encoding"}}},
	KindLost: {Name: "lost", Role: Input, Doc: "events were dropped here",
		Fields: [4]Field{
			{"count", Dec, nil, "how many, 0 if unknown"},
			{"why", Enum, LossNames, "what became of them"},
			{"blocks", Dec, nil, "damaged blocks of the file, or pages of the ring buffer"},
			{"until", Point, nil, "when events are known again, 0 if not known"}}},
	KindMark: {Name: "mark", Role: Input, Doc: "a bookmark that the user set",
		Fields: [4]Field{
			{"name", Text, nil, "first eight bytes of its name"}}},
	KindTask: {Name: "task", Role: Derived, Doc: "a host task is named, before an event that has its pid; of a vCPU's thread, VCPU says which",
		Fields: [4]Field{
			{"pid", Dec, nil, "thread ID"},
			{"comm0", Text, nil, "bytes 1–8 of its name (comm)"},
			{"comm1", Text, nil, "bytes 9–16"},
			{"prio", Signed, nil, "task_struct.prio: −1 deadline, 0–98 real time (sched_priority 99 − prio), 100–139 fair (nice prio − 120), 140 idle"}}},
	KindWaking: {Name: "waking", Role: Derived, Doc: "the vCPU's thread was made runnable (sched_waking); PCPU is the CPU that woke it",
		Fields: [4]Field{
			{"by", Dec, nil, "pid of the task that woke it, 0 if an interrupt in the idle task or not known"},
			{"target", Dec, nil, "host CPU that it was on or is to run on"}}},
	KindUserExit: {Name: "user_exit", Role: Derived, Doc: "KVM_RUN returned to user space (kvm_userspace_exit)",
		Fields: [4]Field{
			{"reason", Enum, UserExitNames, "kvm_run.exit_reason"},
			{"address", Hex, nil, "port, physical address, or MSR index that user space has to serve; all ones if not known"},
			{"write", Bool, nil, "1 if the guest writes"},
			{"errno", Signed, nil, "what KVM_RUN returned: 0, or −4 (EINTR) where a signal or an immediate exit ended it"}}},
	KindUserEntry: {Name: "user_entry", Role: Derived, Doc: "user space called KVM_RUN again",
		Fields: [4]Field{
			{"immediate", Bool, nil, "1 if kvm_run.immediate_exit is set"}}},
	KindExitInfo: {Name: "exit_info", Role: Derived, Doc: "what else kvm_exit tells, right after its exit",
		Fields: [4]Field{
			{"requests", Hex, nil, "vcpu->requests, as the kernel numbers them (6.14 on)"},
			{"intr_info", Hex, nil, "VM-exit interruption information, or AMD's EXITINTINFO"},
			{"error", Hex, nil, "its error code"}}},
	KindHostIdle: {Name: "host_idle", Role: Derived, Doc: "a host CPU entered or left an idle state (cpu_idle); no vCPU is concerned",
		Fields: [4]Field{
			{"in", Bool, nil, "1 if entered"},
			{"state", Dec, nil, "index of the C-state, as in cpuidle/state*"}}},
	KindHostTimer: {Name: "host_timer", Role: Derived, Doc: "an hrtimer of the host; VCPU if it backs that vCPU's timer; PCPU is the CPU of its queue",
		Fields: [4]Field{
			{"step", Enum, HostTimerNames, "started, cancelled, expired, callback done"},
			{"id", Hex, nil, "tells timers apart: the trace's pointer"},
			{"expires", Point, nil, "when it is or was due, 0 if unknown"},
			{"now", Point, nil, "time that the interrupt compared it with, 0 if unknown"}}},
	KindHostIRQ: {Name: "host_irq", Role: Derived, Doc: "a host interrupt, NMI or softirq began or ended on PCPU",
		Fields: [4]Field{
			{"in", Bool, nil, "1 if it began"},
			{"what", Enum, HostIRQNames, "its class"},
			{"number", Dec, nil, "IRQ, vector, or number of the softirq"},
			{"name", Text, nil, "first eight bytes of the handler's name"}}},
	KindInhibit: {Name: "inhibit", Role: Derived, Doc: "an APICv inhibit was set or cleared (kvm_apicv_inhibit_changed)",
		Fields: [4]Field{
			{"reason", Enum, InhibitNames, "which"},
			{"set", Bool, nil, "1 if set"},
			{"others", Mask, InhibitNames, "the inhibits in force after it"}}},
	KindPLEWindow: {Name: "ple_window", Role: Derived, Doc: "the window of PAUSE-loop exiting changed (kvm_ple_window_update)",
		Fields: [4]Field{
			{"new", Dec, nil, "cycles on Intel, PAUSEs on AMD"},
			{"old", Dec, nil, "before"}}},
	KindStimerArm: {Name: "stimer_arm", Role: Derived, Doc: "a Hyper-V synthetic timer was started or stopped (kvm_hv_stimer_start_*)",
		Fields: [4]Field{
			{"index", Dec, nil, "0–3"},
			{"target", Point, nil, "when it is due; 0 stops it"},
			{"period", Nanos, nil, "period, 0 of a one-shot timer"},
			{"vector", Dec, nil, "vector in direct mode, 0 if it sends a message"}}},
	KindStimerExpire: {Name: "stimer_expire", Role: Derived, Doc: "a Hyper-V synthetic timer expired (kvm_hv_stimer_expiration)",
		Fields: [4]Field{
			{"index", Dec, nil, "0–3"},
			{"target", Point, nil, "the deadline that expired, 0 if unknown"},
			{"direct", Bool, nil, "1 if it raised its vector itself"},
			{"delivered", Bool, nil, "1 if the message or vector was taken; 0 if it waits for a free slot"}}},
	KindDebugger: {Name: "debugger", Role: Input, Doc: "what the debugger itself did to the run; without a vCPU it concerns all",
		Fields: [4]Field{
			{"act", Enum, DebuggerNames, "what"},
			{"hidden", Cycles, nil, "cycles taken out of the guest's time by its TSC offset"}}},
	KindKernel: {Name: "kernel", Role: Input, Doc: "the host kernel whose rules act from here on",
		Fields: [4]Field{
			{"release", Dec, nil, "major × 65536 + minor × 256 + patch, 0 if not known"},
			{"vendor", Enum, VendorNames, "the host CPU's"},
			{"name0", Text, nil, "bytes 1–8 of its name, such as a distribution's release"},
			{"name1", Text, nil, "bytes 9–16"}}},
	KindMissing: {Name: "missing", Role: Derived, Doc: "the guest reached for a device that is not there; once for each address",
		Fields: [4]Field{
			{"address", Hex, nil, "port, or guest-physical address"},
			{"how", Enum, MissingNames, "access"},
			{"rip", Hex, nil, "guest RIP"},
			{"value", Hex, nil, "what was written"}}},
}

func nameOf(names []string, v uint64) string {
	if v < uint64(len(names)) {
		return names[v]
	}
	return "?" + strconv.FormatUint(v, 10)
}
