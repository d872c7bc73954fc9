package ftrace

import (
	"bytes"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// acceptIRQ is an interrupt handed to a vCPU's LAPIC. How it was handed over
// follows from APICv.
func (d *Decoder) acceptIRQ(l *rawLine, m *match) {
	v := d.addressee(l, m.num[fAPIC])
	if v == nil {
		return
	}
	vec := m.num[fVec]
	d.expireNow(v, l)
	d.expireUnseen(v, l, vec)
	source := d.source(v, l, m)
	route, clause := trace.DeliverRequest, trace.ClauseAPICvOff
	if d.apicv == Yes {
		route, clause = d.postedRoute(v, l), trace.ClauseNone
		v.virtual, v.hasVirtual = trace.Event{A: vec}, true
	}
	if !bytes.HasPrefix(m.text[fMode], []byte("Fixed")) && !bytes.HasPrefix(m.text[fMode], []byte("LowPrio")) {
		route, clause = trace.DeliverEvent, trace.ClauseNotFixed
	}
	d.emit(v, l, trace.KindDeliver, d.apicv != No, vec, uint64(route), uint64(clause), uint64(source))
}

// source deduces who sent an interrupt: the timer if one is due and the vector
// is LVTT's, or LVTT is not known; the vCPU whose thread it is if that has just
// written ICR.
func (d *Decoder) source(v *vcpu, l *rawLine, m *match) trace.Source {
	vec := m.num[fVec]
	if v.pending && (!v.lvttKnown || vec == v.timerVector()) {
		if !v.lvttKnown {
			v.lvtt, v.lvttKnown = vec|uint64(max(v.mode, 1)-1)<<17, true
		}
		v.pending = false
		return trace.SourceTimer
	}
	if t := d.thread(l); t != nil && !l.irq() && !t.inGuest {
		switch {
		case t.exit == trace.ExitMSRWrite && t.msr == msrSelfIPI:
			return trace.SourceSelf
		case t.exit == trace.ExitMSRWrite, t.exit == trace.ExitAPICAccess, t.exit == trace.ExitAPICWrite,
			t.exit == trace.ExitEPTViolation, t.exit == trace.ExitMMIO:
			return trace.SourceIPI
		}
	}
	return trace.SourceIOAPIC
}

func (d *Decoder) postedRoute(v *vcpu, l *rawLine) trace.DeliverRoute {
	switch {
	case v == d.thread(l) && !l.irq():
		return trace.DeliverSelf
	case v.halted:
		return trace.DeliverWake
	}
	return trace.DeliverNotify
}

// apicvAccept is a posted delivery that succeeded: APICv is active.
func (d *Decoder) apicvAccept(*rawLine, *match) {
	if d.apicv == NotKnown {
		d.apicv = Yes
	}
}

func (d *Decoder) inject(l *rawLine, m *match) {
	v := d.thread(l)
	if v == nil {
		return
	}
	vec := m.num[fVec]
	v.injected = vec
	v.hasVirtual = false
	d.emit(v, l, trace.KindInject, false, vec, b2u(m.set(fMark)), 0, 0)
}

func (d *Decoder) eoi(l *rawLine, m *match) {
	v := d.addressee(l, m.num[fAPIC])
	if v == nil {
		return
	}
	d.emit(v, l, trace.KindEOI, false, m.num[fVec], 0, 0, 0)
}

// ipi rebuilds the interrupt command from its decoded text:
// "(Fixed|physical|assert|edge|self)".
func (d *Decoder) ipi(l *rawLine, m *match) {
	v := d.thread(l)
	if v == nil {
		return
	}
	icr := m.num[fDest]<<32 | m.num[fVec]&0xff
	self := false
	for part := range bytes.SplitSeq(m.text[fMode], []byte("|")) {
		for _, b := range icrBits {
			if string(part) == b.name {
				icr |= b.bits
			}
		}
		self = self || string(part) == "self"
	}
	targets := uint64(0)
	switch {
	case self:
		targets = 1 << (v.id & 63)
	case icr>>11&1 == 0 && icr>>18&3 == 0 && m.num[fDest] < 64:
		targets = 1 << m.num[fDest] // physical destination
	}
	d.emit(v, l, trace.KindIPI, targets == 0, icr, targets, 0, 0)
}

// icrBits are the ICR fields by the words of kvm_apic_ipi. Intel SDM vol. 3A,
// 11.6.1 "Interrupt Command Register (ICR)".
var icrBits = []struct {
	name string
	bits uint64
}{{"LowPrio", 1 << 8}, {"SMI", 2 << 8}, {"NMI", 4 << 8}, {"INIT", 5 << 8}, {"SIPI", 6 << 8}, {"logical", 1 << 11},
	{"assert", 1 << 14}, {"level", 1 << 15}, {"self", 1 << 18}, {"all", 2 << 18}, {"all-but-self", 3 << 18}}

// wakeup is the end of a halt.
func (d *Decoder) wakeup(l *rawLine, m *match) {
	v := d.thread(l)
	if v == nil {
		return
	}
	why := trace.WakeInterrupt
	if v.pending || v.fired {
		d.expireNow(v, l)
		why = trace.WakeTimer
	}
	polled := string(m.text[fWord]) == "poll"
	v.halted = false
	d.emit(v, l, trace.KindWake, true, uint64(why), m.num[fTime], b2u(polled), uint64(v.poll))
}

func (d *Decoder) haltPoll(l *rawLine, m *match) {
	if v := d.own(l, m); v != nil {
		v.poll = clock.Nanos(m.num[fValue])
	}
}

func (d *Decoder) probeHalt(l *rawLine, a *probeArgs) {
	v := d.thread(l)
	if v == nil {
		return
	}
	v.address(a)
	v.halted = true
	if v.poll > 0 { // with 0 it blocks at once
		d.emit(v, l, trace.KindHalt, true, uint64(trace.HaltPolling), uint64(v.poll), 0, 0)
	}
}

func (d *Decoder) probeBlock(l *rawLine, a *probeArgs) {
	v := d.thread(l)
	if v == nil {
		return
	}
	v.address(a)
	d.emit(v, l, trace.KindHalt, false, uint64(trace.HaltBlocked), uint64(v.poll), 0, 0)
}

func (d *Decoder) probeToSW(l *rawLine, a *probeArgs) {
	if v := d.thread(l); v != nil {
		v.address(a)
		v.switched = true
	}
}

// inhibit is a change of APICv's inhibit reasons: APICv is active without any.
func (d *Decoder) inhibit(l *rawLine, m *match) {
	now := No
	if !m.set(fInhibits) || m.num[fInhibits] == 0 {
		now = Yes
	}
	d.setAPICv(l, now)
}

func (d *Decoder) updateRequest(l *rawLine, m *match) {
	now := No
	if string(m.text[fWord]) == "activate" {
		now = Yes
	}
	d.setAPICv(l, now)
}

func (d *Decoder) setAPICv(l *rawLine, now Known) {
	if d.apicv != NotKnown && d.apicv != now {
		d.emit(nil, l, trace.KindKnob, false, uint64(trace.KnobAPICv), b2u(now == Yes), b2u(d.apicv == Yes), 0)
	}
	d.apicv = now
}
