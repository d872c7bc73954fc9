//go:build linux && amd64

package kvm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/ftrace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/board"
)

// kernelEngine runs a guest with KVM's own LAPIC. What the kernel's loop does is
// observed through a tracefs instance; without one only the exits that reach
// user space are seen.
type kernelEngine struct {
	crew
	sys   *System
	cfg   Config
	sink  trace.Sink
	mem   *Memory
	board *board.Board
	obs   *observer // nil without tracefs
	host  hostChanges
	facts kernelFacts
	// notes are sentences for the user: what is not observed and why.
	notes []string

	tap     tap
	batch   []trace.Event // read, not handed on yet
	last    clock.TSC     // of the last event handed on
	until   clock.TSC     // events later than that are not complete yet
	parked  time.Time     // when Run last returned
	slack   clock.Cycles  // traceSlack
	knobs   vmm.Knobs
	synic   bool // the SynIC that inhibits APICv is there
	advance []int64
	debug   string // the VM's folder in debugfs, empty if there is none
	ticks   int
	exact   bool // read the trace as often as a step needs
	keepUp  bool // the guest waits for the reader
	behind  bool // the last poll left some of the trace unread

	// What follows is guarded by mu.
	events []trace.Event // of the threads, not in batch yet
	how    trace.EndKind // BadEnd while the guest runs
	code   uint32
	detail uint64
	told   bool // the end has been handed on
	missed trace.Misses
	line   []byte
	closed bool
}

func newKernelEngine(sys *System, cfg Config, sink trace.Sink) (_ vmm.Engine, err error) {
	if sys.Check(_KVM_CAP_IRQCHIP) <= 0 {
		return nil, &UnavailableError{What: "this KVM has no in-kernel local APIC", Cure: "use --lapic=vmm"}
	}
	e := &kernelEngine{sys: sys, cfg: cfg, sink: sink, knobs: cfg.Knobs, host: hostChanges{dir: stateDir}, facts: findFacts(sys),
		tap: tap{on: cfg.Guest.Params() != nil}}
	e.cond = sync.NewCond(&e.mu)
	e.notes = recoverNotes()
	if e.mem, err = NewMemory(cfg.RAM); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.free())
		}
	}()
	if e.obs, err = e.observe(); err != nil {
		return nil, err
	}
	e.facts.knobs(&e.knobs)
	e.vm, err = sys.NewVM(e.mem, e.options())
	if err != nil {
		return nil, err
	}
	if err := e.setUp(); err != nil {
		return nil, err
	}
	if err := e.start(e.vm, e.turn); err != nil {
		return nil, err
	}
	if e.obs != nil {
		e.watch()
	}
	return e, nil
}

// observe makes the observer, nil if there can be none.
func (e *kernelEngine) observe() (*observer, error) {
	if e.cfg.Unobserved {
		e.notes = append(e.notes, "the kernel's timers are not observed, as asked")
		return nil, nil
	}
	obs, err := newObserver()
	if errors.Is(err, ErrUnavailable) {
		e.notes = append(e.notes, "the kernel's timers are not observed: "+err.Error())
		return nil, nil
	}
	return obs, err
}

func (e *kernelEngine) options() Options {
	return Options{Placement: InKernel, VCPUs: e.cfg.VCPUs, Exits: e.knobs.ExitsDisabled, HaltPoll: e.knobs.HaltPoll,
		Hide: e.cfg.Hide}
}

