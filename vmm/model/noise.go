package model

import (
	"math/bits"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// noise is a small seeded generator (SplitMix64), a value so that a snapshot is
// a copy.
type noise struct{ state uint64 }

func newNoise(seed, stream uint64) noise {
	n := noise{state: seed}
	n.state += n.next() ^ stream*0x9e3779b97f4a7c15
	return n
}

func (n *noise) next() uint64 {
	n.state += 0x9e3779b97f4a7c15
	z := n.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number less than k, which is not 0.
func (n *noise) below(k uint64) clock.Cycles {
	hi, _ := bits.Mul64(n.next(), k)
	return clock.Cycles(hi)
}

// dice are a Cost made ready to be drawn from.
type dice struct {
	base clock.Cycles
	// jitter and tail are the numbers of values that each can take, 0 if it
	// takes none but 0; rare is the chance of a tail.
	jitter, tail uint64
	rare         divisor
}

func newDice(c *Cost) dice {
	d := dice{base: c.Base}
	if c.Jitter > 0 {
		d.jitter = uint64(c.Jitter) + 1
	}
	if c.Tail > 0 {
		d.tail = uint64(c.Tail) + 1
	}
	if c.TailOneIn != 0 {
		d.rare = newDivisor(c.TailOneIn)
	}
	return d
}

// draw returns one cost.
func (n *noise) draw(d *dice) clock.Cycles {
	c := d.base
	if d.jitter != 0 {
		c += n.below(d.jitter)
	}
	if d.rare.inverse != 0 && d.rare.divides(n.next()) && d.tail != 0 {
		c += n.below(d.tail)
	}
	return c
}

// divisor tells without a division whether a number is a multiple of it: a
// multiple of an odd number, times that number's inverse modulo 2^64, is the
// quotient, and the others fill the rest of the range. A rotation brings the
// factor's powers of two to the top, where they make a number that is none of
// its multiples too large.
type divisor struct {
	inverse, most uint64
	twos          int
}

// newDivisor is the divisor k, which is not 0.
func newDivisor(k uint64) divisor {
	twos := bits.TrailingZeros64(k)
	odd := k >> twos
	inverse := odd // right in 3 bits: the square of an odd number is 1 modulo 8
	for range 5 {
		inverse *= 2 - odd*inverse // twice the bits each time
	}
	return divisor{inverse: inverse, most: ^uint64(0) / k, twos: twos}
}

func (d *divisor) divides(v uint64) bool {
	return bits.RotateLeft64(v*d.inverse, -d.twos) <= d.most
}
