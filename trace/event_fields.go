// Code generated from Specs by: go test ./trace -run Accessors -update. DO NOT EDIT.

package trace

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// KnobArgs holds the arguments of a knob event: a knob was turned.
type KnobArgs struct {
	Knob  Knob   // which one
	Value uint64 // new value: 0/1 for switches, ns for times, the enumeration's number otherwise
	Old   uint64 // value before
}

// Knob reads e as a knob event.
func (e *Event) Knob() KnobArgs { return KnobArgs{Knob(byteOf(e.A)), e.B, e.C} }

// Event makes an event of x.
func (x KnobArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindKnob, VCPU: vcpu, PCPU: pcpu, A: uint64(x.Knob), B: x.Value, C: x.Old}
}

// ExitArgs holds the arguments of an exit event: a VM-exit, once each, before any handler.
type ExitArgs struct {
	Reason ExitReason // basic exit reason
	RIP    uint64     // guest RIP
	Info1  uint64     // MSR index, port, guest physical address, or CPUID leaf
	Info2  uint64     // value written, or the vector of an external interrupt
}

// Exit reads e as an exit event.
func (e *Event) Exit() ExitArgs { return ExitArgs{ExitReason(byteOf(e.A)), e.B, e.C, e.D} }

// Event makes an event of x.
func (x ExitArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindExit, VCPU: vcpu, PCPU: pcpu, A: uint64(x.Reason), B: x.RIP, C: x.Info1, D: x.Info2}
}

// EntryArgs holds the arguments of an entry event: a VM-entry, just before guest code runs.
type EntryArgs struct {
	RIP     uint64 // guest RIP
	Vector  uint64 // vector in the VM-entry interruption field, 0 if none
	HV      uint64 // preemption timer in host TSC cycles; all ones if off
	Reentry bool   // entered from the fastpath loop
}

// Entry reads e as an entry event.
func (e *Event) Entry() EntryArgs { return EntryArgs{e.A, e.B, e.C, e.D != 0} }

// Event makes an event of x.
func (x EntryArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindEntry, VCPU: vcpu, PCPU: pcpu, A: x.RIP, B: x.Vector, C: x.HV, D: bit(x.Reentry)}
}

// FastpathArgs holds the arguments of a fastpath event: the fastpath's verdict on an exit.
type FastpathArgs struct {
	Reason ExitReason     // exit reason
	Result FastpathResult // what the handler returned, after the bail-out test
	Clause Clause         // first clause that failed, none if the guest was re-entered
	MSR    uint64         // MSR index for MSR exits
}

// Fastpath reads e as a fastpath event.
func (e *Event) Fastpath() FastpathArgs {
	return FastpathArgs{ExitReason(byteOf(e.A)), FastpathResult(byteOf(e.B)), Clause(byteOf(e.C)), e.D}
}

// Event makes an event of x.
func (x FastpathArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindFastpath, VCPU: vcpu, PCPU: pcpu, A: uint64(x.Reason), B: uint64(x.Result), C: uint64(x.Clause), D: x.MSR}
}

// MSRArgs holds the arguments of a msr event: an emulated MSR access.
type MSRArgs struct {
	Index uint64 // ECX
	Value uint64 // value read or written
	Write bool   // 1 for WRMSR
	GP    bool   // 1 if it faulted with #GP
}

// MSR reads e as a msr event.
func (e *Event) MSR() MSRArgs { return MSRArgs{e.A, e.B, e.C != 0, e.D != 0} }

// Event makes an event of x.
func (x MSRArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindMSR, VCPU: vcpu, PCPU: pcpu, A: x.Index, B: x.Value, C: bit(x.Write), D: bit(x.GP)}
}

// APICArgs holds the arguments of an apic event: a local APIC register access.
type APICArgs struct {
	Reg     uint64 // xAPIC offset; x2APIC MSRs are shown by their offset too
	Value   uint64 // value read or written
	Write   bool   // 1 for a write
	Virtual bool   // 1 if APIC virtualization did it without an exit
}

