// Package clock defines the time domains of ticktrap and the conversions
// between them. It reads no clock itself: time enters the program through
// vmm.Host, and everything else takes it as a parameter.
//
// All functions are pure and safe for concurrent use.
package clock

import "math/bits"

// TSC is a point on a time-stamp-counter time line, in cycles since the line's
// zero. Which line (host, guest, or the virtual machine's common one) is said
// where the value is declared. It wraps after 2^64 cycles: 233 years at 2.5 GHz.
type TSC uint64

// Cycles is a signed distance between two points on one TSC line.
type Cycles int64

// Nanos is a time or a distance in nanoseconds (CLOCK_MONOTONIC for times).
type Nanos int64

// Hz is a frequency in cycles per second.
type Hz uint64

// Never is later than every TSC that occurs: "no such event".
const Never TSC = 1<<64 - 1

// Sub returns t − u as a signed distance. It is right as long as the two points
// lie less than 2^63 cycles apart.
func (t TSC) Sub(u TSC) Cycles { return Cycles(t - u) }

// Add returns the point c cycles after t (before it when c is negative).
func (t TSC) Add(c Cycles) TSC { return t + TSC(c) }

// KHz returns the frequency in kHz, rounded down, as KVM keeps it
// (virtual_tsc_khz).
func (f Hz) KHz() uint64 { return uint64(f) / 1000 }

// ToNanos converts cycles at frequency f to nanoseconds, rounding down:
//
//	ns = c × 10^9 / f
//
// The product is taken in 128 bits. ok is false if f is zero or the result does
// not fit Nanos.
func (f Hz) ToNanos(c TSC) (ns Nanos, ok bool) {
	q, _, ok := mulDiv(uint64(c), 1e9, uint64(f))
	return Nanos(q), ok && q < 1<<63
}

// ToCycles converts a non-negative number of nanoseconds to cycles at frequency
// f, rounding up, so that a timer programmed for the result never fires early:
//
//	c = ceil(ns × f / 10^9)
//
// ok is false if ns is negative or the result does not fit TSC.
func (f Hz) ToCycles(ns Nanos) (c TSC, ok bool) {
	if ns < 0 {
		return 0, false
	}
	q, r, ok := mulDiv(uint64(ns), uint64(f), 1e9)
	if r != 0 {
		q++
	}
	return TSC(q), ok && (r == 0 || q != 0)
}

// mulDiv returns a × b / d and its remainder with a 128-bit product. ok is
// false if d is zero or the quotient overflows.
func mulDiv(a, b, d uint64) (q, r uint64, ok bool) {
	hi, lo := bits.Mul64(a, b)
	if d == 0 || hi >= d {
		return 0, 0, false
	}
	q, r = bits.Div64(hi, lo, d)
	return q, r, true
}
