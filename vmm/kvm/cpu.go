//go:build linux && amd64

package kvm

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// CPU is one vCPU under KVM_RUN. It implements vmm.CPU for the run loop with the
// LAPIC in user space.
//
// Everything but Kick belongs to the goroutine that called Bind.
type CPU struct {
	vm   *VM
	id   int
	fd   int
	raw  []byte
	page *runPage

	tid   atomic.Int32 // of the thread, 0 while there is none
	timer threadTimer
	// exit leads the signals of kicks and of the timer to the page.
	exit exitByte
	// armed is the point on the common line for which the timer stands; Never
	// if it is off.
	armed  clock.TSC
	kicked atomic.Bool
	// running is true from before KVM_RUN to after it, dozing is 1 in Wait.
	running atomic.Bool
	dozing  atomic.Uint32

	// gate, if not nil, is open during KVM_RUN.
	gate *gate

	// stale says that the page does not have the registers of the last exit.
	stale    bool
	pending  pending
	pio      portRun
	offset   clock.Cycles
	hasXCRs  bool
	spurious uint64   // EINTRs that were neither a kick nor the timer
	failed   vmm.Exit // the last exit that says that KVM could not go on
}

// gate is the lock of a machine whose vCPUs share its state, and the machine's
// events. Whoever opens it makes the events visible.
type gate struct {
	mu    *sync.Mutex
	queue *trace.Queue
}

func (g *gate) open() {
	g.queue.Publish()
	g.mu.Unlock()
}

// pending is what the last exit waits for before the guest may go on.
type pending uint8

const (
	pendNothing pending = iota
	pendIn
	pendRead
	pendMSR
)

// portRun is a port access of several items (INS, OUTS), given to the loop one
// by one.
type portRun struct {
	data  []byte
	size  uint8
	write bool
	port  uint16
}

func (vm *VM) newCPU(id int) (*CPU, error) {
	fd, err := ioctl(vm.fd, _KVM_CREATE_VCPU, uintptr(id))
	if err != nil {
		return nil, fmt.Errorf("creating it: %w", err)
	}
	c := &CPU{vm: vm, id: id, fd: fd, armed: clock.Never}
	if c.raw, c.page, err = mapRunPage(fd, vm.sys.runLen); err != nil {
		unix.Close(fd)
		return nil, err
	}
	c.ShowRegisters(true)
	if err := c.setUp(); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *CPU) setUp() error {
	if err := c.setCPUID(); err != nil {
		return err
	}
	khz, err := ioctl(c.fd, _KVM_GET_TSC_KHZ, 0)
	if err != nil {
		return fmt.Errorf("asking for the TSC frequency: %w", err)
	}
	c.vm.hz = clock.Hz(khz) * 1000
	var x xcrs
	if _, err := ioctlPtr(c.fd, _KVM_GET_XCRS, &x); err == nil {
		c.hasXCRs = x.NrXCRs > 0
	}
	return c.startOffset()
}

// Bind ties the vCPU to the calling goroutine and its OS thread, for good: the
// goroutine should end after Unbind, and the thread with it.
func (c *CPU) Bind() error {
	runtime.LockOSThread()
	if err := handleKicks(); err != nil {
		return err
	}
	tid := unix.Gettid()
	c.exit.lead(c.page)
	var err error
	if c.timer, err = newThreadTimer(tid, &c.exit); err != nil {
		return err
	}
	c.tid.Store(int32(tid))
	return nil
}

// Unbind releases the thread's timer. Signals that still come lead nowhere.
func (c *CPU) Unbind() {
	c.tid.Store(0)
	c.timer.delete()
	c.exit.lead(nil)
}

// ShowRegisters says whether KVM writes the general registers into the shared
// page at every exit. If not, exits have no RIP where the loop needs none, and
// asking for a register is a system call.
func (c *CPU) ShowRegisters(on bool) {
	c.page.ValidRegs = 0
	if on {
		c.page.ValidRegs = _KVM_SYNC_X86_REGS
	}
}

// registers are the general registers as of the last exit or SetRegisters.
func (c *CPU) registers() *kvmRegs {
	if c.stale {
		c.must("reading registers", func() error { _, err := ioctlPtr(c.fd, _KVM_GET_REGS, &c.page.Sync.Regs); return err })
		c.stale = false
	}
	return &c.page.Sync.Regs
}

// Kick makes the vCPU leave the guest, or its thread wake from Wait. It may be
// called from any goroutine until Unbind.
func (c *CPU) Kick() {
	if c.kicked.Swap(true) {
		return
	}
	if c.running.Load() {
		if tid := c.tid.Load(); tid != 0 {
			sendKick(int(tid), &c.exit)
		}
	} else if c.dozing.CompareAndSwap(1, 0) {
		rouse(&c.dozing)
	}
}

