package vmm

import (
	"fmt"
	"math"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/trace/kernel/rule"
)

// DefaultKnobs are those of the default kernel; see KnobsOf.
func DefaultKnobs() Knobs {
	k := DefaultKernel()
	return KnobsOf(&k)
}

// DefaultKernel is the default release on Intel's CPUs.
func DefaultKernel() kernel.Kernel { return kernel.At(kernel.Default, kernel.Intel) }

// KnobsOf are a kernel's settings where nobody has touched its module parameters,
// on a CPU with APICv and, from Intel, a preemption timer.
func KnobsOf(k *kernel.Kernel) Knobs {
	s := Knobs{APICv: true, Advance: uint64(k.Advance.Start), WaitPlacement: k.Wait, PreemptionTimer: k.Vendor == kernel.Intel,
		Fastpath: k.Fastpath.Set, Kick: k.Kick.Rules, HaltPoll: k.Poll.Max, Tuning: k.Advance.Tuning,
		Shortcut: k.Delivery.Shortcut}
	if k.Advance.ByDefault {
		s.Advance = trace.AdvanceAdaptive
	}
	return s
}

// Deviations names the rules of s that are not those of k, as NAME=VALUE. A run with
// any follows the rules of no kernel. What a kernel lets its user choose is none:
// parameters, and capabilities of the VM.
func (s *Knobs) Deviations(k *kernel.Kernel) (names []string) {
	own := KnobsOf(k)
	differs := map[trace.Knob]bool{
		trace.KnobAdvance: s.Advance == trace.AdvanceAdaptive && !k.Advance.Adaptive ||
			s.Advance != trace.AdvanceAdaptive && s.Advance != 0 && s.Advance != own.Advance && !k.Advance.Fixed,
		trace.KnobPostedTimer:     s.PostedTimer && !k.Posted.Exists,
		trace.KnobPreemptionTimer: s.PreemptionTimer && k.Vendor == kernel.AMD,
		trace.KnobVMEntryAdvance:  s.VMEntryAdvance != 0,
	}
	for _, n := range []trace.Knob{trace.KnobWaitPlacement, trace.KnobFastpath, trace.KnobKick, trace.KnobTuning, trace.KnobRunningShort} {
		differs[n] = s.Get(n) != own.Get(n)
	}
	for n := trace.BadKnob + 1; n < trace.NumKnobs; n++ {
		if differs[n] {
			names = append(names, n.String()+"="+trace.FormatKnob(n, s.Get(n)))
		}
	}
	return names
}

// Cannot says why kernel k cannot be set to value v of a knob; empty if it can.
func Cannot(k *kernel.Kernel, n trace.Knob, v uint64) string {
	s := KnobsOf(k)
	if s.Set(n, v) != nil {
		return ""
	}
	for _, d := range s.Deviations(k) {
		if name, _, _ := strings.Cut(d, "="); name != n.String() {
			continue
		}
		switch {
		case n == trace.KnobVMEntryAdvance:
			return d + " is a proposal that no release of Linux has"
		case n == trace.KnobAdvance && v != trace.AdvanceAdaptive:
			return fmt.Sprintf("Linux %s has no number of nanoseconds for the advance, only on and off (kvm.lapic_timer_advance)", k.Release)
		}
		return fmt.Sprintf("Linux %s does not do %s, and no parameter makes it", k.Release, d)
	}
	return ""
}

// knobAccess reads and writes one knob as a number.
type knobAccess struct {
	get func(*Knobs) uint64
	set func(*Knobs, uint64)
	max uint64 // largest valid value
	min uint64
}

