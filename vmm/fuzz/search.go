package fuzz

import (
	"errors"
	"math/rand/v2"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// Shrink makes the case as small as it gets while it breaks the same invariant: it leaves
// out pieces, turns of knobs, handlers and CPUs one after the other until nothing more
// can go. stop ends it early.
func (c *Case) Shrink(b *Broken, inv []*Invariant, until clock.TSC, stop func() bool) (*Case, *Broken) {
	try := func(d *Case) bool {
		var x *Broken
		if !errors.As(d.Check(inv, until, stop), &x) || x.Invariant != b.Invariant {
			return false
		}
		c, b = d, x
		return true
	}
	for again := true; again && (stop == nil || !stop()); {
		again = false
		for _, d := range c.smaller() {
			if try(d) {
				again = true
				break
			}
		}
	}
	return c, b
}

// smaller are the cases with one thing less, the largest first.
func (c *Case) smaller() (out []*Case) {
	add := func(f func(d *Case)) {
		p := *c.Program
		d := *c
		d.Program = &p
		f(&d)
		out = append(out, &d)
	}
	if n := len(c.Program.Pieces); n > 3 {
		add(func(d *Case) { d.Program.Pieces = c.Program.Pieces[n/2:] })
		add(func(d *Case) { d.Program.Pieces = c.Program.Pieces[:n/2] })
	}
	if c.VCPUs > 1 {
		for _, n := range []int{1, 2, c.VCPUs / 2, c.VCPUs - 1} {
			if n < c.VCPUs && n > 0 {
				add(func(d *Case) { d.VCPUs, d.PCPUs = n, min(c.PCPUs, n) })
			}
		}
	}
	for i := range c.Program.Pieces {
		add(func(d *Case) { d.Program.Pieces = without(c.Program.Pieces, i) })
	}
	for i := range c.Turns {
		add(func(d *Case) { d.Turns = without(c.Turns, i) })
	}
	for i := range c.Program.Handlers {
		if len(c.Program.Handlers[i].Code) > 0 {
			add(func(d *Case) { d.Program.Handlers[i] = Piece{} })
		}
	}
	if c.PCPUs < c.VCPUs {
		add(func(d *Case) { d.PCPUs = c.VCPUs })
	}
	if c.Seed != 1 {
		add(func(d *Case) { d.Seed = 1 })
	}
	return out
}

func without[T any](s []T, i int) []T { return append(append([]T(nil), s[:i]...), s[i+1:]...) }

// Generator makes a guest's program.
type Generator = func(*rand.Rand) *Program

// Generators are the guests that can be searched, by name.
var Generators = map[string]Generator{"timer": Timer, "hostile": Hostile}
