package vmm

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// TestPostedDeliveryRoutes walks the table of posted delivery: what is done
// after PIR and ON are set, by target state and shortcut.
func TestPostedDeliveryRoutes(t *testing.T) {
	const vec = 0x61
	in := func(r *rig, v int) { r.enter(v) }
	tests := []struct {
		name     string
		shortcut Shortcut
		set      func(*rig)
		from     PCPU // vCPU 0 is the target, on CPU 0
		route    trace.DeliverRoute
		clause   trace.Clause
		ipis     int
		kicks    int
	}{
		{"other CPU, in guest", ShortcutInGuest, func(r *rig) { in(r, 0) }, 1, trace.DeliverNotify, trace.ClauseNone, 1, 0},
		{"running, in guest: nothing", ShortcutInGuest, func(r *rig) { in(r, 0) }, 0, trace.DeliverSelf, trace.ClauseRunning, 0, 0},
		{"running, in guest, no shortcut: IPI to itself", ShortcutOff, func(r *rig) { in(r, 0) }, 0, trace.DeliverNotify,
			trace.ClauseNone, 1, 0},
		{"running, outside, S004: nothing", ShortcutAlways, nil, 0, trace.DeliverSelf, trace.ClauseRunning, 0, 0},
		{"running, outside, 5.19: wake-up", ShortcutInGuest, nil, 0, trace.DeliverWake, trace.ClauseNotInGuest, 0, 0},
		{"other CPU, outside, up to 5.15: kick", ShortcutOff, nil, 1, trace.DeliverPIRKick, trace.ClauseNotInGuest, 0, 1},
		{"PIR bit set", ShortcutInGuest, func(r *rig) { r.m.vcpus[0].apic.Post(vec, false) }, 1, trace.DeliverMerged,
			trace.ClausePIRSet, 0, 0},
		{"ON set", ShortcutInGuest, func(r *rig) { r.m.vcpus[0].apic.Post(vec+1, false) }, 1, trace.DeliverMerged,
			trace.ClauseONSet, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, 2, func(k *Knobs) { k.Shortcut = tt.shortcut })
			if tt.set != nil {
				tt.set(r)
			}
			r.events, r.host.ipis = nil, nil
			r.m.deliver(tt.from, &r.m.vcpus[0], vec, false, trace.SourceIPI)
			e, _ := r.last(trace.KindDeliver)
			if trace.DeliverRoute(e.B) != tt.route || trace.Clause(e.C) != tt.clause {
				t.Errorf("route %s, %s, want %s, %s", trace.DeliverRoute(e.B), trace.Clause(e.C), tt.route, tt.clause)
			}
			if len(r.host.ipis) != tt.ipis || r.count(trace.KindKick) != tt.kicks {
				t.Errorf("%d IPIs, %d kicks, want %d, %d", len(r.host.ipis), r.count(trace.KindKick), tt.ipis, tt.kicks)
			}
			if !r.m.vcpus[0].apic.PI.PIR.Has(vec) {
				t.Error("the vector is not in PIR")
			}
		})
	}
}

// The lost wake-up of the always-shortcut (fdba608f15e2): a vCPU that is loaded
// on this CPU but sleeps is not woken by a posted interrupt from an interrupt
// handler.
func TestAlwaysShortcutLosesTheWakeUpOfASleeper(t *testing.T) {
	for shortcut, woken := range map[Shortcut]bool{ShortcutAlways: false, ShortcutInGuest: true, ShortcutOff: true} {
		r := newRig(t, 1, func(k *Knobs) { k.Shortcut = shortcut })
		v := &r.m.vcpus[0]
		v.blocked, r.host.asleep[0] = true, true
		r.m.deliver(0, v, 0x61, false, trace.SourceTimer)
		if got := !r.host.asleep[0]; got != woken {
			t.Errorf("%s: sleeper woken: %v, want %v", trace.ShortcutNames[shortcut], got, woken)
		}
	}
}

