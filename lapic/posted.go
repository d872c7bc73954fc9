package lapic

// Descriptor is the posted-interrupt descriptor of one vCPU. NDST, the APIC ID
// of the host CPU to notify, is the loop's business and not kept here.
//
//	bits 255:0    PIR, one per vector
//	bit  256      ON  outstanding notification
//	bit  257      SN  suppress notification
//	bits 279:272  NV  notification vector
//
// Intel SDM vol. 3C, 29.6 "Posted-Interrupt Processing".
type Descriptor struct {
	PIR Set256
	ON  bool
	SN  bool
	NV  Vector
}

// The notification vectors that KVM uses on the host.
const (
	NestedVector Vector = 0xf0 // POSTED_INTR_NESTED_VECTOR
	WakeupVector Vector = 0xf1 // POSTED_INTR_WAKEUP_VECTOR: the vCPU is blocked
	NotifyVector Vector = 0xf2 // POSTED_INTR_VECTOR
)

// Post sets v in PIR and then ON. already is true if v was set before: nothing
// else happened. on is true if ON was set before: a notification is on its way,
// and the caller must not send another one. If both are false the caller has to
// notify the vCPU, unless SN is set.
//
// Source: arch/x86/kvm/vmx/vmx.c, vmx_deliver_posted_interrupt.
func (d *Descriptor) Post(v Vector) (already, on bool) {
	if d.PIR.Has(v) {
		return true, d.ON
	}
	d.PIR.Set(v)
	on = d.ON
	d.ON = true
	return false, on
}

// Sync moves PIR into irr if ON is set, and clears ON. moved is the number of
// vectors moved, fresh is true if one of them was not in irr before, highest is
// the highest vector then in irr; ok is false if irr is empty.
//
// Source: arch/x86/kvm/vmx/vmx.c, vmx_sync_pir_to_irr.
func (d *Descriptor) Sync(irr *Set256) (moved int, fresh bool, highest Vector, ok bool) {
	if d.ON {
		d.ON = false
		for i, w := range d.PIR {
			fresh = fresh || w&^irr[i] != 0
			irr[i] |= w
		}
		moved = d.PIR.Len()
		d.PIR = Set256{}
	}
	highest, ok = irr.Highest()
	return moved, fresh, highest, ok
}

// Load is the vCPU being scheduled in: SN is cleared, and ON is set if something
// was posted meanwhile, so that the next entry syncs it.
//
// Source: arch/x86/kvm/vmx/posted_intr.c, vmx_vcpu_pi_load.
func (d *Descriptor) Load() {
	d.SN = false
	d.NV = NotifyVector
	if !d.PIR.Empty() {
		d.ON = true
	}
}

// Unload is the vCPU being scheduled out. preempted sets SN: whoever posts need
// not notify. blocked sets the vector that wakes the vCPU's thread instead.
//
// Source: arch/x86/kvm/vmx/posted_intr.c, vmx_vcpu_pi_put.
func (d *Descriptor) Unload(preempted, blocked bool) {
	d.SN = preempted && !blocked
	if blocked {
		d.NV = WakeupVector
	}
}
