package explain

import (
	"fmt"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// Finding is something that is wrong with a run as a whole, beside any one
// deadline: what tokio-console calls a lint.
type Finding struct {
	ID    string `json:"id"`
	VCPU  int    `json:"vcpu"` // −1 if it concerns all
	TSC   uint64 `json:"tsc"`  // of the first time
	Count uint64 `json:"count"`
	Words string `json:"words"`
	// Rule is what makes it go away: a knob with its value, or a sentence.
	Rule string `json:"rule"`
}

// Watcher looks for known bugs while a run's events are folded. Look must be
// called after each event, with the state that the event has been applied to. It
// belongs to one goroutine.
type Watcher struct {
	found []Finding
	vcpus []watched
	mark  string

	inhibits [trace.NumInhibits]inhibits
}

// watched is what the watcher remembers of one vCPU.
type watched struct {
	armed   bool // a deadline was armed before this event
	target  clock.TSC
	offset  clock.Cycles
	fires   [3]clock.TSC // the last fires of a periodic timer
	inFresh bool         // between the birth of a restored vCPU and its first entry
	born    clock.TSC
	old     trace.Num // a deadline that was on its way when the old vCPU was saved
	zero    bool      // the deadline MSR was restored as 0
	self    clock.TSC // a posted interrupt that told nobody, while blocking
	asleep  bool      // the thread was switched out after that
	selfVec uint8
	posted  clock.TSC // a timer interrupt posted during a restore
	patterns
}

// Look looks at event e; s is the state after it.
func (w *Watcher) Look(e *trace.Event, s *trace.State) {
	for len(w.vcpus) < len(s.VCPUs) {
		w.vcpus = append(w.vcpus, watched{})
	}
	switch e.Kind {
	case trace.KindMark:
		w.mark = markName(e.A)
	case trace.KindKnob:
		w.knob(e)
	case trace.KindInhibit:
		w.inhibit(e)
	}
	if int(e.VCPU) >= len(s.VCPUs) {
		return
	}
	v, o := &s.VCPUs[e.VCPU], &w.vcpus[e.VCPU]
	switch e.Kind {
	case trace.KindTSCOffset:
		w.tscMoved(e, o)
	case trace.KindMPState:
		w.reborn(e, v, o)
	case trace.KindMSR:
		if e.A == 0x6e0 && e.C != 0 && o.inFresh {
			o.zero = e.B == 0
		}
		w.dropped(e, v)
	case trace.KindHostFire:
		w.storm(e, s, v, o)
	case trace.KindDeliver:
		w.delivered(e, v, o)
	case trace.KindSched:
		o.asleep = o.asleep || e.A == 0 && o.self != 0
	case trace.KindWake:
		w.woken(e, o)
	case trace.KindEntry:
		w.entered(e, v, o)
	case trace.KindHalt:
		w.halted(e, v, o)
	}
	w.patterns(e, s, v, &o.patterns)
	o.armed, o.target, o.offset = v.Armed, v.Target, v.TSCOffset
}

// dropped watches deadlines that are written in another mode: KVM ignores the
// write (arch/x86/kvm/lapic.c, kvm_set_lapic_tscdeadline_msr).
func (w *Watcher) dropped(e *trace.Event, v *trace.VCPU) {
	x := e.MSR()
	if x.Index != 0x6e0 || !x.Write || x.GP || x.Value == 0 || !seenReg(v, 0x320) || v.Mode == trace.TSCDeadline {
		return
	}
	w.note("deadline-ignored", int(e.VCPU), e.TSC, fmt.Sprintf(
		"WRMSR 6e0 at RIP %#x was ignored: LVTT (%#x) is in %s mode", v.RIP, v.APIC.LVTT, v.Mode),
		"set bits 18:17 of LVTT to 10b before a deadline is written (Intel SDM vol. 3A, TSC-Deadline Mode)")
}

func markName(a uint64) string {
	var b []byte
	for ; a != 0; a >>= 8 {
		b = append(b, byte(a))
	}
	return string(b)
}

// note adds a finding, or counts it again.
func (w *Watcher) note(id string, vcpu int, at clock.TSC, words, rule string) {
	for i := range w.found {
		if f := &w.found[i]; f.ID == id && f.VCPU == vcpu {
			f.Count++
			return
		}
	}
	w.found = append(w.found, Finding{ID: id, VCPU: vcpu, TSC: uint64(at), Count: 1, Words: words, Rule: rule})
}

// knob watches APICv being inhibited.
func (w *Watcher) knob(e *trace.Event) {
	if trace.Knob(e.A) != trace.KnobAPICv {
		return
	}
	if e.B == 0 && e.C != 0 {
		by := "a knob"
		if strings.HasPrefix(w.mark, "PIT") {
			by = "the PIT re-injecting its ticks (reason PIT_REINJ, AMD hosts)"
		}
		w.note("apicv-inhibited", -1, e.TSC, "APICv was inhibited by "+by+": every interrupt takes an exit again",
			"KVM_REINJECT_CONTROL with pit_reinject=0 before the guest runs (knob apicv=on)")
	}
}

// tscMoved: an armed timer keeps its host time when the guest's TSC is set
// (there is no re-arm), so its deadline is another moment now.
func (w *Watcher) tscMoved(e *trace.Event, o *watched) {
	if !o.armed {
		return
	}
	by := clock.Cycles(e.A) - clock.Cycles(e.B)
	w.note("deadline-before-tsc", int(e.VCPU), e.TSC, fmt.Sprintf(
		"the TSC was moved by %+d cycles while a deadline was armed: KVM does not arm it again, so it comes that much %s",
		by, sideWord(by)), "restore IA32_TIME_STAMP_COUNTER before IA32_TSC_DEADLINE")
}

func sideWord(by clock.Cycles) string {
	if by > 0 {
		return "too late"
	}
	return "too early"
}

// reborn watches a vCPU that is made anew, as by a restore.
func (w *Watcher) reborn(e *trace.Event, v *trace.VCPU, o *watched) {
	if trace.MPState(e.A) != trace.MPUninitialized {
		return
	}
	*o = watched{inFresh: true, born: e.TSC, patterns: o.patterns}
	for i := range v.Flight[:v.NFlight] {
		if c := &v.Flight[i]; c.DeliverAt != 0 {
			o.old = c.Num
		}
	}
}

// storm counts expiries of a periodic timer that follow each other in far less
// than a period.
func (w *Watcher) storm(e *trace.Event, s *trace.State, v *trace.VCPU, o *watched) {
	if v.Mode != trace.Periodic || v.Period <= 0 {
		return
	}
	first := o.fires[0]
	copy(o.fires[:], o.fires[1:])
	o.fires[2] = e.TSC
	if first == 0 {
		return
	}
	period, _ := s.Hz.ToCycles(v.Period)
	if span := e.TSC.Sub(first); span < clock.Cycles(period) {
		w.note("catch-up-storm", int(e.VCPU), first, fmt.Sprintf(
			"a periodic timer of %d ns expired %d times within %d cycles: it catches up on periods that passed "+
				"while the vCPU did not run",
			v.Period, len(o.fires)+1, span), "a kernel that advances a missed target to now (6.19, or its back-ports)")
	}
}

// delivered watches posted deliveries that tell nobody.
func (w *Watcher) delivered(e *trace.Event, v *trace.VCPU, o *watched) {
	route := trace.DeliverRoute(e.B)
	if route == trace.DeliverSelf && trace.Clause(e.C) == trace.ClauseRunning && v.Halt == trace.HaltBlocked {
		o.self, o.selfVec = e.TSC, uint8(e.A)
	}
	if o.inFresh && trace.Source(e.D) == trace.SourceTimer && route != trace.DeliverLost && route != trace.DeliverRequest {
		o.posted = e.TSC
	}
}

// woken ends a sleep that an interrupt did not end in time.
func (w *Watcher) woken(e *trace.Event, o *watched) {
	if o.self != 0 && o.asleep {
		w.lostWakeup(int(e.VCPU), o, e.TSC.Sub(o.self), "it slept on for %d cycles, until another interrupt woke it")
	}
	o.self, o.asleep = 0, false
}

func (w *Watcher) lostWakeup(vcpu int, o *watched, slept clock.Cycles, format string) {
	w.note("lost-wakeup", vcpu, o.self, fmt.Sprintf(
		"vector %d was posted from interrupt context while the vCPU was about to sleep on the same CPU; the "+
			"shortcut for the running vCPU (clause running-vcpu) woke nobody: "+format,
		o.selfVec, slept), "running-shortcut=in-guest")
}

// entered watches what a vCPU takes into the guest.
func (w *Watcher) entered(e *trace.Event, v *trace.VCPU, o *watched) {
	if o.inFresh {
		o.inFresh = false
	}
	if v.Armed && v.Backing == trace.BackSW && v.Clause == trace.ClauseBlocked {
		w.note("stuck-on-hrtimer", int(e.VCPU), e.TSC,
			"the vCPU entered the guest with its timer still on the hrtimer that backed it while it slept",
			"restart the timer after the halt (restart_apic_timer), so that the preemption timer takes over")
	}
}

// halted watches a vCPU that sleeps although its restored timer should run.
func (w *Watcher) halted(e *trace.Event, v *trace.VCPU, o *watched) {
	if o.born == 0 || e.A != uint64(trace.HaltBlocked) {
		return
	}
	defer func() { *o = watched{patterns: o.patterns} }()
	switch {
	case o.posted != 0 && !v.Armed:
		w.note("pir-lost-at-restore", int(e.VCPU), o.posted,
			"the timer expired while the LAPIC was restored and its interrupt was posted, yet the vCPU sleeps: "+
				"PIR was cleared after that",
			"clear PIR before the LAPIC's state is set, not after it")
	case o.zero && !v.Armed && !v.TimerMasked():
		w.note("zero-deadline-restored", int(e.VCPU), o.born, fmt.Sprintf(
			"the vCPU was restored with IA32_TSC_DEADLINE 0 and LVTT unmasked%s: nothing will ever wake it", lostWords(o.old)),
			"read IA32_TSC_DEADLINE before the LAPIC, or restore a deadline of 0 as the present TSC")
	}
}

func lostWords(n trace.Num) string {
	if n == trace.NoNum {
		return ""
	}
	return fmt.Sprintf(", and deadline %d, which had expired when it was saved, is not in IRR", n)
}

// Findings returns what was found, s being the state at the end of the run.
func (w *Watcher) Findings(s *trace.State) []Finding {
	out := append([]Finding{}, w.found...)
	for i := range w.vcpus {
		if o := &w.vcpus[i]; o.asleep && s.VCPUs[i].Halt == trace.HaltBlocked {
			f := Watcher{}
			f.lostWakeup(i, o, s.Now.Sub(o.self), "it has slept for %d cycles since")
			out = append(out, f.found...)
		}
	}
	for i := range s.VCPUs {
		out = append(out, barrier(i, &s.VCPUs[i], s)...)
	}
	out = append(out, w.seen(s)...)
	out = append(out, unheard(s)...)
	out = append(out, tuning(s)...)
	return append(out, posting(s)...)
}

// asleepFor is how long a vCPU must sleep with its timer pending before that is a
// finding, in nanoseconds.
const asleepFor = 100_000

// tooLong is asleepFor in cycles.
func tooLong(s *trace.State) clock.Cycles {
	limit, _ := s.Hz.ToCycles(asleepFor)
	return clock.Cycles(limit)
}

// barrier looks for a vCPU that sleeps though its timer is pending.
func barrier(i int, v *trace.VCPU, s *trace.State) []Finding {
	limit := tooLong(s)
	if v.Halt != trace.HaltBlocked || v.NFlight == 0 {
		return nil
	}
	c := &v.Flight[v.NFlight-1]
	asleep := s.Now.Sub(c.ExpireAt)
	if k, _ := silence(s, v, v.TimerVector()); k != causeUnknown {
		return nil // it was woken, and found nothing to take
	}
	if c.DeliverAt != 0 || c.Route != trace.RoutePendKick || asleep < limit && s.End.How != trace.EndDeadlock {
		return nil
	}
	return []Finding{{ID: "missing-barrier", VCPU: i, TSC: uint64(c.ExpireAt), Count: 1, Words: fmt.Sprintf(
		"the timer expired on another CPU %d cycles from the moment at which the vCPU went to sleep; the kick read "+
			"the task pointer without a barrier and woke nobody, and the vCPU did not see the expiry",
		max(c.ExpireAt.Sub(v.HaltedAt), v.HaltedAt.Sub(c.ExpireAt))), Rule: "kick=kd"}}
}

// manyResets is how many resets of the advance are a pattern.
const manyResets = 3

// tuning looks for an advance that runs away.
func tuning(s *trace.State) (out []Finding) {
	if n := s.Tunes[trace.TuneReset]; n >= manyResets {
		out = append(out, Finding{ID: "advance-reset", VCPU: -1, Count: n, Words: fmt.Sprintf(
			"adaptive tuning drove timer_advance_ns beyond 5000 ns and was reset to 1000 ns %d times", n),
			Rule: "tuning-era=5.4, which ignores deltas beyond 10000 cycles"})
	}
	if n := s.Tunes[trace.TuneOff]; n > 0 {
		out = append(out, Finding{ID: "advance-off", VCPU: -1, Count: n, Words: fmt.Sprintf(
			"adaptive tuning drove timer_advance_ns beyond 5000 ns and turned the feature off, %d times", n),
			Rule: "tuning-era=5.4"})
	}
	for i := range s.VCPUs {
		if ns := s.VCPUs[i].AdvanceNS; s.Knobs[trace.KnobAdvance] == trace.AdvanceAdaptive && ns > 5000 {
			out = append(out, Finding{ID: "advance-runaway", VCPU: i, Count: 1, Words: fmt.Sprintf(
				"adaptive tuning drove timer_advance_ns to %d ns: as long is the most that a vCPU spins with interrupts off", ns),
				Rule: "tuning-era=5.4, which has a ceiling of 5000 ns"})
		}
	}
	return out
}

// posting looks for a posted timer that posts nothing.
func posting(s *trace.State) []Finding {
	var all uint64
	for _, n := range s.Expiries {
		all += n
	}
	apicv, apicvKnown := s.Knob(trace.KnobAPICv)
	exits, exitsKnown := s.Knob(trace.KnobExitsDisabled)
	if !s.KnobIs(trace.KnobPostedTimer, 1) || !apicvKnown || !exitsKnown || s.Expiries[trace.RoutePosted] != 0 || all == 0 {
		return nil
	}
	why, rule := trace.ClauseAPICvOff, "apicv=on"
	if apicv != 0 {
		why, rule = trace.ClauseExitsOn, "exits-disabled=mwait or hlt (KVM_CAP_X86_DISABLE_EXITS before the vCPUs are made)"
		if exits&3 != 0 {
			return nil // eligible; the vCPU was never in the guest when it expired
		}
	}
	return []Finding{{ID: "posted-timer-not-eligible", VCPU: -1, Count: all, Rule: rule, Words: fmt.Sprintf(
		"pi_inject_timer is on, but none of %d expiries was posted: the timer is not eligible, because of %s", all, why)}}
}