// APIC reads e as an apic event.
func (e *Event) APIC() APICArgs { return APICArgs{e.A, e.B, e.C != 0, e.D != 0} }

// Event makes an event of x.
func (x APICArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindAPIC, VCPU: vcpu, PCPU: pcpu, A: x.Reg, B: x.Value, C: bit(x.Write), D: bit(x.Virtual)}
}

// ArmArgs holds the arguments of an arm event: the guest programmed its timer: a deadline begins.
type ArmArgs struct {
	Target clock.TSC   // when it should fire; 0 disarms
	Mode   TimerMode   // timer mode
	Value  uint64      // MSR 0x6e0 value or initial count, as written
	Period clock.Nanos // period, one-shot length, or 0 in TSC-deadline mode
}

// Arm reads e as an arm event.
func (e *Event) Arm() ArmArgs {
	return ArmArgs{clock.TSC(e.A), TimerMode(byteOf(e.B)), e.C, clock.Nanos(e.D)}
}

// Event makes an event of x.
func (x ArmArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindArm, VCPU: vcpu, PCPU: pcpu, A: uint64(x.Target), B: uint64(x.Mode), C: x.Value, D: uint64(x.Period)}
}

// BackingArgs holds the arguments of a backing event: which host timer now backs the guest timer.
type BackingArgs struct {
	Backing Backing      // preemption timer, hrtimer, or none
	Clause  Clause       // why not the preemption timer (or why none)
	Fire    clock.TSC    // when the host timer will fire
	Advance clock.Cycles // how much earlier than the deadline that is
}

// Backing reads e as a backing event.
func (e *Event) Backing() BackingArgs {
	return BackingArgs{Backing(byteOf(e.A)), Clause(byteOf(e.B)), clock.TSC(e.C), clock.Cycles(e.D)}
}

// Event makes an event of x.
func (x BackingArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindBacking, VCPU: vcpu, PCPU: pcpu, A: uint64(x.Backing), B: uint64(x.Clause), C: uint64(x.Fire), D: uint64(x.Advance)}
}

// HostFireArgs holds the arguments of a host_fire event: the host timer behind a guest timer fired.
type HostFireArgs struct {
	Backing    Backing   // which
	Programmed clock.TSC // when it had been due
}

// HostFire reads e as a host_fire event.
func (e *Event) HostFire() HostFireArgs { return HostFireArgs{Backing(byteOf(e.A)), clock.TSC(e.B)} }

// Event makes an event of x.
func (x HostFireArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindHostFire, VCPU: vcpu, PCPU: pcpu, A: uint64(x.Backing), B: uint64(x.Programmed)}
}

// ExpireArgs holds the arguments of an expire event: the timer expired in the LAPIC model (apic_timer_expired).
type ExpireArgs struct {
	Target   clock.TSC   // deadline that expired
	Route    ExpireRoute // what was done
	Clause   Clause      // why not a faster route
	Callback bool        // 1 if from the timer callback (from_timer_fn)
}

// Expire reads e as an expire event.
func (e *Event) Expire() ExpireArgs {
	return ExpireArgs{clock.TSC(e.A), ExpireRoute(byteOf(e.B)), Clause(byteOf(e.C)), e.D != 0}
}

// Event makes an event of x.
func (x ExpireArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindExpire, VCPU: vcpu, PCPU: pcpu, A: uint64(x.Target), B: uint64(x.Route), C: uint64(x.Clause), D: bit(x.Callback)}
}

// WaitArgs holds the arguments of a wait event: the wait for an expired deadline before VM-entry.
type WaitArgs struct {
	Delta  clock.Cycles // guest TSC minus deadline on arrival, before waiting
	Waited clock.Cycles // cycles waited
	Cap    clock.Cycles // most it may wait: the timer advance
	Place  Placement    // where in the entry path
}

// Wait reads e as a wait event.
func (e *Event) Wait() WaitArgs {
	return WaitArgs{clock.Cycles(e.A), clock.Cycles(e.B), clock.Cycles(e.C), Placement(byteOf(e.D))}
}