func (e *kernelEngine) setUp() error {
	var err error
	e.board, err = board.New(board.Config{VCPUs: e.cfg.VCPUs, RAM: e.cfg.RAM, Hz: e.vm.Hz(), Start: e.vm.Now(),
		Epoch: time.Now().Unix(), TestDevice: e.cfg.TestDevice, Inputs: e.cfg.Inputs}, e)
	if err != nil {
		return err
	}
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

// watch ties the trace to the vCPUs and their threads. The threads are parked.
func (e *kernelEngine) watch() {
	slack, _ := e.vm.Hz().ToCycles(traceSlack)
	e.slack = clock.Cycles(slack)
	e.obs.dec = ftrace.NewDecoder(ftrace.Options{File: "trace_pipe", APICv: e.facts.apicv(), Mine: ownThread,
		Kernel: e.facts.version(), NextRIP: e.facts.nextRIP(),
		Time: ftrace.TimeBase{Hz: e.vm.Hz(), Stamp: e.vm.zero, Guest: true, Set: true}},
		trace.SinkFunc(func(ev trace.Event) { e.batch = append(e.batch, ev) }))
	e.bindThreads()
	e.notes = append(e.notes, e.obs.Missing...)
	e.findDebugfs()
	if e.debug == "" {
		e.notes = append(e.notes, "the timer advance is not observed: "+noDebugfs)
	}
}

// findDebugfs looks for the present VM's folder.
func (e *kernelEngine) findDebugfs() {
	e.debug, _ = e.vm.debugfsDir()
	if e.debug != "" {
		e.advance = make([]int64, e.cfg.VCPUs)
		e.readAdvance()
	}
}

func (e *kernelEngine) bindThreads() {
	tids := make([]int, e.cfg.VCPUs)
	for i := range tids {
		tids[i] = int(e.vm.CPU(i).tid.Load())
		e.obs.dec.Bind(i, int32(tids[i]))
	}
	e.obs.watchThreads(tids)
}

// turn is one stay of vCPU i in KVM_RUN and what follows from it. The lock is
// held, but not inside KVM_RUN.
func (e *kernelEngine) turn(i int) {
	c := e.vm.CPU(i)
	e.mu.Unlock()
	x := c.Run(0, clock.Never)
	e.mu.Lock()
	switch x.Reason {
	case vmm.StopSignal, vmm.StopLimit:
	case vmm.ExitIO, vmm.ExitMMIO:
		e.access(c, &x)
	case vmm.ExitTriple:
		e.finish(trace.EndTripleFault, 0, x.RIP)
	case vmm.ExitHLT:
		e.finish(trace.EndDeadlock, 0, x.RIP) // only with the APIC gone
	default:
		e.finish(trace.EndError, uint32(x.Addr), x.Data)
	}
	if e.obs == nil && x.Reason != vmm.StopSignal {
		e.emit(i, trace.KindExit, uint64(exitReason(&x)), x.RIP, x.Addr, x.Data)
	}
}

// access carries out a port or memory access that KVM does not emulate.
func (e *kernelEngine) access(c *CPU, x *vmm.Exit) {
	now := e.vm.Now()
	var where vmm.Where
	switch {
	case x.Reason == vmm.ExitIO && x.Write:
		where = e.board.Out(now, uint16(x.Addr), x.Size, uint32(x.Data))
	case x.Reason == vmm.ExitIO:
		var v uint32
		v, where = e.board.In(now, uint16(x.Addr), x.Size)
		c.CompleteRead(uint64(v))
	case x.Write:
		where = e.board.WriteMem(now, x.Addr, x.Size, x.Data)
	default:
		var v uint64
		v, where = e.board.ReadMem(now, x.Addr, x.Size)
		c.CompleteRead(v)
	}
	if memory := x.Reason != vmm.ExitIO; where == vmm.Unclaimed && e.missed.First(trace.MissedKey(x.Addr, memory)) {
		how, value := uint64(0), uint64(0)
		if memory {
			how = 2
		}
		if x.Write {
			how, value = how|1, x.Data
		}
		e.emit(c.id, trace.KindMissing, x.Addr, how, x.RIP, value)
	}
}

func exitReason(x *vmm.Exit) trace.ExitReason {
	switch x.Reason {
	case vmm.ExitIO:
		return trace.ExitIO
	case vmm.ExitMMIO:
		return trace.ExitMMIO
	case vmm.ExitTriple:
		return trace.ExitTripleFault
	}
	return trace.ExitOther
}

// emit queues an event of this process. The lock is held.
func (e *kernelEngine) emit(v int, k trace.Kind, a, b, c, d uint64) {
	e.events = append(e.events, trace.Event{TSC: e.vm.Now(), Kind: k, VCPU: uint8(v), PCPU: trace.NoCPU, A: a, B: b, C: c, D: d})
}

// finish ends the guest. The lock is held.
func (e *kernelEngine) finish(how trace.EndKind, code uint32, detail uint64) {
	if e.how != trace.BadEnd {
		return
	}
	e.flushConsole()
	e.how, e.code, e.detail = how, code, detail
	e.emit(trace.NoCPU, trace.KindEnd, uint64(how), uint64(code), detail, 0)
	e.halt()
}

// Console implements vmm.Lines: text goes out a line, or 24 bytes, at a time.
func (e *kernelEngine) Console(b byte) {
	e.line = append(e.line, b)
	if b == '\n' || len(e.line) == 24 {
		e.flushConsole()
	}
}

func (e *kernelEngine) flushConsole() {
	if len(e.line) == 0 {
		return
	}
	var w [3]uint64
	for i, b := range e.line {
		w[i/8] |= uint64(b) << (8 * (i % 8))
	}
	e.emit(trace.NoCPU, trace.KindConsole, w[0], w[1], w[2], uint64(len(e.line)))
	e.line = e.line[:0]
}

// Reset implements vmm.Lines: a VM on KVM is not made anew.
func (e *kernelEngine) Reset() { e.finish(trace.EndReset, 0, 0) }

// Exit implements vmm.Lines.
func (e *kernelEngine) Exit(v uint32, powerOff bool) {
	if powerOff {
		e.finish(trace.EndShutdown, 0, 0)
		return
	}
	e.finish(trace.EndExit, v, 0)
}

// Message, SetINTR and PulseNMI implement vmm.Lines. The PIC, the PIT and the
// I/O APIC are the kernel's: nothing of the board's reaches the CPUs.
func (e *kernelEngine) Message(vmm.Message) {}

// SetINTR implements vmm.Lines.
func (e *kernelEngine) SetINTR(bool) {}

// IRQLine implements vmm.IRQLines: the interrupt controllers are KVM's. A line
// that cannot be driven ends the guest.
func (e *kernelEngine) IRQLine(line uint8, level bool) {
	l := irqLevel{IRQ: uint32(line)}
	if level {
		l.Level = 1
	}
	if _, err := ioctlPtr(e.vm.fd, _KVM_IRQ_LINE, &l); err != nil {
		e.notes = append(e.notes, fmt.Sprintf("the guest was ended: KVM does not drive interrupt line %d: %v", line, err))
		e.finish(trace.EndError, 0, 0)
	}
}

// PulseNMI implements vmm.Lines.
func (e *kernelEngine) PulseNMI() {}

// Run implements vmm.Engine.
func (e *kernelEngine) Run(until clock.TSC, done func() bool) {
	if e.hand(done) {
		return
	}
	if _, _, ended := e.Ended(); ended {
		return
	}
	if e.obs != nil && time.Since(e.parked) > longPause {
		e.obs.clear()
	}
	e.tracing(true)
	e.goOn()
	tick := observeTick
	if e.exact {
		tick = exactTick
	}
	t := time.NewTicker(tick)
	defer t.Stop()
	said := false
	for !said && !e.stopped() && e.vm.Now() < until {
		<-t.C
		e.collect(e.pollLimit())
		if e.keepUp && e.behind {
			e.stand()
		}
		e.look()
		said = e.hand(done) || asked(done)
		if e.keepUp && e.behind && !said {
			e.goOn()
		}
	}
	e.stand()
	e.parked = time.Now()
	if !said {
		e.hand(done)
	}
}

// goOn lets the guest run, unless it has ended.
func (e *kernelEngine) goOn() {
	e.mu.Lock()
	if e.how == trace.BadEnd {
		e.release()
	}
	e.mu.Unlock()
}

// stand stops the guest and reads all of the trace.
func (e *kernelEngine) stand() {
	e.mu.Lock()
	e.halt()
	e.settle()
	e.mu.Unlock()
	behind := e.behind
	e.readRest()
	e.behind = behind
}

// readRest reads all of the trace while the guest stands.
func (e *kernelEngine) readRest() {
	e.tracing(false)
	e.collect(pollStopped)
	e.tracing(true) // a host timer may fire while the threads are parked
}

// KeepUp makes the guest wait whenever more of the trace is unread than a few
// pages. Otherwise a guest that shares its CPU with the reader may be seconds
// ahead of what has been handed on, and a knob that is turned at a deadline turns
// when the guest is long past it.
func (e *kernelEngine) KeepUp(on bool) { e.keepUp = on }

func (e *kernelEngine) pollLimit() int {
	if e.keepUp {
		return pollKeepUp
	}
	return pollRunning
}

// longPause is how long a guest may stand before what was traced meanwhile is
// thrown away: by then it is mostly other VMs'.
const longPause = time.Second

// tracing turns the instance on or off. It is off while the rest of a run is
// read, which would not end beside other VMs.
func (e *kernelEngine) tracing(on bool) {
	if e.obs == nil {
		return
	}
	if err := e.obs.on(on); err != nil {
		e.notes = append(e.notes, "tracing cannot be turned on or off: "+err.Error())
	}
}

// collect brings what happened into the batch, in the order of time.
func (e *kernelEngine) collect(limit int) {
	e.until = clock.Never
	if e.obs != nil {
		now := e.vm.Now()
		all, err := e.obs.poll(limit)
		e.behind = !all
		switch {
		case err != nil:
			e.notes = append(e.notes, err.Error())
			e.obs = nil
		case limit == pollStopped:
			e.obs.dec.Flush()
		default:
			if !all {
				now = min(now, e.obs.dec.Now())
			}
			e.until = now.Add(-e.slack)
			e.obs.dec.FlushBefore(e.until)
		}
	}
	e.mu.Lock()
	e.tap.read(e.mem, func(ev trace.Event) { e.batch = append(e.batch, ev) })
	e.batch = append(e.batch, e.events...)
	e.events = e.events[:0]
	e.mu.Unlock()
	slices.SortStableFunc(e.batch, func(a, b trace.Event) int {
		switch {
		case a.Kind == trace.KindEnd || b.Kind == trace.KindEnd: // nothing comes after the end
			return int(b2u8(a.Kind == trace.KindEnd)) - int(b2u8(b.Kind == trace.KindEnd))
		case a.TSC < b.TSC:
			return -1
		case a.TSC > b.TSC:
			return 1
		}
		return 0
	})
}

// hand hands events on until done says to stop; the rest stays in the batch, as
// does what may have its place after something in the trace that is not read yet.
func (e *kernelEngine) hand(done func() bool) bool {
	for i, ev := range e.batch {
		if ev.TSC > e.until {
			e.batch = e.batch[:copy(e.batch, e.batch[i:])]
			return false
		}
		e.sink.Emit(ev)
		e.last = ev.TSC
		if ev.Kind == trace.KindEnd {
			e.told = true
		}
		if done() {
			e.batch = e.batch[:copy(e.batch, e.batch[i+1:])]
			return true
		}
	}
	e.batch = e.batch[:0]
	return false
}

// look reads what the kernel shows but does not trace, now and then.
func (e *kernelEngine) look() {
	const every = 8 // ticks
	if e.ticks++; e.ticks%every == 0 && e.debug != "" {
		e.readAdvance()
	}
}

// traceSlack is how far the lines of one CPU may come after those of another: a
// line has its time before it can be read.
const traceSlack = clock.Nanos(time.Millisecond)

// observeTick is how often the trace is read while the guest runs: reading takes
// CPU time that a guest on a small host misses.
const observeTick = 5 * time.Millisecond

// exactTick is how often it is read for a step: the guest runs on for that long.
const exactTick = 250 * time.Microsecond

// Exact implements vmm.Exacter as far as that is possible here: the guest still
// runs on until the trace has been read, which Ahead tells.
func (e *kernelEngine) Exact(on bool) { e.exact = on }

// readAdvance reports a change of a vCPU's timer advance.
func (e *kernelEngine) readAdvance() {
	for i := range e.advance {
		ns, err := debugfsNumber(e.debug, i, "lapic_timer_advance_ns")
		if err != nil || ns == e.advance[i] {
			continue
		}
		old := e.advance[i]
		e.advance[i] = ns
		if i == 0 {
			e.obs.dec.SetAdvance(clock.Nanos(ns))
		}
		if old == 0 {
			continue // the first look, or a VM without
		}
		verdict := trace.TuneLater
		if ns < old {
			verdict = trace.TuneEarlier
		}
		e.mu.Lock()
		e.events = append(e.events, trace.Event{TSC: e.vm.Now(), Kind: trace.KindTune, Flags: trace.FlagInferred,
			VCPU: uint8(i), PCPU: trace.NoCPU, A: uint64(old), B: uint64(ns), D: uint64(verdict)})
		e.mu.Unlock()
	}
}

// Now implements vmm.Engine.
func (e *kernelEngine) Now() clock.TSC { return e.vm.Now() }

// Ended implements vmm.Engine.
func (e *kernelEngine) Ended() (trace.EndKind, uint32, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.how, e.code, e.how != trace.BadEnd && e.told
}

// Stop implements vmm.Engine.
func (e *kernelEngine) Stop(how trace.EndKind) {
	e.mu.Lock()
	e.finish(how, 0, 0)
	e.mu.Unlock()
	e.tracing(false)
	e.collect(pollStopped)
	if how == trace.EndLimit && !e.told {
		e.cut()
	}
	e.hand(func() bool { return false })
}

// cut ends the run where the caller said stop. The guest was a little further by
// then: the trace is read some time after things happen.
func (e *kernelEngine) cut() {
	for _, ev := range e.batch {
		if ev.Kind == trace.KindKnob && ev.TSC > e.last {
			e.notes = append(e.notes, fmt.Sprintf("%s was turned when the guest was already past the end of what is reported: "+
				"run it for longer", trace.Knob(ev.A)))
		}
	}
	e.batch = slices.DeleteFunc(e.batch, func(ev trace.Event) bool { return ev.TSC > e.last || ev.Kind == trace.KindEnd })
	e.batch = append(e.batch, trace.Event{TSC: e.last, Kind: trace.KindEnd, VCPU: trace.NoCPU, PCPU: trace.NoCPU,
		A: uint64(trace.EndLimit)})
}

// CPUs implements vmm.Engine.
func (e *kernelEngine) CPUs(dst []vmm.CPUFrame) []vmm.CPUFrame {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.cfg.VCPUs {
		dst = append(dst, frame(e.vm.CPU(i), e.idle()))
	}
	return dst
}

// Failure says in one sentence why KVM could not go on; empty if it could.
func (e *kernelEngine) Failure() string { return e.failure() }

// Memory is the guest's memory.
func (e *kernelEngine) Memory() vmm.Memory { return e.mem }

// Header implements vmm.Engine.
func (e *kernelEngine) Header() trace.Header {
	h := e.cfg.header(e.vm)
	h.Knobs = e.knobs.Values()
	return h
}

// Notice is what the user should know about this run.
func (e *kernelEngine) Notice() string { return strings.Join(e.notes, "; ") }

// Close implements vmm.Engine.
func (e *kernelEngine) Close() error {
	if e.closed {
		return nil
	}
	e.closed = true
	return errors.Join(e.free(), e.sys.Close())
}

// free gives back everything but /dev/kvm itself.
func (e *kernelEngine) free() error {
	var errs []error
	if e.vm != nil {
		if e.crew.vm != nil {
			e.end()
		}
		errs = append(errs, e.vm.Close())
	}
	if e.obs != nil {
		errs = append(errs, e.obs.close())
	}
	errs = append(errs, e.host.restore(), e.mem.Close())
	return errors.Join(errs...)
}

// Trace says what the trace was and what it lacked; empty if there is none.
func (e *kernelEngine) Trace() string {
	if e.obs == nil {
		return ""
	}
	r := e.obs.dec.Report()
	return r.Text()
}
