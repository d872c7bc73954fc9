package vmm

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
)

// script is a CPU that takes a list of exits, each after 100 cycles, and then
// runs to the limit for ever. It keeps what the loop did to it.
type script struct {
	exits    []Exit
	regs     Registers
	injected []Event
	skips    int
	reads    []uint64
	ready    NotReady
	cr8      uint8
	offset   clock.Cycles
	irq, nmi bool
	inter    Intercepts
}

func (s *script) Run(now, until clock.TSC) Exit {
	if len(s.exits) == 0 || until < now+100 {
		return Exit{Reason: StopLimit, At: min(until, now+1_000_000)}
	}
	e := s.exits[0]
	s.exits = s.exits[1:]
	s.regs.RIP = e.RIP
	e.At = now + 100
	return e
}

func (s *script) WantWindow(irq, nmi bool)        { s.irq, s.nmi = irq, nmi }
func (s *script) Interruptible() (bool, NotReady) { return s.ready == Ready, s.ready }
func (s *script) NMIReady() bool                  { return true }
func (s *script) Inject(e Event)                  { s.injected = append(s.injected, e) }
func (s *script) Skip()                           { s.skips++ }
func (s *script) CompleteRead(v uint64)           { s.reads = append(s.reads, v) }
func (s *script) CompleteCPUID([4]uint32)         {}
func (s *script) CR8() uint8                      { return s.cr8 }
func (s *script) SetCR8(v uint8)                  { s.cr8 = v }
func (s *script) SetTPRThreshold(uint8)           {}
func (s *script) SetIntercepts(i Intercepts)      { s.inter = i }
func (s *script) Registers() Registers            { return s.regs }
func (s *script) SetRegisters(r *Registers) error { s.regs = *r; return nil }
func (s *script) RIP() uint64                     { return s.regs.RIP }
func (s *script) GPR(n int) uint64                { return s.regs.GPR[n] }
func (s *script) SetGPR(n int, v uint64)          { s.regs.GPR[n] = v }
func (s *script) SetXCR0(uint64) bool             { return true }
func (s *script) ReadMSR(uint32) (uint64, bool)   { return 0, false }
func (s *script) WriteMSR(uint32, uint64) bool    { return false }
func (s *script) SetTSCOffset(c clock.Cycles)     { s.offset = c }
func (s *script) Save() any                       { return *s }
func (s *script) Restore(x any)                   { *s = x.(script) }
func (s *script) Reset(bool)                      {}

// bench is a Host with one clock for all CPUs, on which every phase takes 10
// cycles. Threads never sleep by themselves.
type bench struct {
	now     clock.TSC
	timers  map[int]clock.Nanos
	ipis    []IRQ
	asleep  map[int]bool
	resched bool
	signal  bool
	noHV    bool
	pending []IRQ
	// during runs once, in the next Spend of the phase, as another CPU would.
	phase  trace.Phase
	during func()
}

func (b *bench) Now(PCPU) clock.TSC    { return b.now }
func (b *bench) Mono(PCPU) clock.Nanos { return clock.Nanos(b.now) } // 1 GHz
func (b *bench) Spend(_ PCPU, ph trace.Phase) clock.Cycles {
	b.now += 10
	if f := b.during; f != nil && ph == b.phase {
		b.during = nil
		f()
	}
	return 10
}
func (b *bench) Delay(_ PCPU, c clock.Cycles) { b.now = b.now.Add(c) }
func (b *bench) CatchUp(PCPU)                 {}
func (b *bench) Ran(_ PCPU, at clock.TSC)     { b.now = max(b.now, at) }
func (b *bench) Until(PCPU) clock.TSC {
	if len(b.pending) > 0 {
		return b.now
	}
	return b.now + 1_000_000
}
func (b *bench) Interrupted(PCPU) (IRQ, int, bool) {
	if len(b.pending) == 0 {
		return BadIRQ, -1, false
	}
	k := b.pending[0]
	return k, 0, true
}
func (b *bench) AckNotification(PCPU)                     { b.pending = b.pending[1:] }
func (b *bench) StartTimer(_ PCPU, v int, at clock.Nanos) { b.timers[v] = at }
func (b *bench) CancelTimer(_ PCPU, v int)                { delete(b.timers, v) }
func (b *bench) MoveTimer(PCPU, int)                      {}
func (b *bench) SendIPI(_, _ PCPU, k IRQ, _ int)          { b.ipis = append(b.ipis, k) }
func (b *bench) Asleep(v int) bool                        { return b.asleep[v] }
func (b *bench) Wake(_ PCPU, v int) bool                  { w := b.asleep[v]; b.asleep[v] = false; return w }
func (b *bench) Sleep(_ PCPU, v int)                      { b.asleep[v] = true }
func (b *bench) NeedResched(PCPU, int) bool               { return b.resched }
func (b *bench) SignalPending(PCPU, int) bool             { return b.signal }
func (b *bench) Yield(PCPU, int)                          { b.resched = false }
func (b *bench) OtherRunnable(PCPU) bool                  { return false }
func (b *bench) Idle(PCPU, clock.TSC) bool                { return false }
func (b *bench) HasPreemptionTimer() bool                 { return !b.noHV }

