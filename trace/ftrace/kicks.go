package ftrace

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// pendingKick is a kick whose decision the next line of its CPU tells.
type pendingKick struct {
	on     bool
	at     clock.TSC
	cpu    int16
	target *vcpu
	from   *vcpu // loaded on the kicking CPU
	self   bool
}

// probeKick is kvm_vcpu_kick. What it decided shows in the next line on this CPU:
// kvm_arch_vcpu_should_kick is called only if the target neither sleeps nor runs
// here.
func (d *Decoder) probeKick(l *rawLine, a *probeArgs) {
	var target *vcpu
	for _, v := range d.vcpus {
		if v.ptr == a.ptr && a.ptr != 0 {
			target = v
		}
	}
	if target == nil && d.alone() && d.vcpus[0].ptr == 0 {
		target = d.vcpus[0]
	}
	if target == nil {
		return
	}
	from := d.thread(l)
	k := pendingKick{on: true, at: d.now, cpu: l.cpu, target: target, from: from, self: from == target}
	for i := range d.kicks {
		if d.kicks[i].cpu == l.cpu {
			d.kicks[i] = k
			return
		}
	}
	d.kicks = append(d.kicks, k)
}

// kickOn is the kick that waits on a CPU, nil if there is none.
func (d *Decoder) kickOn(cpu int16) *pendingKick {
	for i := range d.kicks {
		if k := &d.kicks[i]; k.on && k.cpu == cpu {
			return k
		}
	}
	return nil
}

// settleKick decides a kick that waits when the next line of its CPU comes.
func (d *Decoder) settleKick(l *rawLine, e *event) {
	k := d.kickOn(l.cpu)
	if k == nil {
		return
	}
	if e.probe != nil && e.probe.Name == "should_kick" {
		return // decided by probeShouldKick
	}
	d.flushKick(k)
}

func (d *Decoder) probeShouldKick(l *rawLine, a *probeArgs) {
	k := d.kickOn(l.cpu)
	if k == nil || !a.ok {
		return
	}
	k.on = false
	decision, mode, steps := trace.KickNothing, trace.OutsideGuestMode, trace.StepRCU|trace.StepCmpxchg
	if a.val != 0 {
		decision, mode, steps = trace.KickIPI, trace.InGuestMode, steps|trace.StepIPI
	}
	d.emitKick(k, decision, mode, steps, false)
}

// flushKick reports a kick for which the kernel did not ask for the target's
// mode: the target was woken, or it is the vCPU that runs here.
func (d *Decoder) flushKick(k *pendingKick) {
	if !k.on {
		return
	}
	k.on = false
	decision, steps, mode := trace.KickNothing, trace.StepRCU, trace.OutsideGuestMode
	switch {
	case k.target.halted:
		decision, steps = trace.KickWake, steps|trace.StepWake
	case k.self:
	case k.target.inGuest:
		mode = trace.InGuestMode
	}
	d.emitKick(k, decision, mode, steps, true)
}

func (d *Decoder) emitKick(k *pendingKick, decision trace.KickDecision, mode trace.Mode, steps trace.KickSteps,
	inferred bool) {
	from := uint64(trace.NoCPU)
	if k.from != nil {
		from = uint64(k.from.id)
	}
	l := &rawLine{cpu: k.cpu}
	d.emitAt(k.at, k.target, l, trace.KindKick, inferred, uint64(decision), uint64(mode), uint64(steps), from)
}
