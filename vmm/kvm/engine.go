//go:build linux && amd64

package kvm

import (
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/board"
)

// New makes a run on KVM, ready to start. Events go to sink, from within Run.
func New(cfg Config, sink trace.Sink) (vmm.Engine, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	sys, err := Open()
	if err != nil {
		return nil, err
	}
	var e vmm.Engine
	if cfg.Placement == InKernel {
		e, err = newKernelEngine(sys, cfg, sink)
	} else {
		e, err = newLoopEngine(sys, cfg, sink)
	}
	if err != nil {
		return nil, errors.Join(err, sys.Close())
	}
	return e, nil
}

// loopEngine runs a guest with the LAPIC in user space: package vmm's loop over
// vCPUs under KVM_RUN, one thread each. The crew's lock guards the machine.
type loopEngine struct {
	crew
	cfg    Config
	sink   trace.Sink
	mem    *Memory
	board  *board.Board
	notice string
	queue  *trace.Queue
	tap    tap

	gate gate

	// What follows is guarded by mu.
	m      *vmm.Machine
	host   *host
	exact  bool // stop after each step, until Run has looked at its events
	closed bool
}

func newLoopEngine(sys *System, cfg Config, sink trace.Sink) (vmm.Engine, error) {
	cure, err := sys.ProbeDeadline()
	if err != nil {
		return nil, err
	}
	mem, err := NewMemory(cfg.RAM)
	if err != nil {
		return nil, err
	}
	cfg.Knobs.PreemptionTimer = false // see fixedInLoop
	cfg.Hide.TSCDeadline = cfg.Hide.TSCDeadline || cure == CureHide
	notes := recoverNotes()
	if s := cure.Sentence(); s != "" {
		notes = append(notes, s)
	}
	e := &loopEngine{cfg: cfg, sink: sink, mem: mem, queue: trace.NewQueue(), notice: strings.Join(notes, "; "),
		tap: tap{on: cfg.Guest.Params() != nil}}
	e.cond = sync.NewCond(&e.mu)
	e.gate = gate{mu: &e.mu, queue: e.queue}
	e.vm, err = sys.NewVM(mem, Options{Placement: InVMM, VCPUs: cfg.VCPUs, Exits: cfg.Knobs.ExitsDisabled,
		HaltPoll: -1, Deadline: cure, Hide: cfg.Hide})
	if err != nil {
		return nil, errors.Join(err, mem.Close())
	}
	if err := e.setUp(cure); err != nil {
		return nil, errors.Join(err, e.vm.Close(), mem.Close())
	}
	if err := e.start(e.vm, e.turn); err != nil {
		e.end()
		return nil, errors.Join(err, e.vm.Close(), mem.Close())
	}
	return e, nil
}

// setUp makes the machine and places the guest.
func (e *loopEngine) setUp(cure DeadlineCure) error {
	n := e.cfg.VCPUs
	e.host = newHost(e.vm, n)
	e.host.breathe = func() { // let others at the lock
		e.gate.open()
		runtime.Gosched()
		e.mu.Lock()
	}
	cpus, place := make([]vmm.CPU, n), make([]vmm.PCPU, n)
	for i := range cpus {
		c := e.vm.CPU(i)
		c.gate = &e.gate
		c.ShowRegisters(!e.cfg.Untraced)
		cpus[i], place[i] = c, vmm.PCPU(i)
	}
	var mute trace.KindSet
	if e.cfg.Untraced {
		mute = ^untraced
	}
	var err error
	e.m, err = vmm.New(vmm.Config{Real: true, Mute: mute, Joined: joined, Hz: e.vm.Hz(), Kernel: e.cfg.Kernel, Knobs: e.cfg.Knobs, CPUs: cpus, Place: place, PCPUs: n,
		APIC: lapic.Config{Freq: e.vm.Hz(), TSCDeadline: !e.cfg.Hide.TSCDeadline, X2APIC: !e.cfg.Hide.X2APIC,
			DirectedEOI: true}, PhysBits: e.vm.physBits,
		Host: e.host, Queue: e.queue})
	if err != nil {
		return err
	}
	e.board, err = board.New(board.Config{VCPUs: n, RAM: e.cfg.RAM, Hz: e.vm.Hz(), Start: e.vm.Now(),
		Epoch: time.Now().Unix(), TestDevice: e.cfg.TestDevice, Inputs: e.cfg.Inputs}, e.m)
	if err != nil {
		return err
	}
	e.m.SetBus(e.board)
	e.host.m, e.host.bus = e.m, e.board
	if err := e.cfg.Guest.Place(e.mem); err != nil {
		return err
	}
	if err := e.board.Place(e.mem); err != nil {
		return err
	}
	regs := e.cfg.Guest.Boot()
	if err := e.vm.CPU(0).SetRegisters(&regs); err != nil {
		return fmt.Errorf("guest %s: boot state: %w", e.cfg.Guest.Name, err)
	}
	return nil
}

