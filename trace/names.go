package trace

// The enumerations of event fields. Their order is the wire format: append
// only. Zero is the invalid value except where it is a plain "none".

// ExitReason is the basic reason of a VM-exit under one name for both vendors;
// the spelling is that of KVM's VMX tracepoints.
type ExitReason uint8

// The exit reasons.
const (
	BadExit ExitReason = iota
	ExitExternalInterrupt
	ExitPreemptionTimer
	ExitMSRWrite
	ExitMSRRead
	ExitHLT
	ExitCPUID
	ExitIO
	ExitMMIO
	ExitAPICAccess
	ExitAPICWrite
	ExitEOIInduced
	ExitInterruptWindow
	ExitNMIWindow
	ExitNMI
	ExitVMCALL
	ExitINVD
	ExitWBINVD
	ExitXSETBV
	ExitPause
	ExitMWAIT
	ExitMONITOR
	ExitRDPMC
	ExitDRAccess
	ExitCRAccess
	ExitInit
	ExitSIPI
	ExitTripleFault
	ExitEPTViolation
	ExitException
	ExitUnknownInstruction // the interpreter lacks the encoding
	ExitInternalError
	ExitEntryFailure
	ExitOther    // a reason this table has no row for
	ExitTPRBelow // CR8 or TPR fell below the threshold
	NumExits
)

// ExitNames names the exit reasons.
var ExitNames = []string{"BAD", "EXTERNAL_INTERRUPT", "PREEMPTION_TIMER", "MSR_WRITE", "MSR_READ", "HLT", "CPUID",
	"IO_INSTRUCTION", "EPT_MISCONFIG", "APIC_ACCESS", "APIC_WRITE", "EOI_INDUCED", "INTERRUPT_WINDOW", "NMI_WINDOW",
	"NMI", "VMCALL", "INVD", "WBINVD", "XSETBV", "PAUSE_INSTRUCTION", "MWAIT_INSTRUCTION", "MONITOR_INSTRUCTION",
	"RDPMC", "DR_ACCESS", "CR_ACCESS", "INIT_SIGNAL", "SIPI_SIGNAL", "TRIPLE_FAULT", "EPT_VIOLATION", "EXCEPTION_NMI",
	"UNKNOWN_INSTRUCTION", "INTERNAL_ERROR", "ENTRY_FAILURE", "OTHER", "TPR_BELOW_THRESHOLD"}

// String returns the kernel's spelling.
func (r ExitReason) String() string { return nameOf(ExitNames, uint64(r)) }

// FastpathResult is what the fastpath made of an exit: the union of the values
// that kernels used over time (fastpath_t, exit_fastpath_completion).
type FastpathResult uint8

// The fastpath results. FastNone is the kernel's EXIT_FASTPATH_NONE.
const (
	FastNone      FastpathResult = iota // the normal handler runs
	FastSkip                            // SKIP_EMUL_INS: done, handle_exit still advances RIP
	FastReenter                         // CONT_RUN, REENTER_GUEST: straight back
	FastHandled                         // EXIT_HANDLED: done, but round the outer loop
	FastUserspace                       // EXIT_USERSPACE: done, return to user space
	NumFastpathResults
)

// FastpathNames names the fastpath results.
var FastpathNames = []string{"none", "skip-emul-ins", "reenter", "exit-handled", "exit-userspace"}

// String returns the short name.
func (r FastpathResult) String() string { return nameOf(FastpathNames, uint64(r)) }

// Clause names one term of one of the loop's predicates. A decision carries the
// first that failed.
type Clause uint8

