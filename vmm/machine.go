package vmm

import (
	"fmt"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
)

// Config is what a Machine is made of.
type Config struct {
	Hz clock.Hz
	// Kernel is the host's kernel, as far as no knob says otherwise; the zero
	// value chooses DefaultKernel. It gives APIC its rules.
	Kernel kernel.Kernel
	Knobs  Knobs
	// CPUs are the vCPUs' processors; CPU 0 is the boot processor.
	CPUs []CPU
	// Place is the host CPU on which each vCPU starts.
	Place []PCPU
	// APIC is what the local APICs are built with.
	APIC  lapic.Config
	PCPUs int
	Host  Host
	// Sink takes the events; Queue, if not nil, takes them instead.
	Sink  trace.Sink
	Queue *trace.Queue
	// CPUID answers CPUID for vCPU v; nil where the CPU never exits for it.
	CPUID func(v int, leaf, subleaf uint32) [4]uint32
	// MultiShift is the preemption timer's rate (IA32_VMX_MISC bits 4:0).
	MultiShift uint8
	// PhysBits is the width of a physical address (MAXPHYADDR).
	PhysBits uint8
	// Exact says that Run stops to the instruction, so that the arrival in an
	// interrupt handler can be seen when it happens.
	Exact bool
	// Real says that the host is a real one: its kernel schedules the threads and
	// interrupts guests by itself, and time passes without being spent.
	Real bool
	// Mute are the events that nobody wants: they are not made.
	Mute trace.KindSet
	// Joined are phases that a real host does not measure apart: their time counts
	// to the phase that comes next. A virtual host has to spend every phase.
	Joined trace.PhaseSet
	// Faults are the bugs that the machine has on purpose.
	Faults Faults
	// Boot puts the platform and guest memory into the state in which the guest
	// boots and returns the registers of the boot processor. Where it is nil a
	// reset ends the run.
	Boot func() (Registers, error)
	// Reboot says what becomes of a reset.
	Reboot Reboot
}

// Machine is one virtual machine: vCPUs with their local APICs, and the loop
// that runs them. All methods must be called by the goroutine that owns it; the
// Host and the Bus call back into it from there.
type Machine struct {
	cfg    Config
	hz     clock.Hz
	scale  clock.Scale
	host   Host
	bus    Bus
	sink   trace.Sink
	events *trace.Queue
	// mute and joined are those of cfg.
	mute   trace.KindSet
	joined trace.PhaseSet
	// silent says that a real host's exits make no events at all, loud that they
	// make all of theirs, into a queue.
	silent, loud bool
	// plain is plainExit if one of the two holds, else anyExit.
	plain int

	vcpus  []vcpu
	direct []direct // the CPUs that are, nil for others
	st     shared
}

// shared is the machine's state beside the vCPUs, copied by a snapshot.
type shared struct {
	knobs Knobs
	fast  kernel.Fastpath // what knobs.Fastpath stands for
	pred  predicates
	// loaded is kvm_running_vcpu: the vCPU loaded on each host CPU, or −1.
	loaded [maxPCPUs]int8
	// offset is the common line minus the host TSC.
	offset clock.Cycles
	intr   bool // the PIC's output
	// resetting says that the machine is to be reset.
	resetting bool
	inhibits  inhibit
	ended     bool
	end       trace.EndKind
	code      uint32
	detail    uint64
	text      [24]byte // console bytes not yet emitted
	ntext     int
	// exits counts VM-exits, samples and the like are counted from events.
	exits  uint64
	kernIO uint64 // accesses to devices in the kernel, which have timers
	devCPU PCPU   // where device emulation runs
	missed trace.Misses
}

// The largest machine.
const (
	MaxVCPUs = 64
	maxPCPUs = 66
)