// Event makes an event of x.
func (x WaitArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindWait, VCPU: vcpu, PCPU: pcpu, A: uint64(x.Delta), B: uint64(x.Waited), C: uint64(x.Cap), D: uint64(x.Place)}
}

// TuneArgs holds the arguments of a tune event: adaptive tuning looked at a delta.
type TuneArgs struct {
	Old     clock.Nanos  // timer_advance_ns before
	New     clock.Nanos  // timer_advance_ns after
	Delta   clock.Cycles // what it saw
	Verdict TuneVerdict  // what it did
}

// Tune reads e as a tune event.
func (e *Event) Tune() TuneArgs {
	return TuneArgs{clock.Nanos(e.A), clock.Nanos(e.B), clock.Cycles(e.C), TuneVerdict(byteOf(e.D))}
}

// Event makes an event of x.
func (x TuneArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindTune, VCPU: vcpu, PCPU: pcpu, A: uint64(x.Old), B: uint64(x.New), C: uint64(x.Delta), D: uint64(x.Verdict)}
}

// DeliverArgs holds the arguments of a deliver event: an interrupt was handed to a vCPU.
type DeliverArgs struct {
	Vector uint64       // vector
	Route  DeliverRoute // how
	Clause Clause       // why no cheaper way
	Source Source       // who sent it
}

// Deliver reads e as a deliver event.
func (e *Event) Deliver() DeliverArgs {
	return DeliverArgs{e.A, DeliverRoute(byteOf(e.B)), Clause(byteOf(e.C)), Source(byteOf(e.D))}
}

// Event makes an event of x.
func (x DeliverArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindDeliver, VCPU: vcpu, PCPU: pcpu, A: x.Vector, B: uint64(x.Route), C: uint64(x.Clause), D: uint64(x.Source)}
}

// KickArgs holds the arguments of a kick event: kvm_vcpu_kick and what it decided; VCPU is the target.
type KickArgs struct {
	Decision KickDecision // outcome
	Mode     Mode         // target's mode when looked at
	Steps    KickSteps    // what it executed, so what it cost
	From     uint64       // vCPU loaded on the kicking CPU, 255 if none
}

// Kick reads e as a kick event.
func (e *Event) Kick() KickArgs {
	return KickArgs{KickDecision(byteOf(e.A)), Mode(byteOf(e.B)), KickSteps(byteOf(e.C)), e.D}
}

// Event makes an event of x.
func (x KickArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindKick, VCPU: vcpu, PCPU: pcpu, A: uint64(x.Decision), B: uint64(x.Mode), C: uint64(x.Steps), D: x.From}
}

// PIRSyncArgs holds the arguments of a pir_sync event: PIR was moved into the virtual IRR.
type PIRSyncArgs struct {
	Moved   uint64 // vectors moved
	Highest uint64 // highest vector now in IRR, 0 if none
}

// PIRSync reads e as a pir_sync event.
func (e *Event) PIRSync() PIRSyncArgs { return PIRSyncArgs{e.A, e.B} }

// Event makes an event of x.
func (x PIRSyncArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindPIRSync, VCPU: vcpu, PCPU: pcpu, A: x.Moved, B: x.Highest}
}

// InjectArgs holds the arguments of an inject event: an event was written to the VM-entry field.
type InjectArgs struct {
	Vector     uint64 // vector
	Reinjected bool   // 1 if an earlier injection had not completed
	Window     bool   // 1 if none was possible and interrupt-window exiting was turned on
}

// Inject reads e as an inject event.
func (e *Event) Inject() InjectArgs { return InjectArgs{e.A, e.B != 0, e.C != 0} }

// Event makes an event of x.
func (x InjectArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindInject, VCPU: vcpu, PCPU: pcpu, A: x.Vector, B: bit(x.Reinjected), C: bit(x.Window)}
}

// GuestIRQArgs holds the arguments of a guest_irq event: the guest reached the first instruction of an interrupt handler.
type GuestIRQArgs struct {
	Vector  uint64 // vector
	Virtual bool   // 1 if delivered by virtual-interrupt delivery
	RIP     uint64 // first instruction of the handler
}

