package explain

// cause is what a stretch of time is put down to.
type cause uint8

// The causes. causeUnknown is the zero value: nothing tells.
const (
	causeUnknown cause = iota
	causeArmedLate
	causeProgram
	causeOtherExit
	causeTimerLate
	causeIdle
	causeHostTimer
	causeExit
	causeExpire
	causePost
	causeNotify
	causeKick
	causeWake
	causeSwitch
	causeOuter
	causeInject
	causeWaitCheck
	causeWait
	causeEarlyGap
	causeLateGap
	causeEntry
	causeVectoring
	causeGuestOff
	causeAsleepPIR
	causeAsleepPending
	causeNeverFired
	causeVanished
	causeMistimed
	causeEntryAdvance
	causeCapped
	causeNoWait
	causeHeldOff
	causePreempted
	causeStopped
	causeOffCPU
	causeUser
	causeHostIRQ
	causeDebugger
	causeInExit
	causeNotKicked
	causeAPICOff
	causeSVROff
	causeMasked
	causeNoEOI
	causeTPR
	causeHaltedOff
	numCauses
)

// causeRow is what is said of a cause.
type causeRow struct {
	id    string
	words string
	// advice proposes a knob; nil if none would help.
	advice func(*builder) advice
}

// causeTable is indexed by cause.
var causeTable = [numCauses]causeRow{
	causeUnknown:   {"unknown", "time that no event accounts for", nil},
	causeArmedLate: {"armed-late", "the deadline had passed when the guest armed it", nil},
	causeProgram:   {"program", "programming the timer", adviseAdvance},
	causeOtherExit: {"other-exit", "the vCPU was handling another exit", adviseAdvance},
	causeTimerLate: {"host-timer-late", "the host timer fired later than it was programmed", adviseTimer},
	causeIdle:      {"idle-exit", "the host CPU had to leave its idle state", adviseIdle},
	causeHostTimer: {"host-timer-irq", "host timer interrupt up to the callback", adviseTimer},
	causeExit:      {"vm-exit", "VM-exit up to the handler of the expiry", adviseAdvance},
	causeExpire:    {"expire", "handling the expiry in the LAPIC", adviseAdvance},
	causePost:      {"post", "posting the interrupt and moving PIR to IRR", adviseAdvance},
	causeNotify:    {"notify", "the posted-interrupt notification reaching the vCPU", adviseAdvance},
	causeKick:      {"kick", "kicking the vCPU", adviseKick},
	causeWake:      {"wake-up", "waking the vCPU's thread", adviseIdle},
	causeSwitch:    {"switch-in", "the thread waiting for, and switching to, its host CPU", adviseIdle},
	causeOuter:     {"outer-loop", "going round the outer loop instead of straight back", adviseOuter},
	causeInject:    {"inject", "evaluating and injecting the event", adviseInject},
	causeWaitCheck: {"wait-check", "taking up the expired deadline before the wait", adviseAdvance},
	causeWait:      {"wait", "waiting past the deadline", nil},
	causeEarlyGap:  {"early-gap", "the entry path between the two places of the wait", adviseEarlyGap},
	causeLateGap:   {"late-gap", "the way from the wait to the VM-entry", adviseEntry},
	causeEntry:     {"vm-entry", "VM-entry", adviseEntry},
	causeVectoring: {"vectoring", "vectoring through the IDT", adviseEntry},
	causeGuestOff:  {"guest-not-ready", "the guest held the interrupt back (IF, shadow or priority)", nil},
	causeAsleepPIR: {"asleep-with-pir", "the vCPU sleeps while its interrupt is in PIR: nobody woke it", adviseShortcut},
	causeAsleepPending: {"asleep-with-pending", "the vCPU sleeps while its timer is pending: nobody woke it",
		adviseBarrier},
	causeNeverFired:   {"never-fired", "the host timer has not fired", nil},
	causeVanished:     {"interrupt-vanished", "its interrupt was delivered, and is in none of PIR, IRR and ISR any more", nil},
	causeMistimed:     {"host-timer-mistimed", "the host timer was programmed for later than the deadline", nil},
	causeEntryAdvance: {"vmentry-advance", "the wait ended early for the sake of VM-entry", adviseLessEntry},
	causeCapped:       {"wait-capped", "the wait was cut short by the timer advance", adviseCap},
	causeNoWait:       {"no-wait", "programmed early, but the deadline was not waited for", adviseNoWait},
	causeHeldOff:      {"held-off", "runnable, but another task held the vCPU's host CPU", nil},
	causePreempted:    {"runnable", "runnable, waiting for a host CPU; the trace does not tell which task had it", nil},
	causeStopped:      {"stopped", "the vCPU's thread was stopped by a signal or a debugger", nil},
	causeOffCPU:       {"switched-out", "the vCPU's thread was switched out; the trace does not tell in what state", nil},
	causeUser:         {"user-space", "the VMM in user space, outside KVM_RUN", nil},
	causeHostIRQ:      {"host-interrupt", "a host interrupt on the vCPU's CPU", nil},
	causeDebugger:     {"debugger", "held by the debugger", nil},
	causeInExit:       {"in-exit", "in KVM, handling an exit; this trace does not divide it further", nil},
	causeAPICOff:      {"apic-off", "the local APIC is globally disabled", nil},
	causeSVROff:       {"apic-software-disabled", "the local APIC is software-disabled", nil},
	causeMasked:       {"lvtt-masked", "the timer is masked in LVTT", nil},
	causeNoEOI:        {"no-eoi", "an interrupt of the same or a higher class is in service without EOI", nil},
	causeTPR:          {"tpr", "TPR holds the vector back", nil},
	causeHaltedOff:    {"halted-if-0", "the guest halted with interrupts off", nil},
	causeNotKicked:    {"not-kicked", "in the guest, while the timer had fired on another CPU and nothing made the vCPU exit", nil},
}