// turn is what the thread of vCPU i does while the crew runs.
func (e *loopEngine) turn(i int) {
	c := &e.host.cpus[i]
	switch {
	case c.asleep:
		e.sleep(i)
	default:
		e.step(i)
	}
	if !e.running {
		e.queue.Publish()
	}
}

// step lets vCPU i go on. The lock is held, but not in the guest.
func (e *loopEngine) step(i int) {
	p := vmm.PCPU(i)
	c := &e.host.cpus[i]
	if !c.loaded {
		c.loaded = true
		c.last = e.vm.Now()
		c.now = c.last
		e.m.Load(p, i)
	}
	if e.m.IRQsOn(i) {
		// Interrupts are taken as of the last exit: what has become due since is
		// seen at the next.
		if !e.m.Exited(i) {
			c.now = e.vm.Now()
		}
		if c.now >= e.host.nextTimer(p) || len(c.irqs) > 0 {
			if e.host.interrupt(p) {
				return
			}
		}
	}
	if e.exact {
		e.m.Step(i)
	} else {
		e.m.Turn(i)
	}
	if e.m.HasEnded() || e.exact && e.said() || c.now >= e.host.stopAt {
		e.stop()
	}
}

// said reports whether there are events for Run.
func (e *loopEngine) said() bool {
	e.queue.Publish()
	return !e.queue.Empty()
}

// untraced are the events of a run that is not traced: what happens once, or
// because somebody asked for it.
var untraced = trace.Kinds(trace.KindKnob, trace.KindConsole, trace.KindSample, trace.KindEnd, trace.KindLost, trace.KindMark)

// joined are the phases of host work that are not measured apart: each is a few
// instructions of this program, less than it takes to measure them.
var joined = trace.Phases(trace.PhaseExit, trace.PhaseFastDispatch, trace.PhaseDispatch, trace.PhaseOuter, trace.PhasePrepare, trace.PhaseExitTest,
	trace.PhaseEarlyGap, trace.PhaseLateGap)

// sleep waits for a wake-up or the next timer of vCPU i. The lock is held, but
// not while waiting.
func (e *loopEngine) sleep(i int) {
	p := vmm.PCPU(i)
	if e.host.interrupt(p) {
		return
	}
	until := e.host.Until(p)
	if until > e.vm.Now() {
		e.gate.open()
		e.vm.CPU(i).Wait(until)
		e.mu.Lock()
	}
	if e.host.stopAt != clock.Never && e.vm.Now() >= e.host.stopAt {
		e.stop()
	}
}

// stop parks all threads and wakes Run. The lock is held.
func (e *loopEngine) stop() {
	e.halt()
	e.queue.Nudge()
}

// Run looks at the events of a guest that makes few after firstTick, and then
// after twice the time each, up to lastTick. A look takes a processor from
// somebody: from a vCPU, if there is but one.
const (
	firstTick = time.Millisecond
	lastTick  = 32 * time.Millisecond
)

// Run implements vmm.Engine.
func (e *loopEngine) Run(until clock.TSC, done func() bool) {
	if e.drain(done) {
		return
	}
	tick := firstTick
	t := time.NewTimer(tick)
	defer t.Stop()
	for {
		e.mu.Lock()
		_, _, ended := e.m.Ended()
		if !ended && !e.closing && e.vm.Now() < until {
			e.host.stopAt = until
			e.release()
		}
		e.mu.Unlock()
		if ended {
			e.sample()
			e.drain(done)
			return
		}
		said := false
		for !said && !e.stopped() {
			select {
			case <-e.queue.Wake:
			case <-t.C:
				tick = min(2*tick, lastTick)
				t.Reset(tick)
			}
			e.sample()
			said = e.drain(done) || asked(done)
		}
		e.pause()
		e.sample()
		if said || e.drain(done) || e.vm.Now() >= until {
			return
		}
	}
}

// sample reports what the guest measured itself.
func (e *loopEngine) sample() {
	e.mu.Lock()
	e.tap.read(e.mem, e.queue.Emit)
	e.gate.open()
}

// drain hands events on. It reports whether done says to stop; the rest stays in
// the ring then.
func (e *loopEngine) drain(done func() bool) bool {
	said := false
	ask := func() bool { said = said || done(); return said }
	return e.queue.Take(func(events []trace.Event) (int, bool) {
		n := trace.EmitAll(e.sink, events, ask)
		return n, said
	})
}

// pause stops the threads and waits until they are parked.
func (e *loopEngine) pause() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.halt()
	e.settle()
	e.host.stopAt = clock.Never
}

// Exact makes Run stop right after the step of the loop whose events end it,
// which costs time; otherwise the guest may run on for a moment.
func (e *loopEngine) Exact(on bool) {
	e.mu.Lock()
	e.exact = on
	if e.running {
		for _, c := range e.vm.cpus {
			c.Kick() // out of Turn
		}
	}
	e.mu.Unlock()
}

