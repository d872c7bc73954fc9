//go:build !(linux && amd64)

package kvm

import (
	"runtime"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// System is an open /dev/kvm; there is none on this system.
type System struct{}

// Open reports that there is no KVM here.
func Open() (*System, error) {
	return nil, &UnavailableError{What: "KVM exists only on Linux on x86-64, and this is " + runtime.GOOS + "/" + runtime.GOARCH,
		Cure: "use --engine=model"}
}

// Close does nothing.
func (s *System) Close() error { return nil }

// New reports that there is no KVM here.
func New(Config, trace.Sink) (vmm.Engine, error) {
	_, err := Open()
	return nil, err
}

// Frequency reports that there is no KVM here.
func Frequency() (clock.Hz, error) {
	_, err := Open()
	return 0, err
}

// Doctor says so too.
func Doctor() *Report {
	r := &Report{}
	_, err := Open()
	r.addError(secDevice, "/dev/kvm", err)
	return r
}