// The clauses.
const (
	ClauseNone          Clause = iota // every clause held
	ClauseKnobOff                     // the mechanism is turned off
	ClauseNoHandler                   // the rule set has no fastpath for this exit
	ClauseGuestMode                   // L2 is running
	ClauseAPICvOff                    // APICv is not active
	ClauseModeExiting                 // vcpu->mode is EXITING_GUEST_MODE
	ClauseRequest                     // a request is pending
	ClauseNeedResched                 // the host CPU wants to reschedule
	ClauseSignal                      // a signal is pending
	ClauseOtherMSR                    // not an MSR with a fastpath
	ClauseNoHVTimer                   // no preemption timer here
	ClauseMWAITInGuest                // MWAIT does not exit
	ClausePostable                    // the timer can be posted
	ClauseNoKernelLAPIC               // no LAPIC in the kernel
	ClauseNotX2APIC                   // not in x2APIC mode
	ClauseShorthand                   // ICR uses a shorthand
	ClauseLogical                     // ICR destination is logical
	ClauseNotFixed                    // ICR delivery mode is not fixed
	ClauseBroadcast                   // ICR destination is the broadcast
	ClauseSoftDisabled                // preemption timer holds its maximum
	ClauseImmediateExit               // an immediate exit was forced
	ClauseNotRunnable                 // HLT and nothing to run
	ClauseNoNextRIP                   // no next-RIP (nrips)
	ClauseZeroDeadline                // tscdeadline is 0
	ClauseRange                       // too far for the preemption timer
	ClauseBlocked                     // the vCPU is halting
	ClausePIOff                       // pi_inject_timer is 0
	ClauseExitsOn                     // neither MWAIT nor HLT exits are disabled
	ClauseNotInGuest                  // mode is not IN_GUEST_MODE
	ClausePending                     // an expiry is pending already
	ClauseCallback                    // from the timer callback
	ClauseMasked                      // LVTT is masked
	ClauseAPICDisabled                // the local APIC is disabled
	ClauseNoExpired                   // no expired deadline recorded
	ClauseNoAdvance                   // timer_advance_ns is 0
	ClauseNotInjected                 // the timer's vector is not injected
	ClausePIRSet                      // the PIR bit was set already
	ClauseONSet                       // a notification is outstanding already
	ClauseRunning                     // the target is the running vCPU
	ClauseIF                          // RFLAGS.IF is 0
	ClauseShadow                      // STI or MOV-SS shadow
	ClausePriority                    // priority class not above PPR
	ClauseMode                        // timer mode does not arm here
	ClauseInPast                      // the deadline has passed, or lies within the advance
	ClauseWouldBlock                  // map-based delivery not possible
	ClauseEventActive                 // another event is being injected
	ClauseHVOff                       // the preemption timer is turned off
	ClauseReserved                    // the value has a reserved bit set
	ClauseNoDirect                    // this release injects no expiry directly
	NumClauses
)

// ClauseNames names the clauses.
var ClauseNames = []string{"none", "knob-off", "no-handler", "guest-mode", "apicv-inactive", "mode-exiting",
	"request-pending", "need-resched", "signal-pending", "other-msr", "no-hv-timer", "mwait-in-guest", "timer-postable",
	"no-kernel-lapic", "not-x2apic", "shorthand", "logical-dest", "not-fixed", "broadcast", "soft-disabled",
	"immediate-exit", "not-runnable", "no-next-rip", "zero-deadline", "out-of-range", "blocked", "pi-inject-off",
	"exits-enabled", "not-in-guest", "already-pending", "from-timer-fn", "lvtt-masked", "apic-disabled",
	"no-expired-deadline", "no-advance", "not-injected", "pir-set", "on-set", "running-vcpu", "if-clear", "shadow",
	"below-ppr", "timer-mode", "in-past", "would-block", "event-active",
	"hv-timer-off", "reserved-bits", "no-direct-injection"}

// String returns the short name.
func (c Clause) String() string { return nameOf(ClauseNames, uint64(c)) }

// TimerMode is the LVTT mode, bits 18:17.
type TimerMode uint8

// The timer modes; values are the field's plus one.
const (
	BadTimerMode TimerMode = iota
	OneShot
	Periodic
	TSCDeadline
	ReservedMode
)

// TimerModeNames names the timer modes.
var TimerModeNames = []string{"bad", "one-shot", "periodic", "tsc-deadline", "reserved"}

// String returns the manual's name, hyphenated.
func (m TimerMode) String() string { return nameOf(TimerModeNames, uint64(m)) }

// Backing is the host timer behind a guest timer.
type Backing uint8

// The backings.
const (
	BackNone Backing = iota
	BackHV           // VMX preemption timer
	BackSW           // hrtimer
	NumBackings
)

// BackingNames names the backings.
var BackingNames = []string{"none", "hv", "sw"}

// String returns "hv", "sw" or "none".
func (b Backing) String() string { return nameOf(BackingNames, uint64(b)) }

// ExpireRoute is what apic_timer_expired did.
type ExpireRoute uint8

