//go:build linux && amd64

package kvm

import (
	"errors"

	"ticktrap/trace"
	"ticktrap/vmm"
)

func newKernelEngine(*System, Config, trace.Sink) (vmm.Engine, error) {
	return nil, errors.New("LAPIC=kernel is not built yet")
}
