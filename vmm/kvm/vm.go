//go:build linux && amd64

package kvm

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// System is an open /dev/kvm.
type System struct {
	fd     int
	runLen int
	// Vendor is the module behind it.
	Vendor Vendor
}

// Open opens /dev/kvm and checks that guests of this program can run on it. Its
// errors are UnavailableErrors.
func Open() (*System, error) {
	fd, err := unix.Open("/dev/kvm", unix.O_RDWR|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil, &UnavailableError{What: "no /dev/kvm",
			Cure: "load kvm_intel or kvm_amd, and turn virtualization on in the firmware"}
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return nil, &UnavailableError{What: "no permission to open /dev/kvm", Err: err,
			Cure: "join the group that owns it (often kvm) or run as root"}
	case err != nil:
		return nil, &UnavailableError{What: "/dev/kvm does not open", Err: err, Cure: "load kvm_intel or kvm_amd"}
	}
	s := &System{fd: fd}
	if err := s.check(); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return s, nil
}

func (s *System) check() error {
	v, err := ioctl(s.fd, _KVM_GET_API_VERSION, 0)
	if err != nil || v != apiVersion {
		return &UnavailableError{What: fmt.Sprintf("/dev/kvm speaks API version %d, not %d", v, apiVersion), Err: err,
			Cure: "use a kernel with a supported KVM"}
	}
	s.Vendor = findVendor(os.DirFS("/sys/module"))
	if why := s.Vendor.unusable(); why != nil {
		return why
	}
	for _, c := range required {
		if s.Check(c.cap) <= 0 {
			return &UnavailableError{What: "this kernel's KVM lacks " + c.name, Cure: "use Linux " + c.since + " or later"}
		}
	}
	if s.runLen, err = ioctl(s.fd, _KVM_GET_VCPU_MMAP_SIZE, 0); err != nil {
		return fmt.Errorf("asking for the size of run data: %w", err)
	}
	return nil
}

// required are the capabilities without which nothing works.
var required = []struct {
	cap         uintptr
	name, since string
}{
	{_KVM_CAP_USER_MEMORY, "KVM_CAP_USER_MEMORY", kernel.Capability("KVM_CAP_USER_MEMORY")},
	{_KVM_CAP_VCPU_EVENTS, "KVM_CAP_VCPU_EVENTS", kernel.Capability("KVM_CAP_VCPU_EVENTS")},
	{_KVM_CAP_MP_STATE, "KVM_CAP_MP_STATE", kernel.Capability("KVM_CAP_MP_STATE")},
	{_KVM_CAP_SYNC_REGS, "KVM_CAP_SYNC_REGS", kernel.Capability("KVM_CAP_SYNC_REGS")},
	{_KVM_CAP_IMMEDIATE_EXIT, "KVM_CAP_IMMEDIATE_EXIT", kernel.Capability("KVM_CAP_IMMEDIATE_EXIT")},
}

// Check is KVM_CHECK_EXTENSION; 0 if the capability is missing.
func (s *System) Check(capability uintptr) int {
	v, err := ioctl(s.fd, _KVM_CHECK_EXTENSION, capability)
	if err != nil {
		return 0
	}
	return v
}

// Close closes /dev/kvm. VMs made from it live on.
func (s *System) Close() error { return unix.Close(s.fd) }

// Options describe a VM.
type Options struct {
	Placement Placement
	VCPUs     int
	// Exits are the exits that the VM does without.
	Exits vmm.ExitsDisabled
	// HaltPoll is the most time a halt polls, negative for the host's value.
	HaltPoll clock.Nanos
	// Deadline says how the guest's writes to the TSC-deadline MSR reach the
	// VMM; see System.ProbeDeadline. InVMM only.
	Deadline DeadlineCure
	// Hide are features that CPUID does not show and the vCPUs do not have.
	Hide vmm.Features
}

// VM is a virtual machine with its vCPUs.
type VM struct {
	sys  *System
	fd   int
	opts Options
	mem  *Memory
	cpus []*CPU
	// zero is the host TSC at the zero of the VM's common line.
	zero uint64
	// maker is the thread that made the VM.
	maker int
	hz    clock.Hz
	// physBits is the guest's MAXPHYADDR: 36 where CPUID does not tell.
	physBits uint8
}

// The addresses that Intel's real-mode support uses, below the APICs and above
// any RAM that guests get here.
const (
	identityMapGPA = 0xfffbc000
	tssGPA         = 0xfffbd000
)

// NewVM makes a VM over mem. The vCPUs are in their power-up state and must be
// bound to threads before they run.
func (s *System) NewVM(mem *Memory, o Options) (*VM, error) {
	runtime.LockOSThread()
	fd, err := ioctl(s.fd, _KVM_CREATE_VM, 0)
	maker := unix.Gettid()
	runtime.UnlockOSThread()
	if err != nil {
		return nil, fmt.Errorf("creating a VM: %w", err)
	}
	vm := &VM{sys: s, fd: fd, maker: maker, opts: o, mem: mem, zero: rdtsc(), physBits: 36}
	if err := vm.setUp(); err != nil {
		vm.Close()
		return nil, err
	}
	return vm, nil
}

