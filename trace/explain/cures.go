package explain

// cures are what an administrator can do about a cause that no knob touches.
var cures = [numCauses]string{
	causeHeldOff: "keep the task off the vCPU's CPU (cpuset, isolcpus, IRQ affinity), or give the vCPU's thread a higher " +
		"real-time priority than it has (chrt -f -p)",
	causePreempted: "record sched:sched_switch of all tasks on the vCPU's CPU to see which one held it",
	causeStopped:   "look for who sent SIGSTOP, or attached with ptrace",
	causeOffCPU:    "record sched:sched_switch and sched:sched_waking to see what the thread waited for",
	causeUser:      "find what the VMM does for this exit; move it off the vCPU's thread (an ioeventfd, an iothread)",
	causeIdle:      "limit the C-states of the vCPU's CPU: intel_idle.max_cstate, /dev/cpu_dma_latency, or more halt polling",
	causeAPICOff: "set bit 11 of IA32_APIC_BASE; what expired before is delivered after it (Intel SDM vol. 3A, Local APIC Status and " +
		"Location; arch/x86/kvm/lapic.c: kvm_lapic_set_base)",
	causeSVROff: "set bit 8 of SVR, then write LVTT: clearing it masks every LVT entry (Intel SDM vol. 3A, Local APIC State After " +
		"It Has Been Software Disabled; arch/x86/kvm/lapic.c: apic_set_spiv)",
	causeMasked: "clear bit 16 of LVTT: an expiry while it is set is lost (Intel SDM vol. 3A, Local Vector Table; " +
		"arch/x86/kvm/lapic.c: kvm_apic_local_deliver)",
	causeNoEOI: "write EOI in the handler (Intel SDM vol. 3A, Signaling Interrupt Servicing Completion; " +
		"arch/x86/kvm/lapic.c: apic_has_interrupt_for_ppr)",
	causeTPR:       "lower TPR (CR8) below the vector's class (Intel SDM vol. 3A, Task and Processor Priorities)",
	causeHaltedOff: "halt with STI; HLT: the instruction after STI still runs, so no interrupt is missed",
	causeNotKicked: "a kernel in which the timer migrates with its vCPU and the expiry kicks it (kvm_migrate_timers, " +
		"arch/x86/kvm/lapic.c: __kvm_migrate_apic_timer)",
}
