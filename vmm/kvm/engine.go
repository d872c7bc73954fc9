//go:build linux && amd64

package kvm

import (
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"ticktrap/internal/clock"
	"ticktrap/lapic"
	"ticktrap/trace"
	"ticktrap/vmm"
	"ticktrap/vmm/board"
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
	defer sys.Close()
	if cfg.Placement == InKernel {
		return newKernelEngine(sys, cfg, sink)
	}
	return newLoopEngine(sys, cfg, sink)
}

// loopEngine runs a guest with the LAPIC in user space: package vmm's loop over
// vCPUs under KVM_RUN, one thread each. A lock guards the machine; a thread
// gives it up while its vCPU is in KVM_RUN, polls or sleeps.
type loopEngine struct {
	cfg    Config
	sink   trace.Sink
	vm     *VM
	mem    *Memory
	board  *board.Board
	notice string

	ring *ring

	mu   sync.Mutex
	cond *sync.Cond // of mu: running, closing or parked changed
	// What follows is guarded by mu.
	m       *vmm.Machine
	host    *host
	running bool
	closing bool
	exact   bool // stop after each step, until Run has looked at its events
	parked  int  // threads that wait for running
	alive   int  // threads that have not ended
	failed  error
	closed  bool
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
	e := &loopEngine{cfg: cfg, sink: sink, mem: mem, ring: newRing(), notice: cure.Sentence()}
	e.cond = sync.NewCond(&e.mu)
	e.vm, err = sys.NewVM(mem, Options{Placement: InVMM, VCPUs: cfg.VCPUs, Exits: cfg.Knobs.ExitsDisabled,
		HaltPoll: -1, Deadline: cure})
	if err != nil {
		return nil, errors.Join(err, mem.Close())
	}
	if err := e.setUp(cure); err != nil {
		return nil, errors.Join(err, e.vm.Close(), mem.Close())
	}
	return e, e.start()
}

// setUp makes the machine and places the guest.
func (e *loopEngine) setUp(cure DeadlineCure) error {
	n := e.cfg.VCPUs
	e.host = newHost(e.vm, n)
	e.host.breathe = func() { // let others at the lock
		e.mu.Unlock()
		runtime.Gosched()
		e.mu.Lock()
	}
	cpus, place := make([]vmm.CPU, n), make([]vmm.PCPU, n)
	for i := range cpus {
		c := e.vm.CPU(i)
		c.before, c.after = e.mu.Unlock, e.mu.Lock
		cpus[i], place[i] = c, vmm.PCPU(i)
	}
	var err error
	e.m, err = vmm.New(vmm.Config{Hz: e.vm.Hz(), Knobs: e.cfg.Knobs, CPUs: cpus, Place: place, PCPUs: n,
		APIC: lapic.Config{Era: lapic.Era5_19, Freq: e.vm.Hz(), TSCDeadline: cure != CureHide, X2APIC: true, DirectedEOI: true},
		Host: e.host, Sink: e.ring})
	if err != nil {
		return err
	}
	e.board, err = board.New(board.Config{VCPUs: n, RAM: e.cfg.RAM, Hz: e.vm.Hz(), Start: e.vm.Now(),
		Epoch: time.Now().Unix(), TestDevice: e.cfg.TestDevice}, e.m)
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

// start makes the vCPU threads. They wait for the first Run.
func (e *loopEngine) start() error {
	// The threads hold a processor of the Go scheduler each while in KVM_RUN.
	if want := e.cfg.VCPUs + 2; runtime.GOMAXPROCS(0) < want {
		runtime.GOMAXPROCS(want)
	}
	e.mu.Lock()
	e.alive = e.cfg.VCPUs
	e.mu.Unlock()
	ready := make(chan error, e.cfg.VCPUs)
	for i := range e.cfg.VCPUs {
		go e.thread(i, ready)
	}
	var first error
	for range e.cfg.VCPUs {
		if err := <-ready; err != nil && first == nil {
			first = err
		}
	}
	if first != nil {
		return errors.Join(first, e.Close())
	}
	return nil
}

// thread is the life of one vCPU's thread.
func (e *loopEngine) thread(i int, ready chan<- error) {
	c := e.vm.CPU(i)
	err := c.Bind()
	ready <- err
	e.mu.Lock()
	defer e.mu.Unlock()
	for err == nil && !e.closing {
		switch {
		case !e.running:
			e.park()
		case e.host.cpus[i].asleep:
			e.sleep(i)
		default:
			e.step(i)
		}
	}
	if err == nil {
		c.Unbind()
	}
	e.alive--
	e.cond.Broadcast()
}

// park waits until the guest may run. The lock is held.
func (e *loopEngine) park() {
	e.parked++
	e.cond.Broadcast()
	for !e.running && !e.closing {
		e.cond.Wait()
	}
	e.parked--
}

// step carries out one stage of vCPU i. The lock is held.
func (e *loopEngine) step(i int) {
	p := vmm.PCPU(i)
	c := &e.host.cpus[i]
	if !c.loaded {
		c.loaded = true
		c.last = e.vm.Now()
		e.m.Load(p, i)
	}
	if e.m.IRQsOn(i) && e.host.interrupt(p) {
		return
	}
	e.m.Step(i)
	if _, _, ended := e.m.Ended(); ended || e.exact && !e.ring.empty() ||
		e.host.stopAt != clock.Never && e.vm.Now() >= e.host.stopAt {
		e.halt()
	}
}

// sleep waits for a wake-up or the next timer of vCPU i. The lock is held, but
// not while waiting.
func (e *loopEngine) sleep(i int) {
	p := vmm.PCPU(i)
	if e.host.interrupt(p) {
		return
	}
	until := e.host.Until(p)
	if until > e.vm.Now() {
		e.mu.Unlock()
		e.vm.CPU(i).Wait(until)
		e.mu.Lock()
	}
	if e.host.stopAt != clock.Never && e.vm.Now() >= e.host.stopAt {
		e.halt()
	}
}

// halt stops all threads at their next look. The lock is held.
func (e *loopEngine) halt() {
	if e.running {
		e.running = false
		for i := range e.cfg.VCPUs {
			e.vm.CPU(i).Kick()
		}
	}
	e.ring.nudge()
}

// tick is how often Run looks at the events of a guest that makes few.
const tick = time.Millisecond

// Run implements vmm.Engine.
func (e *loopEngine) Run(until clock.TSC, done func() bool) {
	if e.drain(done) {
		return
	}
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		e.mu.Lock()
		_, _, ended := e.m.Ended()
		if !ended && !e.closing && e.vm.Now() < until {
			e.host.stopAt = until
			e.running = true
			e.cond.Broadcast()
		}
		e.mu.Unlock()
		if ended {
			e.drain(done)
			return
		}
		said := false
		for !said && !e.stopped() {
			select {
			case <-e.ring.wake:
			case <-t.C:
			}
			said = e.drain(done) || e.asked(done)
		}
		e.pause()
		if said || e.drain(done) || e.vm.Now() >= until {
			return
		}
	}
}

