package ftrace

import (
	"bytes"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// deadlineWrite is a write of the TSC-deadline MSR. It is reported before what
// is held of the exit. The trace does not say that LVTT is in TSC-deadline mode
// unless its write is in the trace too: only then would KVM ignore the value.
func (d *Decoder) deadlineWrite(v *vcpu, l *rawLine, value uint64) {
	if v.armedByDL {
		v.armedByDL = false
		return
	}
	if v.lvttKnown && v.mode != trace.TSCDeadline {
		return
	}
	if !d.time.Guest && value != 0 {
		d.report.NoGuestTSC++
		return
	}
	at := d.now
	if v.nheld > 0 {
		at = v.held[0].TSC
	}
	held, n := v.held, v.nheld
	v.nheld, v.holding = 0, false
	d.arm(at, v, l, d.target(v, value), trace.TSCDeadline, value, 0, !v.lvttKnown)
	v.held, v.nheld = held, n
}

// target converts a guest TSC value of v to the common line; 0 stays 0.
func (d *Decoder) target(v *vcpu, value uint64) clock.TSC {
	if value == 0 {
		return 0
	}
	t := clock.TSC(value)
	if v.hasOffset {
		t -= clock.TSC(v.offset - d.offset0())
	}
	return max(t, 1)
}

// offset0 is the common line minus the time stamp.
func (d *Decoder) offset0() uint64 { return uint64(d.time.TSC) - d.time.Stamp }

func (d *Decoder) arm(at clock.TSC, v *vcpu, l *rawLine, target clock.TSC, mode trace.TimerMode, value uint64,
	period clock.Nanos, inferred bool) {
	v.target, v.armed, v.mode, v.period = target, target != 0, mode, period
	v.stimer = v.stimer && mode == trace.OneShot && inferred
	v.fired, v.pending = false, false
	d.emitAt(at, v, l, trace.KindArm, inferred, uint64(target), uint64(mode), value, uint64(period))
}

func (d *Decoder) apicAccess(l *rawLine, m *match) {
	v := d.thread(l)
	reg, ok := apicRegs[string(m.text[fWhat])]
	if !ok {
		var n uint64
		if _, isHex := readHex(m.text[fWhat], &n); !isHex {
			return
		}
		reg = uint16(n)
	}
	write := string(m.text[fWord]) == "write"
	d.emit(v, l, trace.KindAPIC, false, uint64(reg), m.num[fValue], b2u(write), 0)
	if v != nil && write {
		v.regSeen = true
		d.register(v, l, uint64(reg), m.num[fValue])
	}
}

// register follows the LAPIC's timer registers.
func (d *Decoder) register(v *vcpu, l *rawLine, reg, value uint64) {
	switch reg {
	case regLVTT:
		v.lvtt, v.lvttKnown = value, true
		v.mode = trace.TimerMode(value>>17&3) + 1
	case regTDCR:
		v.tdcr = value
	case regTMICT:
		d.initialCount(v, l, value)
	}
}

// initialCount arms a one-shot or periodic timer. KVM's bus clock is 1 GHz
// unless the VMM changed it, which a trace does not say.
func (d *Decoder) initialCount(v *vcpu, l *rawLine, count uint64) {
	if v.mode == trace.TSCDeadline {
		return
	}
	mode, inferred := v.mode, true
	if mode == trace.BadTimerMode {
		mode = trace.OneShot
	}
	if count == 0 {
		d.arm(d.now, v, l, 0, mode, 0, 0, false)
		return
	}
	period := clock.Nanos(count * divisor(v.tdcr))
	if d.time.Hz == 0 {
		d.report.NoRate++
		v.armed, v.target = false, 0
		return
	}
	wait := period
	if mode == trace.Periodic {
		wait = max(wait, minPeriod)
	}
	cycles := clock.TSC(clock.NewScale(d.time.Hz).Cycles(uint64(wait)))
	d.arm(d.now, v, l, d.now+cycles, mode, count, period, inferred)
}

// minPeriod is kvm.min_timer_period_us where nobody set it (arch/x86/kvm/x86.c).
const minPeriod clock.Nanos = 200_000

// hvTimer says which host timer backs the guest's now.
func (d *Decoder) hvTimer(l *rawLine, m *match) {
	v := d.own(l, m)
	if v == nil {
		return
	}
	b, clause := trace.BackSW, trace.ClauseNone
	if m.num[fHV] != 0 {
		b, v.usedHV = trace.BackHV, true
	} else {
		clause = d.whySoftware(v)
	}
	v.backing = b
	fire, adv := uint64(0), uint64(0)
	if v.target != 0 {
		a := d.advance()
		if v.mode != trace.TSCDeadline && b == trace.BackSW {
			a = 0 // only TSC-deadline timers are programmed early on an hrtimer
		}
		fire, adv = uint64(v.target.Add(-a)), uint64(a)
	}
	d.emit(v, l, trace.KindBacking, true, uint64(b), uint64(clause), fire, adv)
}

func (d *Decoder) whySoftware(v *vcpu) trace.Clause {
	switch {
	case d.report.vendor == vendorAMD:
		return trace.ClauseNoHVTimer
	case v.switched || v.halted || v.exit == trace.ExitHLT && !v.inGuest:
		return trace.ClauseBlocked
	case v.usedHV:
		return trace.ClauseRange
	}
	return trace.ClauseNoHVTimer
}

// fire is the host timer of v going off. Its expiry is reported by a probe, or
// deduced when something follows that needs it.
func (d *Decoder) fire(v *vcpu, l *rawLine, b trace.Backing) {
	again := v.fired && b == trace.BackHV
	if !again {
		d.expireNow(v, l) // the callback of a timer that fires again has run
	}
	v.fired, v.firedBy, v.firedAt, v.callback = true, b, d.now, b == trace.BackSW
	programmed := uint64(0)
	if v.target != 0 {
		programmed = uint64(v.target.Add(-d.advance()))
	}
	d.emit(v, l, trace.KindHostFire, false, uint64(b), programmed, 0, 0)
}

// expireNow reports an expiry that must have happened since the host timer
// fired.
func (d *Decoder) expireNow(v *vcpu, l *rawLine) {
	if v.fired {
		d.expire(v, l, v.callback, true)
	}
}

// expireUnseen deduces an expiry from its effect: the timer's vector arrives when
// the deadline has passed, or is nearer than any advance, and nothing in the
// trace tells of the host timer.
func (d *Decoder) expireUnseen(v *vcpu, l *rawLine, vec uint64) {
	if v.pending || !v.armed || v.lvttKnown && vec != v.timerVector() {
		return
	}
	early, _ := d.time.Hz.ToCycles(maxAdvance) // 0 if the rate is not known
	if d.now+early < v.target {
		return
	}
	d.expire(v, l, v.backing != trace.BackHV, true)
}

// maxAdvance is LAPIC_TIMER_ADVANCE_NS_MAX (arch/x86/kvm/lapic.c).
const maxAdvance clock.Nanos = 5000

// expire reports an expiry. Its route follows from where it was called and
// whether APICv is active.
func (d *Decoder) expire(v *vcpu, l *rawLine, callback, inferred bool) {
	route, clause := trace.RoutePending, trace.ClauseAPICvOff
	switch {
	case v.pending:
		route, clause = trace.RouteMerged, trace.ClausePending
	case callback:
		route, clause = trace.RoutePendKick, trace.ClauseCallback
	case d.apicv == Yes:
		route, clause = trace.RouteDirect, trace.ClauseNone
	}
	v.fired, v.pending = false, true
	if !d.time.Guest && v.mode == trace.TSCDeadline || v.target == 0 {
		return // without a deadline there is nothing to be late against
	}
	d.emit(v, l, trace.KindExpire, inferred || d.apicv == NotKnown, uint64(v.target), uint64(route), uint64(clause),
		b2u(callback))
	v.armed = v.mode == trace.Periodic
	if v.armed {
		cycles, _ := d.time.Hz.ToCycles(max(v.period, minPeriod))
		v.target += cycles
	}
}

// wait is the arrival at the wait for an expired deadline. Since 6.0 it is
// printed between kvm_entry and the guest's first instruction.
func (d *Decoder) wait(l *rawLine, m *match) {
	v := d.own(l, m)
	if v == nil {
		return
	}
	delta := clock.Cycles(m.num[fDelta])
	waited := max(0, -delta)
	limit := d.advance()
	if limit > 0 {
		waited = min(waited, limit)
	} else {
		limit = waited
	}
	place := trace.WaitLate
	switch {
	case l.irq():
		place = trace.WaitCallback
	case d.facts.Kernel.Until != 0 && d.facts.Kernel.Until <= V(5, 2):
		place = trace.WaitEarly
	}
	d.emit(v, l, trace.KindWait, waited > 0, uint64(delta), uint64(waited), uint64(limit), uint64(place))
	if v.entry.on {
		v.entry.at = d.now.Add(waited)
	}
}

// tscOffset is a new TSC offset of a vCPU. The first one ties the trace to the
// guest's TSC if its clock is x86-tsc.
func (d *Decoder) tscOffset(l *rawLine, m *match) {
	id, next := m.num[fVCPU], m.num[fValue]
	v := d.byNumber(id)
	if v != nil && v.hasOffset && v.seen && l.pid != v.pid && m.num[fOld] != v.offset && d.opts.Mine == nil {
		d.report.OtherVM++ // a VM that is being made: its offset was another
		return
	}
	if v == nil && id < trace.MaxVCPUs {
		v = &vcpu{id: uint8(id), pid: -1} // its thread is not known: the VMM makes vCPUs anywhere
		d.vcpus = append(d.vcpus, v)
	}
	if v == nil || l.unit != Cycles {
		return
	}
	if !d.time.Guest {
		d.time = TimeBase{Hz: d.time.Hz, Stamp: l.ts, TSC: clock.TSC(l.ts + next), Guest: true, Set: true}
		d.now = d.time.TSC
		d.report.Time.TieFrom = "kvm_write_tsc_offset"
	}
	old := v.offset
	had := v.hasOffset
	v.offset, v.hasOffset = next, true
	base := d.offset0()
	if had && old != next || !had && next != base {
		was := uint64(0)
		if had {
			was = old - base
		}
		d.emit(v, l, trace.KindTSCOffset, false, next-base, was, 0, 0)
	}
}

var apicTimerFn = []byte("apic_timer_fn")

func (d *Decoder) hrtimerStart(l *rawLine, m *match) {
	if v := d.thread(l); v != nil && !l.irq() && bytes.HasPrefix(m.text[fWhat], apicTimerFn) {
		v.timer, v.timerCPU = m.num[fPtr], l.cpu
		d.hostTimer(v, l, trace.HostTimerStarted, m.num[fTime], 0)
	}
}

func (d *Decoder) hrtimerExpire(l *rawLine, m *match) {
	if !bytes.HasPrefix(m.text[fWhat], apicTimerFn) {
		return
	}
	v := d.byTimer(m.num[fPtr])
	if v != nil && d.opts.sharedTimers[m.num[fPtr]] && v.timerCPU != l.cpu {
		v = nil // a pinned timer fires where it was started: it is another VM's
	}
	d.setTimer(l, v)
	if v != nil {
		d.flushEntry(v) // it may be in the guest on another CPU
		d.hostTimer(v, l, trace.HostTimerExpired, 0, m.num[fNow])
		d.fire(v, l, trace.BackSW)
	}
}

// byTimer finds the vCPU of an hrtimer. A trace of one vCPU needs no proof.
func (d *Decoder) byTimer(ptr uint64) *vcpu {
	for _, v := range d.vcpus {
		if v.timer == ptr && ptr != 0 || v.apic != 0 && ptr-v.apic < maxTimerOffset {
			return v
		}
	}
	if d.alone() && d.vcpus[0].apic == 0 && d.vcpus[0].timer == 0 {
		return d.vcpus[0]
	}
	return nil
}

// maxTimerOffset bounds where the hrtimer lies in struct kvm_lapic.
const maxTimerOffset = 0x100

func (d *Decoder) probeDeadline(l *rawLine, a *probeArgs) {
	v := d.thread(l)
	if v == nil || !a.ok || l.irq() {
		return
	}
	v.address(a)
	if v.lvttKnown && v.mode != trace.TSCDeadline {
		return
	}
	d.release(v)
	d.deadlineWrite(v, l, a.val)
	v.armedByDL = true
}

func (d *Decoder) probeAPIC(l *rawLine, a *probeArgs) {
	if v := d.thread(l); v != nil && !l.irq() {
		v.apic = a.ptr
	}
}

func (d *Decoder) probeTimerFn(l *rawLine, a *probeArgs) {
	v := d.byTimer(a.ptr)
	d.setTimer(l, v)
	if v != nil {
		d.fire(v, l, trace.BackSW)
	}
}

func (d *Decoder) probeExpired(l *rawLine, a *probeArgs) {
	var v *vcpu
	for _, c := range d.vcpus {
		if c.apic == a.ptr && a.ptr != 0 {
			v = c
		}
	}
	if v == nil && !l.irq() {
		if v = d.thread(l); v != nil {
			v.apic = a.ptr
		}
	}
	if v == nil && d.alone() && d.vcpus[0].apic == 0 {
		v = d.vcpus[0]
	}
	if v == nil {
		return
	}
	if !l.irq() && !v.fired && v.exit == trace.ExitMSRWrite {
		v.fired = true // expired inside the write of the MSR
	}
	d.expire(v, l, a.val != 0, false)
}
