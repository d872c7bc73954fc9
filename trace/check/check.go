package check

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
)

// Decision is a kind of decision that is compared.
type Decision uint8

// The decisions. BadDecision is the invalid zero value.
const (
	BadDecision Decision = iota
	Fastpath             // whether an exit is finished with IRQs off, and how
	Backing              // preemption timer or hrtimer
	Expiry               // what apic_timer_expired does
	Kick                 // whether a kick asks for the target's mode
	Wait                 // whether a VM-entry waits for an expired deadline
	Delivery             // PIR or IRR
	NumDecisions
)

// DecisionNames names the decisions.
var DecisionNames = []string{"bad", "fastpath", "backing", "expiry", "kick", "wait", "delivery"}

// String returns the name.
func (d Decision) String() string { return DecisionNames[min(int(d), len(DecisionNames)-1)] }

// Tally counts the decisions of one kind.
type Tally struct{ Agreed, Disagreed, Undecided uint64 }

// Disagreement is a decision that the kernel made otherwise than its release's
// rules say.
type Disagreement struct {
	Decision Decision
	TSC      clock.TSC
	VCPU     uint8
	// Exit is the number of the exit, from 1, over all vCPUs, after which it
	// was; Reason is the vCPU's last exit reason.
	Exit   uint64
	Reason trace.ExitReason
	// Did is what the kernel did, Want what the rules say; Clause is the first
	// clause that fails by the rules, ClauseNone if all hold.
	Did, Want string
	Clause    trace.Clause
}

// keep is how many disagreements of each kind are listed; all are counted.
const keep = 16

// Checker is a trace.Sink that compares. Make one with New.
type Checker struct {
	k       kernel.Kernel
	knobs   [trace.NumKnobs]uint64
	modeled bool
	// noNextRIP is WithoutNextRIP.
	noNextRIP bool
	vcpus     [trace.MaxVCPUs]vcpu
	exits     uint64
	tallies   [NumDecisions]Tally
	why       [NumDecisions]map[string]uint64
	list      []Disagreement
	kicks     kickLog
}

// vcpu is what the comparison knows of one vCPU.
type vcpu struct {
	id     uint8
	pcpu   uint8
	reason trace.ExitReason
	seen   bool // an exit was seen
	inside bool // in the guest
	exitNo uint64
	// msr and value are the last exit's MSR access.
	msrKnown   bool
	msr, value uint64
	judged     bool // the fastpath's result of the last exit is known

	halting bool // from the exit on HLT to the wake-up
	blocked bool // the thread sleeps
	woken   bool // it was woken since the halt began, and may sleep again

	mode       trace.TimerMode
	target     clock.TSC
	armed      bool
	expiredNow bool // since the timer was armed

	exp  expiry
	wait waiting
	out  []delivered
}

// New makes a Checker for the run of a header: what its kernel did is compared
// with the rules of k.
func New(h *trace.Header, k kernel.Kernel) *Checker {
	c := &Checker{k: k, knobs: h.Knobs, modeled: h.Provenance == trace.Modelled}
	for i := range c.vcpus {
		c.vcpus[i].reset(uint8(i))
	}
	for i := range c.why {
		c.why[i] = map[string]uint64{}
	}
	return c
}

// WithoutNextRIP says that the CPU, an AMD one, gives no next RIP (AMD APM vol. 2,
// "State Saved on Exit").
func (c *Checker) WithoutNextRIP() { c.noNextRIP = true }

func (v *vcpu) reset(id uint8) { *v = vcpu{id: id, pcpu: trace.NoCPU, judged: true} }

// Emit implements trace.Sink.
func (c *Checker) Emit(e trace.Event) {
	switch e.Kind {
	case trace.KindKnob:
		c.turn(&e)
		return
	case trace.KindLost:
		for i := range c.vcpus {
			c.vcpus[i].reset(uint8(i))
		}
		return
	}
	if int(e.VCPU) >= len(c.vcpus) {
		return
	}
	v := &c.vcpus[e.VCPU]
	if e.Kind != trace.KindKick && e.PCPU != trace.NoCPU { // a kick happens where the kicker runs
		v.pcpu = e.PCPU
	}
	if h := handlers[e.Kind]; h != nil {
		h(c, v, &e)
	}
}

