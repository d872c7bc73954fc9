package explain

import (
	"fmt"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// silence is why vector vec does not come to a vCPU, as its registers tell; the
// cause is causeUnknown if they do not. The order is that of the way that an
// interrupt takes.
func silence(s *trace.State, v *trace.VCPU, vec uint8) (cause, string) {
	for _, r := range silences {
		if words, ok := r.holds(s, v, vec); ok {
			return r.cause, words
		}
	}
	return causeUnknown, ""
}

// silences are the reasons, each with its rule in cures.
var silences = []struct {
	cause cause
	holds func(*trace.State, *trace.VCPU, uint8) (string, bool)
}{
	{causeAPICOff, apicOff},
	{causeSVROff, svrOff},
	{causeMasked, masked},
	{causeNoEOI, noEOI},
	{causeTPR, tprHolds},
	{causeHaltedOff, haltedOff},
}

// isSilence reports whether a cause is one of the silences.
func isSilence(k cause) bool {
	for i := range silences {
		if silences[i].cause == k {
			return true
		}
	}
	return false
}

func apicOff(_ *trace.State, v *trace.VCPU, _ uint8) (string, bool) {
	const enable = 1 << 11
	return fmt.Sprintf("IA32_APIC_BASE is %#x: bit 11 (APIC global enable) is 0", v.APIC.Base),
		v.APIC.Base != 0 && v.APIC.Base&enable == 0
}

// seenReg reports whether the register at an xAPIC offset was seen.
func seenReg(v *trace.VCPU, off uint) bool { return v.APIC.Seen>>(off>>4)&1 != 0 }

func svrOff(s *trace.State, v *trace.VCPU, _ uint8) (string, bool) {
	if !seenReg(v, 0xf0) { // 0xff after a reset: bit 8 is 0
		return "SVR was never written, and bit 8 (APIC software enable) is 0 after a reset", s.FromReset && !v.Remade && v.APIC.Seen != 0
	}
	return fmt.Sprintf("SVR is %#x: bit 8 (APIC software enable) is 0", v.APIC.SPIV),
		v.APIC.SPIV>>8&1 == 0
}

func masked(_ *trace.State, v *trace.VCPU, vec uint8) (string, bool) {
	return fmt.Sprintf("LVTT is %#x: bit 16 (mask) is set", v.APIC.LVTT),
		seenReg(v, 0x320) && v.TimerMasked() && !v.IRR.Has(vec) && !v.PIR.Has(vec)
}

// noEOI: an interrupt in service holds back its own class and those below.
func noEOI(s *trace.State, v *trace.VCPU, vec uint8) (string, bool) {
	in, ok := v.ISR.Highest()
	if !ok || in>>4 < vec>>4 || !v.IRR.Has(vec) && !v.PIR.Has(vec) {
		return "", false
	}
	w := fmt.Sprintf("vector %d is still in ISR", in)
	for _, sv := range v.Serving[:v.NServing] {
		if c := s.Chains.Get(sv.Chain); c != nil && sv.Vector == in {
			w += fmt.Sprintf(" since the handler of deadline %d began at %d", c.Num, c.ISRAt)
			break
		}
	}
	return w + fmt.Sprintf(" (PPR %#x): no EOI was written", v.Priority()), true
}

func tprHolds(_ *trace.State, v *trace.VCPU, vec uint8) (string, bool) {
	tpr := uint8(v.APIC.TPR)
	return fmt.Sprintf("TPR is %#x: vectors up to %#x are held back", tpr, tpr|0xf),
		seenReg(v, 0x80) && tpr>>4 >= vec>>4 && (v.IRR.Has(vec) || v.PIR.Has(vec))
}

// haltedOff: a vCPU blocks with an interrupt in IRR above PPR only if it cannot
// take it (arch/x86/kvm/x86.c, kvm_vcpu_has_events).
func haltedOff(_ *trace.State, v *trace.VCPU, vec uint8) (string, bool) {
	return fmt.Sprintf("the vCPU sleeps in HLT while vector %d is in IRR above PPR: RFLAGS.IF is 0", vec),
		v.Halt == trace.HaltBlocked && v.IRR.Has(vec) && !v.PIR.Has(vec) && vec>>4 > v.Priority()>>4
}

func whySilent(b *builder) (string, trace.Clause) {
	vec := b.c.Vector
	if b.c.DeliverAt == 0 {
		vec = b.v.TimerVector()
	}
	_, w := silence(b.s, b.v, vec)
	return w, trace.ClauseNone
}

// unheard finds what no deadline of a run tells: vectors that came due and do not
// come, timers that nothing will arm again.
func unheard(s *trace.State) (out []Finding) {
	for i := range s.VCPUs {
		v := &s.VCPUs[i]
		var first *trace.Chain
		v.Open(func(c *trace.Chain) {
			if c.ExpireAt != 0 && first == nil {
				first = c
			}
		})
		if c := lastOf(s, i); first == nil && c != nil && c.Outcome == trace.OutcomeLost {
			first = c
		}
		if first == nil || s.Now.Sub(first.ExpireAt) < tooLong(s) {
			continue
		}
		vec := first.Vector
		if first.DeliverAt == 0 {
			vec = v.TimerVector()
		}
		if k, words := silence(s, v, vec); k != causeUnknown {
			out = append(out, Finding{ID: causeTable[k].id, VCPU: i, TSC: uint64(first.ExpireAt), Count: 1,
				Words: "a deadline expired and its interrupt does not come: " + words, Rule: cures[k]})
		}
	}
	return out
}

// lastOf is the last closed deadline of a vCPU, nil if none is kept.
func lastOf(s *trace.State, vcpu int) *trace.Chain {
	for i := range s.Chains.Len() {
		if c := s.Chains.Last(i); int(c.VCPU) == vcpu {
			return c
		}
	}
	return nil
}