// The routes of an expiry.
const (
	BadRoute      ExpireRoute = iota
	RouteMerged               // an expiry was pending: nothing
	RouteDirect               // injected at once: vCPU thread, APICv active
	RoutePosted               // injected at once by posted timer interrupt
	RoutePending              // pending:=1 and UNBLOCK request; injected by the outer loop
	RoutePendKick             // the same and a kick
	RouteLost                 // LVTT masked or APIC disabled: dropped
	NumRoutes
)

// ExpireNames names the routes.
var ExpireNames = []string{"bad", "merged", "direct", "posted", "pending", "pending+kick", "lost"}

// String returns the short name.
func (r ExpireRoute) String() string { return nameOf(ExpireNames, uint64(r)) }

// Placement is where the wait stands in the entry path.
type Placement uint8

// The placements.
const (
	BadPlacement Placement = iota
	WaitEarly              // vcpu_enter_guest, before guest_enter_irqoff (up to 5.2)
	WaitLate               // vmx_vcpu_run, just before VM-entry (5.3 on)
	WaitCallback           // timer callback of a posted timer
	NumPlacements
)

// PlacementNames names the placements.
var PlacementNames = []string{"bad", "early", "late", "callback"}

// String returns the short name.
func (p Placement) String() string { return nameOf(PlacementNames, uint64(p)) }

// TuneVerdict is what adaptive tuning did with a delta.
type TuneVerdict uint8

// The verdicts.
const (
	BadTune     TuneVerdict = iota
	TuneLater               // late: advance enlarged
	TuneEarlier             // early: advance reduced
	TuneIgnored             // outside the band that is acted on
	TuneReset               // beyond the ceiling: back to the initial value
	TuneDone                // stopped for good
	TuneOff                 // beyond the ceiling: feature turned off
	NumTunes
)

// TuneNames names the verdicts.
var TuneNames = []string{"bad", "late", "early", "ignored", "reset", "done", "off"}

// String returns the short name.
func (v TuneVerdict) String() string { return nameOf(TuneNames, uint64(v)) }

// DeliverRoute is how an interrupt was handed to a vCPU.
type DeliverRoute uint8

// The routes of a delivery.
const (
	BadDeliver     DeliverRoute = iota
	DeliverMerged               // PIR or ON set already: nothing more
	DeliverNotify               // PIR, notification IPI
	DeliverSelf                 // PIR only: the running vCPU will sync it
	DeliverWake                 // PIR, wake-up of a blocked vCPU
	DeliverPIRKick              // PIR, kick (trees up to 5.15)
	DeliverRequest              // IRR, KVM_REQ_EVENT and kick (APICv off)
	DeliverLost                 // masked or disabled
	DeliverEvent                // NMI, SMI, INIT, SIPI, ExtINT: request and kick
	DeliverVirtual              // self-IPI virtualization: IRR, no exit
	NumDeliverRoutes
)

// DeliverNames names the delivery routes.
var DeliverNames = []string{"bad", "merged", "pir+ipi", "pir", "pir+wake", "pir+kick", "irr+request", "lost", "event", "virtual"}

// String returns the short name.
func (r DeliverRoute) String() string { return nameOf(DeliverNames, uint64(r)) }

// Source is who sent an interrupt.
type Source uint8

// The sources.
const (
	BadSource    Source = iota
	SourceTimer         // the vCPU's own LAPIC timer
	SourceIPI           // another vCPU, or itself, by ICR
	SourceSelf          // SELF_IPI register
	SourceIOAPIC        // I/O APIC
	SourcePIC           // PIC through LVT0
	SourceLVT           // another local vector
	NumSources
)

// SourceNames names the sources.
var SourceNames = []string{"bad", "timer", "ipi", "self-ipi", "ioapic", "pic", "lvt"}

// String returns the short name.
func (s Source) String() string { return nameOf(SourceNames, uint64(s)) }

// KickDecision is the outcome of a kick.
type KickDecision uint8

// The kick decisions.
const (
	BadKick     KickDecision = iota
	KickWake                 // a blocked thread was woken
	KickNothing              // nothing to do
	KickIPI                  // mode→EXITING and a reschedule IPI
	KickExiting              // mode→EXITING, no IPI
	KickWarn                 // S002: WARN_ON_ONCE, mode stays IN_GUEST_MODE
	NumKicks
)

// KickNames names the kick decisions.
var KickNames = []string{"bad", "wake", "nothing", "ipi", "exiting", "warn"}