// Now implements vmm.Engine.
func (e *loopEngine) Now() clock.TSC { return e.vm.Now() }

// Ended implements vmm.Engine. The guest has ended once its last events are
// handed on.
func (e *loopEngine) Ended() (trace.EndKind, uint32, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	how, code, ended := e.m.Ended()
	return how, code, ended && e.queue.Empty()
}

// Stop implements vmm.Engine.
func (e *loopEngine) Stop(how trace.EndKind) {
	e.mu.Lock()
	e.m.Stop(0, how, 0, 0)
	e.gate.open()
	e.drain(func() bool { return false })
}

// SetKnob implements vmm.Engine.
func (e *loopEngine) SetKnob(k trace.Knob, value uint64) error {
	if why := fixedInLoop[k]; why != "" {
		return fmt.Errorf("%s: %s", k, why)
	}
	e.mu.Lock()
	defer e.drain(func() bool { return false })
	defer e.gate.open()
	if k == trace.KnobExitsDisabled {
		if exits := vmm.ExitsDisabled(value) &^ e.canDisable(); exits != 0 {
			return fmt.Errorf("%s: this KVM cannot disable all of them", k)
		}
		if err := e.rebuild(vmm.ExitsDisabled(value)); err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
	}
	return e.m.SetKnob(k, value)
}

// canDisable are the exits that KVM_CAP_X86_DISABLE_EXITS offers.
func (e *loopEngine) canDisable() vmm.ExitsDisabled {
	return vmm.ExitsDisabled(e.vm.sys.Check(_KVM_CAP_X86_DISABLE_EXITS)) & (vmm.DisableMWAIT | vmm.DisableHLT | vmm.DisablePause)
}

// fixedInLoop are the knobs that cannot be turned with the LAPIC in user space.
var fixedInLoop = map[trace.Knob]string{
	trace.KnobPreemptionTimer: "the VMX preemption timer is the kernel's; a LAPIC in user space is backed by a POSIX timer",
}

// Knobs implements vmm.Engine.
func (e *loopEngine) Knobs() []vmm.KnobState {
	e.mu.Lock()
	k := e.m.Knobs()
	e.mu.Unlock()
	states := make([]vmm.KnobState, 0, trace.NumKnobs)
	for n := trace.BadKnob + 1; n < trace.NumKnobs; n++ {
		s := vmm.KnobState{Knob: n, Value: k.Get(n), Tag: vmm.TagLive}
		switch why := fixedInLoop[n]; {
		case n == trace.KnobPreemptionTimer:
			s.Tag, s.Why, s.Value = vmm.TagFixed, why, 0
		case n == trace.KnobExitsDisabled:
			s.Tag, s.Why = vmm.TagRebuild, "fixed when a VM is made: the guest moves into a new VM"
		}
		states = append(states, s)
	}
	return states
}

// CPUs implements vmm.Engine. The threads are parked, or what is shown is a
// moment old.
func (e *loopEngine) CPUs(dst []vmm.CPUFrame) []vmm.CPUFrame {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.cfg.VCPUs {
		dst = append(dst, frame(e.vm.CPU(i), e.idle()))
	}
	return dst
}

// Notice is what the user should know about this run, in one sentence.
func (e *loopEngine) Notice() string {
	if e.cfg.Untraced {
		return "Not traced: exits and decisions make no events. " + e.notice
	}
	return e.notice
}

// Failure says in one sentence why KVM could not go on; empty if it could.
func (e *loopEngine) Failure() string { return e.failure() }

// Memory is the guest's memory.
func (e *loopEngine) Memory() vmm.Memory { return e.mem }

// Header implements vmm.Engine.
func (e *loopEngine) Header() trace.Header { return e.cfg.header(e.vm) }

func (c *Config) header(vm *VM) trace.Header {
	g := c.Guest
	return trace.Header{Engine: "kvm", LAPIC: c.Placement.String(), Provenance: trace.Measured, Guest: g.Name, Args: g.Args,
		Initrd: g.Initrd, GuestHash: hex.EncodeToString(g.SHA256[:]), Hz: vm.Hz(), VCPUs: c.VCPUs, PCPUs: c.VCPUs,
		MemMiB: int(c.RAM >> 20), Hide: c.Hide.String(), Inputs: board.InputLines(c.Inputs), Knobs: c.Knobs.Values(), Host: hostSentence(vm.sys)}
}

// Close implements vmm.Engine.
func (e *loopEngine) Close() error {
	if e.closed {
		return nil
	}
	e.closed = true
	e.end()
	return errors.Join(e.vm.Close(), e.mem.Close(), e.vm.sys.Close())
}

// asked asks done as often as a guest with exits would: it may count its calls.
func asked(done func() bool) bool {
	for range 64 {
		if done() {
			return true
		}
	}
	return false
}
