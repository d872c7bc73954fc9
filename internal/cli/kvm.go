package cli

import (
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/kvm"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// kvmFactory is the KVM run that the flags describe.
func (o *runOptions) kvmFactory(knobs vmm.Knobs) (session.Factory, error) {
	place, err := kvm.ParsePlacement(o.lapic)
	if err != nil {
		return nil, with(ExitUsage, err)
	}
	hz, err := kvm.Frequency()
	if err != nil {
		return nil, fail(ExitHost, "engine kvm is not available: %w", err)
	}
	img, err := o.image(hz)
	if err != nil {
		return nil, err
	}
	if o.vcpus == 0 {
		o.vcpus = img.MinVCPUs()
	}
	hide, err := parseHide(o.hide)
	if err != nil {
		return nil, err
	}
	inputs, err := parseInputs(o.inputs)
	if err != nil {
		return nil, err
	}
	cfg := kvm.Config{Inputs: inputs, Guest: img, Placement: place, VCPUs: o.vcpus, RAM: o.ram(img), Knobs: knobs,
		TestDevice: true, Hide: hide, Untraced: o.untraced, Unobserved: o.untraced}
	return func(sink trace.Sink) (vmm.Engine, error) {
		e, err := kvm.New(cfg, sink)
		return e, with(ExitHost, err)
	}, nil
}

// kvmUsable reports whether --engine=auto takes KVM.
func kvmUsable() bool {
	s, err := kvm.Open()
	if err != nil {
		return false
	}
	s.Close()
	return true
}
