// Package kvm runs guests on Linux's KVM: vCPU threads under KVM_RUN for the run
// loop of package vmm (LAPIC=vmm), and whole machines with the in-kernel local
// APIC, observed through tracefs, statistics and debugfs (LAPIC=kernel).
//
// It does not decide anything about timers: with LAPIC=vmm the loop does, with
// LAPIC=kernel the kernel. This package and main are the only ones that read a
// real clock.
//
// A VM and its CPUs are set up from one goroutine. From then on each CPU belongs
// to the goroutine that called its Bind, which is locked to its OS thread; Kick
// alone may be called from any goroutine. Other systems than Linux on x86-64
// have Doctor and errors that say so.
package kvm
