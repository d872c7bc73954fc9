package vmm

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// Before 6.19 a periodic target in the past wraps tscdeadline; the deadline that
// is reported is still the one on the period's grid.
func TestMissedPeriodsKeepTheirDeadlines(t *testing.T) {
	const period = 1_000_000
	for _, hv := range []bool{true, false} {
		r := newRig(t, 1, func(k *Knobs) { k.PreemptionTimer, k.Advance = hv, 0 })
		r.on("6.10")
		r.msr(0, lapic.LVTT.MSR(), 1<<17|0x40)
		r.msr(0, lapic.TDCR.MSR(), 0xb)
		r.msr(0, lapic.TMICT.MSR(), period)
		first, ok := r.last(trace.KindArm)
		if !ok {
			t.Fatal("no arm event")
		}
		due := clock.Nanos(r.m.vcpus[0].apic.Timer.Target)
		r.host.now += 20*period + 300 // a long pause
		if hv {
			r.m.hvExpired(0, &r.m.vcpus[0])
		} else {
			r.m.TimerFired(0, 0, due)
		}
		for _, e := range r.events {
			if e.A == 0 || e.Kind != trace.KindArm && e.Kind != trace.KindExpire {
				continue
			}
			if n := int64(e.A) - int64(first.A); n < 0 || n%period > 1 || n > 21*period {
				t.Errorf("hv %v: %s tells of a deadline %d cycles after the first, want a small multiple of the period", hv, e.Kind, n)
			}
		}
	}
}

// Each release names the clause that really kept an expiry on the vCPU's own
// thread from being injected at once.
func TestExpiryOnTheThreadNamesItsClause(t *testing.T) {
	for _, tt := range []struct {
		name   string
		era    string
		apicv  bool
		route  trace.ExpireRoute
		clause trace.Clause
	}{
		{"5.6 injects nothing directly", "5.6", true, trace.RoutePendKick, trace.ClauseNoDirect},
		{"5.6, APICv off", "5.6", false, trace.RoutePendKick, trace.ClauseAPICvOff},
		{"5.8", "5.8", true, trace.RouteDirect, trace.ClauseNone},
		{"5.8, APICv off", "5.8", false, trace.RoutePendKick, trace.ClauseAPICvOff},
		{"5.10, APICv off", "5.10", false, trace.RoutePending, trace.ClauseAPICvOff},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, 1, func(k *Knobs) { k.APICv = tt.apicv })
			r.on(tt.era)
			r.msr(0, lapic.MSRDeadline, 1) // in the past
			e, ok := r.last(trace.KindExpire)
			if !ok {
				t.Fatal("no expiry")
			}
			if route, c := trace.ExpireRoute(e.B), trace.Clause(e.C); route != tt.route || c != tt.clause {
				t.Errorf("expired %s, %s; want %s, %s", route, c, tt.route, tt.clause)
			}
		})
	}
}

// An interrupt that finds the VM-entry field taken by another event forces an
// immediate exit, at which the fastpath does nothing; before 5.8 it waited for its
// window.
func TestBusyEntryFieldForcesAnImmediateExit(t *testing.T) {
	for _, tt := range []struct {
		era    string
		forced bool
	}{{"5.6", false}, {"5.8", true}, {"6.10", true}} {
		r := newRig(t, 1, func(k *Knobs) { k.APICv = false })
		v := &r.m.vcpus[0]
		r.on(tt.era)
		v.queued = Event{Kind: EventException, Vector: 14}
		v.apic.Accept(0x60, false)
		v.requests |= ReqEvent
		r.enter(0)
		if v.hv.forced != tt.forced || v.windowOn == tt.forced {
			t.Errorf("%s: forced %v, window %v", tt.era, v.hv.forced, v.windowOn)
		}
		if !tt.forced {
			continue
		}
		r.until(0, StageExit)
		r.m.Step(0)
		if e, _ := r.last(trace.KindFastpath); trace.Clause(e.C) != trace.ClauseImmediateExit {
			t.Errorf("%s: the fastpath says %s", tt.era, trace.Clause(e.C))
		}
		r.until(0, StageGuest)
		if !v.apic.ISR.Has(0x60) {
			t.Errorf("%s: the interrupt was not injected at the next entry", tt.era)
		}
	}
}
