package model

import (
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Ended implements vmm.Engine.
func (e *Engine) Ended() (trace.EndKind, uint32, bool) { return e.m.Ended() }

// Stop implements vmm.Engine. The run ends at the time that every CPU has
// reached: what one of them did after it is not told.
func (e *Engine) Stop(how trace.EndKind) {
	p, at := e.host.first()
	if p == vmm.NoPCPU {
		p = 0
	}
	e.order.release(at)
	e.order.drop()
	e.m.Stop(p, how, 0, 0)
	e.finish()
}

// SetKnob implements vmm.Engine: every knob of the model is live.
func (e *Engine) SetKnob(k trace.Knob, v uint64) error {
	if err := e.m.SetKnob(k, v); err != nil {
		return err
	}
	e.order.release(e.Now())
	return nil
}

// Knobs implements vmm.Engine.
func (e *Engine) Knobs() []vmm.KnobState {
	k := e.m.Knobs()
	var s []vmm.KnobState
	for n := trace.BadKnob + 1; n < trace.NumKnobs; n++ {
		s = append(s, vmm.KnobState{Knob: n, Value: k.Get(n), Tag: vmm.TagLive, Why: e.why(&k, n)})
	}
	return s
}

// why says why a knob has no effect, or a surprising one.
func (e *Engine) why(k *vmm.Knobs, n trace.Knob) string {
	if s := e.m.Inhibited(); n == trace.KnobAPICv && s != "" {
		return s
	}
	return idle(&e.cfg.Kernel, k, n)
}

// idle says why a knob has no effect, or a surprising one, as the others stand.
func idle(host *kernel.Kernel, k *vmm.Knobs, n trace.Knob) string {
	switch {
	case n == trace.KnobPostedTimer && k.PostedTimer && !k.APICv:
		return "posting needs APICv"
	case n == trace.KnobPostedTimer && k.PostedTimer && !host.Posted.Exists:
		return "kernel " + host.Release.String() + " has no pi_inject_timer"
	case n == trace.KnobPostedTimer && k.PostedTimer && host.Posted.NeedsExits &&
		k.ExitsDisabled&(vmm.DisableMWAIT|vmm.DisableHLT) == 0:
		return "in kernel " + host.Release.String() + " posting needs HLT or MWAIT exits disabled"
	case n == trace.KnobPreemptionTimer && k.PreemptionTimer && k.ExitsDisabled&vmm.DisableMWAIT != 0:
		return "not used while MWAIT does not exit"
	case n == trace.KnobTuning && k.Advance != trace.AdvanceAdaptive:
		return "only with an adaptive advance"
	case n == trace.KnobRunningShort && !k.APICv:
		return "only with APICv"
	case n == trace.KnobFastpath && k.Fastpath == vmm.RulesS004 && !k.APICv:
		return "this rule set takes nothing without APICv"
	}
	return ""
}

// codeBytes is how much code from RIP on a frame carries.
const (
	codeBytes = 96
)

// CPUs implements vmm.Engine.
func (e *Engine) CPUs(dst []vmm.CPUFrame) []vmm.CPUFrame {
	for _, c := range e.cpus {
		f := vmm.CPUFrame{Regs: c.Registers(), Bits: c.CodeBits()}
		at := f.Regs.CS.Base + f.Regs.RIP
		if f.Bits == 64 {
			at = f.Regs.RIP
		}
		f.CodeAt = at
		f.Code = c.Peek(at, codeBytes)
		dst = append(dst, f)
	}
	return dst
}

// Close implements vmm.Engine.
func (e *Engine) Close() error { return nil }

// Checkpoint implements vmm.Rewinder.
func (e *Engine) Checkpoint() any { return e.Save() }

// Rewind implements vmm.Rewinder.
func (e *Engine) Rewind(s any) error { return e.Restore(s.(*Snapshot)) }

var _ vmm.Rewinder = (*Engine)(nil)
