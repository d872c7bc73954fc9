package explain

import (
	"fmt"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// patterns is what the watcher remembers of one vCPU for patterns that any source
// can tell.
type patterns struct {
	arms     int
	farthest clock.Cycles // distance of the deadlines so far
	far      trace.Num    // a deadline that lies far beyond that
	times    clock.Cycles // how often farther, and how far
	ahead    clock.Cycles

	fire    clock.TSC // of the last host timer of a periodic timer
	spacing clock.Cycles
	even    int // how many fires in a row had that spacing

	elsewhere clock.TSC // the timer fired on another CPU and told nobody
	on, was   uint8

	runnable clock.Cycles
	waits    uint64
}

// inhibits is how often and for how long an APICv inhibit was in force.
type inhibits struct {
	sets  uint64
	first clock.TSC
	since clock.TSC
	held  clock.Cycles
}

// micros is n microseconds in cycles; without a known rate it is more than any
// duration, so that nothing is found to be longer.
func micros(s *trace.State, n uint64) clock.Cycles {
	if s.Hz == 0 {
		return 1 << 60
	}
	return clock.Cycles(uint64(s.Hz) / 1_000_000 * n)
}

// patterns looks at event e; s is the state after it.
func (w *Watcher) patterns(e *trace.Event, s *trace.State, v *trace.VCPU, p *patterns) {
	switch e.Kind {
	case trace.KindArm:
		w.armed(e, s, v, p)
	case trace.KindHostFire:
		w.early(e, s, v)
		w.limited(e, s, v, p)
		p.elsewhere = 0
		if v.InGuest && e.PCPU != trace.NoCPU && v.PCPU != trace.NoCPU && e.PCPU != v.PCPU {
			p.elsewhere, p.on, p.was = e.TSC, e.PCPU, v.PCPU
		}
	case trace.KindDeliver, trace.KindKick:
		p.elsewhere = 0
	case trace.KindExit:
		w.elsewhere(e, s, p)
	case trace.KindSched:
		if x := s.Stretches.Last(0); e.Sched().In && x != nil && x.Kind == trace.StretchRunnable && x.VCPU == e.VCPU &&
			x.To == e.TSC && x.To.Sub(x.From) > micros(s, 20) { // less is a wake-up
			p.runnable += x.To.Sub(x.From)
			p.waits++
		}
	}
}

// armed watches a deadline far beyond all before it: as long as it is armed the
// guest has no timer.
func (w *Watcher) armed(e *trace.Event, s *trace.State, v *trace.VCPU, p *patterns) {
	const enough, times, seconds = 8, 100, 1800 // idle guests set deadlines of minutes
	x := e.Arm()
	d := x.Target.Sub(e.TSC)
	switch {
	case x.Mode != trace.TSCDeadline || x.Target == 0 || d <= 0:
	case p.arms >= enough && d > times*p.farthest && d > micros(s, seconds*1_000_000):
		p.far, p.times, p.ahead = v.Chain.Num, d/max(1, p.farthest), d
	default:
		p.arms++
		p.farthest = max(p.farthest, d)
	}
}

// early watches a preemption timer that fires long before it is due, as on CPUs
// with an erratum in which it does not count as it should.
func (w *Watcher) early(e *trace.Event, s *trace.State, v *trace.VCPU) {
	c := &v.Chain
	if e.HostFire().Backing != trace.BackHV || c.Num == trace.NoNum || c.Mode != trace.TSCDeadline {
		return
	}
	if by := c.Target.Sub(e.TSC); firedEarly(s, c) {
		w.note("host-timer-early", int(e.VCPU), e.TSC, fmt.Sprintf(
			"the preemption timer fired %s before deadline %d", long(s, by), c.Num),
			"kvm_intel.preemption_timer=0, and a look at the errata of this CPU's VMX-preemption timer")
	}
}

// firedEarly reports whether the host timer of c fired long before it was due.
func firedEarly(s *trace.State, c *trace.Chain) bool {
	return c.FireAt != 0 && c.Target.Sub(c.FireAt) > micros(s, 50)+4*c.Advance
}

// limited watches a periodic timer that KVM makes slower than the guest asked for.
func (w *Watcher) limited(e *trace.Event, s *trace.State, v *trace.VCPU, p *patterns) {
	const enough = 4
	last := p.fire
	p.fire = e.TSC
	period, ok := s.Hz.ToCycles(v.Period)
	if v.Mode != trace.Periodic || v.Period <= 0 || !ok || last == 0 {
		p.even = 0
		return
	}
	d := e.TSC.Sub(last)
	if near := p.spacing / 10; d > p.spacing-near && d < p.spacing+near {
		p.even++
	} else {
		p.even = 0
	}
	p.spacing = d
	if p.even == enough && p.spacing > 2*clock.Cycles(period) {
		w.note("period-limited", int(e.VCPU), e.TSC, fmt.Sprintf(
			"the guest asked for a period of %d ns; the host timer comes every %s", v.Period, long(s, p.spacing)),
			"kvm.min_timer_period_us limits periods (arch/x86/kvm/lapic.c, limit_periodic_timer_frequency): lower it, or "+
				"let the guest ask for less")
	}
}

// elsewhere watches a timer that fired on another CPU while the vCPU ran on.
func (w *Watcher) elsewhere(e *trace.Event, s *trace.State, p *patterns) {
	at := p.elsewhere
	p.elsewhere = 0
	if at == 0 || e.TSC.Sub(at) < micros(s, 50) {
		return
	}
	w.note("timer-on-other-cpu", int(e.VCPU), at, fmt.Sprintf(
		"the timer fired on CPU %d while the vCPU was in the guest on CPU %d; nothing made it exit, and it saw the expiry %s later",
		p.on, p.was, long(s, e.TSC.Sub(at))), cures[causeNotKicked])
}

// inhibit watches APICv being turned off and on.
func (w *Watcher) inhibit(e *trace.Event) {
	x := e.Inhibit()
	i := &w.inhibits[min(x.Reason, trace.NumInhibits-1)]
	switch {
	case x.Set && i.since == 0:
		if i.sets++; i.sets == 1 {
			i.first = e.TSC
		}
		i.since = e.TSC
	case !x.Set && i.since != 0:
		i.held += e.TSC.Sub(i.since)
		i.since = 0
	}
}

// long is a duration in words: in time where the rate is known.
func long(s *trace.State, d clock.Cycles) string {
	if s.Hz == 0 {
		return fmt.Sprintf("%d cycles", d)
	}
	switch sec := float64(d) / float64(s.Hz); {
	case sec >= 1:
		return fmt.Sprintf("%.2f s", sec)
	case sec >= 1e-3:
		return fmt.Sprintf("%.2f ms", sec*1e3)
	default:
		return fmt.Sprintf("%.1f us", sec*1e6)
	}
}

// seen are the patterns that only the end of the run shows.
func (w *Watcher) seen(s *trace.State) (out []Finding) {
	const flaps = 10
	for i := range w.inhibits {
		n := &w.inhibits[i]
		held := n.held
		if n.since != 0 {
			held += s.Now.Sub(n.since)
		}
		if n.sets >= flaps && s.Now > n.first {
			out = append(out, Finding{ID: "inhibit-flapping", VCPU: -1, TSC: uint64(n.first), Count: n.sets,
				Words: fmt.Sprintf("APICv inhibit %s was set again and again, and was in force %.0f %% of the time since",
					trace.Inhibit(i), 100*float64(held)/float64(s.Now.Sub(n.first))),
				Rule: "look for what sets it (arch/x86/kvm: kvm_set_or_clear_apicv_inhibit); each change makes every vCPU exit"})
		}
	}
	for i := range w.vcpus {
		p, v := &w.vcpus[i].patterns, &s.VCPUs[i]
		if p.far != trace.NoNum && v.Chain.Num == p.far && v.Armed {
			out = append(out, Finding{ID: "deadline-far-ahead", VCPU: i, TSC: uint64(v.ArmedAt), Count: 1, Words: fmt.Sprintf(
				"deadline %d lies %s ahead, %d times as far as any before it: as when a deadline is restored before the TSC it "+
					"belongs to", p.far, long(s, p.ahead), p.times),
				Rule: "restore IA32_TIME_STAMP_COUNTER before IA32_TSC_DEADLINE"})
		}
		if run := s.Now.Sub(s.First); p.runnable > run/20 && p.waits >= 10 {
			out = append(out, Finding{ID: "steal", VCPU: i, Count: p.waits, TSC: uint64(s.First), Words: fmt.Sprintf(
				"the vCPU's thread was runnable without a CPU for %s, %.0f %% of the run", long(s, p.runnable),
				100*float64(p.runnable)/float64(run)), Rule: cures[causeHeldOff]})
		}
	}
	return out
}