// vcpu is one virtual CPU with the loop's state. It is copied by a snapshot; cpu
// is not part of it.
type vcpu struct {
	id    int
	pcpu  PCPU
	cpu   CPU
	stage Stage
	mode  trace.Mode
	mp    trace.MPState
	// blocked is the rcuwait's task pointer being set: the thread sleeps in
	// kvm_vcpu_block.
	blocked  bool
	requests Request
	apic     lapic.APIC

	exit     Exit
	reason   trace.ExitReason
	info     [2]uint64
	exitedAt clock.TSC
	reentry  bool
	// queued is an event already taken from the APIC for VM-entry.
	queued    Event
	windowOn  bool
	windowSet bool // the CPU was told to stop for a window or a low CR8
	immediate bool // an immediate exit is forced at the next entry
	// taking is the kind of an event given to the CPU but not yet delivered,
	// vector its vector; viaEntry says that it came by the VM-entry field.
	taking   EventKind
	vector   uint8
	viaEntry bool
	apicv    bool // vcpu->arch.apicv_active

	backing trace.Backing
	hv      hvTimer

	nmiQueued uint8 // NMIs sent
	nmis      uint8 // of them pending
	init      bool
	sipi      bool
	sipiVec   uint8
	haltPoll  clock.Nanos
	haltAt    clock.TSC
	pollEnd   clock.TSC
	hvBefore  bool // the preemption timer was in use before the halt
	woken     bool // a wake-up came between the last check and schedule()
	// hidden is the host TSC up to which the vCPU does not see what another CPU
	// stored for it (FaultLateStores).
	hidden clock.TSC

	spinWindow uint32 // ple_window, cycles

	tscOffset clock.Cycles // guest TSC minus the common line
	msr       msrs
	costs     [costSlots]trace.PhaseCost
	ncosts    int
}

// hvTimer is the VMX preemption timer of one vCPU.
type hvTimer struct {
	softDisabled bool
	forced       bool      // an immediate exit was forced at this entry
	fire         clock.TSC // host TSC at which it fires in this stay in the guest
}

const costSlots = 8

// exitKinds are the events that every exit makes.
const exitKinds = 1<<trace.KindExit | 1<<trace.KindFastpath | 1<<trace.KindCost | 1<<trace.KindEntry

// New returns a machine whose vCPUs are in their power-up state: vCPU 0 runs,
// the others wait for INIT and SIPI.
func New(cfg Config) (*Machine, error) {
	if n := len(cfg.CPUs); n < 1 || n > MaxVCPUs {
		return nil, fmt.Errorf("%d vCPUs: want 1 to %d", n, MaxVCPUs)
	}
	if cfg.PCPUs < 1 || cfg.PCPUs > maxPCPUs {
		return nil, fmt.Errorf("%d host CPUs: want 1 to %d", cfg.PCPUs, maxPCPUs)
	}
	if cfg.Queue != nil {
		cfg.Sink = cfg.Queue
	}
	if cfg.Kernel.Vendor == kernel.Both {
		cfg.Kernel = DefaultKernel()
	}
	cfg.APIC.Rules = cfg.Kernel.LAPIC
	m := &Machine{cfg: cfg, hz: cfg.Hz, scale: clock.NewScale(cfg.Hz), host: cfg.Host, sink: cfg.Sink, events: cfg.Queue,
		mute: cfg.Mute, joined: cfg.Joined}
	if cfg.Mute.Has(trace.KindCost) {
		m.joined = trace.AllPhases
	}
	m.silent = cfg.Real && m.mute&exitKinds == exitKinds
	m.loud = cfg.Real && m.mute&exitKinds == 0 && cfg.Queue != nil
	m.plain = anyExit
	if m.silent || m.loud {
		m.plain = plainExit
	}
	m.st.knobs = cfg.Knobs
	m.follow()
	for i := range m.st.loaded {
		m.st.loaded[i] = -1
	}
	m.vcpus, m.direct = make([]vcpu, len(cfg.CPUs)), make([]direct, len(cfg.CPUs))
	for i := range m.vcpus {
		m.direct[i], _ = cfg.CPUs[i].(direct)
		v := &m.vcpus[i]
		*v = vcpu{id: i, pcpu: cfg.Place[i], cpu: cfg.CPUs[i], stage: StageOuter, mp: trace.MPRunnable,
			apicv: cfg.Knobs.APICv}
		v.apic = lapic.New(uint32(i), i == 0, cfg.APIC)
		m.setAdvance(v)
		if i != 0 {
			v.mp = trace.MPUninitialized
		}
		v.msr.reset()
		v.cpu.SetTSCOffset(m.st.offset)
		m.resetSpin(v)
	}
	return m, nil
}

// SetBus connects the platform. It must be called before the first Step.
func (m *Machine) SetBus(b Bus) { m.bus = b }

// Ended reports whether the guest has stopped, how, and with which status.
func (m *Machine) Ended() (how trace.EndKind, code uint32, ended bool) {
	return m.st.end, m.st.code, m.st.ended
}

// HasEnded reports whether the guest has stopped.
func (m *Machine) HasEnded() bool { return m.st.ended }

// Exits is the number of VM-exits so far.
func (m *Machine) Exits() uint64 { return m.st.exits }