// Wait sleeps until Kick or until the common line reaches until. It reports
// whether it was a kick.
func (c *CPU) Wait(until clock.TSC) (kicked bool) {
	defer c.dozing.Store(0)
	for {
		c.dozing.Store(1)
		if c.kicked.Swap(false) {
			return true
		}
		ns := clock.Nanos(-1)
		if until != clock.Never {
			now := c.vm.Now()
			if now >= until {
				c.passed(now)
				return false
			}
			ns, _ = c.vm.hz.ToNanos(until - now)
		}
		doze(&c.dozing, 1, ns)
	}
}

// passed takes note that the common line has reached now outside KVM_RUN: a
// timer that stood for it has fired, and the next KVM_RUN need not return for it.
func (c *CPU) passed(now clock.TSC) {
	if c.armed <= now {
		c.armed = clock.Never
		c.page.ImmediateExit = 0
	}
}

// setTimer makes KVM_RUN return when the common line reaches until.
func (c *CPU) setTimer(until clock.TSC) {
	c.armed = until
	now := c.vm.Now()
	if until <= now {
		c.page.ImmediateExit = 1
		c.armed = clock.Never
		return
	}
	ns, ok := c.vm.hz.ToNanos(until - now)
	if !ok {
		c.armed = clock.Never
		return
	}
	c.timer.set(max(ns, 1))
}

// Run implements vmm.CPU. Times are points on the VM's common line.
func (c *CPU) Run(_, until clock.TSC) (e vmm.Exit) {
	c.RunInto(&e, until)
	return e
}

// RunInto is Run that writes the exit to *e.
func (c *CPU) RunInto(e *vmm.Exit, until clock.TSC) {
	if len(c.pio.data) != 0 {
		*e, _ = c.nextItem()
		return
	}
	*e = vmm.Exit{}
	for {
		// A timer that stands earlier is left: its signal costs one turn, arming a
		// system call.
		if until < c.armed {
			c.setTimer(until)
		}
		if c.gate != nil {
			c.gate.queue.Publish()
			c.gate.mu.Unlock()
		}
		c.running.Store(true)
		if c.kicked.Load() { // kicked before running was visible
			c.page.ImmediateExit = 1
		}
		errno, tsc := enterGuest(c.fd)
		c.running.Store(false)
		if c.gate != nil {
			c.gate.mu.Lock()
		}
		p := c.page
		c.stale = p.ValidRegs == 0
		c.pending = pendNothing // KVM completes accesses before it looks at signals
		e.At = clock.TSC(tsc - c.vm.zero)
		if errno != 0 {
			if c.interrupted(e, unix.Errno(errno), until) {
				return
			}
			continue
		}
		if !c.stale {
			e.RIP = p.Sync.Regs.RIP
		}
		if io := p.io(); p.ExitReason == _KVM_EXIT_IO && io.Count == 1 && io.Direction == 1 {
			e.Reason, e.Size, e.Write, e.Addr = vmm.ExitIO, io.Size, true, uint64(io.Port)
			if d := c.raw[io.DataOffset:]; io.Size == 1 {
				e.Data = uint64(d[0])
			} else {
				e.Data = load(d, io.Size)
			}
			return
		}
		c.decode(e)
		return
	}
}

// interrupted is a KVM_RUN without an exit of the guest. It reports whether the
// loop has to know.
func (c *CPU) interrupted(e *vmm.Exit, errno unix.Errno, until clock.TSC) (stop bool) {
	e.RIP = c.shownRIP()
	switch errno {
	case unix.EINTR:
		if c.page.ImmediateExit != 0 {
			c.page.ImmediateExit = 0
			c.armed = clock.Never // perhaps it was the timer
			e.At = c.vm.Now()     // not before the byte was cleared
		}
		switch {
		case c.kicked.Swap(false):
			e.Reason = vmm.StopSignal
			return true
		case e.At >= until:
			e.Reason = vmm.StopLimit
			return true
		}
		c.spurious++
		runtime.Gosched()
	case unix.EAGAIN: // KVM says: try again
	default:
		e.Reason, e.RIP, e.Addr, e.Data = vmm.ExitInternal, c.RIP(), internalRunErrno, uint64(errno)
		c.failed = *e
		return true
	}
	return false
}

// shownRIP is RIP as of the last exit if the page has it, else 0.
func (c *CPU) shownRIP() uint64 {
	if c.page.ValidRegs == 0 {
		return 0
	}
	return c.page.Sync.Regs.RIP
}

// WantWindow implements vmm.CPU. NMIs need no window: KVM keeps them.
func (c *CPU) WantWindow(irq, _ bool) { c.page.RequestInterruptWindow = b2u8(irq) }

// Interruptible implements vmm.CPU, from what the last KVM_RUN reported.
func (c *CPU) Interruptible() (bool, vmm.NotReady) {
	switch {
	case c.page.ReadyForInterruptInjection != 0:
		return true, vmm.Ready
	case c.page.IfFlag == 0:
		return false, vmm.NotReadyIF
	}
	return false, vmm.NotReadyShadow
}

