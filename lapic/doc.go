// Package lapic models the local APIC of one virtual CPU as KVM implements it:
// registers and priorities, the timer in its three modes, the arithmetic of the
// host timers behind it, the wait before VM-entry with its adaptive tuning, and
// the posted-interrupt descriptor.
//
// An APIC is one value without pointers: assignment copies all of it, == compares
// it. Nothing here reads a clock; time enters as a Sample. Nothing here talks to
// another vCPU or arms a host timer: a method changes the value and returns what
// is left for the run loop to do.
//
// Where KVM differs from the manual, this package does what KVM does and says so.
// Kernel behaviour that changed over time is a field of Rules or TuneRules.
// Sections of the Intel SDM are numbered as in editions in which the APIC is
// chapter 10 of volume 3A (11 or 12 in others); titles are the same in all.
//
// Methods of one APIC must not be called concurrently. All else is pure.
package lapic
