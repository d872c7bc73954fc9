//go:build linux && amd64

package kvm

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Memory is guest RAM, mapped from guest-physical address 0. Several VMs in turn
// may use the same one. It implements vmm.Memory; accesses race with running
// vCPUs as those of a device do.
type Memory struct{ b []byte }

// NewMemory allocates RAM of size bytes, a multiple of 4096. Pages are taken
// from the host as the guest touches them.
func NewMemory(size uint64) (*Memory, error) {
	if size == 0 || size%4096 != 0 {
		return nil, fmt.Errorf("guest memory of %d bytes: want a multiple of 4096", size)
	}
	b, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, &UnavailableError{What: fmt.Sprintf("%d MiB of guest memory", size>>20),
			Cure: "give the guest less memory or raise the address-space limit (ulimit -v)", Err: err}
	}
	return &Memory{b}, nil
}

// Size is the amount of RAM in bytes.
func (m *Memory) Size() uint64 { return uint64(len(m.b)) }

// Bytes is the RAM itself; it is gone after Close.
func (m *Memory) Bytes() []byte { return m.b }

// ReadAt copies guest memory at gpa into p.
func (m *Memory) ReadAt(p []byte, gpa uint64) error {
	if err := m.check(len(p), gpa); err != nil {
		return err
	}
	copy(p, m.b[gpa:])
	return nil
}

// WriteAt copies p to guest memory at gpa.
func (m *Memory) WriteAt(p []byte, gpa uint64) error {
	if err := m.check(len(p), gpa); err != nil {
		return err
	}
	copy(m.b[gpa:], p)
	return nil
}

func (m *Memory) check(n int, gpa uint64) error {
	if gpa > m.Size() || uint64(n) > m.Size()-gpa {
		return fmt.Errorf("%d bytes at guest-physical %#x: outside the %d bytes of RAM", n, gpa, m.Size())
	}
	return nil
}

// Close unmaps the memory.
func (m *Memory) Close() error {
	if m.b == nil {
		return nil
	}
	b := m.b
	m.b = nil
	return unix.Munmap(b)
}
