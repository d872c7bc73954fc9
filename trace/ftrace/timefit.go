package ftrace

import (
	"fmt"
	"math"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// TimeFit is a TimeBase with what it rests on.
type TimeFit struct {
	TimeBase
	// RateFrom and TieFrom say where the rate and the tie to the guest's TSC come
	// from; empty if there is none.
	RateFrom, TieFrom string
	// Residual is the median distance of the points from the tie, in cycles.
	Residual float64
}

// tie finds the rate of a VM's guest TSC and where it stood at a stamp.
//
// What KVM printed stands first: the TSC offset, then the wait for an expired
// deadline, whose delta is guest TSC minus deadline. Then the host's timers: an
// hrtimer started for a deadline expires at that deadline on CLOCK_MONOTONIC
// (less the advance), and the timer interrupt prints that clock beside the stamp.
// Last, no entry with the timer's vector comes before its deadline.
func (s *survey) tie(v *VM, unit Unit, given TimeBase) TimeFit {
	f := TimeFit{TimeBase: given}
	if given.Hz != 0 {
		f.RateFrom = "given"
		if s.opts.rateFrom != "" {
			f.RateFrom = s.opts.rateFrom
		}
	}
	if given.Set {
		f.TieFrom = "given"
		return f
	}
	if s.opts.HasTSCOffset && unit == Cycles {
		f.set(s.first, s.first+s.opts.TSCOffset, "the offset given", 0)
	}
	all := v.pool()
	started, startedOK := fit(all.started)
	startedOK = startedOK && started.exact()
	if f.Hz == 0 && startedOK {
		f.rate(started.slope*1e9, fmt.Sprintf("%d deadlines and the hrtimers started for them: %s, residual %.1f cycles",
			started.n, megahertz(started.slope*1e9), started.residual))
	}
	switch unit {
	case Cycles:
		s.tieCycles(v, &f, all, started, startedOK)
	case Nanos:
		s.tieNanos(&f, all, started, startedOK)
	}
	return f
}

// evidence is what the threads of a VM collected.
type evidence struct{ started, waits, entries []pair }

// pool puts the threads' points together. Of the vectors that came after arms the
// one that came most often is the timer's.
func (v *VM) pool() (e evidence) {
	var count [256]uint64
	for _, t := range v.threads {
		for vec, p := range t.entries {
			count[vec] += p.n
		}
	}
	best := uint64(0)
	for vec := range count {
		if count[vec] > count[best] {
			best = uint64(vec)
		}
	}
	for _, t := range v.threads {
		e.started = append(e.started, t.started.p...)
		e.waits = append(e.waits, t.waits.p...)
		if p := t.entries[best]; p != nil {
			e.entries = append(e.entries, p.p...)
		}
	}
	return e
}

func (f *TimeFit) rate(hz float64, from string) {
	if hz >= 1e7 && hz < 1e11 {
		f.Hz, f.RateFrom = clock.Hz(math.Round(hz)), from
	}
}

func (f *TimeFit) set(stamp, tsc uint64, from string, residual float64) {
	f.Stamp, f.TSC, f.Guest, f.Set, f.TieFrom, f.Residual = stamp, clock.TSC(tsc), true, true, from, residual
}

func megahertz(hz float64) string { return fmt.Sprintf("%.6f MHz", hz/1e6) }

// tieCycles ties stamps in TSC cycles, which run as fast as the guest's TSC: only
// the offset is to be found.
func (s *survey) tieCycles(v *VM, f *TimeFit, all evidence, started line, startedOK bool) {
	now, nowOK := under(s.nows.p)
	nowOK = nowOK && now.exact()
	if f.Hz == 0 && nowOK {
		f.rate(now.slope*1e9, fmt.Sprintf("%d hrtimer interrupts: the host's TSC runs at %s, residual %.1f cycles", now.n,
			megahertz(now.slope*1e9), now.residual))
	}
	if f.Set {
		return
	}
	if w := s.offsetOf(v, all); w != nil {
		f.set(w.stamp, w.stamp+w.offset, "kvm_write_tsc_offset", 0)
		return
	}
	if len(all.waits) > 0 {
		offsets := make([]float64, len(all.waits))
		base := all.waits[0].y - all.waits[0].x
		for i, p := range all.waits {
			offsets[i] = float64(int64(p.y - p.x - base))
		}
		m := median(offsets)
		for i := range offsets {
			offsets[i] = math.Abs(offsets[i] - m)
		}
		at := all.waits[0].x
		f.set(at, at+base+uint64(int64(m)), fmt.Sprintf("%d waits for expired deadlines", len(all.waits)), median(offsets))
		return
	}
	if startedOK && nowOK {
		if y, ok := started.at(now.x0); ok {
			f.set(now.y0, y, fmt.Sprintf("%d hrtimers started for deadlines", started.n), started.residual+now.residual)
			return
		}
	}
	if l, ok := lower(all.entries, 1); ok && len(all.entries) >= minPairs {
		f.set(l.y0, l.x0, fmt.Sprintf("the earliest of %d entries: lateness counts from there", l.n), l.residual)
	}
}

// monotonic is the line of time stamps by CLOCK_MONOTONIC, with n 0 if there is
// none.
func (s *survey) monotonic(unit Unit) line {
	var l line
	var ok bool
	switch unit {
	case Cycles:
		l, ok = under(s.nows.p)
		ok = ok && l.exact()
	case Nanos:
		l, ok = lower(s.nows.p, 1)
	}
	if !ok {
		return line{}
	}
	return l
}

// tieNanos ties stamps in nanoseconds: rate and offset are to be found.
func (s *survey) tieNanos(f *TimeFit, all evidence, started line, startedOK bool) {
	if w, ok := fit(all.waits); ok && w.exact() {
		if f.Hz == 0 {
			f.rate(w.slope*1e9, fmt.Sprintf("%d waits for expired deadlines: %s, residual %.1f cycles", w.n,
				megahertz(w.slope*1e9), w.residual))
		}
		f.set(w.x0, w.y0, fmt.Sprintf("%d waits for expired deadlines", w.n), w.residual)
		return
	} else if len(all.waits) > 0 && f.Hz != 0 {
		f.set(all.waits[0].x, all.waits[0].y, "a wait for an expired deadline", 0)
		return
	}
	if startedOK {
		if now, ok := lower(s.nows.p, 1); ok {
			if y, ok := started.at(now.x0); ok {
				f.set(now.y0, y, fmt.Sprintf("%d hrtimers started for deadlines", started.n),
					started.residual+now.residual*started.slope)
				return
			}
		}
	}
	if f.Hz != 0 {
		if l, ok := lower(all.entries, 1e9/float64(f.Hz)); ok && len(all.entries) >= minPairs {
			f.set(l.y0, l.x0, fmt.Sprintf("the earliest of %d entries: lateness counts from there", l.n),
				l.residual*float64(f.Hz)/1e9)
		}
		return
	}
	if l, ok := under(all.entries); ok && l.exact() {
		hz := 1e9 / l.slope
		f.rate(hz, fmt.Sprintf("the earliest of %d entries after deadlines: %s", l.n, megahertz(hz)))
		if f.Hz != 0 {
			f.set(l.y0, l.x0, fmt.Sprintf("the earliest of %d entries: lateness counts from there", l.n), l.residual/l.slope)
		}
	}
}

// offsetOf is the first TSC offset that was written for a vCPU of the VM. The
// thread tells whose it is, or the VM's other threads wrote it: then the deadlines
// must lie near the time that it gives.
func (s *survey) offsetOf(v *VM, all evidence) *offsetWrite {
	for i := range s.offsets {
		if v.Has(s.offsets[i].pid) {
			return &s.offsets[i]
		}
	}
	for i := range s.offsets {
		w := &s.offsets[i]
		if s.threads[w.pid] != nil || w.vcpu >= uint64(max(v.VCPUs(), 1)) {
			continue
		}
		near := len(all.entries) == 0 && len(s.threads) <= 1
		for _, p := range all.entries {
			if d := int64(p.y + w.offset - p.x); d > -nearCycles && d < nearCycles {
				near = true
				break
			}
		}
		if near {
			return w
		}
	}
	return nil
}

// nearCycles is how far an entry may lie from its deadline where an offset is
// taken for the VM's: some ten seconds.
const nearCycles = 1 << 35
