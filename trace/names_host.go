package trace

// The enumerations of what the host and the debugger do. As in names.go the
// order is the wire format.

// TaskState is what a thread is left in when it is switched out.
type TaskState uint8

// The task states.
const (
	TaskUnknown         TaskState = iota
	TaskRunnable                  // R: preempted, or it yielded; it waits for a CPU
	TaskSleeping                  // S: interruptible sleep, as in a halt
	TaskUninterruptible           // D
	TaskStopped                   // T, t: stopped by a signal or a debugger
	TaskDead                      // X, Z
	NumTaskStates
)

// TaskStateNames names the task states.
var TaskStateNames = []string{"unknown", "runnable", "sleeping", "uninterruptible", "stopped", "dead"}

// String returns the lower-case word.
func (s TaskState) String() string { return nameOf(TaskStateNames, uint64(s)) }

// LossReason is why events are missing.
type LossReason uint8

// The reasons of a loss.
const (
	LossUnknown     LossReason = iota
	LossReader                 // the reader fell behind and events were dropped
	LossOverwritten            // the kernel's ring buffer was full
	LossDamaged                // blocks of the file are damaged
	LossWithheld               // the source held events that cannot be true
	NumLosses
)

// LossNames names the reasons of a loss.
var LossNames = []string{"unknown", "reader-behind", "overwritten", "damaged", "withheld"}

// String returns the short name.
func (l LossReason) String() string { return nameOf(LossNames, uint64(l)) }

// UserExit is kvm_run.exit_reason, numbered as in include/uapi/linux/kvm.h.
type UserExit uint8

// The exits to user space that a program on x86 serves.
const (
	UserExitUnknown       UserExit = 0
	UserExitIO            UserExit = 2
	UserExitHypercall     UserExit = 3
	UserExitDebug         UserExit = 4
	UserExitHLT           UserExit = 5
	UserExitMMIO          UserExit = 6
	UserExitIRQWindowOpen UserExit = 7
	UserExitShutdown      UserExit = 8
	UserExitFailEntry     UserExit = 9
	UserExitIntr          UserExit = 10
	UserExitInternalError UserExit = 17
	UserExitSystemEvent   UserExit = 24
	UserExitIOAPICEOI     UserExit = 26
	UserExitHyperV        UserExit = 27
	UserExitRDMSR         UserExit = 29
	UserExitWRMSR         UserExit = 30
	UserExitOther         UserExit = 41 // a reason this table has no name for
)

// UserExitNames names the exits to user space.
var UserExitNames = []string{"UNKNOWN", "EXCEPTION", "IO", "HYPERCALL", "DEBUG", "HLT", "MMIO", "IRQ_WINDOW_OPEN",
	"SHUTDOWN", "FAIL_ENTRY", "INTR", "SET_TPR", "TPR_ACCESS", "S390_SIEIC", "S390_RESET", "DCR", "NMI", "INTERNAL_ERROR",
	"OSI", "PAPR_HCALL", "S390_UCONTROL", "WATCHDOG", "S390_TSCH", "EPR", "SYSTEM_EVENT", "S390_STSI", "IOAPIC_EOI",
	"HYPERV", "ARM_NISV", "X86_RDMSR", "X86_WRMSR", "DIRTY_RING_FULL", "AP_RESET_HOLD", "X86_BUS_LOCK", "XEN",
	"RISCV_SBI", "RISCV_CSR", "NOTIFY", "LOONGARCH_IOCSR", "MEMORY_FAULT", "TDX", "OTHER"}

// String returns the kernel's name without KVM_EXIT_.
func (u UserExit) String() string { return nameOf(UserExitNames, uint64(u)) }

// HostTimerStep is what happened to an hrtimer.
type HostTimerStep uint8

// The steps of an hrtimer.
const (
	BadHostTimer       HostTimerStep = iota
	HostTimerStarted                 // hrtimer_start
	HostTimerCancelled               // hrtimer_cancel
	HostTimerExpired                 // hrtimer_expire_entry: its callback begins
	HostTimerDone                    // hrtimer_expire_exit
	NumHostTimers
)

// HostTimerNames names the steps of an hrtimer.
var HostTimerNames = []string{"bad", "started", "cancelled", "expired", "done"}

// String returns the lower-case word.
func (h HostTimerStep) String() string { return nameOf(HostTimerNames, uint64(h)) }

// HostIRQ is the class of a host interrupt.
type HostIRQ uint8

// The classes of host interrupts.
const (
	BadHostIRQ     HostIRQ = iota
	HostIRQDevice          // irq_handler_entry
	HostIRQTimer           // local_timer_entry
	HostIRQIPI             // reschedule, call-function, irq-work vectors
	HostIRQSoftirq         // softirq_entry
	HostIRQNMI             // nmi_handler
	HostIRQOther           // a machine check, thermal or error vector
	NumHostIRQs
)

// HostIRQNames names the classes of host interrupts.
var HostIRQNames = []string{"bad", "device", "timer", "ipi", "softirq", "nmi", "other"}

// String returns the lower-case word.
func (h HostIRQ) String() string { return nameOf(HostIRQNames, uint64(h)) }

// Inhibit is a reason for which APICv is inhibited (enum kvm_apicv_inhibit); the
// numbers are ours, since the kernel's vary from release to release.
type Inhibit uint8

// The inhibits.
const (
	BadInhibit Inhibit = iota
	InhibitDisabled
	InhibitHyperV
	InhibitAbsent
	InhibitBlockIRQ
	InhibitPhysicalID
	InhibitAPICID
	InhibitAPICBase
	InhibitNested
	InhibitIRQWindow
	InhibitPITReinject
	InhibitSEV
	InhibitLogicalID
	InhibitX2APIC
	InhibitOther // one this table has no name for
	NumInhibits
)

// InhibitNames names the inhibits as the kernel's tracepoints do, in lower case.
var InhibitNames = []string{"bad", "disabled", "hyperv", "absent", "blockirq", "physical-id-aliased", "apic-id-modified",
	"apic-base-modified", "nested", "irqwin", "pit-reinj", "sev", "logical-id-aliased", "x2apic", "other"}

// String returns the short name.
func (i Inhibit) String() string { return nameOf(InhibitNames, uint64(i)) }

// DebuggerAct is what the debugger did to a run.
type DebuggerAct uint8

// The debugger's acts. Between a pause and its resume, and between the two ends
// of a rebuild, the vCPUs do not run because of the debugger.
const (
	BadDebugger     DebuggerAct = iota
	DebuggerPause               // the vCPUs were held
	DebuggerResume              // and let go
	DebuggerRebuild             // the VM is being made anew with another setting
	DebuggerRebuilt             // and goes on
	DebuggerStep                // let go for a single exit
	NumDebuggerActs
)

// DebuggerNames names the debugger's acts.
var DebuggerNames = []string{"bad", "pause", "resume", "rebuild", "rebuilt", "step"}

// String returns the lower-case word.
func (a DebuggerAct) String() string { return nameOf(DebuggerNames, uint64(a)) }

// Vendor is the vendor of the host's CPU, as far as KVM tells two apart.
type Vendor uint8

// The vendors.
const (
	VendorUnknown Vendor = iota
	VendorIntel          // VMX
	VendorAMD            // SVM
	NumVendors
)

// VendorNames names the vendors.
var VendorNames = []string{"unknown", "intel", "amd"}

// String returns the lower-case name.
func (v Vendor) String() string { return nameOf(VendorNames, uint64(v)) }
