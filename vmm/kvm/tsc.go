//go:build amd64

package kvm

// rdtsc reads the host's time-stamp counter.
func rdtsc() uint64
