package model

import (
	"encoding/hex"
	"fmt"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/board"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/interp"
)

// Config is what a model run is made of. The zero values of numbers choose the
// defaults of DefaultConfig.
type Config struct {
	Guest   *guest.Image
	VCPUs   int
	PCPUs   int // host CPUs for vCPUs; one more does housekeeping
	RAM     uint64
	Seed    uint64
	Profile *Profile
	Knobs   vmm.Knobs
	// Kernel is the host's kernel; the zero value chooses vmm.DefaultKernel.
	Kernel kernel.Kernel
	// TestDevice adds the unit tests' device to the platform.
	TestDevice bool
	// Hide are features that CPUID does not show and the machine does not have.
	Hide vmm.Features
	// Inputs are what is typed at the serial port.
	Inputs []board.Input
	// NoSkip executes busy-waits and loops that fill memory instruction by
	// instruction.
	NoSkip bool
	// Faults are bugs that the run has on purpose.
	Faults vmm.Faults
	// Reboot says what a reset does to the run.
	Reboot vmm.Reboot
	// MSI, if its Every is not 0, is an assigned device that interrupts.
	MSI MSI
}

// The defaults.
const (
	DefaultRAM  = 128 << 20
	DefaultSeed = 1
	// sliceNanos is the scheduler's time slice.
	sliceNanos = 3_000_000
)

// Engine is one run of a guest on the model.
type Engine struct {
	cfg   Config
	mem   *interp.Memory
	cpus  []*interp.CPU
	board *board.Board
	host  *host
	m     *vmm.Machine
	order order
	turns uint64
	told  bool      // the guest's samples have been reported
	end   clock.TSC // when that was
}

// New makes a run, ready to start. Events go to sink.
func New(cfg Config, sink trace.Sink) (*Engine, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	mem, err := interp.NewMemory(cfg.RAM)
	if err != nil {
		return nil, fmt.Errorf("guest memory: %w", err)
	}
	e := &Engine{cfg: cfg, mem: mem, order: order{out: sink}}
	e.host = newHost(cfg)
	cpus := make([]vmm.CPU, cfg.VCPUs)
	for i := range cpus {
		c := interp.New(mem, interp.Config{Costs: cfg.Profile.costs(), NoSkip: cfg.NoSkip})
		e.cpus = append(e.cpus, c)
		cpus[i] = c
	}
	e.m, err = vmm.New(vmm.Config{Hz: cfg.Profile.Hz, Kernel: cfg.Kernel, Knobs: cfg.Knobs, CPUs: cpus, Place: e.place(),
		PCPUs: cfg.PCPUs + 1, APIC: apicConfig(&cfg), Host: e.host, Sink: &e.order,
		CPUID: e.cpuid, MultiShift: cfg.Profile.MultiShift, Exact: true, Faults: cfg.Faults, Boot: e.reboot, Reboot: cfg.Reboot,
		PhysBits: uint8(interp.CPUID(0x80000008, 0)[0])})
	if err != nil {
		return nil, err
	}
	e.board, err = board.New(board.Config{VCPUs: cfg.VCPUs, RAM: cfg.RAM, Hz: cfg.Profile.Hz,
		TestDevice: cfg.TestDevice, Inputs: cfg.Inputs}, e.m)
	if err != nil {
		return nil, err
	}
	e.m.SetBus(e.board)
	e.host.m, e.host.bus = e.m, e.board
	return e, e.boot()
}

// check fills in defaults and refuses what cannot be.
func (c *Config) check() error {
	if c.Guest == nil || c.Profile == nil {
		panic("BUG: a model run without guest or profile")
	}
	if c.VCPUs < 1 || c.VCPUs > vmm.MaxVCPUs {
		return fmt.Errorf("%d vCPUs: want 1 to %d", c.VCPUs, vmm.MaxVCPUs)
	}
	if n := c.Guest.MinVCPUs(); c.VCPUs < n {
		return fmt.Errorf("guest %s needs at least %d vCPUs, have %d", c.Guest.Name, n, c.VCPUs)
	}
	if c.PCPUs == 0 {
		c.PCPUs = c.VCPUs
	}
	if c.PCPUs < 1 || c.PCPUs > vmm.MaxVCPUs {
		return fmt.Errorf("%d host CPUs: want 1 to %d", c.PCPUs, vmm.MaxVCPUs)
	}
	if c.RAM == 0 {
		c.RAM = DefaultRAM
	}
	if c.Seed == 0 {
		c.Seed = DefaultSeed
	}
	if c.Kernel.Vendor == kernel.Both {
		c.Kernel = vmm.DefaultKernel()
	}
	return nil
}

// place spreads the vCPUs over the host CPUs.
func (e *Engine) place() []vmm.PCPU {
	p := make([]vmm.PCPU, e.cfg.VCPUs)
	for i := range p {
		p[i] = vmm.PCPU(i % e.cfg.PCPUs)
	}
	return p
}

// apicConfig is a local APIC with x2APIC and TSC-deadline mode.
func apicConfig(c *Config) lapic.Config {
	return lapic.Config{Freq: c.Profile.Hz, TSCDeadline: !c.Hide.TSCDeadline, X2APIC: !c.Hide.X2APIC,
		DirectedEOI: true}
}

