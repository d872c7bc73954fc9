package trace

// Phase is a named piece of host work whose cost the profile gives (model) or a
// clock measures (kvm).
type Phase uint8

// The phases.
const (
	BadPhase          Phase = iota
	PhaseExit               // VM-exit: hardware switch and register save
	PhaseFastDispatch       // reading the reason and choosing a fastpath
	PhaseDispatch           // leaving the inner loop, IRQs on, handle_exit
	PhaseMSR                // WRMSR/RDMSR emulation
	PhaseAPIC               // LAPIC register emulation
	PhaseAPICDecode         // decoding an xAPIC access (EPT violation, APIC_ACCESS)
	PhaseCPUID              // CPUID emulation
	PhasePIO                // port I/O emulated in the kernel
	PhaseUser               // return to user space, device, KVM_RUN again
	PhaseHypercall          // VMCALL
	PhaseEmulate            // full instruction emulation
	PhaseHrtimerStart       // programming an hrtimer
	PhaseHrtimerStop        // cancelling an hrtimer
	PhaseHVStart            // programming the preemption timer
	PhaseHrtimerIRQ         // host timer interrupt up to the callback
	PhaseHostIRQ            // another host interrupt
	PhaseExpire             // apic_timer_expired
	PhaseInjectTimer        // outer loop: inject the pending timer
	PhaseEvent              // KVM_REQ_EVENT: check and inject events
	PhasePIRSync            // sync_pir_to_irr
	PhaseOuter              // outer loop once round
	PhasePrepare            // vcpu_enter_guest up to mode:=IN_GUEST
	PhaseExitTest           // kvm_vcpu_exit_request
	PhaseWait               // waiting for an expired deadline
	PhaseEarlyGap           // from the early wait to the late one
	PhaseLateGap            // from the late wait to VM-entry
	PhaseEntry              // VM-entry: hardware switch
	PhasePost               // setting PIR and ON
	PhaseKickRCU            // RCU section, full barrier, task read
	PhaseKickTask           // plain task read
	PhaseKickCmpxchg        // barrier and cmpxchg
	PhaseKickStore          // plain store
	PhaseIPISend            // sending an IPI
	PhaseIPIFlight          // IPI from sender to target
	PhaseNotify             // hardware processing of a posted notification
	PhaseWake               // wake_up_process
	PhaseSwitchOut          // schedule() away from the vCPU thread
	PhaseSwitchIn           // schedule() to the vCPU thread, after the wake-up
	PhaseIdleExit           // host CPU leaves its idle state
	PhasePoll               // one turn of halt polling
	PhaseBlock              // preparing to block
	PhaseGuest              // guest code, not host work
	PhaseWaitCheck          // taking up an expired deadline: TSC reads, tuning
	NumPhases
)

// PhaseNames names the phases as profiles and cost splits do.
var PhaseNames = []string{"bad", "exit", "fast-dispatch", "dispatch", "msr", "apic", "apic-decode", "cpuid", "pio",
	"user", "hypercall", "emulate", "hrtimer-start", "hrtimer-stop", "hv-start", "hrtimer-irq", "host-irq", "expire",
	"inject-timer", "event", "pir-sync", "outer", "prepare", "exit-test", "wait", "early-gap", "late-gap", "entry",
	"post", "kick-rcu", "kick-task", "kick-cmpxchg", "kick-store", "ipi-send", "ipi-flight", "notify", "wake",
	"switch-out", "switch-in", "idle-exit", "poll", "block", "guest", "wait-check"}

// String returns the phase's name.
func (p Phase) String() string { return nameOf(PhaseNames, uint64(p)) }
