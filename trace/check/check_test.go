package check

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
)

// host is a host's knobs; the preemption timer is on, the rest off.
type host struct {
	release string
	vendor  kernel.Vendor
	knobs   map[trace.Knob]uint64
}

func (h host) header() *trace.Header {
	t := &trace.Header{Engine: "kvm", LAPIC: "kernel", Provenance: trace.Measured, VCPUs: 2}
	t.Knobs[trace.KnobPreemptionTimer] = 1
	t.Knobs[trace.KnobAdvance] = trace.AdvanceAdaptive
	for k, v := range h.knobs {
		t.Knobs[k] = v
	}
	return t
}

// run checks events; their times are their order.
func (h host) run(t *testing.T, events []trace.Event) *Result {
	t.Helper()
	n, err := kernel.Parse(h.release)
	if err != nil {
		t.Fatal(err)
	}
	hd := h.header()
	c := New(hd, kernel.At(n.Release, h.vendor))
	for i, e := range events {
		e.TSC = clock.TSC(1001 + i)
		c.Emit(e)
	}
	return c.Result(hd)
}

func exit(r trace.ExitReason) trace.Event { return trace.Event{Kind: trace.KindExit, A: uint64(r)} }
func wrmsr(msr, v uint64) trace.Event {
	return trace.Event{Kind: trace.KindMSR, A: msr, B: v, C: 1}
}
func fast(r trace.ExitReason, res trace.FastpathResult, msr uint64) trace.Event {
	return trace.Event{Kind: trace.KindFastpath, A: uint64(r), B: uint64(res), D: msr}
}
func entry() trace.Event { return trace.Event{Kind: trace.KindEntry} }
func arm(target uint64) trace.Event {
	return trace.Event{Kind: trace.KindArm, A: target, B: uint64(trace.TSCDeadline), C: target}
}
func back(b trace.Backing) trace.Event {
	return trace.Event{Kind: trace.KindBacking, Flags: trace.FlagInferred, A: uint64(b)}
}
func expire(callback uint64) trace.Event {
	return trace.Event{Kind: trace.KindExpire, A: 1, D: callback}
}
func deliver(vec uint64, s trace.Source) trace.Event {
	return trace.Event{Kind: trace.KindDeliver, A: vec, B: uint64(trace.DeliverRequest), D: uint64(s)}
}
func inject(vec uint64) trace.Event { return trace.Event{Kind: trace.KindInject, A: vec} }
func waits() trace.Event {
	return trace.Event{Kind: trace.KindWait, D: uint64(trace.WaitLate)}
}
func kick(steps trace.KickSteps, from uint64) trace.Event {
	return trace.Event{Kind: trace.KindKick, A: uint64(trace.KickNothing), C: uint64(steps), D: from, PCPU: 0}
}
func blocks() trace.Event { return trace.Event{Kind: trace.KindHalt, A: uint64(trace.HaltBlocked)} }
func wakes() trace.Event  { return trace.Event{Kind: trace.KindWake} }
func turns(k trace.Knob, v uint64) trace.Event {
	return trace.Event{Kind: trace.KindKnob, VCPU: trace.NoCPU, A: uint64(k), B: v}
}

const (
	deadlineMSR = 0x6e0
	otherMSR    = 0x83f
)

var (
	icrMSR   = uint64(lapic.ICRLow.MSR())
	fixedICR = uint64(1)<<32 | 0x40
	logical  = fixedICR | 1<<11
	intel    = map[trace.Knob]uint64{}
	apicv    = map[trace.Knob]uint64{trace.KnobAPICv: 1}
	noTimer  = map[trace.Knob]uint64{trace.KnobPreemptionTimer: 0}
	unknown  = map[trace.Knob]uint64{trace.KnobAPICv: trace.UnknownKnob, trace.KnobPreemptionTimer: trace.UnknownKnob}
	mwait    = map[trace.Knob]uint64{trace.KnobExitsDisabled: mwaitExits}
	posted   = map[trace.Knob]uint64{trace.KnobAPICv: 1, trace.KnobPostedTimer: 1, trace.KnobExitsDisabled: hltExits}
)

