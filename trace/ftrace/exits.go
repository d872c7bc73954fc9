package ftrace

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

const hvOff = 1<<64 - 1

// entry holds a VM-entry back: since 6.0 the wait for an expired deadline is
// printed after it, and what it took says when the guest really began.
func (d *Decoder) entry(l *rawLine, m *match) {
	v := d.own(l, m)
	if v == nil {
		return
	}
	d.last = v
	d.release(v)
	d.expireNow(v, l)
	d.flushFast(v, l, true)
	d.flushEntry(v)
	e := &v.entry
	e.on, e.at, e.pcpu, e.rip = true, d.now, l.pcpu(), m.num[fRIP]
	e.vector = v.injected
	if m.set(fIntr) {
		e.vector = 0
		if intr := m.num[fIntr]; intr>>31&1 != 0 && intr>>8&7 == 0 {
			e.vector = intr & 0xff
		}
	}
	d.cpus.add(e.pcpu)
	v.access.known = false
	v.inGuest, v.seen, v.halted, v.switched, v.msrKnown = true, true, false, false, false
}

// flushEntry reports the entry held back, and the handler that starts with it.
func (d *Decoder) flushEntry(v *vcpu) {
	e := &v.entry
	if !e.on {
		return
	}
	e.on = false
	hv := uint64(hvOff)
	if v.backing == trace.BackHV && v.armed {
		hv = uint64(max(0, v.target.Sub(e.at)-d.advance()))
	}
	l := &rawLine{cpu: int16(e.pcpu)}
	d.emitAt(e.at, v, l, trace.KindEntry, false, e.rip, e.vector, hv, b2u(v.reentry))
	v.reentry = false
	if e.vector != 0 {
		d.emitAt(e.at, v, l, trace.KindGuestIRQ, true, e.vector, 0, 0, 0)
	}
	if v.hasVirtual {
		d.emitAt(e.at, v, l, trace.KindGuestIRQ, true, v.virtual.A, 1, 0, 0)
	}
	v.injected, v.hasVirtual = 0, false
}

// advance is timer_advance_ns in cycles.
func (d *Decoder) advance() clock.Cycles {
	if d.opts.Advance == 0 {
		return 0
	}
	return clock.Cycles(clock.NewScale(d.time.Hz).Cycles(uint64(d.opts.Advance)))
}

func (d *Decoder) exit(l *rawLine, m *match) {
	v := d.own(l, m)
	if v == nil {
		return
	}
	d.last = v
	d.flushEntry(v)
	d.release(v)
	if v.seen && !v.inGuest {
		d.hiddenReentry(v, l)
	}
	n := lookUpExit(m.text[fReason])
	if n.vendor != vendorUnknown {
		d.report.vendor = n.vendor
	}
	r := n.reason
	if r == trace.ExitMSRWrite && n.vendor == vendorAMD && m.num[fInfo1] == 0 && m.set(fInfo1) {
		r = trace.ExitMSRRead
	}
	info1, info2 := exitInfo(r, n.vendor, m)
	v.exit, v.exitAt, v.inGuest, v.msrKnown, v.regSeen = r, d.now, false, false, false
	v.exitAddress = info1
	d.emit(v, l, trace.KindExit, false, uint64(r), m.num[fRIP], info1, info2)
	if m.set(fReq) && m.num[fReq] != 0 || m.set(fIntr) && m.num[fIntr]>>31&1 != 0 {
		d.emit(v, l, trace.KindExitInfo, false, m.num[fReq], m.num[fIntr], m.num[fErr], 0)
	}
	switch r {
	case trace.ExitMSRWrite:
		v.holding = true
	case trace.ExitPreemptionTimer:
		d.fire(v, l, trace.BackHV)
	case trace.ExitHLT:
		if !d.seen("halt") { // no probe tells when, or whether, the vCPU blocks
			v.halted = true
			d.emit(v, l, trace.KindHalt, true, uint64(trace.HaltBlocked), uint64(v.poll), 0, 0)
		}
	}
}

// exitInfo picks what trace's exit event carries out of a vendor's exit
// information. Intel SDM vol. 3C, 28.2.1 "Basic VM-Exit Information"; AMD APM
// vol. 2, 15.10 "IOIO Intercepts" and 15.25 "Nested Paging".
func exitInfo(r trace.ExitReason, v vendor, m *match) (a, b uint64) {
	switch r {
	case trace.ExitIO:
		return m.num[fInfo1] >> 16 & 0xffff, 0
	case trace.ExitExternalInterrupt:
		if m.set(fIntr) && m.num[fIntr]>>31&1 != 0 {
			return 0, m.num[fIntr] & 0xff
		}
	case trace.ExitEPTViolation:
		if v == vendorAMD {
			return m.num[fInfo2], 0
		}
	}
	return 0, 0
}

// hiddenReentry: up to 5.10 kvm_entry is printed once per vcpu_enter_guest, so
// two exits without an entry between them are a re-entry from the fastpath.
func (d *Decoder) hiddenReentry(v *vcpu, l *rawLine) {
	if v.fast.on { // a probe said what happened
		d.flushFast(v, l, true)
	} else {
		d.emit(v, l, trace.KindFastpath, true, uint64(v.exit), uint64(trace.FastReenter), 0, v.msr)
	}
	d.emit(v, l, trace.KindEntry, true, 0, 0, hvOff, 1)
}

