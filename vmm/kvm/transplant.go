//go:build linux && amd64

package kvm

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// machineState is everything of a VM with in-kernel irqchip beside its memory.
type machineState struct {
	chips [3]irqchip
	pit   pitState2
	clock clockData
	cpus  []vcpuState
}

// vcpuState is everything of one vCPU.
type vcpuState struct {
	regs     kvmRegs
	sregs    kvmSregs
	mp       uint32
	xsave    xsave
	xcrs     xcrs
	lapic    lapicState
	events   vcpuEvents
	debug    debugregs
	offset   clock.Cycles
	msrs     *msrs
	deadline uint64
}

// transplant moves the guest into a new VM over the same memory, made with the
// engine's present knobs. The threads must be parked; they are made anew.
//
// The order of restoring matters: the TSC offset before anything that reads the
// TSC, the local APIC before the TSC-deadline MSR, which only counts in
// TSC-deadline mode, and that before the guest runs.
func (e *kernelEngine) transplant() error {
	e.mu.Lock()
	if !e.idle() {
		e.mu.Unlock()
		panic("BUG: transplant of a running guest")
	}
	e.mu.Unlock()
	e.tracing(false) // the making of a VM is none of the guest's doing
	e.collect(pollStopped)
	st, err := e.vm.save()
	if err != nil {
		return fmt.Errorf("saving the guest: %w", err)
	}
	next, err := e.sys.NewVM(e.mem, e.options())
	if err != nil {
		return fmt.Errorf("making the new VM: %w", err)
	}
	next.zero = e.vm.zero // the common line goes on
	if err := next.restore(st); err != nil {
		return errors.Join(fmt.Errorf("restoring the guest: %w", err), next.Close())
	}
	e.end()
	old := e.vm
	e.mu.Lock()
	e.closing = false
	e.mu.Unlock()
	if err := e.start(next, e.turn); err != nil {
		return err
	}
	e.synic = false
	if e.obs != nil {
		e.obs.dec.Rebind()
		e.bindThreads()
		e.findDebugfs()
	}
	return old.Close()
}

// completeIO lets KVM finish what the last exit began, without running the
// guest.
func (c *CPU) completeIO() error {
	c.page.ImmediateExit = 1
	errno, _ := enterGuest(c.fd)
	c.page.ImmediateExit = 0
	c.armed = clock.Never // its signal may have come meanwhile
	if errno := unix.Errno(errno); errno != 0 && errno != unix.EINTR {
		return fmt.Errorf("finishing the last access: %w", errno)
	}
	return nil
}

func (vm *VM) save() (*machineState, error) {
	s := &machineState{cpus: make([]vcpuState, len(vm.cpus))}
	for i, c := range vm.cpus {
		if err := c.saveState(&s.cpus[i]); err != nil {
			return nil, fmt.Errorf("vCPU %d: %w", i, err)
		}
	}
	for i := range s.chips {
		s.chips[i].ChipID = uint32(i)
		if _, err := ioctlPtr(vm.fd, _KVM_GET_IRQCHIP, &s.chips[i]); err != nil {
			return nil, fmt.Errorf("interrupt controller %d: %w", i, err)
		}
	}
	if _, err := ioctlPtr(vm.fd, _KVM_GET_PIT2, &s.pit); err != nil {
		return nil, fmt.Errorf("the PIT: %w", err)
	}
	if _, err := ioctlPtr(vm.fd, _KVM_GET_CLOCK, &s.clock); err != nil {
		return nil, fmt.Errorf("the clock: %w", err)
	}
	return s, nil
}

// call is one step of saving or restoring.
type call struct {
	what string
	do   func() error
}

func inOrder(calls []call) error {
	for _, c := range calls {
		if err := c.do(); err != nil {
			return fmt.Errorf("%s: %w", c.what, err)
		}
	}
	return nil
}

// get and set make calls of plain structures.
func get[T any](fd int, req uintptr, v *T) func() error {
	return func() error { _, err := ioctlPtr(fd, req, v); return err }
}

// inKernel makes a call only where the local APIC is the kernel's.
func (c *CPU) inKernel(do func() error) func() error {
	if c.vm.opts.Placement == InKernel {
		return do
	}
	return func() error { return nil }
}

func (c *CPU) saveState(s *vcpuState) error {
	return inOrder([]call{
		{"the last access", c.completeIO},
		{"registers", get(c.fd, _KVM_GET_REGS, &s.regs)},
		{"multiprocessing state", get(c.fd, _KVM_GET_MP_STATE, &s.mp)},
		{"system registers", get(c.fd, _KVM_GET_SREGS, &s.sregs)},
		{"FPU", get(c.fd, _KVM_GET_XSAVE, &s.xsave)},
		{"extended control registers", func() error {
			if !c.hasXCRs {
				return nil
			}
			return get(c.fd, _KVM_GET_XCRS, &s.xcrs)()
		}},
		{"local APIC", c.inKernel(get(c.fd, _KVM_GET_LAPIC, &s.lapic))},
		{"events", get(c.fd, _KVM_GET_VCPU_EVENTS, &s.events)},
		{"debug registers", get(c.fd, _KVM_GET_DEBUGREGS, &s.debug)},
		{"MSRs", func() (err error) { s.msrs, err = c.saveMSRs(); return err }},
		{"TSC deadline", func() error { s.deadline, _ = c.ReadMSR(msrTSCDeadline); s.offset = c.guestOffset(); return nil }},
	})
}