func (vm *VM) setUp() error {
	if _, err := ioctl(vm.fd, _KVM_SET_TSS_ADDR, tssGPA); err != nil {
		return fmt.Errorf("setting the TSS address: %w", err)
	}
	identity := uint64(identityMapGPA)
	if _, err := ioctlPtr(vm.fd, _KVM_SET_IDENTITY_MAP_ADDR, &identity); err != nil {
		return fmt.Errorf("setting the identity map's address: %w", err)
	}
	if err := vm.setUpPlacement(); err != nil {
		return err
	}
	if vm.opts.HaltPoll >= 0 && vm.sys.Check(_KVM_CAP_HALT_POLL) > 0 {
		if err := vm.SetHaltPoll(vm.opts.HaltPoll); err != nil {
			return err
		}
	}
	r := userspaceMemoryRegion{MemorySize: vm.mem.Size(), UserspaceAddr: addressOf(vm.mem.b)}
	if _, err := ioctlPtr(vm.fd, _KVM_SET_USER_MEMORY_REGION, &r); err != nil {
		return fmt.Errorf("giving the VM its memory: %w", err)
	}
	for i := range vm.opts.VCPUs {
		c, err := vm.newCPU(i)
		if err != nil {
			return fmt.Errorf("vCPU %d: %w", i, err)
		}
		vm.cpus = append(vm.cpus, c)
	}
	return nil
}

// setUpPlacement makes the irqchip, or the traps that a LAPIC in user space
// needs. Exits are disabled before any vCPU exists.
func (vm *VM) setUpPlacement() error {
	exits := uint64(vm.opts.Exits)
	if vm.opts.Placement == InVMM && vm.opts.Deadline == CureMWAIT {
		exits |= _KVM_X86_DISABLE_EXITS_MWAIT
	}
	if exits != 0 {
		if err := vm.enableCap(_KVM_CAP_X86_DISABLE_EXITS, exits); err != nil {
			return fmt.Errorf("disabling exits %#x: %w", exits, err)
		}
	}
	if vm.opts.Placement == InKernel {
		if _, err := ioctl(vm.fd, _KVM_CREATE_IRQCHIP, 0); err != nil {
			return fmt.Errorf("creating the irqchip: %w", err)
		}
		pit := pitConfig{Flags: _KVM_PIT_SPEAKER_DUMMY}
		if _, err := ioctlPtr(vm.fd, _KVM_CREATE_PIT2, &pit); err != nil {
			return fmt.Errorf("creating the PIT: %w", err)
		}
		if vm.sys.Vendor == AMD && on("kvm_amd", "avic") {
			// As long as ticks that were missed are made up for, AVIC is inhibited.
			if _, err := ioctlPtr(vm.fd, _KVM_REINJECT_CONTROL, &reinjectControl{}); err != nil {
				return fmt.Errorf("letting missed ticks of the PIT go: %w", err)
			}
		}
		return nil
	}
	reasons := uint64(_KVM_MSR_EXIT_REASON_INVAL | _KVM_MSR_EXIT_REASON_UNKNOWN | _KVM_MSR_EXIT_REASON_FILTER)
	if err := vm.enableCap(_KVM_CAP_X86_USER_SPACE_MSR, reasons); err != nil {
		return fmt.Errorf("letting MSR accesses leave to user space: %w", err)
	}
	if err := setMSRFilter(vm.fd, trapped); err != nil {
		return fmt.Errorf("filtering MSRs: %w", err)
	}
	return nil
}

// trapped are the MSRs that the loop emulates with the LAPIC in user space. The
// x2APIC range needs no filter: without an irqchip KVM knows none of it.
var trapped = []filterRange{
	{msrTSCDeadline, _KVM_MSR_FILTER_READ | _KVM_MSR_FILTER_WRITE},
	{msrAPICBase, _KVM_MSR_FILTER_READ | _KVM_MSR_FILTER_WRITE},
	{msrTSCAdjust, _KVM_MSR_FILTER_READ | _KVM_MSR_FILTER_WRITE},
	{msrTSC, _KVM_MSR_FILTER_WRITE},
}

func (vm *VM) enableCap(capability uint32, arg uint64) error {
	c := enableCap{Cap: capability, Args: [4]uint64{arg}}
	_, err := ioctlPtr(vm.fd, _KVM_ENABLE_CAP, &c)
	return err
}

// SetHaltPoll sets the most time that a halt of this VM polls.
func (vm *VM) SetHaltPoll(ns clock.Nanos) error {
	if ns < 0 || ns > 1<<32-1 {
		return fmt.Errorf("halt polling for %d ns: want 0 to %d", ns, uint32(1<<32-1))
	}
	if err := vm.enableCap(_KVM_CAP_HALT_POLL, uint64(ns)); err != nil {
		return fmt.Errorf("setting halt polling: %w", err)
	}
	return nil
}

// CPU returns vCPU i.
func (vm *VM) CPU(i int) *CPU { return vm.cpus[i] }

// Hz is the guest's TSC frequency.
func (vm *VM) Hz() clock.Hz { return vm.hz }

// Memory is the VM's RAM.
func (vm *VM) Memory() *Memory { return vm.mem }

// Now is the VM's common line: the host TSC since the VM was made.
func (vm *VM) Now() clock.TSC { return clock.TSC(rdtsc() - vm.zero) }

// Close ends the VM. The vCPUs must not be running; their threads have called
// Unbind or ended. The memory stays.
func (vm *VM) Close() error {
	var first error
	for _, c := range vm.cpus {
		if err := c.close(); err != nil && first == nil {
			first = err
		}
	}
	vm.cpus = nil
	if err := unix.Close(vm.fd); err != nil && first == nil {
		first = err
	}
	return first
}
