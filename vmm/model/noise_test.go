package model

import (
	"testing"

	"pgregory.net/rapid"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

func TestDivisorAgreesWithRemainder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.Uint64Min(1).Draw(t, "divisor")
		if rapid.Bool().Draw(t, "small") {
			k = k%5000 + 1
		}
		v := rapid.Uint64().Draw(t, "value")
		if rapid.Bool().Draw(t, "multiple") {
			v -= v % k
		}
		d := newDivisor(k)
		if got, want := d.divides(v), v%k == 0; got != want {
			t.Errorf("divisor %d divides %d: got %v, want %v", k, v, got, want)
		}
	})
}

func TestDrawStaysWithinItsCost(t *testing.T) {
	for _, tt := range []struct {
		name     string
		cost     Cost
		min, max clock.Cycles
	}{
		{"fixed", Cost{Base: 7}, 7, 7},
		{"jitter", Cost{Base: 7, Jitter: 2}, 7, 9},
		{"always a tail", Cost{Base: 7, Tail: 3, TailOneIn: 1}, 7, 10},
		{"a tail of nothing", Cost{Base: 7, TailOneIn: 1}, 7, 7},
		{"everything", Cost{Base: 7, Jitter: 2, Tail: 3, TailOneIn: 2}, 7, 12},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, d := newNoise(1, 0), newDice(&tt.cost)
			lo, hi := n.draw(&d), clock.Cycles(0)
			for range 1000 {
				v := n.draw(&d)
				lo, hi = min(lo, v), max(hi, v)
			}
			if lo != tt.min || hi != tt.max {
				t.Errorf("1000 draws of %+v: %d to %d, want %d to %d", tt.cost, lo, hi, tt.min, tt.max)
			}
		})
	}
}
