package kvm

import "codeberg.org/ticktrap/ticktrap/trace/kernel"

// MSRs by the manual's names (Intel SDM vol. 4, table 2-2 "IA-32 Architectural
// MSRs").
const (
	msrTSC         = 0x10
	msrAPICBase    = 0x1b
	msrTSCAdjust   = 0x3b
	msrSysenterCS  = 0x174
	msrSysenterESP = 0x175
	msrSysenterEIP = 0x176
	msrTSCDeadline = 0x6e0
	msrEFER        = 0xc0000080
	msrSTAR        = 0xc0000081
	msrLSTAR       = 0xc0000082
	msrCSTAR       = 0xc0000083
	msrSFMASK      = 0xc0000084
	msrFSBase      = 0xc0000100
	msrGSBase      = 0xc0000101
	msrKernelGS    = 0xc0000102
	msrTSCAux      = 0xc0000103
)

// DeadlineCure is how a guest's write to the TSC-deadline MSR reaches a LAPIC in
// user space.
//
// KVM's WRMSR fastpath looks at neither the MSR filter nor where the LAPIC is:
// where it takes the write, the write is lost (arch/x86/kvm/x86.c,
// handle_fastpath_set_msr_irqoff, handle_fastpath_set_tscdeadline).
type DeadlineCure uint8

// The cures. BadCure is the invalid zero value.
const (
	BadCure   DeadlineCure = iota
	CureNone               // the MSR filter suffices
	CureMWAIT              // MWAIT exits disabled: the fastpath declines
	CureHide               // nothing helps: the guest's CPUID does not show the mode
)

// Sentence says on screen what was done and why.
func (c DeadlineCure) Sentence() string {
	switch c {
	case CureNone:
		return "TSC-deadline writes leave to us through the MSR filter."
	case CureMWAIT:
		return "MWAIT exits are disabled in this VM: otherwise KVM's WRMSR fastpath would swallow TSC-deadline writes."
	case CureHide:
		return "The guest has no TSC-deadline mode: this kernel's WRMSR fastpath swallows those writes when the " +
			"local APIC is in user space (loading kvm_intel with preemption_timer=0 helps before Linux " + amdTimers.String() + ")."
	}
	return ""
}

// amdTimers is the first release whose WRMSR fastpath takes TSC-deadline writes
// without asking for a preemption timer: on AMD it takes none before.
var amdTimers = kernel.First(kernel.AMD, func(k *kernel.Kernel) bool { return k.Fastpath.Deadline && !k.Fastpath.DeadlineHV })