// msr is an emulated access. It belongs to the exit before it: an arm comes
// before what arming did, which was printed first.
func (d *Decoder) msr(l *rawLine, m *match) {
	v := d.thread(l)
	index, value, write := m.num[fIndex], m.num[fValue], string(m.text[fWord]) == "write"
	gp := m.set(fMark)
	if v != nil {
		v.msr, v.msrValue, v.msrKnown = index, value, true
		if write && !gp && index == msrTSCDeadline {
			d.deadlineWrite(v, l, value)
		}
		d.release(v)
	}
	d.emit(v, l, trace.KindMSR, false, index, value, b2u(write), b2u(gp))
	if v == nil {
		return
	}
	// x2APIC writes are printed as a register access first, if that is traced.
	if write && !gp && index >= msrX2APIC && index <= msrX2APICLast && !v.regSeen {
		d.register(v, l, (index-msrX2APIC)<<4, value)
	}
	if v.fast.on && v.fast.result == trace.FastNone {
		d.flushFast(v, l, false)
	}
}

// probeRun is the return of vmx_vcpu_run or svm_vcpu_run: what the fastpath
// made of the exit, before the bail-out test. It is reported when the entry, the
// exit handler or the MSR tells the rest.
func (d *Decoder) probeRun(l *rawLine, a *probeArgs) {
	v := d.thread(l)
	if v == nil || !a.ok {
		return
	}
	v.fast.on, v.fast.at, v.fast.result = true, d.now, d.fastResult(a.val)
}

// fastResult translates fastpath_t; 1 was EXIT_FASTPATH_SKIP_EMUL_INS in 5.6 and
// 5.7.
func (d *Decoder) fastResult(v uint64) trace.FastpathResult {
	switch v {
	case 0:
		return trace.FastNone
	case 1:
		if u := d.facts.Kernel.Until; u != 0 && u <= V(5, 7) {
			return trace.FastSkip
		}
		return trace.FastReenter
	case 2:
		return trace.FastHandled
	}
	return trace.FastUserspace
}

// probeHandleExit is the entry of the exit handler: the fastpath did not
// re-enter the guest. A result that got worse was changed by the bail-out test.
func (d *Decoder) probeHandleExit(l *rawLine, a *probeArgs) {
	v := d.thread(l)
	if v == nil || !a.ok {
		return
	}
	v.address(a)
	r := d.fastResult(a.val)
	if r == trace.FastNone {
		if !v.fast.on {
			v.fast.on, v.fast.at = true, d.now
		}
		v.fast.result = trace.FastNone
		if v.exit != trace.ExitMSRWrite && v.exit != trace.ExitMSRRead {
			d.flushFast(v, l, false)
		}
		return
	}
	clause := trace.ClauseNone
	switch {
	case v.fast.on && v.fast.result == trace.FastReenter:
		clause = trace.ClauseRequest // or mode, resched, signal: the probe does not tell which
	case v.exit == trace.ExitHLT:
		clause = trace.ClauseNotRunnable
	}
	v.fast.on = false
	d.emit(v, l, trace.KindFastpath, clause == trace.ClauseRequest, uint64(v.exit), uint64(r), uint64(clause), v.fastMSR())
}

func (v *vcpu) fastMSR() uint64 {
	if v.msrKnown {
		return v.msr
	}
	return 0
}

// flushFast reports a result that waited. entered says that the guest was
// entered next, without the exit handler in between.
func (d *Decoder) flushFast(v *vcpu, l *rawLine, entered bool) {
	if !v.fast.on {
		return
	}
	v.fast.on = false
	r := v.fast.result
	clause := trace.ClauseNone
	if r == trace.FastNone {
		clause = d.whyNot(v)
	}
	v.reentry = entered && r == trace.FastReenter
	d.emit(v, l, trace.KindFastpath, clause != trace.ClauseNone, uint64(v.exit), uint64(r), uint64(clause), v.fastMSR())
}

// whyNotICR is the first clause that keeps a write of ICR from the fastpath of
// 5.8 to 6.17 in x2APIC mode.
func whyNotICR(icr uint64) trace.Clause {
	switch {
	case icr>>18&3 != 0:
		return trace.ClauseShorthand
	case icr>>11&1 != 0:
		return trace.ClauseLogical
	case icr>>8&7 != 0:
		return trace.ClauseNotFixed
	case icr>>32 == 0xffffffff:
		return trace.ClauseBroadcast
	}
	return trace.ClauseNoKernelLAPIC
}

// whyNot deduces the first clause that kept an exit from the fastpath, from the
// rules of the trace's kernel.
func (d *Decoder) whyNot(v *vcpu) trace.Clause {
	k := d.facts.Kernel
	if d.opts.NextRIP == No && k.Since >= V(6, 12) && (v.exit == trace.ExitMSRWrite || v.exit == trace.ExitHLT) {
		return trace.ClauseNoNextRIP // looked at before the MSR
	}
	switch v.exit {
	case trace.ExitMSRWrite:
		switch {
		case v.msrKnown && v.msr == msrICR && k.Until != 0 && k.Until < V(6, 18):
			return whyNotICR(v.msrValue)
		case v.msrKnown && v.msr != msrTSCDeadline && v.msr != msrICR:
			return trace.ClauseOtherMSR
		}
		if d.report.vendor == vendorAMD {
			if v.msrKnown && v.msr == msrTSCDeadline && k.Until != 0 && k.Until < V(6, 18) {
				return trace.ClauseNoHVTimer
			}
			return trace.ClauseNoNextRIP
		}
		if v.msrKnown && v.msr == msrTSCDeadline {
			return trace.ClauseNoHVTimer
		}
		return trace.ClauseOtherMSR
	case trace.ExitHLT:
		if d.report.vendor == vendorAMD && k.Since >= V(6, 12) {
			return trace.ClauseNoNextRIP
		}
	case trace.ExitPreemptionTimer:
		return trace.ClauseSoftDisabled
	}
	return trace.ClauseNoHandler
}