func newHost(cfg Config) *host {
	slice, _ := cfg.Profile.Hz.ToCycles(sliceNanos)
	h := &host{hz: cfg.Profile.Hz, msi: cfg.MSI, slice: slice,
		lookahead: clock.TSC(cfg.Profile.Phases[trace.PhaseIPIFlight].Base)}
	for i := range h.dice {
		h.dice[i] = newDice(&cfg.Profile.Phases[i])
	}
	h.st.cpus = make([]pcpu, cfg.PCPUs+1)
	for i := range h.st.cpus {
		h.st.cpus[i] = pcpu{cur: -1, due: clock.Never, noise: newNoise(cfg.Seed, uint64(i))}
	}
	h.st.timers = make([]hrtimer, cfg.VCPUs)
	h.st.threads = make([]thread, cfg.VCPUs)
	return h
}

// load writes into memory what a loader and the firmware do.
func (e *Engine) load() error {
	if err := e.cfg.Guest.Place(e.mem); err != nil {
		return err
	}
	return e.board.Place(e.mem)
}

// reboot does what happens to the platform when the machine is reset.
func (e *Engine) reboot() (vmm.Registers, error) {
	e.board.Reboot()
	return e.cfg.Guest.Boot(), e.load()
}

// boot places the guest and lets every vCPU's thread start.
func (e *Engine) boot() error {
	if err := e.load(); err != nil {
		return err
	}
	regs := e.cfg.Guest.Boot()
	if err := e.cpus[0].SetRegisters(&regs); err != nil {
		return fmt.Errorf("guest %s: boot state: %w", e.cfg.Guest.Name, err)
	}
	for i, p := range e.place() {
		e.host.st.threads[i].cpu = p
		c := e.host.cpu(p)
		c.runq = append(c.runq, i)
	}
	e.host.startMSI()
	for p := range e.host.st.cpus {
		e.host.schedule(vmm.PCPU(p))
	}
	return nil
}

// Run lets the model run until done says so, the guest ends, or no CPU can act
// before the given host time. done is asked after every turn and every event.
func (e *Engine) Run(until clock.TSC, done func() bool) {
	e.host.stale = true
	for {
		if _, _, ended := e.m.Ended(); ended {
			e.finish()
			return
		}
		p, at := e.host.first()
		if p == vmm.NoPCPU {
			e.m.Stop(0, trace.EndDeadlock, 0, 0)
			continue
		}
		if e.hand(at, done) || at >= until || done() {
			return
		}
		e.host.turn(p)
		e.turns++
		for c := e.host.cpu(p); e.host.leads(p, c); e.turns++ {
			if e.hand(c.now, done) || c.now >= until || done() {
				return
			}
			e.host.act(p, c)
		}
	}
}

// hand hands on the events up to t. It reports whether done said so.
func (e *Engine) hand(t clock.TSC, done func() bool) bool {
	for !e.order.empty() && e.order.next(t) {
		if done() {
			return true
		}
	}
	return false
}

// finish hands on the last events of a run that has ended.
func (e *Engine) finish() {
	e.order.release(clock.Never)
	e.end = max(e.end, e.host.latest())
	e.tellSamples()
	e.order.release(clock.Never)
}

// Now is the time that every CPU has reached.
func (e *Engine) Now() clock.TSC {
	if _, t := e.host.first(); t != clock.Never {
		return t
	}
	return e.host.st.cpus[0].now
}

// Machine is the virtual machine that runs.
func (e *Engine) Machine() *vmm.Machine { return e.m }

// Memory is the guest's memory.
func (e *Engine) Memory() vmm.Memory { return e.mem }

// Header describes the run.
func (e *Engine) Header() trace.Header {
	k := e.cfg.Knobs
	reboot := ""
	if e.cfg.Reboot != vmm.RebootReset {
		reboot = e.cfg.Reboot.String()
	}
	return trace.Header{Engine: "model", LAPIC: "vmm", Provenance: trace.Modelled, Guest: e.cfg.Guest.Name,
		Args: e.cfg.Guest.Args, Initrd: e.cfg.Guest.Initrd, GuestHash: hex.EncodeToString(e.cfg.Guest.SHA256[:]), Seed: e.cfg.Seed,
		Profile: e.cfg.Profile.Name, Hz: e.cfg.Profile.Hz, VCPUs: e.cfg.VCPUs, PCPUs: e.cfg.PCPUs,
		MemMiB: int(e.cfg.RAM >> 20), Kernel: e.cfg.Kernel.Release.String(), Deviates: strings.Join(k.Deviations(&e.cfg.Kernel), ","),
		Hide: e.cfg.Hide.String(), Reboot: reboot, Inputs: board.InputLines(e.cfg.Inputs),
		Knobs: k.Values(), Host: e.cfg.Profile.Text}
}

// Instructions returns how many guest instructions have been executed one by one,
// and how many more were skipped as busy-waiting or done in one go.
func (e *Engine) Instructions() (executed, skipped uint64) {
	for _, c := range e.cpus {
		s := c.Stats()
		executed += s.Executed
		skipped += s.Skipped + s.Filled
	}
	return executed, skipped
}