// GuestIRQ reads e as a guest_irq event.
func (e *Event) GuestIRQ() GuestIRQArgs { return GuestIRQArgs{e.A, e.B != 0, e.C} }

// Event makes an event of x.
func (x GuestIRQArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindGuestIRQ, VCPU: vcpu, PCPU: pcpu, A: x.Vector, B: bit(x.Virtual), C: x.RIP}
}

// EOIArgs holds the arguments of an eoi event: end of interrupt.
type EOIArgs struct {
	Vector  int64 // vector, −1 if none was in service
	Virtual bool  // 1 if virtualized without an exit
}

// EOI reads e as an eoi event.
func (e *Event) EOI() EOIArgs { return EOIArgs{int64(e.A), e.B != 0} }

// Event makes an event of x.
func (x EOIArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindEOI, VCPU: vcpu, PCPU: pcpu, A: uint64(x.Vector), B: bit(x.Virtual)}
}

// IPIArgs holds the arguments of an ipi event: the guest wrote an interrupt command.
type IPIArgs struct {
	ICR     uint64 // ICR value, destination in bits 63:32
	Targets uint64 // bit mask of the vCPUs (0–63) it reached
}

// IPI reads e as an ipi event.
func (e *Event) IPI() IPIArgs { return IPIArgs{e.A, e.B} }

// Event makes an event of x.
func (x IPIArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindIPI, VCPU: vcpu, PCPU: pcpu, A: x.ICR, B: x.Targets}
}

// HaltArgs holds the arguments of a halt event: the vCPU halted.
type HaltArgs struct {
	Step HaltStep    // polling, blocked
	Poll clock.Nanos // halt-polling time allowed now
}

// Halt reads e as a halt event.
func (e *Event) Halt() HaltArgs { return HaltArgs{HaltStep(byteOf(e.A)), clock.Nanos(e.B)} }

// Event makes an event of x.
func (x HaltArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindHalt, VCPU: vcpu, PCPU: pcpu, A: uint64(x.Step), B: uint64(x.Poll)}
}

// WakeArgs holds the arguments of a wake event: a halt ended (kvm_vcpu_wakeup).
type WakeArgs struct {
	Why    WakeReason  // what ended it
	Halted clock.Nanos // time since the halt
	Polled bool        // 1 if it ended while polling
	Poll   clock.Nanos // halt-polling time after adjustment
}

// Wake reads e as a wake event.
func (e *Event) Wake() WakeArgs {
	return WakeArgs{WakeReason(byteOf(e.A)), clock.Nanos(e.B), e.C != 0, clock.Nanos(e.D)}
}

// Event makes an event of x.
func (x WakeArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindWake, VCPU: vcpu, PCPU: pcpu, A: uint64(x.Why), B: uint64(x.Halted), C: bit(x.Polled), D: uint64(x.Poll)}
}

// SchedArgs holds the arguments of a sched event: the vCPU's thread was switched in or out; without a vCPU, another task took the host CPU from one that is no vCPU's either.
type SchedArgs struct {
	In    bool      // 1 if switched in
	PCPU  uint64    // host CPU
	Task  uint64    // pid of the task that takes the CPU (from the thread), or leaves it to the thread; 0 is the idle task
	State TaskState // switched out: the state that the thread is left in
}

// Sched reads e as a sched event.
func (e *Event) Sched() SchedArgs { return SchedArgs{e.A != 0, e.B, e.C, TaskState(byteOf(e.D))} }

// Event makes an event of x.
func (x SchedArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindSched, VCPU: vcpu, PCPU: pcpu, A: bit(x.In), B: x.PCPU, C: x.Task, D: uint64(x.State)}
}

// CostArgs holds the arguments of a cost event: cycles spent in the host since the last exit, by phase.
type CostArgs struct {
	P0 uint64 // phases 1 and 2
	P1 uint64 // phases 3 and 4
	P2 uint64 // phases 5 and 6
	P3 uint64 // phases 7 and 8
}

