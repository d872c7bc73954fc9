package trace

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// State is the fold of a run's events: everything that a screen or a report
// shows. It is plain data. Reset begins a run, Apply takes the next event,
// CopyTo hands a copy to another goroutine. Use from one goroutine at a time.
type State struct {
	// Events is the number of events applied: the Seq of the next one.
	Events Seq
	// First and Now are the least and the greatest TSC applied.
	First, Now clock.TSC
	Hz         clock.Hz
	// FromReset says that the run began with the vCPUs' reset: a register that no
	// event wrote has its reset value.
	FromReset bool
	Kinds     [NumKinds]uint64
	// Inferred counts the events with FlagInferred by kind.
	Inferred [NumKinds]uint64

	VCPUs []VCPU
	Knobs [NumKnobs]uint64
	// KnobTurns is every turn of a knob, the last 256 of them.
	KnobTurns Ring[KnobMark]
	Bookmarks Ring[Bookmark]

	Deadlines DeadlineStats
	Chains    Ring[Chain] // closed deadlines in the order in which they closed
	Scatter   Ring[LatePoint]

	ExitStats [NumExits]ExitStats
	Exits     Ring[ExitRecord] // exit Num n is entry n − 1
	Costs     [NumPhases]PhaseStats
	// HostCycles are the cycles of host work so far, Polled those of halt polling;
	// SpentAt is Spent at the handler of the last deadline.
	HostCycles, Polled clock.Cycles
	SpentAt            Spent

	Kicks      KickStats
	KickLedger Ring[KickRecord]

	Deliveries     [NumDeliverRoutes]uint64
	DeliverSources [NumSources]uint64
	DeliverClauses [NumClauses]uint64
	Expiries       [NumRoutes]uint64
	ExpireClauses  [NumClauses]uint64
	Backings       [NumBackings]uint64
	BackClauses    [NumClauses]uint64
	HostFires      [NumBackings]uint64

	Waits      WaitStats
	Tunes      [NumTunes]uint64
	Injections InjectStats
	Halts      HaltStats

	Rates    Rates
	Advances AdvanceSeries
	Console  ByteRing
	// Samples are the latencies that the guest recorded itself: seen minus
	// deadline.
	Samples Lateness

	// Stretches are what exits and entries do not tell of the vCPUs' threads and of
	// the host CPUs, in the order in which they ended. Tasks are the host's tasks
	// that events named.
	Stretches Ring[Stretch]
	Tasks     Ring[Task]
	HostCPUs  [NoCPU]HostCPU
	// Missing are the devices that the guest reached for in vain, NMissing of them.
	Missing  [MissingMax]Missing
	NMissing int

	Lost Loss
	Held Holds
	// Untrue counts durations that no clock can have measured: of exits, waits and
	// halts that would be negative or longer than the run. They are added nowhere.
	Untrue uint64
	End    End
}

// The capacities of the rings of State.
const (
	exitRing     = 2048
	chainRing    = 1024
	scatterRing  = 4096
	kickRing     = 1024
	knobRing     = 256
	bookmarkRing = 256
	consoleRing  = 64 << 10
	stretchRing  = 4096
)

// DeadlineStats counts deadlines. Opened is the sum of all others and of those
// that are open.
type DeadlineStats struct {
	// Arms is how often the guest armed its timer, Disarms how often it wrote 0.
	Arms, Disarms uint64
	// Opened counts deadlines: arms, and the periods of periodic timers.
	Opened   uint64
	Outcomes [NumOutcomes]uint64
	// InPast counts deadlines that had passed when they were armed.
	InPast uint64
	// Late is the lateness of the deadlines whose handler ran; SinceKnob of
	// those that were armed after the last turn of a knob, KnobAt.
	Late, SinceKnob Lateness
	KnobAt          clock.TSC
}

// Count is the number of deadlines whose handler ran.
func (d *DeadlineStats) Count() uint64 { return d.Outcomes[OutcomeDone] }

