package ui

import (
	"testing"

	"ticktrap/internal/clock"
	"ticktrap/vmm"
)

func TestKnownFutureOfARunIsDimmed(t *testing.T) {
	look := func(file string) (before, after style) {
		r := newRig(t, 120, 40, 9_000)
		now := r.s.Status.Now
		r.s.Status.Replaying, r.s.Status.Head, r.s.Status.File = true, 2*now, file
		line := vmm.Timeline{To: 2 * now, Complete: true, Buckets: make([]vmm.Bucket, 64)}
		for i := range line.Buckets {
			line.Buckets[i].Add(clock.Cycles(5000))
		}
		r.s.Timeline = line
		r.frame()
		r.screen()
		y := 40 - footerRows - 1
		at := func(frac float64) style {
			x := barLead + int(frac*float64(120-barLead-barTail(120)))
			c := r.m.canvas.cells[y*120+x]
			if c.r == ' ' || c.r == '·' {
				t.Errorf("nothing is drawn at %v of the bar", frac)
			}
			return c.s
		}
		return at(0.25), at(0.75)
	}
	if b, a := look(""); b == faint || a != faint {
		t.Errorf("in the past of a run the past has style %d, the future %d; want the future alone faint", b, a)
	}
	if b, a := look("x.tt"); b != a {
		t.Error("in a recording the bar changes its look at the position")
	}
}