// saveMSRs reads every MSR that KVM lists, but for the TSC (its offset is
// carried), the TSC deadline (it comes last) and the paravirtual ones.
func (c *CPU) saveMSRs() (*msrs, error) {
	list, err := c.vm.sys.msrList()
	if err != nil {
		return nil, err
	}
	m := &msrs{}
	for _, index := range list {
		if index == msrTSC || index == msrTSCDeadline || index>>16 == 0x4000 || index>>8 == 0x4b564d || m.NMSRs == maxMSRs {
			continue
		}
		if v, ok := c.ReadMSR(index); ok {
			m.Entries[m.NMSRs] = msrEntry{Index: index, Data: v}
			m.NMSRs++
		}
	}
	return m, nil
}

func (vm *VM) restore(s *machineState) error {
	for i := range s.chips {
		if _, err := ioctlPtr(vm.fd, _KVM_SET_IRQCHIP, &s.chips[i]); err != nil {
			return fmt.Errorf("interrupt controller %d: %w", i, err)
		}
	}
	if _, err := ioctlPtr(vm.fd, _KVM_SET_PIT2, &s.pit); err != nil {
		return fmt.Errorf("the PIT: %w", err)
	}
	for i, c := range vm.cpus {
		if err := c.restoreState(&s.cpus[i]); err != nil {
			return fmt.Errorf("vCPU %d: %w", i, err)
		}
	}
	s.clock.Flags = 0
	if _, err := ioctlPtr(vm.fd, _KVM_SET_CLOCK, &s.clock); err != nil {
		return fmt.Errorf("the clock: %w", err)
	}
	return nil
}

func (c *CPU) restoreState(s *vcpuState) error {
	return inOrder([]call{
		{"system registers", get(c.fd, _KVM_SET_SREGS, &s.sregs)},
		{"TSC offset", func() error { return c.setOffset(s.offset) }},
		{"registers", get(c.fd, _KVM_SET_REGS, &s.regs)},
		{"extended control registers", func() error {
			if !c.hasXCRs {
				return nil // setting none is an error
			}
			return get(c.fd, _KVM_SET_XCRS, &s.xcrs)()
		}},
		{"FPU", get(c.fd, _KVM_SET_XSAVE, &s.xsave)},
		{"MSRs", func() error { return c.restoreMSRs(s.msrs) }},
		{"local APIC", c.inKernel(get(c.fd, _KVM_SET_LAPIC, &s.lapic))},
		{"events", get(c.fd, _KVM_SET_VCPU_EVENTS, &s.events)},
		{"multiprocessing state", c.inKernel(get(c.fd, _KVM_SET_MP_STATE, &s.mp))},
		{"debug registers", get(c.fd, _KVM_SET_DEBUGREGS, &s.debug)},
		{"TSC deadline", func() error {
			if s.deadline != 0 && !c.WriteMSR(msrTSCDeadline, s.deadline) {
				return fmt.Errorf("KVM refuses %#x", s.deadline)
			}
			return nil
		}},
	})
}

// restoreMSRs sets one MSR after the other: some that can be read cannot be
// written with the value read, and do not matter.
func (c *CPU) restoreMSRs(m *msrs) error {
	for _, e := range m.Entries[:m.NMSRs] {
		_ = c.WriteMSR(e.Index, e.Data)
	}
	return nil
}

// rebuild moves the guest of e into a new VM with other exits disabled, over the
// same memory. The local APICs are the loop's and stay as they are; each CPU
// keeps its thread and takes over the new vCPU's descriptor and page. The
// threads are parked.
func (e *loopEngine) rebuild(exits vmm.ExitsDisabled) error {
	states := make([]vcpuState, len(e.vm.cpus))
	for i, c := range e.vm.cpus {
		if err := c.saveState(&states[i]); err != nil {
			return fmt.Errorf("saving vCPU %d: %w", i, err)
		}
		states[i].sregs.CR8 = c.page.CR8
		c.pio, c.pending = portRun{}, pendNothing
	}
	opts := e.vm.opts
	opts.Exits = exits
	next, err := e.vm.sys.NewVM(e.mem, opts)
	if err != nil {
		return fmt.Errorf("making the new VM: %w", err)
	}
	next.zero = e.vm.zero
	for i, c := range next.cpus {
		if err := c.restoreState(&states[i]); err != nil {
			return errors.Join(fmt.Errorf("restoring vCPU %d: %w", i, err), next.Close())
		}
	}
	// The new VM takes the old one's place: what is left in next is the old one.
	for i, c := range e.vm.cpus {
		n := next.cpus[i]
		c.fd, n.fd = n.fd, c.fd
		c.raw, n.raw = n.raw, c.raw
		c.page, n.page = n.page, c.page
		c.page.CR8 = states[i].sregs.CR8
		c.page.Sync.Regs, c.stale = states[i].regs, false
		c.page.ValidRegs = n.page.ValidRegs
		c.exit.lead(c.page)
	}
	e.vm.fd, next.fd = next.fd, e.vm.fd
	e.vm.maker, next.maker = next.maker, e.vm.maker
	e.vm.opts = opts
	return next.Close()
}
