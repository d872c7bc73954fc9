package lapic

// PPR returns the processor priority: TPR if its class is not below that of the
// highest vector in service, else that class.
//
//	PPR = TPR[7:4] ≥ ISRV[7:4] ? TPR[7:0] : ISRV & 0xf0
//
// Intel SDM vol. 3A, 10.8.3.1 "Task and Processor Priorities".
func (a *APIC) PPR() uint8 {
	tpr := uint8(a.reg(TPR))
	isrv, _ := a.ISR.Highest()
	if tpr&0xf0 >= uint8(isrv)&0xf0 {
		return tpr
	}
	return uint8(isrv) & 0xf0
}

// SetTPR sets TPR. fell is true if that lowered PPR, so that more than before may
// be deliverable; raising it asks for nothing.
func (a *APIC) SetTPR(v uint8) (fell bool) {
	old := a.PPR()
	a.Page[TPR>>4] = uint32(v)
	return a.PPR() < old
}

// CR8 returns TPR bits 7:4, as MOV from CR8 reads it.
func (a *APIC) CR8() uint8 { return uint8(a.reg(TPR)) >> 4 }

// SetCR8 sets TPR to v<<4 (0–15); fell as for SetTPR.
func (a *APIC) SetCR8(v uint8) (fell bool) { return a.SetTPR(v << 4) }

// Accept sets v in IRR and its trigger mode in TMR (APICv off). already is true
// if it was pending before.
func (a *APIC) Accept(v Vector, level bool) (already bool) {
	a.TMR.Put(v, level)
	already = a.IRR.Has(v)
	a.IRR.Set(v)
	return already
}

// Post sets v in the posted-interrupt descriptor and its trigger mode in TMR
// (APICv on); results as for Descriptor.Post.
func (a *APIC) Post(v Vector, level bool) (already, on bool) {
	a.TMR.Put(v, level)
	return a.PI.Post(v)
}

// Sync moves posted vectors into IRR; see Descriptor.Sync.
func (a *APIC) Sync() (moved int, fresh bool, highest Vector, ok bool) { return a.PI.Sync(&a.IRR) }

// Deliverable returns the highest vector in IRR if its priority class is above
// that of PPR and the APIC is enabled. It looks at IRR only: Sync first. A
// software-disabled APIC still delivers what it had accepted.
func (a *APIC) Deliverable() (v Vector, ok bool) {
	v, ok = a.IRR.Highest()
	if !ok || !a.Enabled() || uint8(v)&0xf0 <= a.PPR() {
		return 0, false
	}
	return v, true
}

// Ack moves v from IRR to ISR: the CPU takes it.
func (a *APIC) Ack(v Vector) {
	a.IRR.Clear(v)
	a.ISR.Set(v)
}

// EOI ends the highest vector in service. The result is an EffectEOI. Intel SDM
// vol. 3A, 10.8.5 "Signaling Interrupt Servicing Completion".
func (a *APIC) EOI() Effect {
	v, ok := a.ISR.Highest()
	if !ok {
		return Effect{Do: EffectEOI}
	}
	a.ISR.Clear(v)
	level := a.TMR.Has(v)
	return Effect{
		Do: EffectEOI, Vector: v, InService: true, Level: level,
		Broadcast: level && a.reg(SPIV)&spivNoBcast == 0,
	}
}