// Cost reads e as a cost event.
func (e *Event) Cost() CostArgs { return CostArgs{e.A, e.B, e.C, e.D} }

// Event makes an event of x.
func (x CostArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindCost, VCPU: vcpu, PCPU: pcpu, A: x.P0, B: x.P1, C: x.P2, D: x.P3}
}

// RequestArgs holds the arguments of a request event: a request bit was set on a vCPU.
type RequestArgs struct {
	Set     uint64 // bits set by this call
	Pending uint64 // all bits after it
}

// Request reads e as a request event.
func (e *Event) Request() RequestArgs { return RequestArgs{e.A, e.B} }

// Event makes an event of x.
func (x RequestArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindRequest, VCPU: vcpu, PCPU: pcpu, A: x.Set, B: x.Pending}
}

// TSCOffsetArgs holds the arguments of a tsc_offset event: the vCPU's guest TSC left the common line.
type TSCOffsetArgs struct {
	Offset clock.Cycles // guest TSC minus common line, from now on
	Old    clock.Cycles // before
}

// TSCOffset reads e as a tsc_offset event.
func (e *Event) TSCOffset() TSCOffsetArgs { return TSCOffsetArgs{clock.Cycles(e.A), clock.Cycles(e.B)} }

// Event makes an event of x.
func (x TSCOffsetArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindTSCOffset, VCPU: vcpu, PCPU: pcpu, A: uint64(x.Offset), B: uint64(x.Old)}
}

// MPStateArgs holds the arguments of a mp_state event: INIT, SIPI and start of a vCPU.
type MPStateArgs struct {
	State  MPState // new state
	Vector uint64  // SIPI vector
}

// MPState reads e as a mp_state event.
func (e *Event) MPState() MPStateArgs { return MPStateArgs{MPState(byteOf(e.A)), e.B} }

// Event makes an event of x.
func (x MPStateArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindMPState, VCPU: vcpu, PCPU: pcpu, A: uint64(x.State), B: x.Vector}
}

// ConsoleArgs holds the arguments of a console event: text that the guest wrote; raw, so filter it before a terminal.
type ConsoleArgs struct {
	T0  uint64 // bytes 1–8
	T1  uint64 // bytes 9–16
	T2  uint64 // bytes 17–24
	Len uint64 // bytes in all, 1–24
}

// Console reads e as a console event.
func (e *Event) Console() ConsoleArgs { return ConsoleArgs{e.A, e.B, e.C, e.D} }

// Event makes an event of x.
func (x ConsoleArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindConsole, VCPU: vcpu, PCPU: pcpu, A: x.T0, B: x.T1, C: x.T2, D: x.Len}
}

// SampleArgs holds the arguments of a sample event: a latency that the guest itself recorded in its memory.
type SampleArgs struct {
	Index    uint64    // number of the sample
	Deadline clock.TSC // deadline it armed
	Seen     clock.TSC // RDTSC in its handler
}

// Sample reads e as a sample event.
func (e *Event) Sample() SampleArgs { return SampleArgs{e.A, clock.TSC(e.B), clock.TSC(e.C)} }

// Event makes an event of x.
func (x SampleArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindSample, VCPU: vcpu, PCPU: pcpu, A: x.Index, B: uint64(x.Deadline), C: uint64(x.Seen)}
}

// EndArgs holds the arguments of an end event: the guest stopped.
type EndArgs struct {
	How    EndKind // how it stopped
	Code   uint64  // exit status it gave
	Detail uint64  // RIP, or the bytes of an unknown encoding
}

// End reads e as an end event.
func (e *Event) End() EndArgs { return EndArgs{EndKind(byteOf(e.A)), e.B, e.C} }

// Event makes an event of x.
func (x EndArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindEnd, VCPU: vcpu, PCPU: pcpu, A: uint64(x.How), B: x.Code, C: x.Detail}
}

