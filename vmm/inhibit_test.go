package vmm

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// A vCPU whose APIC the guest has disabled has no APICv: an expiry stays pending,
// and comes when the APIC is enabled again. Before, it was injected and lost.
func TestExpiryWaitsForADisabledAPIC(t *testing.T) {
	for _, tt := range []struct {
		era   string
		route trace.ExpireRoute
		kept  bool
	}{{"5.14", trace.RouteLost, false}, {"6.10", trace.RoutePending, true}} {
		r := newRig(t, 1, func(k *Knobs) { k.Advance = 0 })
		v := &r.m.vcpus[0]
		r.on(tt.era)
		r.msr(0, lapic.MSRDeadline, 5000)
		base := v.apic.Base
		r.msr(0, lapic.MSRBase, base&^(lapic.BaseEnable|lapic.BaseX2APIC))
		r.host.now = 6000
		r.m.hvExpired(0, v)
		e, _ := r.last(trace.KindExpire)
		if got := trace.ExpireRoute(e.B); got != tt.route {
			t.Errorf("%s: expired %s, want %s", tt.era, got, tt.route)
		}
		r.msr(0, lapic.MSRBase, base&^lapic.BaseX2APIC)
		r.enter(0)
		r.cpus[0].exits = []Exit{{Reason: ExitPause, Len: 2}}
		r.until(0, StageAfter)
		r.m.Step(0)
		if got := v.apic.IRR.Has(0x40) || v.apic.PI.PIR.Has(0x40) || v.apic.ISR.Has(0x40); got != tt.kept {
			t.Errorf("%s: the interrupt is there after the APIC was enabled again: %v, want %v", tt.era, got, tt.kept)
		}
	}
}

func TestGuestInhibitsAPICv(t *testing.T) {
	const moved = lapic.DefaultBase + 0x10_0000
	id := func(r *rig, x uint32) {
		v := &r.m.vcpus[0]
		r.m.apply(0, v, lapic.ID, uint64(x)<<24, v.apic.WriteMMIO(uint16(lapic.ID), 4, uint64(x)<<24, r.m.sample(0, v)))
	}
	base := func(r *rig, at uint64) { r.msr(0, lapic.MSRBase, at|lapic.BaseEnable|lapic.BaseBSP) }
	for _, tt := range []struct {
		name string
		era  string
		do   func(*rig)
		want bool // APICv is on afterwards, on both vCPUs
	}{
		{"ID changed, 5.14", "5.14", func(r *rig) { id(r, 7) }, true},
		{"ID changed", "5.19", func(r *rig) { id(r, 7) }, false},
		{"ID changed back, 5.19", "5.19", func(r *rig) { id(r, 7); id(r, 0) }, false},
		{"ID changed back", "6.12", func(r *rig) { id(r, 7); id(r, 0) }, true},
		{"page moved, 5.14", "5.14", func(r *rig) { base(r, moved) }, true},
		{"page moved", "6.10", func(r *rig) { base(r, moved) }, false},
		{"page moved back", "6.10", func(r *rig) { base(r, moved); base(r, lapic.DefaultBase) }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, 2, nil)
			for i := range r.m.vcpus { // xAPIC mode
				v := &r.m.vcpus[i]
				r.on(tt.era)
				r.msr(i, lapic.MSRBase, v.apic.Base&^(lapic.BaseEnable|lapic.BaseX2APIC))
				r.msr(i, lapic.MSRBase, v.apic.Base|lapic.BaseEnable)
			}
			tt.do(r)
			for i := range r.m.vcpus {
				r.m.vcpus[i].stage = StageOuter
				r.enter(i)
				if got := r.m.vcpus[i].apicv; got != tt.want {
					t.Errorf("vCPU %d has APICv %v, want %v", i, got, tt.want)
				}
			}
			e, told := r.last(trace.KindInhibit)
			if set := told && e.Inhibit().Set; set == tt.want {
				t.Errorf("the last inhibit event says set %v", set)
			}
			if got := r.m.Inhibited() == ""; got != tt.want {
				t.Errorf("inhibited: %q", r.m.Inhibited())
			}
		})
	}
}