// Open is the number of deadlines that are armed or on their way.
func (d *DeadlineStats) Open() uint64 {
	n := d.Opened
	for _, c := range d.Outcomes {
		n -= c
	}
	return n
}

// ExitStats counts the exits of one reason.
type ExitStats struct {
	Count   uint64
	Results [NumFastpathResults]uint64
	// Clauses counts, by the first clause that failed, the exits that the
	// fastpath did not re-enter.
	Clauses [NumClauses]uint64
	// Reentries counts entries from the fastpath loop after this reason.
	Reentries uint64
	Cycles    Dist // exit to next entry
}

// Fastpath is the number of exits that a fastpath handled.
func (x *ExitStats) Fastpath() uint64 {
	return x.Results[FastSkip] + x.Results[FastReenter] + x.Results[FastHandled] + x.Results[FastUserspace]
}

// PhaseStats is the time spent in one phase.
type PhaseStats struct {
	Count  uint64
	Cycles clock.Cycles
}

// KickStats counts kicks.
type KickStats struct {
	Decisions [NumKicks]uint64
	Modes     [NumModes]uint64 // of the target
	Steps     [NumKickSteps]uint64
	Self      uint64 // the target was loaded on the kicking CPU
}

// WaitStats is the time spent waiting for expired deadlines.
type WaitStats struct {
	Count  uint64 // arrivals at the wait
	Early  uint64 // of them before the deadline
	Capped uint64 // of those cut short by the advance
	Places [NumPlacements]uint64
	Waited Dist
	Delta  Dist // guest TSC minus deadline on arrival
}

// InjectStats counts events written to the VM-entry field, and handlers begun.
type InjectStats struct {
	Injected, Reinjected, Windows uint64
	Handlers, Virtual             uint64
	EOIs, VirtualEOIs             uint64
	Syncs, Synced                 uint64 // PIR to IRR: how often, vectors moved
}

// HaltStats counts halts.
type HaltStats struct {
	Steps  [NumHaltSteps]uint64
	Wakes  [NumWakes]uint64
	Polled uint64      // wakes while polling
	Halted clock.Nanos // sum
}

// Loss says what is missing.
type Loss struct {
	Gaps, Events uint64
	Unknown      bool // a gap of unknown size
}

// Holds are the times for which the debugger held the vCPUs.
type Holds struct {
	Count  uint64
	Cycles clock.Cycles // that guests could see
	Since  clock.TSC    // of the hold that has not ended, 0 if none
	Last   clock.TSC    // end of the last one that guests could see, 0 if none
}

// End is how the guest stopped. How is BadEnd while it runs.
type End struct {
	How    EndKind
	Code   uint64
	Detail uint64
	At     clock.TSC
}

// Reset makes s the state before the first event of the run that h describes,
// and keeps its memory.
func (s *State) Reset(h *Header) {
	old := *s
	*s = State{Hz: h.Hz, Knobs: h.Knobs, FromReset: h.Engine == "model" || h.Engine == "kvm",
		VCPUs: old.VCPUs[:0], KnobTurns: old.KnobTurns, Bookmarks: old.Bookmarks, Chains: old.Chains,
		Scatter: old.Scatter, Exits: old.Exits, KickLedger: old.KickLedger, Advances: old.Advances,
		Console: old.Console, Samples: old.Samples, Stretches: old.Stretches, Tasks: old.Tasks}
	s.Deadlines.Late, s.Deadlines.SinceKnob = old.Deadlines.Late, old.Deadlines.SinceKnob
	s.Samples.Reset()
	s.Deadlines.Late.Reset()
	s.Deadlines.SinceKnob.Reset()
	s.KnobTurns.Reset(knobRing)
	s.Bookmarks.Reset(bookmarkRing)
	s.Chains.Reset(chainRing)
	s.Scatter.Reset(scatterRing)
	s.Exits.Reset(exitRing)
	s.KickLedger.Reset(kickRing)
	s.Console.Reset(consoleRing)
	s.Stretches.Reset(stretchRing)
	s.Tasks.Reset(MaxTasks)
	s.Rates.reset()
	s.Advances.reset()
	s.growVCPUs(h.VCPUs)
}

