//go:build linux && amd64

package kvm

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"

	"codeberg.org/ticktrap/ticktrap/trace/kernel"
)

// stats is an open statistics file of a VM or a vCPU (Documentation/virt/kvm/
// api.rst, KVM_GET_STATS_FD):
//
//	header      flags, name size, descriptors, offsets (u32 each)
//	id          name size bytes
//	descriptors flags u32, exponent s16, size u16, offset u32, bucket u32, name
//	data        u64 each
type stats struct {
	fd      int
	dataOff int64
	length  int
	fields  []stat
}

// stat is where one counter lies in the data.
type stat struct {
	name   string
	offset uint32
	size   uint16 // values; 1 but for histograms
}

const statsHeader = 24

func openStats(fd int) (*stats, error) {
	sfd, err := ioctl(fd, _KVM_GET_STATS_FD, 0)
	if err != nil {
		return nil, &UnavailableError{What: "this kernel has no binary KVM statistics", Cure: "use Linux " + kernel.Capability("KVM_CAP_BINARY_STATS_FD") + " or later", Err: err}
	}
	s := &stats{fd: sfd}
	if err := s.describe(); err != nil {
		unix.Close(sfd)
		return nil, err
	}
	return s, nil
}

func (s *stats) describe() error {
	var h [statsHeader]byte
	if _, err := unix.Pread(s.fd, h[:], 0); err != nil {
		return fmt.Errorf("reading the statistics' header: %w", err)
	}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(h[4*i:]) }
	nameSize, num, descOff := word(1), word(2), word(4)
	s.dataOff = int64(word(5))
	size := 16 + int(nameSize)
	b := make([]byte, size*int(num))
	if n, err := unix.Pread(s.fd, b, int64(descOff)); err != nil || n != len(b) {
		return fmt.Errorf("reading %d descriptors of statistics, have %d bytes: %w", num, n, err)
	}
	for i := range int(num) {
		d := b[i*size : (i+1)*size]
		name, _, _ := bytes.Cut(d[16:], []byte{0})
		f := stat{string(name), binary.LittleEndian.Uint32(d[8:]), binary.LittleEndian.Uint16(d[6:])}
		s.fields = append(s.fields, f)
		s.length = max(s.length, int(f.offset)+8*int(f.size))
	}
	return nil
}

// read returns the single counters by name.
func (s *stats) read() (map[string]uint64, error) {
	b := make([]byte, s.length)
	if _, err := unix.Pread(s.fd, b, s.dataOff); err != nil {
		return nil, fmt.Errorf("reading statistics: %w", err)
	}
	m := make(map[string]uint64, len(s.fields))
	for _, f := range s.fields {
		if f.size == 1 {
			m[f.name] = binary.LittleEndian.Uint64(b[f.offset:])
		}
	}
	return m, nil
}

func (s *stats) close() error { return unix.Close(s.fd) }

// Stats are the kernel's counters of this vCPU, such as exits, halt_exits and
// irq_injections. They need no privilege.
func (c *CPU) Stats() (map[string]uint64, error) {
	s, err := openStats(c.fd)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return s.read()
}
