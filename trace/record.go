package trace

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// ExitRecord is one VM-exit and what was made of it. EntryAt is 0 while the
// vCPU is in the host.
type ExitRecord struct {
	Num     Num
	VCPU    uint8
	PCPU    uint8
	Reason  ExitReason
	Result  FastpathResult
	Clause  Clause // why the fastpath did not re-enter
	HasFast bool   // a fastpath event told Result and Clause
	Reentry bool   // it ended by an entry from the fastpath loop
	Vector  uint8  // in the VM-entry field of that entry, 0 if none
	// Seq is the number of the exit event.
	Seq          Seq
	At, EntryAt  clock.TSC
	RIP          uint64
	Info1, Info2 uint64
	Deadline     Num // the deadline it armed, expired, injected or ended
	Costs        CostSplit
}

// Cycles is the time from the exit to the next entry, 0 while that is open.
func (x *ExitRecord) Cycles() clock.Cycles {
	if x.EntryAt == 0 {
		return 0
	}
	return x.EntryAt.Sub(x.At)
}

// KickRecord is a line of the kick ledger.
type KickRecord struct {
	At       clock.TSC
	Target   uint8
	From     uint8 // vCPU loaded on the kicking CPU, NoCPU if none
	PCPU     uint8 // kicking CPU
	Decision KickDecision
	Mode     Mode // the target's mode when looked at
	Steps    KickSteps
}

// LatePoint is one deadline in the lateness scatter.
type LatePoint struct {
	At       clock.TSC // when the handler ran
	Late     clock.Cycles
	Deadline Num
	VCPU     uint8
	Backing  Backing
	Route    ExpireRoute
	// Cost is what the host spent since the handler of the deadline before.
	Cost DeadlineCost
}

// KnobMark is a turn of a knob.
type KnobMark struct {
	At         clock.TSC
	Seq        Seq
	Knob       Knob
	Value, Old uint64
}

// Bookmark is a mark that the user set.
type Bookmark struct {
	At   clock.TSC
	Seq  Seq
	Name [8]byte // zero-padded
}

// Seq is the position of an event in its run: the first is 0.
type Seq uint64

// Dist is the sum and the range of a quantity in cycles.
type Dist struct {
	N        uint64
	Sum      clock.Cycles // wraps after 2^63 cycles
	Min, Max clock.Cycles
}

// Add counts c.
func (d *Dist) Add(c clock.Cycles) {
	if d.N == 0 {
		d.Min, d.Max = c, c
	}
	d.N++
	d.Sum += c
	d.Min, d.Max = min(d.Min, c), max(d.Max, c)
}

// Mean is the arithmetic mean, rounded down in magnitude; 0 if empty.
func (d *Dist) Mean() clock.Cycles {
	if d.N == 0 {
		return 0
	}
	return d.Sum / clock.Cycles(d.N)
}