// LostArgs holds the arguments of a lost event: events were dropped here.
type LostArgs struct {
	Count  uint64     // how many, 0 if unknown
	Why    LossReason // what became of them
	Blocks uint64     // damaged blocks of the file, or pages of the ring buffer
	Until  clock.TSC  // when events are known again, 0 if not known
}

// Lost reads e as a lost event.
func (e *Event) Lost() LostArgs { return LostArgs{e.A, LossReason(byteOf(e.B)), e.C, clock.TSC(e.D)} }

// Event makes an event of x.
func (x LostArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindLost, VCPU: vcpu, PCPU: pcpu, A: x.Count, B: uint64(x.Why), C: x.Blocks, D: uint64(x.Until)}
}

// MarkArgs holds the arguments of a mark event: a bookmark that the user set.
type MarkArgs struct {
	Name uint64 // first eight bytes of its name
}

// Mark reads e as a mark event.
func (e *Event) Mark() MarkArgs { return MarkArgs{e.A} }

// Event makes an event of x.
func (x MarkArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindMark, VCPU: vcpu, PCPU: pcpu, A: x.Name}
}

// TaskArgs holds the arguments of a task event: a host task is named, before an event that has its pid; of a vCPU's thread, VCPU says which.
type TaskArgs struct {
	PID   uint64 // thread ID
	Comm0 uint64 // bytes 1–8 of its name (comm)
	Comm1 uint64 // bytes 9–16
	Prio  int64  // task_struct.prio: −1 deadline, 0–98 real time (sched_priority 99 − prio), 100–139 fair (nice prio − 120), 140 idle
}

// Task reads e as a task event.
func (e *Event) Task() TaskArgs { return TaskArgs{e.A, e.B, e.C, int64(e.D)} }

// Event makes an event of x.
func (x TaskArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindTask, VCPU: vcpu, PCPU: pcpu, A: x.PID, B: x.Comm0, C: x.Comm1, D: uint64(x.Prio)}
}

// WakingArgs holds the arguments of a waking event: the vCPU's thread was made runnable (sched_waking); PCPU is the CPU that woke it.
type WakingArgs struct {
	By     uint64 // pid of the task that woke it, 0 if an interrupt in the idle task or not known
	Target uint64 // host CPU that it was on or is to run on
}

// Waking reads e as a waking event.
func (e *Event) Waking() WakingArgs { return WakingArgs{e.A, e.B} }

// Event makes an event of x.
func (x WakingArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindWaking, VCPU: vcpu, PCPU: pcpu, A: x.By, B: x.Target}
}

// UserExitArgs holds the arguments of a user_exit event: KVM_RUN returned to user space (kvm_userspace_exit).
type UserExitArgs struct {
	Reason  UserExit // kvm_run.exit_reason
	Address uint64   // port, physical address, or MSR index that user space has to serve; all ones if not known
	Write   bool     // 1 if the guest writes
	Errno   int64    // what KVM_RUN returned: 0, or −4 (EINTR) where a signal or an immediate exit ended it
}

// UserExit reads e as a user_exit event.
func (e *Event) UserExit() UserExitArgs {
	return UserExitArgs{UserExit(byteOf(e.A)), e.B, e.C != 0, int64(e.D)}
}

// Event makes an event of x.
func (x UserExitArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindUserExit, VCPU: vcpu, PCPU: pcpu, A: uint64(x.Reason), B: x.Address, C: bit(x.Write), D: uint64(x.Errno)}
}

// UserEntryArgs holds the arguments of a user_entry event: user space called KVM_RUN again.
type UserEntryArgs struct {
	Immediate bool // 1 if kvm_run.immediate_exit is set
}

// UserEntry reads e as a user_entry event.
func (e *Event) UserEntry() UserEntryArgs { return UserEntryArgs{e.A != 0} }

// Event makes an event of x.
func (x UserEntryArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindUserEntry, VCPU: vcpu, PCPU: pcpu, A: bit(x.Immediate)}
}

// ExitInfoArgs holds the arguments of an exit_info event: what else kvm_exit tells, right after its exit.
type ExitInfoArgs struct {
	Requests uint64 // vcpu->requests, as the kernel numbers them (6.14 on)
	IntrInfo uint64 // VM-exit interruption information, or AMD's EXITINTINFO
	Error    uint64 // its error code
}

