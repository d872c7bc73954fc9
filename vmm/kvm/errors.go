package kvm

import "errors"

// ErrUnavailable is what every UnavailableError is: KVM, or a part of it that
// the run needs, cannot be had on this machine.
var ErrUnavailable = errors.New("not available on this machine")

// UnavailableError says in one sentence what this machine lacks and what would
// make it possible.
type UnavailableError struct {
	What string // "no /dev/kvm"
	Cure string // "load kvm_intel or kvm_amd"
	Err  error  // the system's word, if any
}

// Error returns the sentence.
func (e *UnavailableError) Error() string {
	s := e.What
	if e.Err != nil {
		s += " (" + e.Err.Error() + ")"
	}
	if e.Cure != "" {
		s += ": " + e.Cure
	}
	return s
}

// Unwrap returns the system's error.
func (e *UnavailableError) Unwrap() error { return e.Err }

// Is reports whether target is ErrUnavailable.
func (e *UnavailableError) Is(target error) bool { return target == ErrUnavailable }