// String returns the short name.
func (d KickDecision) String() string { return nameOf(KickNames, uint64(d)) }

// KickSteps is the set of building blocks that a kick executed: its cost.
type KickSteps uint8

// The building blocks of a kick.
const (
	StepRCU     KickSteps = 1 << iota // RCU section, full barrier and task read
	StepTask                          // plain task read
	StepCmpxchg                       // barrier and cmpxchg of the mode
	StepStore                         // plain store of the mode
	StepIPI                           // reschedule IPI
	StepWake                          // wake_up_process
)

// NumKickSteps is the number of building blocks.
const NumKickSteps = 6

// KickStepNames names the bits of KickSteps.
var KickStepNames = []string{"rcu", "task", "cmpxchg", "store", "ipi", "wake"}

// Mode is vcpu->mode.
type Mode uint8

// The modes, numbered as in the kernel.
const (
	OutsideGuestMode Mode = iota
	InGuestMode
	ExitingGuestMode
	ReadingShadowPageTables
	NumModes
)

// ModeNames names the modes.
var ModeNames = []string{"outside", "in-guest", "exiting", "reading"}

// String returns the short name.
func (m Mode) String() string { return nameOf(ModeNames, uint64(m)) }

// HaltStep is a stage of a halt.
type HaltStep uint8

// The halt steps.
const (
	BadHalt     HaltStep = iota
	HaltPolling          // busy polling before blocking
	HaltBlocked          // the thread sleeps
	NumHaltSteps
)

// HaltNames names the halt steps.
var HaltNames = []string{"bad", "polling", "blocked"}

// String returns the short name.
func (h HaltStep) String() string { return nameOf(HaltNames, uint64(h)) }

// WakeReason is what ended a halt.
type WakeReason uint8

// The wake reasons.
const (
	BadWake       WakeReason = iota
	WakeInterrupt            // a deliverable interrupt
	WakeTimer                // kvm_cpu_has_pending_timer
	WakeNMI                  // NMI
	WakeInit                 // INIT or SIPI
	WakeUnblock              // KVM_REQ_UNBLOCK
	WakeSignal               // a signal
	WakeSpurious             // woken, nothing to run: went back to sleep
	NumWakes
)

// WakeNames names the wake reasons.
var WakeNames = []string{"bad", "interrupt", "timer", "nmi", "init", "unblock", "signal", "spurious"}

// String returns the short name.
func (w WakeReason) String() string { return nameOf(WakeNames, uint64(w)) }

// RequestNames names the request bits; the bits are declared in vmm.
var RequestNames = []string{"EVENT", "UNBLOCK", "APICV_UPDATE", "NMI", "MIGRATE_TIMER", "SCAN_IOAPIC", "INIT",
	"CLOCK_UPDATE"}

// MPState is the multiprocessing state of a vCPU.
type MPState uint8

// The multiprocessing states, as KVM_MP_STATE_*, plus one.
const (
	BadMPState MPState = iota
	MPRunnable
	MPUninitialized
	MPInitReceived
	MPHalted
	MPSIPIReceived
)

// MPStateNames names the multiprocessing states.
var MPStateNames = []string{"bad", "runnable", "uninitialized", "init-received", "halted", "sipi-received"}

// String returns the short name.
func (s MPState) String() string { return nameOf(MPStateNames, uint64(s)) }

// EndKind is how a guest stopped.
type EndKind uint8

// The ways to stop.
const (
	BadEnd         EndKind = iota
	EndExit                // it wrote the debug-exit port
	EndTripleFault         // triple fault
	EndUnknown             // an encoding the interpreter lacks
	EndTimeout             // --timeout
	EndLimit               // the number of deadlines or exits asked for was reached
	EndStopped             // the user stopped it
	EndDeadlock            // every vCPU sleeps and nothing will wake one
	EndError               // the engine failed
	EndShutdown            // it asked the platform to power off
	EndInternal            // KVM_EXIT_INTERNAL_ERROR: Code is the suberror, Detail the guest-physical address
	EndReset               // it reset the machine, and that was to end the run
)

// EndNames names the ways to stop.
var EndNames = []string{"bad", "exit", "triple-fault", "unknown-instruction", "timeout", "limit", "stopped", "deadlock",
	"error", "shutdown", "internal-error", "reset"}

// String returns the short name.
func (e EndKind) String() string { return nameOf(EndNames, uint64(e)) }