// handlers are the events that matter, by kind.
var handlers = [trace.NumKinds]func(*Checker, *vcpu, *trace.Event){
	trace.KindExit:     (*Checker).exit,
	trace.KindEntry:    (*Checker).entry,
	trace.KindFastpath: (*Checker).fastpath,
	trace.KindMSR:      (*Checker).access,
	trace.KindArm:      (*Checker).arm,
	trace.KindBacking:  (*Checker).backing,
	trace.KindExpire:   (*Checker).expire,
	trace.KindWait:     (*Checker).waited,
	trace.KindDeliver:  (*Checker).deliver,
	trace.KindInject:   (*Checker).inject,
	trace.KindKick:     (*Checker).kick,
	trace.KindHalt: func(_ *Checker, v *vcpu, e *trace.Event) {
		v.blocked = trace.HaltStep(e.A) == trace.HaltBlocked
	},
	trace.KindWake: func(_ *Checker, v *vcpu, _ *trace.Event) {
		v.halting, v.blocked, v.woken = false, false, true
	},
}

func (c *Checker) exit(v *vcpu, e *trace.Event) {
	if !v.judged {
		c.undecided(Fastpath, "no probe told the fastpath's result")
	}
	c.settleExpiry(v)
	c.noWait(v, false)
	c.passed(v)
	c.exits++
	v.exitNo = c.exits
	v.reason, v.seen, v.inside = trace.ExitReason(e.A), true, false
	v.halting, v.msrKnown, v.judged = v.reason == trace.ExitHLT, false, false
}

func (c *Checker) entry(v *vcpu, _ *trace.Event) {
	c.settleExpiry(v)
	c.noWait(v, true)
	for i := range v.out {
		v.out[i].entered = true
	}
	v.inside, v.halting, v.blocked, v.woken = true, false, false, false
}

func (c *Checker) access(v *vcpu, e *trace.Event) {
	c.settleExpiry(v)
	if e.C != 0 {
		v.msrKnown, v.msr, v.value = true, e.A, e.B
	}
}

func (c *Checker) arm(v *vcpu, e *trace.Event) {
	v.target, v.mode, v.armed, v.expiredNow = clock.TSC(e.A), trace.TimerMode(e.B), true, false
}

func (c *Checker) turn(e *trace.Event) {
	k := trace.Knob(e.A)
	if k >= trace.NumKnobs {
		return
	}
	c.knobs[k] = e.B
	if k != trace.KnobAPICv {
		return
	}
	for i := range c.vcpus { // what is under way was decided before, or after
		v := &c.vcpus[i]
		for range v.out {
			c.undecided(Delivery, "APICv was turned while it was under way")
		}
		v.out = v.out[:0]
		v.wait.due = false
	}
}

// on is a switch's state.
func (c *Checker) on(k trace.Knob) (on, known bool) {
	v := c.knobs[k]
	return v != 0, v != trace.UnknownKnob
}

// exitsDisabled reports whether the VM runs without one of the exits, by bit: 1
// is MWAIT, 2 HLT.
func (c *Checker) exitsDisabled(bits uint64) (yes, known bool) {
	v := c.knobs[trace.KnobExitsDisabled]
	return v&bits != 0 && v != trace.UnknownKnob, v != trace.UnknownKnob
}

const (
	mwaitExits = 1
	hltExits   = 2
)

func (c *Checker) agreed(d Decision) { c.tallies[d].Agreed++ }

func (c *Checker) undecided(d Decision, why string) {
	c.tallies[d].Undecided++
	c.why[d][why]++
}

// compare counts a decision and lists it if the kernel did something else.
func (c *Checker) compare(d Decision, v *vcpu, at clock.TSC, did, want string, clause trace.Clause) {
	if did == want {
		c.agreed(d)
		return
	}
	c.differs(Disagreement{Decision: d, TSC: at, VCPU: v.id, Exit: v.exitNo, Reason: v.reason, Did: did, Want: want,
		Clause: clause})
}

func (c *Checker) differs(x Disagreement) {
	if c.tallies[x.Decision].Disagreed++; c.tallies[x.Decision].Disagreed <= keep {
		c.list = append(c.list, x)
	}
}