// stopped reports whether the threads have been told to stop.
func (e *loopEngine) stopped() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.running
}

// asked asks done as often as a guest with exits would: it may count its calls.
func (e *loopEngine) asked(done func() bool) bool {
	for range 64 {
		if done() {
			return true
		}
	}
	return false
}

// drain hands events on. It reports whether done says to stop; the rest stays in
// the ring then.
func (e *loopEngine) drain(done func() bool) bool {
	for {
		ev, ok := e.ring.next()
		if !ok {
			return false
		}
		e.sink.Emit(ev)
		if done() {
			return true
		}
	}
}

// pause stops the threads and waits until they are parked.
func (e *loopEngine) pause() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.halt()
	for e.parked < e.alive {
		e.cond.Wait()
	}
	e.host.stopAt = clock.Never
}

// Exact makes Run stop right after the step of the loop whose events end it,
// which costs time; otherwise the guest may run on for a moment.
func (e *loopEngine) Exact(on bool) {
	e.mu.Lock()
	e.exact = on
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
	return how, code, ended && e.ring.empty()
}

// Stop implements vmm.Engine.
func (e *loopEngine) Stop(how trace.EndKind) {
	e.mu.Lock()
	e.m.Stop(0, how, 0, 0)
	e.mu.Unlock()
	e.drain(func() bool { return false })
}

// SetKnob implements vmm.Engine.
func (e *loopEngine) SetKnob(k trace.Knob, value uint64) error {
	if why := fixedInLoop[k]; why != "" {
		return fmt.Errorf("%s: %s", k, why)
	}
	e.mu.Lock()
	err := e.m.SetKnob(k, value)
	e.mu.Unlock()
	e.drain(func() bool { return false })
	return err
}

// fixedInLoop are the knobs that cannot be turned with the LAPIC in user space.
var fixedInLoop = map[trace.Knob]string{
	trace.KnobPreemptionTimer: "the VMX preemption timer is the kernel's; a LAPIC in user space is backed by a POSIX timer",
	trace.KnobExitsDisabled:   "exits are disabled when a VM is made: start the run with --knob exits-disabled=…",
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
		case why != "":
			s.Tag, s.Why = vmm.TagFixed, why
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
		dst = append(dst, frame(e.vm.CPU(i), e.parked == e.alive))
	}
	return dst
}

// Notice is what the user should know about this run, in one sentence.
func (e *loopEngine) Notice() string { return e.notice }

// Memory is the guest's memory.
func (e *loopEngine) Memory() vmm.Memory { return e.mem }

// Header implements vmm.Engine.
func (e *loopEngine) Header() trace.Header { return e.cfg.header(e.vm) }

func (c *Config) header(vm *VM) trace.Header {
	g := c.Guest
	return trace.Header{Engine: "kvm", LAPIC: c.Placement.String(), Provenance: trace.Measured, Guest: g.Name, Args: g.Args,
		GuestHash: hex.EncodeToString(g.SHA256[:]), Hz: vm.Hz(), VCPUs: c.VCPUs, PCPUs: c.VCPUs,
		Knobs: c.Knobs.Values(), Host: hostSentence(vm.sys)}
}

// Close implements vmm.Engine.
func (e *loopEngine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed, e.closing = true, true
	e.running = true // so that halt kicks
	e.halt()
	e.cond.Broadcast()
	for e.alive > 0 {
		e.cond.Wait()
	}
	e.mu.Unlock()
	return errors.Join(e.vm.Close(), e.mem.Close())
}