// Without APICv an interrupt becomes a request and a kick, is written to the
// VM-entry field if the guest can take it, else a window is asked for.
func TestDeliveryWithoutAPICv(t *testing.T) {
	for _, ready := range []bool{true, false} {
		r := newRig(t, 1, func(k *Knobs) { k.APICv = false })
		if !ready {
			r.cpus[0].ready = NotReadyIF
		}
		r.m.deliver(0, &r.m.vcpus[0], 0x61, false, trace.SourceIPI)
		if e, _ := r.last(trace.KindDeliver); trace.DeliverRoute(e.B) != trace.DeliverRequest {
			t.Fatalf("route %s, want irr+request", trace.DeliverRoute(e.B))
		}
		r.enter(0)
		v := &r.m.vcpus[0]
		if got := len(r.cpus[0].injected) == 1; got != ready {
			t.Errorf("ready %v: injected %v", ready, r.cpus[0].injected)
		}
		if v.apic.ISR.Has(0x61) != ready || r.cpus[0].irq == ready {
			t.Errorf("ready %v: in service %v, window asked for %v", ready, v.apic.ISR.Has(0x61), r.cpus[0].irq)
		}
		if ready {
			continue
		}
		r.cpus[0].ready = Ready
		r.cpus[0].exits = []Exit{{Reason: StopWindow}}
		r.until(0, StageExit)
		r.until(0, StageGuest)
		if len(r.cpus[0].injected) != 1 || !v.apic.ISR.Has(0x61) || r.cpus[0].irq {
			t.Errorf("after the window: injected %v, in service %v, window still asked for %v", r.cpus[0].injected,
				v.apic.ISR.Has(0x61), r.cpus[0].irq)
		}
	}
}

// The direct route with LVTT masked loses the interrupt; the pending route keeps
// it until LVTT is unmasked.
func TestMaskedExpiryIsLostOrWaits(t *testing.T) {
	masked := uint64(2<<17 | 1<<16 | 0x40)
	for _, apicv := range []bool{true, false} {
		r := newRig(t, 1, func(k *Knobs) { k.APICv, k.Advance = apicv, 0 })
		r.msr(0, lapic.LVTT.MSR(), masked)
		v := &r.m.vcpus[0]
		r.msr(0, lapic.MSRDeadline, uint64(r.host.now)-1) // expires inside the write
		e, _ := r.last(trace.KindExpire)
		want := trace.RoutePending
		if apicv {
			want = trace.RouteLost
		}
		if got := trace.ExpireRoute(e.B); got != want {
			t.Errorf("APICv %v: route %s, want %s", apicv, got, want)
		}
		if v.apic.Timer.Pending == apicv {
			t.Errorf("APICv %v: pending %v", apicv, v.apic.Timer.Pending)
		}
		r.msr(0, lapic.LVTT.MSR(), 2<<17|0x40)
		r.enter(0)
		if got := len(r.cpus[0].injected) == 1; got == apicv {
			t.Errorf("APICv %v: after unmasking injected %v", apicv, r.cpus[0].injected)
		}
	}
}

// KVM takes NMIs whenever they come and opens no window for the second one, so
// both must be handed over at one entry, before an interrupt that came later.
func TestSecondNMIWaitsForAWindowOnlyWhereThereIsOne(t *testing.T) {
	for _, tt := range []struct {
		name     string
		exact    bool
		injected int
		window   bool
	}{
		{"CPU with an NMI window", true, 1, true},
		{"real CPU", false, 2, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, 1, nil)
			r.m.cfg.Exact = tt.exact
			nmi := lapic.Message{Delivery: lapic.NMI, Assert: true}
			for range 2 {
				r.m.receive(0, &r.m.vcpus[0], nmi, trace.SourceIPI)
			}
			r.enter(0)
			c := r.cpus[0]
			if len(c.injected) != tt.injected || c.nmi != tt.window {
				t.Errorf("%d NMIs injected, window %v; want %d, %v", len(c.injected), c.nmi, tt.injected, tt.window)
			}
		})
	}
}
