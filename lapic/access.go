package lapic

// Read returns the value of r as the guest reads it in the present mode. In
// xAPIC mode it always succeeds (reserved registers read 0); in x2APIC mode
// ok=false means #GP.
func (a *APIC) Read(r Reg, now Sample) (v uint64, ok bool) {
	w, found := Lookup(r)
	if !found || a.access(w)&ReadOnly == 0 {
		return 0, !a.X2APIC()
	}
	switch w.Reg {
	case ISR:
		return uint64(a.ISR.Word(int(r-ISR) >> 4)), true
	case TMR:
		return uint64(a.TMR.Word(int(r-TMR) >> 4)), true
	case IRR:
		return uint64(a.IRR.Word(int(r-IRR) >> 4)), true
	case PPR:
		return uint64(a.PPR()), true
	case TMCCT:
		return uint64(a.CurrentCount(now.Mono)), true
	case ICRLow:
		if a.X2APIC() {
			return uint64(a.icr()), true
		}
	}
	return uint64(a.reg(r)), true
}

// icr returns both halves of ICR.
func (a *APIC) icr() ICR { return ICR(a.reg(ICR2))<<32 | ICR(a.reg(ICRLow)) }

// Write writes r as the guest does in the present mode. In xAPIC mode writes to
// reserved or read-only registers are dropped; in x2APIC mode ok=false means #GP
// and nothing changed.
func (a *APIC) Write(r Reg, v uint64, now Sample) (e Effect, ok bool) {
	w, found := Lookup(r)
	if !found || a.access(w)&WriteOnly == 0 {
		return Effect{}, !a.X2APIC()
	}
	if a.X2APIC() && a.faults(w, v) {
		return Effect{}, false
	}
	return a.write(w, v, now), true
}

// faults reports whether an x2APIC write of v raises #GP. Intel SDM vol. 3A,
// 10.12.1.3 "Reserved Bit Checking".
func (a *APIC) faults(w *Row, v uint64) bool {
	bad := w.Fault
	if a.Config.Strict {
		bad |= w.Reserved
		if w.Reg == LVTT {
			bad |= timerModes &^ a.timerMask()
		}
	}
	return uint32(v)&bad != 0 || v>>32 != 0 && w.Reg != ICRLow
}

// write performs a write that is allowed.
func (a *APIC) write(w *Row, v uint64, now Sample) Effect {
	x := uint32(v)
	switch w.Reg {
	case TPR:
		return a.writeTPR(uint8(x))
	case EOI:
		return a.EOI()
	case SPIV:
		return a.writeSPIV(x)
	case ESR:
		a.Page[ESR>>4], a.Errs = a.Errs, 0
		return Effect{}
	case ICRLow:
		return a.writeICR(v)
	case LVTT, LVTThermal, LVTPC, LVT0, LVT1, LVTError, LVTCMCI:
		return a.writeLVT(w, x)
	case TMICT:
		return a.writeCount(x, now)
	case TDCR:
		return a.writeDivide(x, now)
	case SelfIPI:
		return a.sendSelf(Vector(x))
	}
	a.Page[w.Reg>>4] = w.Reset&^w.Mask | x&w.Mask
	if w.Reg == ID || w.Reg == LDR || w.Reg == DFR {
		return Effect{Do: EffectLDR}
	}
	return Effect{}
}

func (a *APIC) writeTPR(x uint8) Effect {
	var e Effect
	if uint32(x) != a.reg(TPR) {
		e.Do = EffectTPR
	}
	if a.SetTPR(x) {
		e.Do |= EffectPPR
	}
	return e
}

// writeSPIV handles the software-enable bit: clearing it masks all local vectors,
// which stops the timer from being delivered but not from running, and drops an
// expiry that was not injected.
func (a *APIC) writeSPIV(x uint32) Effect {
	mask := uint32(0x3ff)
	if a.Config.DirectedEOI {
		mask |= spivNoBcast
	}
	old := a.reg(SPIV)
	a.Page[SPIV>>4] = x & mask
	var e Effect
	if (old^x)&spivEnable != 0 {
		e.Do = EffectSPIV | EffectLDR
	}
	if x&spivEnable == 0 {
		a.maskLVTs()
		e.Do |= a.updateMode() | EffectLVT0
		a.Timer.Pending = false
	}
	return e
}

func (a *APIC) maskLVTs() {
	for _, r := range [...]Reg{LVTT, LVTThermal, LVTPC, LVT0, LVT1, LVTError} {
		a.Page[r>>4] |= lvtMasked
	}
	if a.Config.CMCI {
		a.Page[LVTCMCI>>4] |= lvtMasked
	}
}

// writeLVT stores a local vector. A software-disabled APIC forces the mask bit.
func (a *APIC) writeLVT(w *Row, x uint32) Effect {
	if !a.SoftEnabled() {
		x |= lvtMasked
	}
	mask := w.Mask
	if w.Reg == LVTT {
		mask |= a.timerMask()
	}
	a.Page[w.Reg>>4] = x & mask
	switch w.Reg {
	case LVTT:
		return Effect{Do: a.updateMode()}
	case LVT0:
		return Effect{Do: EffectLVT0}
	}
	return Effect{}
}

func (a *APIC) writeICR(v uint64) Effect {
	c := ICR(v) &^ ICRBusy
	if a.X2APIC() {
		a.Page[ICR2>>4] = uint32(c >> 32)
	} else {
		c = c&0xffffffff | ICR(a.reg(ICR2))<<32
	}
	a.Page[ICRLow>>4] = uint32(c)
	if a.illegalSend(c.Delivery(), c.Vector()) {
		return Effect{Do: EffectError}
	}
	return Effect{Do: EffectIPI, ICR: c}
}

// sendSelf is a write to SELF_IPI: a fixed, edge-triggered interrupt to this
// vCPU. ICR is left alone.
func (a *APIC) sendSelf(v Vector) Effect {
	if a.illegalSend(Fixed, v) {
		return Effect{Do: EffectError}
	}
	return Effect{Do: EffectSelfIPI, Vector: v}
}
