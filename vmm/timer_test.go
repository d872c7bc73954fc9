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
		r.m.vcpus[0].apic.Config.Era = lapic.Era6_10
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
		era    lapic.Era
		apicv  bool
		route  trace.ExpireRoute
		clause trace.Clause
	}{
		{"5.6 injects nothing directly", lapic.Era5_6, true, trace.RoutePendKick, trace.ClauseNoDirect},
		{"5.6, APICv off", lapic.Era5_6, false, trace.RoutePendKick, trace.ClauseAPICvOff},
		{"5.8", lapic.Era5_8, true, trace.RouteDirect, trace.ClauseNone},
		{"5.8, APICv off", lapic.Era5_8, false, trace.RoutePendKick, trace.ClauseAPICvOff},
		{"5.10, APICv off", lapic.Era5_10, false, trace.RoutePending, trace.ClauseAPICvOff},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, 1, func(k *Knobs) { k.APICv = tt.apicv })
			r.m.vcpus[0].apic.Config.Era = tt.era
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
