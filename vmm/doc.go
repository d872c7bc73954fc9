// Package vmm is the virtual machine's run loop: VM-entry and VM-exit, fastpath,
// interrupt delivery, posting, kicks, halts and the timer's backing, as KVM does
// them and with every decision as an event that names its reason.
//
// The loop is written once, against two small interfaces: a CPU executes guest
// code until it needs the host, and a Host gives time, timers and threads.
// vmm/interp and vmm/model supply virtual ones, vmm/kvm real ones. It does not
// know which it has.
//
// A Machine belongs to one goroutine at a time; see Machine for what else may be
// called when.
package vmm