// Each row is one stretch of a run and what comes of the decision that it is
// about.
func TestDecisionsAreComparedWithTheRules(t *testing.T) {
	msr := trace.ExitMSRWrite
	tests := []struct {
		name     string
		host     host
		decision Decision
		events   []trace.Event
		want     Tally
		clause   string
	}{
		{"deadline write re-enters", host{"6.12", kernel.Intel, intel}, Fastpath,
			[]trace.Event{exit(msr), wrmsr(deadlineMSR, 9), fast(msr, trace.FastReenter, deadlineMSR)}, Tally{1, 0, 0}, ""},
		{"deadline write goes round for a request", host{"6.12", kernel.Intel, intel}, Fastpath,
			[]trace.Event{exit(msr), wrmsr(deadlineMSR, 9), fast(msr, trace.FastHandled, deadlineMSR)}, Tally{1, 0, 0}, ""},
		{"deadline write is left alone", host{"6.12", kernel.Intel, intel}, Fastpath,
			[]trace.Event{exit(msr), wrmsr(deadlineMSR, 9), fast(msr, trace.FastNone, deadlineMSR)}, Tally{0, 1, 0}, ""},
		{"deadline write without preemption timer", host{"6.12", kernel.Intel, noTimer}, Fastpath,
			[]trace.Event{exit(msr), wrmsr(deadlineMSR, 9), fast(msr, trace.FastReenter, deadlineMSR)}, Tally{0, 1, 0}, "no-hv-timer"},
		{"the same from 6.18 on", host{"6.18", kernel.Intel, noTimer}, Fastpath,
			[]trace.Event{exit(msr), wrmsr(deadlineMSR, 9), fast(msr, trace.FastReenter, deadlineMSR)}, Tally{1, 0, 0}, ""},
		{"deadline write with MWAIT exits disabled", host{"6.12", kernel.Intel, mwait}, Fastpath,
			[]trace.Event{exit(msr), wrmsr(deadlineMSR, 9), fast(msr, trace.FastReenter, deadlineMSR)}, Tally{0, 1, 0}, "mwait-in-guest"},
		{"deadline write where timers can be posted", host{"6.12", kernel.Intel, posted}, Fastpath,
			[]trace.Event{exit(msr), wrmsr(deadlineMSR, 9), fast(msr, trace.FastReenter, deadlineMSR)}, Tally{0, 1, 0}, "timer-postable"},
		{"deadline write, preemption timer not known", host{"6.12", kernel.Intel, unknown}, Fastpath,
			[]trace.Event{exit(msr), wrmsr(deadlineMSR, 9), fast(msr, trace.FastReenter, deadlineMSR)}, Tally{0, 0, 1}, ""},
		{"deadline write on AMD", host{"6.12", kernel.AMD, intel}, Fastpath,
			[]trace.Event{exit(msr), wrmsr(deadlineMSR, 9), fast(msr, trace.FastReenter, deadlineMSR)}, Tally{0, 1, 0}, "no-hv-timer"},
		{"no MSR traced", host{"6.12", kernel.Intel, intel}, Fastpath,
			[]trace.Event{exit(msr), fast(msr, trace.FastReenter, 0)}, Tally{0, 0, 1}, ""},
		{"another MSR", host{"6.12", kernel.Intel, intel}, Fastpath,
			[]trace.Event{exit(msr), wrmsr(otherMSR, 1), fast(msr, trace.FastHandled, otherMSR)}, Tally{0, 1, 0}, "other-msr"},
		{"ICR goes round in 5.8", host{"5.8", kernel.Intel, intel}, Fastpath,
			[]trace.Event{exit(msr), wrmsr(icrMSR, fixedICR), fast(msr, trace.FastReenter, icrMSR)}, Tally{0, 1, 0}, ""},
		{"ICR with a logical destination", host{"6.1", kernel.Intel, intel}, Fastpath,
			[]trace.Event{exit(msr), wrmsr(icrMSR, logical), fast(msr, trace.FastHandled, icrMSR)}, Tally{0, 1, 0}, "logical-dest"},
		{"HLT before there was a fastpath", host{"6.1", kernel.Intel, intel}, Fastpath,
			[]trace.Event{exit(trace.ExitHLT), fast(trace.ExitHLT, trace.FastNone, 0)}, Tally{1, 0, 0}, ""},
		{"HLT in 6.12", host{"6.12", kernel.Intel, intel}, Fastpath,
			[]trace.Event{exit(trace.ExitHLT), fast(trace.ExitHLT, trace.FastNone, 0)}, Tally{0, 1, 0}, ""},
		{"no probe", host{"6.12", kernel.Intel, intel}, Fastpath,
			[]trace.Event{exit(msr), wrmsr(deadlineMSR, 9), entry(), exit(msr)}, Tally{0, 0, 1}, ""},
		{"an I/O exit", host{"6.12", kernel.Intel, intel}, Fastpath,
			[]trace.Event{exit(trace.ExitIO), fast(trace.ExitIO, trace.FastHandled, 0)}, Tally{0, 1, 0}, "no-handler"},
		{"preemption timer", host{"6.1", kernel.Intel, intel}, Fastpath,
			[]trace.Event{exit(trace.ExitPreemptionTimer), fast(trace.ExitPreemptionTimer, trace.FastReenter, 0)}, Tally{1, 0, 0}, ""},

		{"hv on Intel", host{"6.12", kernel.Intel, intel}, Backing,
			[]trace.Event{exit(msr), arm(1e6), back(trace.BackHV)}, Tally{1, 0, 0}, ""},
		{"sw on Intel for nothing", host{"6.12", kernel.Intel, intel}, Backing,
			[]trace.Event{exit(msr), arm(1e6), back(trace.BackSW)}, Tally{0, 1, 0}, ""},
		{"sw in a halt", host{"6.12", kernel.Intel, intel}, Backing,
			[]trace.Event{exit(msr), arm(1e6), exit(trace.ExitHLT), back(trace.BackSW)}, Tally{1, 0, 0}, ""},
		{"hv in a halt", host{"6.12", kernel.Intel, intel}, Backing,
			[]trace.Event{exit(msr), arm(1e6), exit(trace.ExitHLT), back(trace.BackHV)}, Tally{0, 1, 0}, "blocked"},
		{"hv after the wake-up", host{"6.12", kernel.Intel, intel}, Backing,
			[]trace.Event{exit(msr), arm(1e6), exit(trace.ExitHLT), wakes(), back(trace.BackHV)}, Tally{1, 0, 0}, ""},
		{"sw after the wake-up", host{"6.12", kernel.Intel, intel}, Backing,
			[]trace.Event{exit(msr), arm(1e6), exit(trace.ExitHLT), wakes(), back(trace.BackSW)}, Tally{0, 0, 1}, ""},
		{"expired while it was programmed", host{"6.12", kernel.Intel, intel}, Backing,
			[]trace.Event{exit(msr), arm(1), expire(0), back(trace.BackSW)}, Tally{1, 0, 0}, ""},
		{"hv on AMD", host{"6.12", kernel.AMD, intel}, Backing,
			[]trace.Event{exit(msr), arm(1e6), back(trace.BackHV)}, Tally{0, 1, 0}, "no-hv-timer"},
		{"far away", host{"6.12", kernel.Intel, intel}, Backing,
			[]trace.Event{exit(msr), arm(1 << 40), back(trace.BackSW)}, Tally{0, 0, 1}, ""},
		{"disarmed", host{"6.12", kernel.Intel, intel}, Backing,
			[]trace.Event{exit(msr), arm(0), back(trace.BackHV)}, Tally{0, 1, 0}, "zero-deadline"},
		{"armed out of sight", host{"6.12", kernel.Intel, intel}, Backing,
			[]trace.Event{exit(msr), back(trace.BackHV)}, Tally{0, 0, 1}, ""},

		{"direct injection with APICv", host{"6.12", kernel.Intel, apicv}, Expiry,
			[]trace.Event{exit(msr), expire(0), deliver(64, trace.SourceTimer)}, Tally{1, 0, 0}, ""},
		{"pending with APICv", host{"6.12", kernel.Intel, apicv}, Expiry,
			[]trace.Event{exit(msr), expire(0), fast(msr, trace.FastNone, otherMSR), deliver(64, trace.SourceTimer)}, Tally{0, 1, 0}, ""},
		{"pending with APICv before 5.8", host{"5.7", kernel.Intel, apicv}, Expiry,
			[]trace.Event{exit(msr), expire(0), wrmsr(deadlineMSR, 1), deliver(64, trace.SourceTimer)}, Tally{1, 0, 0}, ""},
		{"direct injection without APICv", host{"6.12", kernel.Intel, intel}, Expiry,
			[]trace.Event{exit(msr), expire(0), deliver(64, trace.SourceTimer)}, Tally{0, 1, 0}, "apicv-inactive"},
		{"callback kicks", host{"6.12", kernel.Intel, apicv}, Expiry,
			[]trace.Event{kick(trace.StepRCU, 0), entry(), expire(1), kick(trace.StepRCU, 0), deliver(64, trace.SourceTimer)}, Tally{1, 0, 0}, ""},
		{"callback posts", host{"6.12", kernel.Intel, posted}, Expiry,
			[]trace.Event{kick(trace.StepRCU, 0), entry(), expire(1), deliver(64, trace.SourceTimer)}, Tally{1, 0, 0}, ""},
		{"callback outside the guest kicks all the same", host{"6.12", kernel.Intel, posted}, Expiry,
			[]trace.Event{kick(trace.StepRCU, 0), exit(msr), expire(1), deliver(64, trace.SourceTimer)}, Tally{0, 1, 0}, "from-timer-fn"},
		{"APICv not known", host{"6.12", kernel.Intel, unknown}, Expiry,
			[]trace.Event{exit(msr), expire(0), deliver(64, trace.SourceTimer)}, Tally{0, 0, 1}, ""},
		{"no end in the trace", host{"6.12", kernel.Intel, intel}, Expiry,
			[]trace.Event{exit(msr), expire(0)}, Tally{0, 0, 1}, ""},

		{"own vCPU", host{"6.12", kernel.Intel, intel}, Kick,
			[]trace.Event{exit(msr), kick(trace.StepRCU, 0)}, Tally{1, 0, 0}, ""},
		{"own vCPU with cmpxchg", host{"6.12", kernel.Intel, intel}, Kick,
			[]trace.Event{exit(msr), kick(trace.StepRCU|trace.StepCmpxchg, 0)}, Tally{0, 1, 0}, "running-vcpu"},
		{"own vCPU with cmpxchg in 5.15", host{"5.15", kernel.Intel, intel}, Kick,
			[]trace.Event{exit(msr), kick(trace.StepRCU|trace.StepCmpxchg, 0)}, Tally{1, 0, 0}, ""},
		{"the same CPU in 5.14", host{"5.14", kernel.Intel, intel}, Kick,
			[]trace.Event{exit(msr), kick(trace.StepRCU, 1)}, Tally{1, 0, 0}, ""},
		{"blocked", host{"6.12", kernel.Intel, intel}, Kick,
			[]trace.Event{exit(trace.ExitHLT), blocks(), kick(trace.StepRCU|trace.StepWake, 1)}, Tally{1, 0, 0}, ""},
		{"blocked, and asked", host{"6.12", kernel.Intel, intel}, Kick,
			[]trace.Event{exit(trace.ExitHLT), blocks(), kick(trace.StepRCU|trace.StepCmpxchg, 1)}, Tally{0, 0, 1}, ""},
		{"woken twice", host{"6.12", kernel.Intel, intel}, Kick,
			[]trace.Event{exit(trace.ExitHLT), blocks(), kick(trace.StepRCU|trace.StepWake, 1), kick(trace.StepRCU|trace.StepCmpxchg, 1)},
			Tally{2, 0, 0}, ""},
		{"woken, and perhaps asleep again", host{"6.12", kernel.Intel, intel}, Kick,
			[]trace.Event{exit(trace.ExitHLT), kick(trace.StepRCU|trace.StepCmpxchg, 1), blocks(), kick(trace.StepRCU|trace.StepWake, 1),
				kick(trace.StepRCU|trace.StepWake, 1)}, Tally{2, 0, 1}, ""},
		{"own vCPU, its thread perhaps in user space", host{"6.12", kernel.Intel, intel}, Kick,
			[]trace.Event{exit(trace.ExitIO), kick(trace.StepRCU|trace.StepCmpxchg, 0)}, Tally{0, 0, 1}, ""},
		{"another vCPU, not asked", host{"6.12", kernel.Intel, intel}, Kick,
			[]trace.Event{exit(msr), kick(trace.StepRCU|trace.StepCmpxchg, 1), kick(trace.StepRCU, 1)}, Tally{1, 1, 0}, ""},
		{"another vCPU, no probe", host{"6.12", kernel.Intel, intel}, Kick,
			[]trace.Event{exit(msr), kick(trace.StepRCU, 1)}, Tally{0, 0, 1}, ""},

		{"the wait after an injection", host{"6.12", kernel.Intel, intel}, Wait,
			[]trace.Event{exit(msr), arm(9), deliver(64, trace.SourceTimer), inject(64), waits(), entry(), exit(msr)}, Tally{1, 0, 0}, ""},
		{"an injection that is repeated", host{"5.10", kernel.Intel, intel}, Wait,
			[]trace.Event{exit(msr), arm(9), deliver(64, trace.SourceTimer), inject(64), entry(), exit(trace.ExitEPTViolation), waits(),
				inject(64), entry(), exit(msr), entry()}, Tally{1, 0, 0}, ""},
		{"no wait after an injection", host{"6.12", kernel.Intel, intel}, Wait,
			[]trace.Event{exit(msr), arm(9), deliver(64, trace.SourceTimer), inject(64), entry(), exit(msr)}, Tally{0, 1, 0}, ""},
		{"printed late up to 5.18", host{"5.10", kernel.Intel, intel}, Wait,
			[]trace.Event{exit(msr), arm(9), deliver(64, trace.SourceTimer), inject(64), entry(), exit(msr), waits(), entry()}, Tally{1, 0, 0}, ""},
		{"not printed up to 5.18", host{"5.10", kernel.Intel, intel}, Wait,
			[]trace.Event{exit(msr), arm(9), deliver(64, trace.SourceTimer), inject(64), entry(), exit(msr), entry()}, Tally{0, 1, 0}, ""},
		{"with APICv", host{"6.12", kernel.Intel, apicv}, Wait,
			[]trace.Event{exit(msr), arm(9), deliver(64, trace.SourceTimer), entry(), exit(msr)}, Tally{0, 1, 0}, ""},
		{"without an advance", host{"6.12", kernel.Intel, map[trace.Knob]uint64{trace.KnobAdvance: 0}}, Wait,
			[]trace.Event{exit(msr), arm(9), deliver(64, trace.SourceTimer), inject(64), waits(), entry(), exit(msr)}, Tally{0, 1, 0}, "no-advance"},

		{"IRR", host{"6.12", kernel.Intel, intel}, Delivery,
			[]trace.Event{exit(msr), deliver(64, trace.SourceIPI), entry(), exit(msr), inject(64), entry()}, Tally{1, 0, 0}, ""},
		{"PIR", host{"6.12", kernel.Intel, apicv}, Delivery,
			[]trace.Event{exit(msr), deliver(64, trace.SourceIPI), entry(), exit(msr)}, Tally{1, 0, 0}, ""},
		{"IRR with APICv", host{"6.12", kernel.Intel, apicv}, Delivery,
			[]trace.Event{exit(msr), deliver(64, trace.SourceIPI), inject(64), entry()}, Tally{0, 1, 0}, ""},
		{"APICv turned meanwhile", host{"6.12", kernel.Intel, apicv}, Delivery,
			[]trace.Event{exit(msr), deliver(64, trace.SourceIPI), turns(trace.KnobAPICv, 0), inject(64), entry()}, Tally{0, 0, 1}, ""},
		{"APICv turned before", host{"6.12", kernel.Intel, apicv}, Delivery,
			[]trace.Event{turns(trace.KnobAPICv, 0), exit(msr), deliver(64, trace.SourceIPI), inject(64), entry()}, Tally{1, 0, 0}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.decision.String()+"/"+tt.name, func(t *testing.T) {
			r := tt.host.run(t, tt.events)
			row := r.Decisions[tt.decision-1]
			if got := (Tally{row.Agreed, row.Disagreed, row.Undecidable}); got != tt.want {
				t.Errorf("agreed, disagreed, undecidable: %v, want %v; %+v", got, tt.want, r)
			}
			clause := ""
			for _, d := range r.Disagreements {
				if d.Decision == tt.decision.String() {
					clause = d.Clause
				}
			}
			if clause != tt.clause {
				t.Errorf("clause %q, want %q", clause, tt.clause)
			}
		})
	}
}

