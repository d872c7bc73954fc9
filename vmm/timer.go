package vmm

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// hv describes the preemption timer for v now, and the first clause of
// kvm_can_use_hv_timer that fails.
//
// Source: arch/x86/kvm/lapic.c, kvm_can_use_hv_timer.
func (m *Machine) hv(v *vcpu) (lapic.HV, trace.Clause) {
	c := m.first(v.pcpu, v, m.st.pred.hv)
	return lapic.HV{Usable: c == trace.ClauseNone, Multi: m.cfg.MultiShift}, c
}

// postClause is the first clause of kvm_can_post_timer_interrupt that fails. A
// kernel without pi_inject_timer is one that has it off.
func (m *Machine) postClause(v *vcpu) trace.Clause { return m.first(v.pcpu, v, m.st.pred.post) }

func (m *Machine) canPost(v *vcpu) bool { return m.postClause(v) == trace.ClauseNone }

// verdictClauses says why a host timer was not started.
var verdictClauses = [...]trace.Clause{
	lapic.StartArmed: trace.ClauseNone, lapic.StartExpired: trace.ClauseInPast, lapic.StartZero: trace.ClauseZeroDeadline,
	lapic.StartRange: trace.ClauseRange, lapic.StartPending: trace.ClausePending, lapic.StartMode: trace.ClauseMode,
	lapic.StartNoHV: trace.ClauseNoHVTimer, lapic.StartNoFreq: trace.ClauseZeroDeadline,
}

// restartTimer is restart_apic_timer: the preemption timer, else the hrtimer.
func (m *Machine) restartTimer(p PCPU, v *vcpu) {
	hv, clause := m.hv(v)
	s, due := m.sample(p, v), m.target(p, v)
	plan := v.apic.Restart(s, hv)
	if clause == trace.ClauseNone {
		clause = verdictClauses[plan.HV]
	}
	m.carryOut(p, v, plan, clause, s, due)
}

// switchToSoft is start_sw_timer before a halt.
func (m *Machine) switchToSoft(p PCPU, v *vcpu) {
	s, due := m.sample(p, v), m.target(p, v)
	if plan, ok := v.apic.SwitchToSoft(s); ok {
		m.carryOut(p, v, plan, trace.ClauseBlocked, s, due)
	}
}

// carryOut does what a lapic.Plan says, in its order. due is the target of the
// expiry that is found to have passed: a periodic timer's next one may be in the
// plan already.
func (m *Machine) carryOut(p PCPU, v *vcpu, plan lapic.Plan, clause trace.Clause, s lapic.Sample, due clock.TSC) {
	if plan.CancelSW {
		m.cancelSW(p, v)
	}
	switch plan.Backing {
	case lapic.BackHV:
		m.spend(p, trace.PhaseHVStart)
		m.setBacking(p, v, trace.BackHV, clause, m.common(plan.HVFire))
	case lapic.BackSW:
		if plan.Expire {
			m.expire(p, v, due, false)
			m.armed(p, v, uint64(v.apic.Page[lapic.TMICT>>4]))
		}
		m.spend(p, trace.PhaseHrtimerStart)
		m.host.StartTimer(p, v.id, plan.FireAt)
		at, _ := m.hz.ToCycles(max(0, plan.FireAt-s.Mono))
		m.setBacking(p, v, trace.BackSW, clause, m.common(s.Host).Add(clock.Cycles(at)))
		return
	default:
		m.setBacking(p, v, trace.BackNone, clause, 0)
	}
	if plan.Expire {
		m.expire(p, v, due, false)
		v.apic.CancelHV()
		m.setBacking(p, v, trace.BackNone, trace.ClauseInPast, 0)
	}
}

// absurd is a distance that no host timer is programmed for. The deadline that
// advance_periodic_target_expiration makes of a target in the past is so far ahead:
// it tells nothing of when the timer was to fire. See lapic.AdvancePeriodic.
const absurd clock.Cycles = 1 << 60

// setBacking records which host timer backs v's timer, and reports a change.
func (m *Machine) setBacking(p PCPU, v *vcpu, b trace.Backing, c trace.Clause, fire clock.TSC) {
	if v.backing == b && b == trace.BackNone {
		return
	}
	v.backing = b
	var early clock.Cycles
	if fire != 0 && v.apic.Timer.Deadline != 0 {
		early = v.toCommon(v.apic.Timer.Deadline).Sub(fire)
		if early > absurd || early < -absurd {
			early = 0
		}
	}
	m.emit(p, v.id, trace.KindBacking, uint64(b), uint64(c), uint64(fire), uint64(early))
}

// cancelSW cancels the hrtimer.
func (m *Machine) cancelSW(p PCPU, v *vcpu) {
	if v.backing == trace.BackSW {
		m.spend(p, trace.PhaseHrtimerStop)
		m.setBacking(p, v, trace.BackNone, trace.ClauseNone, 0)
	}
	m.host.CancelTimer(p, v.id)
}

// migrateTimer is KVM_REQ_MIGRATE_TIMER: the hrtimer moves to the CPU that the
// vCPU runs on.
func (m *Machine) migrateTimer(p PCPU, v *vcpu) {
	if v.backing == trace.BackSW {
		m.host.MoveTimer(p, v.id)
		m.spend(p, trace.PhaseHrtimerStop)
		m.spend(p, trace.PhaseHrtimerStart)
	}
}

// armed reports that the guest has programmed its timer, with the value as it
// wrote it.
func (m *Machine) armed(p PCPU, v *vcpu, value uint64) {
	t := &v.apic.Timer
	m.emit(p, v.id, trace.KindArm, uint64(m.target(p, v)), uint64(t.Mode)+1, value, uint64(t.Period))
}

