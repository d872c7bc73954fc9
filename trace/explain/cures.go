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
	causeNotKicked: "a kernel in which the timer migrates with its vCPU and the expiry kicks it (kvm_migrate_timers, " +
		"arch/x86/kvm/lapic.c: __kvm_migrate_apic_timer)",
}