// knobTable is indexed by trace.Knob.
var knobTable = [trace.NumKnobs]knobAccess{
	trace.KnobAPICv: {func(k *Knobs) uint64 { return b2u(k.APICv) }, func(k *Knobs, v uint64) { k.APICv = v != 0 }, 1, 0},
	trace.KnobPostedTimer: {func(k *Knobs) uint64 { return b2u(k.PostedTimer) },
		func(k *Knobs, v uint64) { k.PostedTimer = v != 0 }, 1, 0},
	trace.KnobAdvance: {func(k *Knobs) uint64 { return k.Advance }, func(k *Knobs, v uint64) { k.Advance = v },
		math.MaxInt32, 0},
	trace.KnobVMEntryAdvance: {func(k *Knobs) uint64 { return uint64(k.VMEntryAdvance) },
		func(k *Knobs, v uint64) { k.VMEntryAdvance = clock.Nanos(v) }, math.MaxUint32, 0},
	trace.KnobWaitPlacement: {func(k *Knobs) uint64 { return uint64(k.WaitPlacement) },
		func(k *Knobs, v uint64) { k.WaitPlacement = trace.Placement(v) }, uint64(trace.WaitLate), uint64(trace.WaitEarly)},
	trace.KnobPreemptionTimer: {func(k *Knobs) uint64 { return b2u(k.PreemptionTimer) },
		func(k *Knobs, v uint64) { k.PreemptionTimer = v != 0 }, 1, 0},
	trace.KnobFastpath: {func(k *Knobs) uint64 { return uint64(k.Fastpath) },
		func(k *Knobs, v uint64) { k.Fastpath = RuleSet(v) }, uint64(rule.NumFastpaths) - 1, 1},
	trace.KnobKick: {func(k *Knobs) uint64 { return uint64(k.Kick) },
		func(k *Knobs, v uint64) { k.Kick = KickRules(v) }, uint64(rule.NumKicks) - 1, 1},
	trace.KnobExitsDisabled: {func(k *Knobs) uint64 { return uint64(k.ExitsDisabled) },
		func(k *Knobs, v uint64) { k.ExitsDisabled = ExitsDisabled(v) }, uint64(DisableMWAIT | DisableHLT | DisablePause), 0},
	trace.KnobHaltPoll: {func(k *Knobs) uint64 { return uint64(k.HaltPoll) },
		func(k *Knobs, v uint64) { k.HaltPoll = clock.Nanos(v) }, math.MaxUint32, 0},
	trace.KnobTuning: {func(k *Knobs) uint64 { return uint64(k.Tuning) },
		func(k *Knobs, v uint64) { k.Tuning = rule.Tuning(v) }, uint64(rule.NumTunings) - 1, 1},
	trace.KnobRunningShort: {func(k *Knobs) uint64 { return uint64(k.Shortcut) },
		func(k *Knobs, v uint64) { k.Shortcut = Shortcut(v) }, uint64(rule.NumShortcuts) - 1, 1},
}

// Get returns a knob's value as a number.
func (k *Knobs) Get(n trace.Knob) uint64 { return knobTable[n].get(k) }

// Set changes a knob. It refuses values outside the knob's range.
func (k *Knobs) Set(n trace.Knob, value uint64) error {
	if n <= trace.BadKnob || n >= trace.NumKnobs {
		return fmt.Errorf("unknown knob %d", n)
	}
	a := &knobTable[n]
	if value < a.min || value > a.max && !(n == trace.KnobAdvance && value == trace.AdvanceAdaptive) {
		return fmt.Errorf("%s: %d is out of range, want %d to %d", n, value, a.min, a.max)
	}
	a.set(k, value)
	return nil
}

// Values returns all knobs, by trace.Knob.
func (k *Knobs) Values() (values [trace.NumKnobs]uint64) {
	for n := trace.BadKnob + 1; n < trace.NumKnobs; n++ {
		values[n] = k.Get(n)
	}
	return values
}

// SetKnob turns a knob between two exits and reports it. What depends on it
// changes at each vCPU's next exit or arming, as it would in KVM.
func (m *Machine) SetKnob(n trace.Knob, value uint64) error {
	old := m.st.knobs.Get(n)
	if err := m.st.knobs.Set(n, value); err != nil {
		return err
	}
	p := m.vcpus[0].pcpu
	m.emit(p, trace.NoCPU, trace.KindKnob, uint64(n), value, old, 0)
	for i := range m.vcpus {
		v := &m.vcpus[i]
		switch n {
		case trace.KnobAPICv:
			m.request(p, v, ReqAPICvUpdate)
		case trace.KnobFastpath:
			m.follow()
		case trace.KnobAdvance, trace.KnobTuning:
			m.setAdvance(v)
		case trace.KnobVMEntryAdvance:
			v.apic.SetEntryAdvance(m.st.knobs.VMEntryAdvance)
		case trace.KnobExitsDisabled:
			m.resetSpin(v)
		case trace.KnobHaltPoll:
			v.haltPoll = min(v.haltPoll, m.st.knobs.HaltPoll)
		}
	}
	return nil
}

// setAdvance gives the timer of v the advance that the knobs say.
func (m *Machine) setAdvance(v *vcpu) {
	k := &m.st.knobs
	t, ns := lapic.TuningFixed, clock.Nanos(k.Advance)
	switch k.Advance {
	case 0:
		t = lapic.TuningOff
	case trace.AdvanceAdaptive:
		t, ns = lapic.TuningAdaptive, 0
	}
	v.apic.SetAdvance(t, ns, m.cfg.Kernel.TuneRulesAs(k.Tuning))
	v.apic.SetEntryAdvance(k.VMEntryAdvance)
}

// applyAPICv is KVM_REQ_APICV_UPDATE: the vCPU takes over the VM's state.
//
// Source: arch/x86/kvm/x86.c, kvm_vcpu_update_apicv.
func (m *Machine) applyAPICv(p PCPU, v *vcpu) {
	want := m.wantsAPICv(v)
	if v.apicv == want {
		return
	}
	if !want && v.apic.PI.ON {
		m.syncPIR(p, v)
	}
	v.apicv = want
	v.windowOn = false
	v.requests |= ReqEvent
}