// MaxVCPUs is the most vCPUs that events can name.
const MaxVCPUs = NoCPU

// growVCPUs makes sure that there are n vCPUs.
func (s *State) growVCPUs(n int) {
	for len(s.VCPUs) < min(n, MaxVCPUs) {
		if len(s.VCPUs) < cap(s.VCPUs) {
			s.VCPUs = s.VCPUs[:len(s.VCPUs)+1]
			v := &s.VCPUs[len(s.VCPUs)-1]
			v.Late.Reset()
			*v = VCPU{Late: v.Late}
		} else {
			s.VCPUs = append(s.VCPUs, VCPU{})
		}
		s.VCPUs[len(s.VCPUs)-1].init(s)
	}
}

func (v *VCPU) init(s *State) {
	v.PCPU = NoCPU
	v.MP = MPUninitialized
	if len(s.VCPUs) == 1 {
		v.MP = MPRunnable
	}
	v.AdvanceNS = advanceOf(s.Knobs[KnobAdvance])
}

// firstAdvance is the value that adaptive tuning starts from
// (arch/x86/kvm/lapic.c, LAPIC_TIMER_ADVANCE_NS_INIT).
const firstAdvance clock.Nanos = 1000

func advanceOf(knob uint64) clock.Nanos {
	switch knob {
	case AdvanceAdaptive:
		return firstAdvance
	case UnknownKnob:
		return 0
	}
	return clock.Nanos(knob)
}

// CopyTo makes dst equal to s without sharing memory, and reuses dst's.
func (s *State) CopyTo(dst *State) {
	old := *dst
	*dst = *s
	dst.VCPUs, dst.KnobTurns, dst.Bookmarks = old.VCPUs, old.KnobTurns, old.Bookmarks
	dst.Chains, dst.Scatter, dst.Exits = old.Chains, old.Scatter, old.Exits
	dst.KickLedger, dst.Advances, dst.Console = old.KickLedger, old.Advances, old.Console
	dst.Stretches, dst.Tasks = old.Stretches, old.Tasks
	dst.Samples, dst.Deadlines.Late, dst.Deadlines.SinceKnob = old.Samples, old.Deadlines.Late, old.Deadlines.SinceKnob

	s.KnobTurns.copyTo(&dst.KnobTurns)
	s.Bookmarks.copyTo(&dst.Bookmarks)
	s.Chains.copyTo(&dst.Chains)
	s.Scatter.copyTo(&dst.Scatter)
	s.Exits.copyTo(&dst.Exits)
	s.KickLedger.copyTo(&dst.KickLedger)
	s.Advances.copyTo(&dst.Advances)
	s.Console.copyTo(&dst.Console.Ring)
	s.Stretches.copyTo(&dst.Stretches)
	s.Tasks.copyTo(&dst.Tasks)
	s.Samples.copyTo(&dst.Samples)
	s.Deadlines.Late.copyTo(&dst.Deadlines.Late)
	s.Deadlines.SinceKnob.copyTo(&dst.Deadlines.SinceKnob)
	s.copyVCPUs(dst)
}

func (s *State) copyVCPUs(dst *State) {
	if cap(dst.VCPUs) < len(s.VCPUs) {
		dst.VCPUs = append(make([]VCPU, 0, len(s.VCPUs)), dst.VCPUs...)
	}
	dst.VCPUs = dst.VCPUs[:len(s.VCPUs)]
	for i := range s.VCPUs {
		s.VCPUs[i].copyTo(&dst.VCPUs[i])
	}
}
