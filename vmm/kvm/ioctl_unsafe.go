//go:build linux && amd64

package kvm

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ioctl makes a system call whose argument is a number. It returns the
// non-negative result.
func ioctl(fd int, req, arg uintptr) (int, error) {
	for {
		r, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), req, arg)
		switch errno {
		case 0:
			return int(r), nil
		case unix.EINTR: // a signal of the Go runtime was pending
			continue
		}
		return 0, errno
	}
}

// ioctlPtr makes a system call whose argument is a structure.
//
// The pointer is converted in the call's argument list, so the structure stays
// where it is until the call returns (unsafe.Pointer, rule 4).
func ioctlPtr[T any](fd int, req uintptr, arg *T) (int, error) {
	for {
		r, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), req, uintptr(unsafe.Pointer(arg)))
		switch errno {
		case 0:
			return int(r), nil
		case unix.EINTR:
			continue
		}
		return 0, errno
	}
}

// enterGuest is KVM_RUN; tsc is the host TSC after it. The raw call keeps Go's
// scheduler out of it: the thread stays a running goroutine's, which saves the
// scheduler's work on each exit.
func enterGuest(fd int) (errno uintptr, tsc uint64)

// deviceAttrU64 reads or writes a 64-bit device attribute.
func deviceAttrU64(fd int, req uintptr, group uint32, attr uint64, v *uint64) error {
	a := deviceAttr{Group: group, Attr: attr, Addr: uint64(uintptr(unsafe.Pointer(v)))}
	_, err := ioctlPtr(fd, req, &a)
	return err
}

// mapRunPage maps a vCPU's shared page. The returned pointer is into the mapping
// and must not be used after it is unmapped.
func mapRunPage(fd, size int) ([]byte, *runPage, error) {
	if size < int(unsafe.Sizeof(runPage{})) {
		return nil, nil, fmt.Errorf("the vCPU's shared page has %d bytes: want at least %d", size, unsafe.Sizeof(runPage{}))
	}
	b, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("mapping run data: %w", err)
	}
	return b, (*runPage)(unsafe.Pointer(&b[0])), nil
}

// The union of the run page, read as one of its members. Each exit* struct is
// smaller than the union's 256 bytes and needs 8-byte alignment at most, which
// byte 32 of a page has.
func (p *runPage) io() *exitIO             { return (*exitIO)(unsafe.Pointer(&p.Exit)) }
func (p *runPage) mmio() *exitMMIO         { return (*exitMMIO)(unsafe.Pointer(&p.Exit)) }
func (p *runPage) msr() *exitMSR           { return (*exitMSR)(unsafe.Pointer(&p.Exit)) }
func (p *runPage) fail() *exitFailEntry    { return (*exitFailEntry)(unsafe.Pointer(&p.Exit)) }
func (p *runPage) internal() *exitInternal { return (*exitInternal)(unsafe.Pointer(&p.Exit)) }

// addressOf is where a mapping starts, for structures that hold addresses. The
// mapping is not Go memory: it does not move.
func addressOf(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(&b[0]))) }

// setMSRFilter makes accesses to the given MSRs leave to user space. KVM copies
// the bitmaps.
func setMSRFilter(vmfd int, ranges []filterRange) error {
	deny := [1]byte{} // one MSR per range: bit 0 clear denies
	var f msrFilter
	for i, r := range ranges {
		f.Ranges[i] = msrFilterRange{Flags: r.flags, NMSRs: 1, Base: r.msr, Bitmap: uintptr(unsafe.Pointer(&deny))}
	}
	_, err := ioctlPtr(vmfd, _KVM_X86_SET_MSR_FILTER, &f)
	if errors.Is(err, unix.EFAULT) {
		panic("BUG: MSR filter's bitmap is not addressable")
	}
	return err
}

// filterRange is one MSR whose reads or writes (_KVM_MSR_FILTER_*) are denied.
type filterRange struct{ msr, flags uint32 }

// msrIndexList mirrors struct kvm_msr_list with room for the entries used here.
type msrIndexList struct {
	N       uint32
	Indexes [1024]uint32
}

// msrList are the MSRs that KVM can save and restore.
func (s *System) msrList() ([]uint32, error) {
	l := &msrIndexList{N: 1024}
	if _, err := ioctlPtr(s.fd, _KVM_GET_MSR_INDEX_LIST, l); err != nil {
		return nil, fmt.Errorf("asking for the list of MSRs: %w", err)
	}
	return l.Indexes[:l.N], nil
}
