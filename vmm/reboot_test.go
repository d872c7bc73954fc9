package vmm

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// resetPort is a Bus on which every write resets the machine.
type resetPort struct {
	Bus
	m *Machine
}

func (b *resetPort) Out(clock.TSC, uint16, uint8, uint32) Where { b.m.Reset(); return InUser }

func rebootRig(t *testing.T, way Reboot, boots *int) *rig {
	r := newRig(t, 2, nil)
	r.m.SetBus(&resetPort{m: r.m})
	r.m.cfg.Reboot = way
	r.m.cfg.Boot = func() (Registers, error) {
		*boots++
		return Registers{RIP: 0x1234}, nil
	}
	return r
}

func TestResetBootsTheGuestAnew(t *testing.T) {
	boots := 0
	r := rebootRig(t, RebootReset, &boots)
	r.msr(1, lapic.MSRDeadline, 1_000_000)
	r.enter(1)
	r.m.vcpus[0].apic.Accept(0x99, false)
	r.cpus[0].exits = []Exit{{Reason: ExitIO, Addr: 0xcf9, Write: true, Size: 1, Data: 6}}
	r.until(0, StageHandle)
	r.events = nil
	r.m.Step(0)
	if _, _, ended := r.m.Ended(); ended || boots != 1 {
		t.Fatalf("ended %v, booted %d times, want a guest that was booted once more", ended, boots)
	}
	v0, v1 := &r.m.vcpus[0], &r.m.vcpus[1]
	if v0.mp != trace.MPRunnable || v1.mp != trace.MPUninitialized || r.cpus[0].regs.RIP != 0x1234 {
		t.Errorf("vCPU 0 is %s at %#x, vCPU 1 %s", v0.mp, r.cpus[0].regs.RIP, v1.mp)
	}
	if !v0.apic.IRR.Empty() || v0.apic.X2APIC() || v1.apic.Timer.HVInUse || v1.apic.Timer.Deadline != 0 {
		t.Error("a local APIC was not reset")
	}
	if v0.stage != StageOuter || v1.stage != StageOuter {
		t.Errorf("the threads stand at %s and %s", StageNames[v0.stage], StageNames[v1.stage])
	}
	left := false
	for _, e := range r.events {
		left = left || e.Kind == trace.KindExit && e.VCPU == 1
	}
	if !left {
		t.Error("vCPU 1 was in the guest and has not left it")
	}
	r.enter(0)
}

func TestWhatAResetDoesIsChosen(t *testing.T) {
	out, triple := Exit{Reason: ExitIO, Addr: 0xcf9, Write: true, Size: 1}, Exit{Reason: ExitTriple}
	for _, tt := range []struct {
		name  string
		way   Reboot
		exit  Exit
		boots int
		end   trace.EndKind
	}{
		{"reset", RebootReset, out, 1, trace.BadEnd},
		{"triple fault", RebootReset, triple, 0, trace.EndTripleFault},
		{"reset, always", RebootAlways, out, 1, trace.BadEnd},
		{"triple fault, always", RebootAlways, triple, 1, trace.BadEnd},
		{"reset, never", RebootNever, out, 0, trace.EndReset},
		{"triple fault, never", RebootNever, triple, 0, trace.EndTripleFault},
	} {
		boots := 0
		r := rebootRig(t, tt.way, &boots)
		r.cpus[0].exits = []Exit{tt.exit}
		r.until(0, StageHandle)
		r.m.Step(0)
		if how, _, _ := r.m.Ended(); boots != tt.boots || how != tt.end {
			t.Errorf("%s: booted %d times, ended %s; want %d, %s", tt.name, boots, how, tt.boots, tt.end)
		}
	}
}

// INIT on a vCPU with an armed timer tells that it is gone, but for a one-shot timer
// on the preemption timer: KVM does not cancel that one.
func TestInitTellsOfTheTimer(t *testing.T) {
	for _, tt := range []struct {
		name string
		arm  func(*rig)
		hv   bool
		era  string
	}{
		{"TSC-deadline", func(r *rig) { r.msr(1, lapic.MSRDeadline, 1_000_000) }, false, "6.10"},
		{"TSC-deadline, 5.3", func(r *rig) { r.msr(1, lapic.MSRDeadline, 1_000_000) }, true, "5.3"},
		{"one-shot", func(r *rig) {
			r.msr(1, lapic.LVTT.MSR(), 0x40)
			r.msr(1, lapic.TMICT.MSR(), 1_000_000)
		}, true, "6.10"},
		{"one-shot on the hrtimer", func(r *rig) {
			r.m.st.knobs.PreemptionTimer = false
			r.msr(1, lapic.LVTT.MSR(), 0x40)
			r.msr(1, lapic.TMICT.MSR(), 1_000_000)
		}, false, "6.10"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, 2, nil)
			v := &r.m.vcpus[1]
			r.on(tt.era)
			tt.arm(r)
			if v.backing == trace.BackNone {
				t.Fatal("not armed")
			}
			r.events = nil
			v.init = true
			r.m.acceptInit(1, v)
			if v.apic.Timer.HVInUse != tt.hv || len(r.host.timers) != 0 {
				t.Errorf("preemption timer in use %v, want %v; %d hrtimers", v.apic.Timer.HVInUse, tt.hv, len(r.host.timers))
			}
			b, told := r.last(trace.KindBacking)
			a, disarmed := r.last(trace.KindArm)
			if gone := told && trace.Backing(b.A) == trace.BackNone && disarmed && a.A == 0; gone == tt.hv {
				t.Errorf("the timer is told to be gone: %v, want %v", gone, !tt.hv)
			}
		})
	}
}