func TestAMDsFastpathNeedsTheNextRIP(t *testing.T) {
	h := host{"6.12", kernel.AMD, intel}.header()
	c := New(h, kernel.At(kernel.Release{Major: 6, Minor: 12}, kernel.AMD))
	c.WithoutNextRIP()
	for _, e := range []trace.Event{exit(trace.ExitHLT), fast(trace.ExitHLT, trace.FastNone, 0), exit(trace.ExitHLT),
		fast(trace.ExitHLT, trace.FastReenter, 0)} {
		c.Emit(e)
	}
	r := c.Result(h)
	if row := r.Decisions[Fastpath-1]; row.Agreed != 1 || row.Disagreed != 1 || r.Disagreements[0].Clause != "no-next-rip" {
		t.Errorf("%+v, want HLT left to the handler", r)
	}
}

// A mediated PMU, of which no trace tells, may keep a write from the fastpath of
// 7.2.
func TestMediatedPMUIsNotDecidable(t *testing.T) {
	r := host{"7.2", kernel.Intel, intel}.run(t, []trace.Event{exit(trace.ExitMSRWrite), wrmsr(deadlineMSR, 9),
		fast(trace.ExitMSRWrite, trace.FastNone, deadlineMSR)})
	if row := r.Decisions[Fastpath-1]; row.Undecidable != 1 || !strings.Contains(row.Why[0].Why, "PMU") {
		t.Errorf("%+v, want one that is not decidable", row)
	}
}