// ExitInfo reads e as an exit_info event.
func (e *Event) ExitInfo() ExitInfoArgs { return ExitInfoArgs{e.A, e.B, e.C} }

// Event makes an event of x.
func (x ExitInfoArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindExitInfo, VCPU: vcpu, PCPU: pcpu, A: x.Requests, B: x.IntrInfo, C: x.Error}
}

// HostIdleArgs holds the arguments of a host_idle event: a host CPU entered or left an idle state (cpu_idle); no vCPU is concerned.
type HostIdleArgs struct {
	In    bool   // 1 if entered
	State uint64 // index of the C-state, as in cpuidle/state*
}

// HostIdle reads e as a host_idle event.
func (e *Event) HostIdle() HostIdleArgs { return HostIdleArgs{e.A != 0, e.B} }

// Event makes an event of x.
func (x HostIdleArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindHostIdle, VCPU: vcpu, PCPU: pcpu, A: bit(x.In), B: x.State}
}

// HostTimerArgs holds the arguments of a host_timer event: an hrtimer of the host; VCPU if it backs that vCPU's timer; PCPU is the CPU of its queue.
type HostTimerArgs struct {
	Step    HostTimerStep // started, cancelled, expired, callback done
	ID      uint64        // tells timers apart: the trace's pointer
	Expires clock.TSC     // when it is or was due, 0 if unknown
	Now     clock.TSC     // time that the interrupt compared it with, 0 if unknown
}

// HostTimer reads e as a host_timer event.
func (e *Event) HostTimer() HostTimerArgs {
	return HostTimerArgs{HostTimerStep(byteOf(e.A)), e.B, clock.TSC(e.C), clock.TSC(e.D)}
}

// Event makes an event of x.
func (x HostTimerArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindHostTimer, VCPU: vcpu, PCPU: pcpu, A: uint64(x.Step), B: x.ID, C: uint64(x.Expires), D: uint64(x.Now)}
}

// HostIRQArgs holds the arguments of a host_irq event: a host interrupt, NMI or softirq began or ended on PCPU.
type HostIRQArgs struct {
	In     bool    // 1 if it began
	What   HostIRQ // its class
	Number uint64  // IRQ, vector, or number of the softirq
	Name   uint64  // first eight bytes of the handler's name
}

// HostIRQ reads e as a host_irq event.
func (e *Event) HostIRQ() HostIRQArgs { return HostIRQArgs{e.A != 0, HostIRQ(byteOf(e.B)), e.C, e.D} }

// Event makes an event of x.
func (x HostIRQArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindHostIRQ, VCPU: vcpu, PCPU: pcpu, A: bit(x.In), B: uint64(x.What), C: x.Number, D: x.Name}
}

// InhibitArgs holds the arguments of an inhibit event: an APICv inhibit was set or cleared (kvm_apicv_inhibit_changed).
type InhibitArgs struct {
	Reason Inhibit // which
	Set    bool    // 1 if set
	Others uint64  // the inhibits in force after it
}

// Inhibit reads e as an inhibit event.
func (e *Event) Inhibit() InhibitArgs { return InhibitArgs{Inhibit(byteOf(e.A)), e.B != 0, e.C} }

// Event makes an event of x.
func (x InhibitArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindInhibit, VCPU: vcpu, PCPU: pcpu, A: uint64(x.Reason), B: bit(x.Set), C: x.Others}
}

// PLEWindowArgs holds the arguments of a ple_window event: the window of PAUSE-loop exiting changed (kvm_ple_window_update).
type PLEWindowArgs struct {
	New uint64 // cycles on Intel, PAUSEs on AMD
	Old uint64 // before
}

// PLEWindow reads e as a ple_window event.
func (e *Event) PLEWindow() PLEWindowArgs { return PLEWindowArgs{e.A, e.B} }

