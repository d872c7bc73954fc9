//go:build !(linux && amd64)

package kvm

import "runtime"

// System is an open /dev/kvm; there is none on this system.
type System struct{}

// Open reports that there is no KVM here.
func Open() (*System, error) {
	return nil, &UnavailableError{What: "KVM exists only on Linux on x86-64, and this is " + runtime.GOOS + "/" + runtime.GOARCH,
		Cure: "use --engine=model"}
}

// Close does nothing.
func (s *System) Close() error { return nil }
