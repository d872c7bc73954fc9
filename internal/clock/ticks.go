package clock

import "math/bits"

// Ticks returns how many whole periods of a device clock of frequency dev lie
// in c cycles at frequency f, rounding down:
//
//	ticks = c × dev / f   (mod 2^64)
//
// The product is taken in 128 bits, so it is right for every c; a counter of n
// bits is the low n bits of the result. The zero frequency gives 0.
func (f Hz) Ticks(c TSC, dev Hz) uint64 {
	if f == 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(c), uint64(dev))
	q, _ := bits.Div64(hi%uint64(f), lo, uint64(f))
	return q
}

// TickTime is the inverse of Ticks: the first cycle at which Ticks reports at
// least n, rounding up:
//
//	c = ceil(n × f / dev)
//
// ok is false if dev is zero or the result does not fit TSC.
func (f Hz) TickTime(n uint64, dev Hz) (c TSC, ok bool) {
	q, r, ok := mulDiv(n, uint64(f), uint64(dev))
	if r != 0 {
		q++
	}
	return TSC(q), ok && (r == 0 || q != 0)
}