// Event makes an event of x.
func (x PLEWindowArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindPLEWindow, VCPU: vcpu, PCPU: pcpu, A: x.New, B: x.Old}
}

// StimerArmArgs holds the arguments of a stimer_arm event: a Hyper-V synthetic timer was started or stopped (kvm_hv_stimer_start_*).
type StimerArmArgs struct {
	Index  uint64      // 0–3
	Target clock.TSC   // when it is due; 0 stops it
	Period clock.Nanos // period, 0 of a one-shot timer
	Vector uint64      // vector in direct mode, 0 if it sends a message
}

// StimerArm reads e as a stimer_arm event.
func (e *Event) StimerArm() StimerArmArgs {
	return StimerArmArgs{e.A, clock.TSC(e.B), clock.Nanos(e.C), e.D}
}

// Event makes an event of x.
func (x StimerArmArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindStimerArm, VCPU: vcpu, PCPU: pcpu, A: x.Index, B: uint64(x.Target), C: uint64(x.Period), D: x.Vector}
}

// StimerExpireArgs holds the arguments of a stimer_expire event: a Hyper-V synthetic timer expired (kvm_hv_stimer_expiration).
type StimerExpireArgs struct {
	Index     uint64    // 0–3
	Target    clock.TSC // the deadline that expired, 0 if unknown
	Direct    bool      // 1 if it raised its vector itself
	Delivered bool      // 1 if the message or vector was taken; 0 if it waits for a free slot
}

// StimerExpire reads e as a stimer_expire event.
func (e *Event) StimerExpire() StimerExpireArgs {
	return StimerExpireArgs{e.A, clock.TSC(e.B), e.C != 0, e.D != 0}
}

// Event makes an event of x.
func (x StimerExpireArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindStimerExpire, VCPU: vcpu, PCPU: pcpu, A: x.Index, B: uint64(x.Target), C: bit(x.Direct), D: bit(x.Delivered)}
}

// DebuggerArgs holds the arguments of a debugger event: what the debugger itself did to the run; without a vCPU it concerns all.
type DebuggerArgs struct {
	Act    DebuggerAct  // what
	Hidden clock.Cycles // cycles taken out of the guest's time by its TSC offset
}

// Debugger reads e as a debugger event.
func (e *Event) Debugger() DebuggerArgs {
	return DebuggerArgs{DebuggerAct(byteOf(e.A)), clock.Cycles(e.B)}
}

// Event makes an event of x.
func (x DebuggerArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindDebugger, VCPU: vcpu, PCPU: pcpu, A: uint64(x.Act), B: uint64(x.Hidden)}
}

// KernelArgs holds the arguments of a kernel event: the host kernel whose rules act from here on.
type KernelArgs struct {
	Release uint64 // major × 65536 + minor × 256 + patch, 0 if not known
	Vendor  Vendor // the host CPU's
	Name0   uint64 // bytes 1–8 of its name, such as a distribution's release
	Name1   uint64 // bytes 9–16
}

// Kernel reads e as a kernel event.
func (e *Event) Kernel() KernelArgs { return KernelArgs{e.A, Vendor(byteOf(e.B)), e.C, e.D} }

// Event makes an event of x.
func (x KernelArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindKernel, VCPU: vcpu, PCPU: pcpu, A: x.Release, B: uint64(x.Vendor), C: x.Name0, D: x.Name1}
}

// MissingArgs holds the arguments of a missing event: the guest reached for a device that is not there; once for each address.
type MissingArgs struct {
	Address uint64 // port, or guest-physical address
	How     uint64 // access
	RIP     uint64 // guest RIP
	Value   uint64 // what was written
}

// Missing reads e as a missing event.
func (e *Event) Missing() MissingArgs { return MissingArgs{e.A, e.B, e.C, e.D} }

// Event makes an event of x.
func (x MissingArgs) Event(at clock.TSC, vcpu, pcpu uint8) Event {
	return Event{TSC: at, Kind: KindMissing, VCPU: vcpu, PCPU: pcpu, A: x.Address, B: x.How, C: x.RIP, D: x.Value}
}
