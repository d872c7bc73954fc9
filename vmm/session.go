package vmm

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// Session is what the screen drives: a run on an engine or a recording, with the
// user's actions. Its methods may be called from one goroutine; they do not
// block for longer than it takes to copy a frame.
type Session interface {
	// Frame copies the present state into f, reusing f's memory.
	Frame(f *Frame)
	// Do asks for an action. It returns an error, one sentence for the user, if
	// the action is not possible now; otherwise the next frames show it.
	Do(Command) error
	// Close ends the run and finishes a recording. It may be called twice.
	Close() error
}

// Frame is everything that a screen shows, as plain data.
type Frame struct {
	Header trace.Header
	State  trace.State
	Status Status
	// CPUs are the vCPUs as they stand now; empty where registers are not known
	// (recordings, imported traces).
	CPUs []CPUFrame
	// Knobs are the knobs with what the engine can do about them, in the order
	// of trace.Knob.
	Knobs []KnobState
	// Known says how each figure is known; a run on the model and a recording do
	// not say.
	Known KnownFigures
	// Others are runs to compare with: the branch that was left last, or another
	// file and the whole of this one. They are shared and do not change.
	Others []*OtherRun
	// Timeline is the whole of a recording in coarse steps, for a seek bar. It is
	// filled while the recording is read through in the background. For a run that
	// can go back it is what the run has come to, the known future included.
	Timeline Timeline
	// Marks are the bookmarks beside a recording, by time. Those that events tell
	// of are in State.
	Marks []Mark
}

// Mark is a bookmark that the user set in a recording.
type Mark struct {
	At   clock.TSC
	Name string
}

// OtherRun is a run to compare with. It is read only.
type OtherRun struct {
	Name   string
	Header trace.Header
	State  trace.State
	// Fork is where the present run left it, 0 for another run altogether.
	Fork clock.TSC
	// Whole is true for the present recording up to its end.
	Whole bool
}

// Timeline divides a recording into equal stretches of time.
type Timeline struct {
	From, To clock.TSC
	Buckets  []Bucket
	Complete bool
}

// Bucket is one stretch of a Timeline.
type Bucket struct {
	Deadlines uint32
	Worst     clock.Cycles // greatest lateness
	Knob      bool         // a knob was turned
	// Over counts the deadlines later than OverLimit(i).
	Over [OverLimits]uint32
}

// OverLimits is the number of limits of Bucket.Over.
const OverLimits = 16

// OverLimit is a limit of Bucket.Over: 64 cycles, and twice the one before.
func OverLimit(i int) clock.Cycles { return 64 << i }

// Add counts a deadline.
func (b *Bucket) Add(late clock.Cycles) {
	if b.Deadlines++; b.Deadlines == 1 {
		b.Worst = late
	}
	b.Worst = max(b.Worst, late)
	for i := range b.Over {
		if late <= OverLimit(i) {
			break
		}
		b.Over[i]++
	}
}

// CPUFrame is one vCPU at the moment of a frame.
type CPUFrame struct {
	Regs Registers
	// Code is guest code starting at CodeAt (linear), empty if not mapped.
	Code   []byte
	CodeAt uint64
	Bits   int // 16, 32 or 64
	// APIC is the local APIC read together with Regs.
	APIC APICFrame
}

// APICFrame is what was read of a local APIC. It is worth more than what events
// tell, which may have begun late, or miss what the guest does without an exit.
type APICFrame struct {
	Known bool // the rest was read
	At    clock.TSC
	// Regs are the registers, Regs.Deadline the TSC-deadline MSR as the guest
	// reads it. Seen is not used.
	Regs  trace.APICRegisters
	TMCCT uint32
	PPR   uint8
	// IRR, ISR and TMR are the sets of vectors.
	IRR, ISR, TMR trace.Vectors
	// Deadline is Regs.Deadline on the common line, 0 if the MSR is 0.
	Deadline clock.TSC
}

// Ahead says how much further the guest is than what is shown of it.
type Ahead struct {
	Events, Exits uint64
	// AtLeast: events were lost on the way, so there may be more.
	AtLeast bool
}

// Status is the state of a session.
type Status struct {
	Run RunState
	// Now is the position on the common TSC line.
	Now clock.TSC
	// Speed is guest time per wall time: 1 is real time, 0 as fast as possible.
	Speed float64
	// Rate is what is reached, guest seconds per wall second.
	Rate    float64
	CanBack bool   // backwards steps are possible
	Break   string // condition at which the run stops, empty if none
	// Branch is the number of the branch of the run, 0 for the first; Replaying
	// is true while the position has been passed before, up to Head.
	Branch    int
	Replaying bool
	Head      clock.TSC
	// Past is true while the view is in the past of a run that cannot be repeated:
	// what it has shown is played, up to Head, its present.
	Past bool
	// Ahead is how much further than State the guest of a run in real time is
	// that is paused.
	Ahead Ahead
	// File is the recording that is played, empty for a run.
	File      string
	Recording string // path, empty if not recording
	RecBytes  int64
	// Notice is the last thing the user should know, one sentence.
	Notice string
	// EndCode is the guest's exit status once Run is Ended.
	End     trace.EndKind
	EndCode uint32
}

// RunState says whether the guest is running.
type RunState uint8

// The run states. BadRunState is the invalid zero value.
const (
	BadRunState RunState = iota
	Running
	Paused
	Ended
)

// RunStateNames names the run states.
var RunStateNames = []string{"bad", "running", "paused", "ended"}

// Verb is the kind of a Command.
type Verb uint8

// The verbs. BadVerb is the invalid zero value.
const (
	BadVerb        Verb = iota
	DoRun               // run
	DoPause             // pause
	DoStepExit          // N exits on
	DoStepDeadline      // to the end of the N-th deadline from here
	DoBackExit          // the same, backwards
	DoBackDeadline
	DoKnob   // turn Knob to Value
	DoSpeed  // set Speed
	DoRecord // start recording to Path, or stop if empty
	DoMark   // bookmark named Text
	DoBreak  // stop at condition Text; empty removes it
	DoSeek   // go to TSC At
	DoRunTo  // run to the next moment at which condition Text holds
	DoBackTo // go back to the last one
)

// Command is an action of the user.
type Command struct {
	Verb  Verb
	N     int
	Knob  trace.Knob
	Value uint64
	Speed float64
	Path  string
	Text  string
	At    clock.TSC
}