// VCPUs is the number of vCPUs.
func (m *Machine) VCPUs() int { return len(m.vcpus) }

// CPU returns the processor of vCPU v.
func (m *Machine) CPU(v int) CPU { return m.vcpus[v].cpu }

// Knobs returns the present settings.
func (m *Machine) Knobs() Knobs { return m.st.knobs }

// Stop ends the guest from outside.
func (m *Machine) Stop(p PCPU, how trace.EndKind, code uint32, detail uint64) {
	if m.st.ended {
		return
	}
	m.flushConsole(p)
	m.st.ended, m.st.end, m.st.code, m.st.detail = true, how, code, detail
	m.emit(p, trace.NoCPU, trace.KindEnd, uint64(how), uint64(code), detail, 0)
}

// emit reports an event now on p, if anybody wants it.
func (m *Machine) emit(p PCPU, v int, k trace.Kind, a, b, c, d uint64) {
	if !m.mute.Has(k) {
		m.emitNow(p, v, k, a, b, c, d)
	}
}

func (m *Machine) emitNow(p PCPU, v int, k trace.Kind, a, b, c, d uint64) {
	m.emitAt(m.common(m.host.Now(p)), p, v, k, a, b, c, d)
}

// emitAt reports an event that somebody wants.
func (m *Machine) emitAt(at clock.TSC, p PCPU, v int, k trace.Kind, a, b, c, d uint64) {
	if m.events != nil {
		e := m.events.Slot()
		e.TSC, e.Kind, e.VCPU, e.PCPU, e.Flags = at, k, uint8(v), uint8(p), 0
		e.A, e.B, e.C, e.D = a, b, c, d
		return
	}
	m.sink.Emit(trace.Event{TSC: at, Kind: k, VCPU: uint8(v), PCPU: uint8(p), A: a, B: b, C: c, D: d})
}

// common converts host TSC to the common line.
func (m *Machine) common(t clock.TSC) clock.TSC { return t.Add(m.st.offset) }

// sample reads the clocks on p for vCPU v.
func (m *Machine) sample(p PCPU, v *vcpu) lapic.Sample {
	h := m.host.Now(p)
	return lapic.Sample{Host: h, Guest: m.common(h).Add(v.tscOffset), Mono: m.host.Mono(p)}
}

// toCommon converts a guest TSC of v to the common line.
func (v *vcpu) toCommon(g clock.TSC) clock.TSC { return g.Add(-v.tscOffset) }

// spend accounts host work on p to the vCPU loaded there.
func (m *Machine) spend(p PCPU, ph trace.Phase) {
	if !m.joined.Has(ph) {
		m.pay(p, ph)
	}
}

func (m *Machine) pay(p PCPU, ph trace.Phase) {
	m.account(p, ph, m.host.Spend(p, ph))
}

// account adds cycles to the cost split of the vCPU loaded on p. When the slots
// of one event are full, they are reported and filled anew.
func (m *Machine) account(p PCPU, ph trace.Phase, c clock.Cycles) {
	l := m.st.loaded[p]
	if l < 0 || c <= 0 {
		return
	}
	v := &m.vcpus[l]
	for i := range v.costs[:v.ncosts] {
		if v.costs[i].Phase == ph {
			v.costs[i].Cycles = min(v.costs[i].Cycles+c, trace.MaxPhaseCost)
			return
		}
	}
	if v.ncosts == costSlots {
		m.flushCosts(p, v)
	}
	v.costs[v.ncosts] = trace.PhaseCost{Phase: ph, Cycles: min(c, trace.MaxPhaseCost)}
	v.ncosts++
}

// flushCosts reports the cost split collected since the last report.
func (m *Machine) flushCosts(p PCPU, v *vcpu) {
	if v.ncosts == 0 {
		return
	}
	m.emitCosts(m.common(m.host.Now(p)), p, v)
}

// emitCosts is flushCosts as of the time given, where there is something to
// report.
func (m *Machine) emitCosts(at clock.TSC, p PCPU, v *vcpu) {
	c := &v.costs
	if !m.mute.Has(trace.KindCost) {
		m.emitAt(at, p, v.id, trace.KindCost, trace.PackCosts(c[0], c[1]), trace.PackCosts(c[2], c[3]),
			trace.PackCosts(c[4], c[5]), trace.PackCosts(c[6], c[7]))
	}
	*c = [costSlots]trace.PhaseCost{}
	v.ncosts = 0
}