func TestLostEventsEndWhatWasUnderWay(t *testing.T) {
	r := host{"6.12", kernel.Intel, intel}.run(t, []trace.Event{exit(trace.ExitMSRWrite), arm(9),
		deliver(64, trace.SourceTimer), inject(64), {Kind: trace.KindLost, VCPU: trace.NoCPU}, entry(), exit(trace.ExitMSRWrite)})
	if n := r.Disagreed(); n != 0 {
		t.Errorf("%d disagreements across a gap: %+v", n, r.Disagreements)
	}
}

func TestEveryDisagreementIsCountedAndTheFirstAreListed(t *testing.T) {
	var events []trace.Event
	for range 3 * keep {
		events = append(events, exit(trace.ExitIO), fast(trace.ExitIO, trace.FastHandled, 0))
	}
	r := host{"6.12", kernel.Intel, intel}.run(t, events)
	if r.Disagreed() != 3*keep || len(r.Disagreements) != keep {
		t.Errorf("%d disagreements, %d listed, want %d and %d", r.Disagreed(), len(r.Disagreements), 3*keep, keep)
	}
	if d := r.Disagreements[1]; d.Exit != 2 || d.Reason != "IO_INSTRUCTION" {
		t.Errorf("the second is %+v, want exit 2", d)
	}
}

func TestTextNamesWhatDiffersAndWhy(t *testing.T) {
	r := host{"6.12", kernel.Intel, intel}.run(t, []trace.Event{
		exit(trace.ExitIO), fast(trace.ExitIO, trace.FastHandled, 0), exit(trace.ExitMSRWrite), fast(trace.ExitMSRWrite, trace.FastNone, 0)})
	r.Guest = "deadline"
	want := `rules      Linux 6.12, intel
guest      deadline

decisions       agree   disagree  undecidable
fastpath            0          1            1
backing             0          0            0
expiry              0          0            0
kick                0          0            0
wait                0          0            0
delivery            0          0            0

1 of 1 decisions are not as Linux 6.12 makes them.

1002 vcpu 0, exit 1 IO_INSTRUCTION: fastpath: the kernel did exit-handled; by the rules none, because of no-handler

not decidable
fastpath: 1: which MSR was written is not traced
`
	if diff := cmp.Diff(want, r.Text()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}