// rig is a machine on fakes, with all events kept.
type rig struct {
	t      *testing.T
	m      *Machine
	host   *bench
	cpus   []*script
	events []trace.Event
}

// newRig makes a machine of n vCPUs, each loaded on its own CPU, in x2APIC
// TSC-deadline mode with vector 0x40.
func newRig(t *testing.T, n int, turn func(*Knobs)) *rig {
	t.Helper()
	r := &rig{t: t, host: &bench{now: 1000, timers: map[int]clock.Nanos{}, asleep: map[int]bool{}}}
	host := kernelOf(t, "5.19")
	knobs := KnobsOf(&host)
	if turn != nil {
		turn(&knobs)
	}
	cfg := Config{Hz: 1_000_000_000, Kernel: host, Knobs: knobs, PCPUs: n + 1, Host: r.host, MultiShift: 5,
		APIC:  lapic.Config{Freq: 1_000_000_000, TSCDeadline: true, X2APIC: true},
		Sink:  trace.SinkFunc(func(e trace.Event) { r.events = append(r.events, e) }),
		CPUID: func(int, uint32, uint32) [4]uint32 { return [4]uint32{} }}
	for i := range n {
		c := &script{}
		r.cpus = append(r.cpus, c)
		cfg.CPUs = append(cfg.CPUs, c)
		cfg.Place = append(cfg.Place, PCPU(i))
	}
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.m = m
	for i := range n {
		v := &m.vcpus[i]
		v.mp = trace.MPRunnable
		m.Load(PCPU(i), i)
		r.msr(i, lapic.MSRBase, v.apic.Base|1<<10)
		r.msr(i, lapic.SPIV.MSR(), 0x1ff)
		r.msr(i, lapic.LVTT.MSR(), 2<<17|0x40)
		v.requests = 0
	}
	r.events = nil
	return r
}

func (r *rig) msr(v int, index uint32, value uint64) {
	r.t.Helper()
	if !r.m.writeMSR(PCPU(v), &r.m.vcpus[v], index, value) {
		r.t.Fatalf("WRMSR %#x = %#x faulted", index, value)
	}
}

// enter brings vCPU v into the guest.
func (r *rig) enter(v int) {
	r.t.Helper()
	r.until(v, StageGuest)
}

// until steps vCPU v to a stage.
func (r *rig) until(v int, s Stage) {
	r.t.Helper()
	for range 50 {
		if r.m.vcpus[v].stage == s {
			return
		}
		r.m.Step(v)
	}
	r.t.Fatalf("vCPU %d stands at %s, not at %s, after 50 steps", v, StageNames[r.m.vcpus[v].stage], StageNames[s])
}

// last returns the last event of a kind.
func (r *rig) last(k trace.Kind) (trace.Event, bool) {
	for i := len(r.events) - 1; i >= 0; i-- {
		if r.events[i].Kind == k {
			return r.events[i], true
		}
	}
	return trace.Event{}, false
}

// count is the number of events of a kind.
func (r *rig) count(k trace.Kind) (n int) {
	for i := range r.events {
		if r.events[i].Kind == k {
			n++
		}
	}
	return n
}

// on makes the rig's host follow another release, with the knobs as they are.
func (r *rig) on(release string) {
	r.m.cfg.Kernel = kernelOf(r.t, release)
	r.m.follow()
	for i := range r.m.vcpus {
		r.m.vcpus[i].apic.Config.Rules = r.m.cfg.Kernel.LAPIC
	}
}

// kernelOf is a release on Intel's CPUs.
func kernelOf(t *testing.T, release string) kernel.Kernel {
	t.Helper()
	n, err := kernel.Parse(release)
	if err != nil {
		t.Fatal(err)
	}
	return kernel.At(n.Release, kernel.Intel)
}
