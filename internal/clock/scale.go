package clock

import "math/bits"

// Scale is KVM's fixed-point factor from nanoseconds to guest TSC cycles:
// virtual_tsc_shift and virtual_tsc_mult. It truncates, so its results can lie
// one cycle below ns × kHz / 10^6.
//
// Source: arch/x86/kvm/x86.c, kvm_get_time_scale and nsec_to_cycles.
type Scale struct {
	Shift int8
	Mult  uint32
}

// NewScale returns the factor for a guest that runs at f. The zero frequency
// gives the zero Scale, which maps everything to 0.
func NewScale(f Hz) Scale {
	scaled := f.KHz() * 1000
	if scaled == 0 {
		return Scale{}
	}
	const nsecPerSec = 1_000_000_000
	var shift int8
	base := uint64(nsecPerSec)
	for base > scaled*2 || base>>32 != 0 {
		base >>= 1
		shift--
	}
	base32 := uint32(base)
	for uint64(base32) <= scaled || scaled>>32 != 0 {
		if scaled>>32 != 0 || base32&(1<<31) != 0 {
			scaled >>= 1
		} else {
			base32 <<= 1
		}
		shift++
	}
	mult, _ := bits.Div64(scaled>>32, scaled<<32, uint64(base32))
	return Scale{Shift: shift, Mult: uint32(mult)}
}

// Cycles converts nanoseconds to guest cycles as nsec_to_cycles does:
//
//	d = ns << shift (or >> −shift);  cycles = d × mult >> 32
//
// ns << shift is taken in 64 bits and wraps, as in the kernel.
func (s Scale) Cycles(ns uint64) TSC {
	if s.Shift < 0 {
		ns >>= uint(-s.Shift)
	} else {
		ns <<= uint(s.Shift)
	}
	hi, lo := bits.Mul64(ns, uint64(s.Mult))
	return TSC(hi<<32 | lo>>32)
}
