package lapic

// PPR returns the processor priority: TPR if its class is not below that of the
// highest vector in service, else that class.
func (a *APIC) PPR() uint8 { return 0 }

// SetTPR sets TPR; it reports whether PPR changed.
func (a *APIC) SetTPR(v uint8) bool { return false }

// CR8 returns TPR bits 7:4, as MOV from CR8 reads it.
func (a *APIC) CR8() uint8 { return 0 }

// SetCR8 sets TPR to v<<4 (0–15); it reports whether PPR changed.
func (a *APIC) SetCR8(v uint8) bool { return false }

// Accept sets v in IRR and its trigger mode in TMR (APICv off). already is true
// if it was pending before.
func (a *APIC) Accept(v Vector, level bool) (already bool) { return false }

// Post sets v in the posted-interrupt descriptor and its trigger mode in TMR
// (APICv on); results as for Descriptor.Post.
func (a *APIC) Post(v Vector, level bool) (already, on bool) { return false, false }

// Sync moves posted vectors into IRR; see Descriptor.Sync.
func (a *APIC) Sync() (moved int, fresh bool, highest Vector, ok bool) { return 0, false, 0, false }

// Deliverable returns the highest vector in IRR if its priority class is above
// that of PPR and the APIC is enabled. It looks at IRR only: Sync first.
func (a *APIC) Deliverable() (v Vector, ok bool) { return 0, false }

// Ack moves v from IRR to ISR: the CPU takes it.
func (a *APIC) Ack(v Vector) {}

// EOI ends the highest vector in service. The result is an EffectEOI.
func (a *APIC) EOI() Effect { return Effect{} }
