//go:build linux && amd64

package kvm

import (
	"fmt"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// knobRow is what can be done about a knob with the LAPIC in the kernel.
type knobRow struct {
	where []condition
	tag   vmm.Tag
	why   string // RELEASE stands for the kernel's
	set   func(e *kernelEngine, v uint64) error
}

const (
	byKernel   = "by the kernel, RELEASE"
	newVM      = "the guest moves into a new VM"
	apicvLoad  = "kvm_intel.enable_apicv is N: the CPU lacks APICv, or the module was loaded with enable_apicv=0"
	avicLoad   = "kvm_amd.avic is off: load kvm_amd with avic=1 on a CPU that has AVIC"
	hostSwitch = "kvm.pi_inject_timer is one setting for all VMs of this host; it is restored at the end"
)

// kernelKnobs says how knobs are turned with the LAPIC in the kernel: the first
// row whose conditions hold counts, the last has none. Screens, doctor and
// docs/fidelity.md are made from it.
var kernelKnobs = [trace.NumKnobs][]knobRow{
	trace.KnobAPICv: {
		{[]condition{noAPICv, onAMD}, vmm.TagFixed, avicLoad, nil},
		{[]condition{noAPICv}, vmm.TagFixed, apicvLoad, nil},
		{[]condition{noSynIC}, vmm.TagFixed, "this kernel has no SynIC, which is needed to inhibit APICv", nil},
		{nil, vmm.TagLive, "by a SynIC AutoEOI inhibit on this VM", (*kernelEngine).setAPICv}},
	trace.KnobPostedTimer: {
		{[]condition{noPosting}, vmm.TagFixed, "kvm.pi_inject_timer is missing or not writable", nil},
		{nil, vmm.TagHostWide, hostSwitch, (*kernelEngine).setPosted}},
	trace.KnobAdvance: {
		{[]condition{noLookup}, vmm.TagGone, "since Linux " + noNumber.String() + " the advance is adaptive or off, chosen when kvm is loaded", nil},
		{nil, vmm.TagRebuild, "read when a vCPU is made: " + newVM, (*kernelEngine).setAdvance}},
	trace.KnobVMEntryAdvance: {{nil, vmm.TagGone, "no kernel has vmentry_advance_ns; it was proposed in 2019", nil}},
	trace.KnobWaitPlacement:  {{nil, vmm.TagFixed, byKernel, nil}},
	trace.KnobPreemptionTimer: {
		{[]condition{onAMD}, vmm.TagFixed, "SVM has no preemption timer", nil},
		{nil, vmm.TagFixed, "kvm_intel.preemption_timer is read-only: reload kvm_intel to change it", nil}},
	trace.KnobFastpath: {{nil, vmm.TagFixed, byKernel, nil}},
	trace.KnobKick:     {{nil, vmm.TagFixed, byKernel, nil}},
	trace.KnobExitsDisabled: {
		{[]condition{noExits}, vmm.TagFixed, "this KVM cannot disable exits", nil},
		{nil, vmm.TagRebuild, "fixed when a VM is made: " + newVM, (*kernelEngine).setExits}},
	trace.KnobHaltPoll: {
		{[]condition{noPolling}, vmm.TagFixed, "no KVM_CAP_HALT_POLL (Linux " + kernel.Capability("KVM_CAP_HALT_POLL") + " or later)", nil},
		{nil, vmm.TagLive, "KVM_CAP_HALT_POLL", (*kernelEngine).setHaltPoll}},
	trace.KnobTuning:       {{nil, vmm.TagFixed, byKernel, nil}},
	trace.KnobRunningShort: {{nil, vmm.TagFixed, byKernel, nil}},
}

// knobRow decides by this host's facts.
func (f *kernelFacts) knobRow(k trace.Knob) knobRow {
	rows := kernelKnobs[k]
	r := rows[first(&hostFacts{kernelFacts: *f}, len(rows), func(i int) []condition { return rows[i].where })]
	r.why = strings.ReplaceAll(r.why, "RELEASE", f.release)
	return r
}

// Knobs implements vmm.Engine.
func (e *kernelEngine) Knobs() []vmm.KnobState {
	states := make([]vmm.KnobState, 0, trace.NumKnobs)
	for k := trace.BadKnob + 1; k < trace.NumKnobs; k++ {
		r := e.facts.knobRow(k)
		states = append(states, vmm.KnobState{Knob: k, Value: e.knobs.Get(k), Tag: r.tag, Why: r.why})
	}
	return states
}

// SetKnob implements vmm.Engine. The threads are parked. A host-wide knob is
// turned without asking: the caller has asked.
func (e *kernelEngine) SetKnob(k trace.Knob, value uint64) error {
	next := e.knobs
	if err := next.Set(k, value); err != nil {
		return err
	}
	r := e.facts.knobRow(k)
	if r.set == nil {
		return fmt.Errorf("%s is %s: %s", k, vmm.TagNames[r.tag], r.why)
	}
	old := e.knobs
	e.knobs = next
	if err := r.set(e, value); err != nil {
		e.knobs = old
		return fmt.Errorf("%s: %w", k, err)
	}
	if k == trace.KnobAPICv && e.obs != nil {
		if err := e.turned(k, value, old.Get(k)); err != nil {
			e.knobs = old
			return err
		}
		return nil // the trace reports it
	}
	e.mu.Lock()
	e.emit(trace.NoCPU, trace.KindKnob, uint64(k), value, old.Get(k), 0)
	e.mu.Unlock()
	return nil
}

// The SynIC source that inhibits APICv: an unmasked one with AutoEOI. Its vector
// is one of the exceptions', which no guest uses for an interrupt.
const (
	msrSINT2    = 0x40000092
	inhibitSINT = 1<<17 | 0x1f
	passiveSINT = 1<<16 | 0x1f // masked
	inhibitVCPU = 0
)

// setAPICv adds or removes an inhibit reason.
func (e *kernelEngine) setAPICv(v uint64) error {
	c := e.vm.CPU(inhibitVCPU)
	if !e.synic {
		if _, err := ioctlPtr(c.fd, _KVM_ENABLE_CAP, &enableCap{Cap: _KVM_CAP_HYPERV_SYNIC}); err != nil {
			return fmt.Errorf("enabling the SynIC: %w", err)
		}
		e.synic = true
	}
	sint := uint64(inhibitSINT)
	if v != 0 {
		sint = passiveSINT
	}
	if !c.WriteMSR(msrSINT2, sint) {
		return fmt.Errorf("KVM refuses %#x in SINT2", sint)
	}
	return nil
}

// turned looks whether the trace reports that APICv changed: KVM takes an inhibit
// reason also where another one stands, or the CPU has no APICv to turn off.
func (e *kernelEngine) turned(k trace.Knob, value, old uint64) error {
	if value == old {
		return nil
	}
	e.readRest()
	for _, ev := range e.batch {
		if ev.Kind == trace.KindKnob && trace.Knob(ev.A) == k && ev.B == value {
			return nil
		}
	}
	return fmt.Errorf("%s: KVM took the inhibit, and did not report that APICv changed: another reason inhibits it", k)
}

func (e *kernelEngine) setPosted(v uint64) error {
	return e.host.set("kvm", "pi_inject_timer", fmt.Sprint(v))
}

func (e *kernelEngine) setHaltPoll(v uint64) error { return e.vm.SetHaltPoll(clock.Nanos(v)) }

// setAdvance makes a new VM while the module parameter has the value, and puts
// the parameter back at once: only vCPUs made in between take it over.
func (e *kernelEngine) setAdvance(v uint64) error {
	text := fmt.Sprint(v)
	if v == trace.AdvanceAdaptive {
		text = "-1"
	}
	if err := e.host.set("kvm", "lapic_timer_advance_ns", text); err != nil {
		return err
	}
	err := e.transplant()
	if rerr := e.host.restoreOne("kvm", "lapic_timer_advance_ns"); err == nil {
		err = rerr
	}
	return err
}

func (e *kernelEngine) setExits(uint64) error { return e.transplant() }