// target is when v's timer is to expire, on the common line; 0 if it is not armed.
// tscdeadline tells that but where advance_periodic_target_expiration has wrapped
// it (see absurd): then target_expiration does, which is right in every release.
func (m *Machine) target(p PCPU, v *vcpu) clock.TSC {
	t := &v.apic.Timer
	if t.Deadline == 0 {
		return 0
	}
	at := v.toCommon(t.Deadline)
	if t.Mode != lapic.Periodic && t.Mode != lapic.OneShot {
		return at // the guest's own number, however far away
	}
	s := m.sample(p, v)
	if far := at.Sub(m.common(s.Host)); far > absurd || far < -absurd {
		left := t.Target - s.Mono
		c, _ := m.hz.ToCycles(max(left, -left))
		if left < 0 {
			return m.common(s.Host) - c
		}
		return m.common(s.Host) + c
	}
	return at
}

// TimerFired is apic_timer_fn: the hrtimer of vCPU id, due at the given time,
// fired on p, in hard-IRQ context.
func (m *Machine) TimerFired(p PCPU, id int, due clock.Nanos) {
	v := &m.vcpus[id]
	h, mono := m.host.Now(p), m.host.Mono(p)
	late, _ := m.hz.ToCycles(max(0, mono-due))
	m.emit(p, id, trace.KindHostFire, uint64(trace.BackSW), uint64(m.common(h)-late), 0, 0)
	v.backing = trace.BackNone
	m.expire(p, v, m.target(p, v), true)
	if at, again := v.apic.NextHrtimer(due, m.sample(p, v)); again {
		m.spend(p, trace.PhaseHrtimerStart)
		m.host.StartTimer(p, id, at)
		v.backing = trace.BackSW
		m.armed(p, v, uint64(v.apic.Page[lapic.TMICT>>4]))
	}
}

// hvExpired is kvm_lapic_expired_hv_timer: the preemption timer ran out.
func (m *Machine) hvExpired(p PCPU, v *vcpu) {
	if !v.apic.Timer.HVInUse {
		return
	}
	m.emit(p, v.id, trace.KindHostFire, uint64(trace.BackHV), uint64(m.common(v.apic.Timer.HVDeadline)), 0, 0)
	rules := &v.apic.Config.Rules
	if !rules.ExpireFirst {
		v.apic.CancelHV()
	}
	m.expire(p, v, m.target(p, v), false)
	v.apic.CancelHV()
	v.backing = trace.BackNone
	if v.apic.Timer.Mode == lapic.Periodic && v.apic.Timer.Period != 0 {
		s := m.sample(p, v)
		v.apic.AdvancePeriodic(s)
		m.armed(p, v, uint64(v.apic.Page[lapic.TMICT>>4]))
		m.restartTimer(p, v)
	}
}

// expire is apic_timer_expired for an expiry due at target, on the common line.
//
// Source: arch/x86/kvm/lapic.c, apic_timer_expired; S004 patch 4.
func (m *Machine) expire(p PCPU, v *vcpu, target clock.TSC, callback bool) {
	m.spend(p, trace.PhaseExpire)
	t := &v.apic.Timer
	if !v.apic.Expire() {
		m.emit(p, v.id, trace.KindExpire, uint64(target), uint64(trace.RouteMerged), uint64(trace.ClausePending),
			b2u(callback))
		return
	}
	route, clause := m.expireRoute(v, callback)
	if route == trace.RoutePosted && t.Expired != 0 && t.Advance != 0 {
		m.waitNow(p, v, trace.WaitCallback, true)
	}
	if route == trace.RouteDirect || route == trace.RoutePosted {
		if why := m.masked(v); why != trace.ClauseNone {
			route, clause = trace.RouteLost, why
		}
	}
	m.catchUp(p, v)
	m.emit(p, v.id, trace.KindExpire, uint64(target), uint64(route), uint64(clause), b2u(callback))
	switch route {
	case trace.RouteDirect, trace.RoutePosted, trace.RouteLost:
		m.injectTimer(p, v, trace.SourceTimer)
	default:
		t.Pending = true
		m.request(p, v, ReqUnblock)
		if route == trace.RoutePendKick {
			m.kick(p, v)
		}
	}
}

// expireRoute chooses among the routes of apic_timer_expired and names the
// clause that kept it from a faster one.
func (m *Machine) expireRoute(v *vcpu, callback bool) (trace.ExpireRoute, trace.Clause) {
	rules := &v.apic.Config.Rules
	clause := trace.ClauseCallback
	if !callback {
		if clause = m.first(v.pcpu, v, m.st.pred.direct); clause == trace.ClauseNone {
			return trace.RouteDirect, trace.ClauseNone
		}
	}
	if why := m.postClause(v); why == trace.ClauseNone && rules.PostedTimer {
		if v.mode == trace.InGuestMode {
			return trace.RoutePosted, trace.ClauseNone
		}
		clause = trace.ClauseNotInGuest
	} else if callback {
		clause = why
	}
	if callback || !rules.KickCallbackOnly {
		return trace.RoutePendKick, clause
	}
	return trace.RoutePending, clause
}

// masked says why LVTT would not deliver, if so.
func (m *Machine) masked(v *vcpu) trace.Clause {
	switch {
	case !v.apic.Enabled():
		return trace.ClauseAPICDisabled
	case v.apic.Page[lapic.LVTT>>4]&lvtMask != 0:
		return trace.ClauseMasked
	}
	return trace.ClauseNone
}

const lvtMask = 1 << 16

// injectTimer is kvm_inject_apic_timer_irqs: the timer's local vector is raised.
func (m *Machine) injectTimer(p PCPU, v *vcpu, src trace.Source) {
	if msg, ok := v.apic.InjectTimer(); ok {
		m.receive(p, v, msg, src)
	}
}
