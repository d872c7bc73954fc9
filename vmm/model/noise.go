package model

import (
	"math/bits"

	"ticktrap/internal/clock"
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

// below returns a number from 0 to k, both included.
func (n *noise) below(k clock.Cycles) clock.Cycles {
	if k <= 0 {
		return 0
	}
	hi, _ := bits.Mul64(n.next(), uint64(k)+1)
	return clock.Cycles(hi)
}

// draw returns one cost.
func (n *noise) draw(c *Cost) clock.Cycles {
	d := c.Base + n.below(c.Jitter)
	if c.TailOneIn != 0 && n.next()%c.TailOneIn == 0 {
		d += n.below(c.Tail)
	}
	return d
}
