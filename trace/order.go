package trace

import (
	"fmt"
	"io"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// Order checks that events can follow each other as an engine's do. Its zero
// value stands before the first event. Traces from elsewhere begin in the middle
// and have gaps: what is not known yet is not checked, and a lost event makes
// everything unknown again.
//
//	event          is possible if the vCPU
//	entry          is in the host, or was not seen yet
//	exit           is in the guest, or was not seen yet
//	guest_irq      is not known to be in the host
//	fastpath, msr, cost, halt, wake, inject, user_exit, user_entry
//	               is not known to be in the guest; but the cost of taking a
//	               notification is the guest's own
//
// Entries and exits of one vCPU do not go back in time. No vCPU enters after the
// end; the step in which it comes may finish, and so may those of the other vCPUs that
// were under way: each may enter once.
type Order struct {
	vcpus [MaxVCPUs]vcpuOrder
	ended bool
}

type vcpuOrder struct {
	where whereabouts
	at    clock.TSC // of the last entry or exit
	last  bool      // it has entered after the end
}

// whereabouts is whether a vCPU executes guest code.
type whereabouts uint8

const (
	unseen whereabouts = iota
	inHost
	inGuest
)

// hostOnly are the kinds that the vCPU's own thread emits in the host.
var hostOnly = [numKinds]bool{KindFastpath: true, KindMSR: true, KindCost: true, KindHalt: true, KindWake: true,
	KindInject: true, KindUserExit: true, KindUserEntry: true}

// Check takes the next event. The error is one sentence that says why it cannot
// come here; the order then stands where it stood.
func (o *Order) Check(e *Event) error {
	if o.ended && e.Kind == KindEntry && e.VCPU != NoCPU {
		v := &o.vcpus[e.VCPU]
		if v.last {
			return fmt.Errorf("a second %v of vCPU %d after the end", e.Kind, e.VCPU)
		}
		v.last = true
	}
	switch e.Kind {
	case KindEnd:
		o.ended = true
	case KindLost:
		o.vcpus = [MaxVCPUs]vcpuOrder{}
	}
	if e.VCPU == NoCPU {
		return nil
	}
	return o.vcpus[e.VCPU].check(e)
}

func (v *vcpuOrder) check(e *Event) error {
	switch {
	case e.Kind == KindEntry:
		return v.move(e, inHost, inGuest)
	case e.Kind == KindExit:
		return v.move(e, inGuest, inHost)
	case e.Kind == KindGuestIRQ && v.where == inHost:
		return fmt.Errorf("guest_irq while vCPU %d is in the host", e.VCPU)
	case hostOnly[e.Kind] && v.where == inGuest && !paysNotification(e):
		return fmt.Errorf("%v while vCPU %d is in the guest", e.Kind, e.VCPU)
	}
	return nil
}

// paysNotification reports whether e is the cost of an interrupt that posts others, which
// the guest takes without an exit.
func paysNotification(e *Event) bool {
	if e.Kind != KindCost {
		return false
	}
	for _, w := range e.args() {
		if a, b := UnpackCosts(w); a.Phase == PhaseNotify && a.Cycles > 0 || b.Phase == PhaseNotify && b.Cycles > 0 {
			return true
		}
	}
	return false
}

// move takes a vCPU across the border.
func (v *vcpuOrder) move(e *Event, from, to whereabouts) error {
	if v.where == to {
		return fmt.Errorf("a second %v of vCPU %d without leaving in between", e.Kind, e.VCPU)
	}
	if v.where == from && e.TSC < v.at {
		return fmt.Errorf("%v of vCPU %d at %d, before %d", e.Kind, e.VCPU, e.TSC, v.at)
	}
	v.where, v.at = to, e.TSC
	return nil
}

// Verify reads all events and checks their order. The error is a *DamageError
// that names the first impossible event and the block that holds it.
func (r *Recording) Verify() error {
	c := r.Cursor()
	var o Order
	for {
		seq := c.Seq()
		e, err := c.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := o.Check(&e); err != nil {
			return &DamageError{r.chunks[c.chunk].offset, seq, err.Error()}
		}
	}
}
