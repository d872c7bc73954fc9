package ftrace

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// Hyper-V's synthetic timers (arch/x86/kvm/hyperv.c). A guest that uses them leaves
// the LAPIC timer alone, so they stand in its place in the chain of a deadline.
// Their times are in units of 100 ns of the guest's reference time.

const stimerUnit = 100 // ns

func (d *Decoder) stimerOneShot(l *rawLine, m *match) {
	d.stimerArm(l, m, int64(m.num[fValue]-m.num[fNow]), 0)
}

func (d *Decoder) stimerPeriodic(l *rawLine, m *match) {
	d.stimerArm(l, m, int64(m.num[fTime]-m.num[fNow]), 1)
}

// stimerArm is a timer started to expire after a number of units.
func (d *Decoder) stimerArm(l *rawLine, m *match, units int64, periodic uint64) {
	v := d.own(l, m)
	if v == nil {
		return
	}
	if d.time.Hz == 0 {
		d.report.NoRate++
		return
	}
	units = min(max(units, 0), 1<<53)
	cycles, _ := d.time.Hz.ToCycles(clock.Nanos(units * stimerUnit))
	target := d.now + cycles
	period := clock.Nanos(0)
	if periodic != 0 {
		period = clock.Nanos(units * stimerUnit)
	}
	d.emit(v, l, trace.KindStimerArm, false, m.num[fIndex]&3, uint64(target), uint64(period), 0)
	if !v.stimer && (v.lvttKnown || v.armed) {
		return // its LAPIC timer is in use: the chain is that timer's
	}
	v.stimer = true
	d.arm(d.now, v, l, target, trace.OneShot, m.num[fValue], period, true)
}

func (d *Decoder) stimerCallback(l *rawLine, m *match) {
	v := d.byNumber(m.num[fVCPU])
	if v == nil || l.irq() && d.ambiguous() {
		return
	}
	if v.stimer {
		d.fire(v, l, trace.BackSW)
	}
}

// ambiguous reports whether a line in interrupt context that names a vCPU by its
// number may be another VM's.
func (d *Decoder) ambiguous() bool { return d.opts.Mine != nil }

func (d *Decoder) stimerExpired(l *rawLine, m *match) {
	v := d.own(l, m)
	if v == nil {
		return
	}
	target := uint64(0)
	if v.stimer {
		target = uint64(v.target)
	}
	d.emit(v, l, trace.KindStimerExpire, false, m.num[fIndex]&3, target, b2u(m.num[fValue] != 0), b2u(m.num[fRet] == 0))
	if !v.stimer || v.target == 0 {
		return
	}
	switch {
	case v.pending: // deduced already from what it led to
	case v.fired, v.armed:
		d.fire(v, l, trace.BackSW)
		d.expire(v, l, true, true)
	}
}