// NMIReady implements vmm.CPU: KVM queues an NMI until the guest can take it.
func (c *CPU) NMIReady() bool { return true }

// Inject implements vmm.CPU.
func (c *CPU) Inject(e vmm.Event) {
	switch e.Kind {
	case vmm.EventInterrupt:
		vector := uint32(e.Vector)
		c.must("injecting an interrupt", func() error { _, err := ioctlPtr(c.fd, _KVM_INTERRUPT, &vector); return err })
		c.page.ReadyForInterruptInjection = 0
	case vmm.EventNMI:
		c.must("injecting an NMI", func() error { _, err := ioctl(c.fd, _KVM_NMI, 0); return err })
	case vmm.EventException:
		if c.pending == pendMSR && e.Vector == vectorGP {
			c.page.msr().Error = 1
			return
		}
		c.must("injecting an exception", func() error { return c.injectException(e) })
	}
}

const vectorGP = 13

func (c *CPU) injectException(e vmm.Event) error {
	var ev vcpuEvents
	if _, err := ioctlPtr(c.fd, _KVM_GET_VCPU_EVENTS, &ev); err != nil {
		return err
	}
	ev.ExceptionInjected, ev.ExceptionNr = 1, e.Vector
	ev.ExceptionHasErrorCode, ev.ExceptionErrorCode = b2u8(e.HasCode), e.Code
	_, err := ioctlPtr(c.fd, _KVM_SET_VCPU_EVENTS, &ev)
	return err
}

// must carries out a call that cannot fail while this package keeps its
// promises.
func (c *CPU) must(what string, f func() error) {
	if err := f(); err != nil {
		panic(fmt.Sprintf("BUG: %s on vCPU %d: %v", what, c.id, err))
	}
}

// Skip implements vmm.CPU: KVM moves RIP by itself. A write of the APIC base that
// the loop accepted is made known to KVM, whose CPUID shows whether there is an
// APIC.
func (c *CPU) Skip() {
	if m := c.page.msr(); c.pending == pendMSR && c.page.ExitReason == _KVM_EXIT_X86_WRMSR && m.Index == msrAPICBase {
		c.must("setting the APIC base", func() error { return c.setAPICBase(m.Data) })
	}
}

func (c *CPU) setAPICBase(v uint64) error {
	var s kvmSregs
	if _, err := ioctlPtr(c.fd, _KVM_GET_SREGS, &s); err != nil {
		return err
	}
	s.APICBase, s.CR8 = v, c.page.CR8
	s.InterruptBitmap = [4]uint64{}
	_, err := ioctlPtr(c.fd, _KVM_SET_SREGS, &s)
	return err
}

// CR8 implements vmm.CPU.
func (c *CPU) CR8() uint8 { return uint8(c.page.CR8) }

// SetCR8 implements vmm.CPU; KVM takes the value at the next KVM_RUN.
func (c *CPU) SetCR8(v uint8) { c.page.CR8 = uint64(v & 15) }

// SetTPRThreshold implements vmm.CPU: without an irqchip KVM exits on every
// write that lowers CR8.
func (c *CPU) SetTPRThreshold(uint8) {}

// SetIntercepts implements vmm.CPU: they are fixed when the VM is made.
func (c *CPU) SetIntercepts(vmm.Intercepts) {}

// RIP implements vmm.CPU, as of the last exit or SetRegisters.
func (c *CPU) RIP() uint64 { return c.registers().RIP }

// GPR implements vmm.CPU, as of the last exit or SetRegisters.
func (c *CPU) GPR(n int) uint64 { return *c.registers().gpr(n) }

// ID is the vCPU's number, which is its APIC ID.
func (c *CPU) ID() int { return c.id }

// SetTSCOffset implements vmm.CPU: guest TSC minus the common line.
func (c *CPU) SetTSCOffset(o clock.Cycles) {
	c.must("setting the TSC offset", func() error { return c.setOffset(o) })
}

func (c *CPU) close() error {
	err := unix.Munmap(c.raw)
	c.raw, c.page = nil, nil
	if e := unix.Close(c.fd); e != nil {
		return e
	}
	return err
}

func b2u8(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// SetGPR implements vmm.CPU: KVM takes the registers over at the next KVM_RUN.
func (c *CPU) SetGPR(n int, v uint64) {
	*c.registers().gpr(n) = v
	c.page.DirtyRegs |= _KVM_SYNC_X86_REGS
}

// SetXCR0 implements vmm.CPU. XSETBV never leaves to user space, so the loop has
// no reason to call it.
func (c *CPU) SetXCR0(v uint64) bool {
	x := xcrs{NrXCRs: 1}
	x.XCRs[0].Value = v
	_, err := ioctlPtr(c.fd, _KVM_SET_XCRS, &x)
	return err == nil
}
