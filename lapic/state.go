package lapic

import (
	"encoding/binary"
	"fmt"
)

// StateSize is the size of struct kvm_lapic_state, bytes.
const StateSize = 1024

// Export writes the registers in the layout of KVM_GET_LAPIC: xAPIC offsets, with
// TMCCT as it counts now. In x2APIC mode the ID is all 32 bits if wideID is true
// (KVM_X2APIC_API_USE_32BIT_IDS), else shifted into bits 31:24 as in xAPIC mode;
// ICR is split into its halves in both modes.
func (a *APIC) Export(p *[StateSize]byte, wideID bool, now Sample) {
	*p = [StateSize]byte{}
	for i, v := range a.Page {
		putReg(p, Reg(i<<4), v)
	}
	for i := range 8 {
		at := Reg(i << 4)
		putReg(p, ISR+at, a.ISR.Word(i))
		putReg(p, TMR+at, a.TMR.Word(i))
		putReg(p, IRR+at, a.IRR.Word(i))
	}
	putReg(p, PPR, uint32(a.PPR()))
	putReg(p, TMCCT, a.CurrentCount(now.Mono))
	if a.X2APIC() && !wideID {
		putReg(p, ID, a.ID<<24)
	}
}

// Import takes registers as KVM_SET_LAPIC does: the timer starts anew from the
// saved TMCCT. In x2APIC mode the ID must be this APIC's if wideID is true and
// is not looked at if not; LDR follows from it. It does not restore what the
// page does not hold: IA32_APIC_BASE has to be set before, IA32_TSC_DEADLINE
// after.
//
// The effect is EffectCancel and, if the timer runs, EffectArm. An error changes
// nothing.
//
// Source: arch/x86/kvm/lapic.c, kvm_apic_set_state and kvm_apic_state_fixup.
func (a *APIC) Import(p *[StateSize]byte, wideID bool, now Sample) (Effect, error) {
	if id := getReg(p, ID); a.X2APIC() && wideID && id != a.ID {
		return Effect{}, fmt.Errorf("lapic: APIC ID at offset 0x20 of the state is %#x, expected %#x in x2APIC mode", id, a.ID)
	}
	for i := range a.Page {
		a.Page[i] = getReg(p, Reg(i<<4))
	}
	for i := range 8 {
		at := Reg(i << 4)
		a.ISR.SetWord(i, getReg(p, ISR+at))
		a.TMR.SetWord(i, getReg(p, TMR+at))
		a.IRR.SetWord(i, getReg(p, IRR+at))
		a.Page[(ISR+at)>>4], a.Page[(TMR+at)>>4], a.Page[(IRR+at)>>4] = 0, 0, 0
	}
	if a.X2APIC() {
		a.setID()
	}
	a.Page[Version>>4] = Table[rowAt[Version>>4]-1].Reset | a.version()
	a.Page[PPR>>4], a.Page[TMCCT>>4], a.Errs = 0, 0, 0
	return Effect{Do: EffectCancel | EffectLVT0 | EffectLDR | a.restart(getReg(p, TMCCT), now)}, nil
}

// restart is the timer's part of Import.
func (a *APIC) restart(count uint32, now Sample) EffectKind {
	a.cancelTimers(true)
	if a.rules().RestoreDropsExpired {
		a.Timer.Expired = 0
	}
	a.updateMode()
	return a.start(count, true, now)
}

func putReg(p *[StateSize]byte, r Reg, v uint32) { binary.LittleEndian.PutUint32(p[r:], v) }

func getReg(p *[StateSize]byte, r Reg) uint32 { return binary.LittleEndian.Uint32(p[r:]) }
