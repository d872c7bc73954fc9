package ui

import (
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
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

func TestLargeScreensHaveTheBarAtTheHeadToo(t *testing.T) {
	for _, tt := range []struct {
		w, h      int
		replaying bool
		rows      int
	}{{80, 24, false, 0}, {80, 24, true, 1}, {200, 60, false, 1}, {200, 60, true, 1}, {110, 34, false, 0}} {
		r := newRig(t, tt.w, tt.h, 9_000)
		r.s.Timeline = vmm.Timeline{To: r.s.Status.Now, Complete: true, Buckets: make([]vmm.Bucket, 64)}
		r.s.Status.Replaying = tt.replaying
		r.frame()
		if got := r.m.barRows(); got != tt.rows {
			t.Errorf("%d×%d, in the past %v: the bar has %d rows, want %d", tt.w, tt.h, tt.replaying, got, tt.rows)
		}
		r.s.Done = nil
		r.press("6,G")
		if seeks := len(r.s.Done) > 0; seeks != tt.replaying {
			t.Errorf("%d×%d, in the past %v: G seeks: %v", tt.w, tt.h, tt.replaying, seeks)
		}
	}
}

func TestTurnedKnobHasOneMarkOnTheBar(t *testing.T) {
	r := newRig(t, 200, 60, 11_500)
	st := &r.m.frame.State
	at := st.KnobTurns.Last(0).At
	line := vmm.Timeline{To: st.Now * 2, Complete: true, Buckets: make([]vmm.Bucket, 512)}
	for _, knob := range []clock.TSC{at, st.Now + st.Now/2} { // one passed, one ahead
		line.Buckets[int(512*int64(knob)/int64(line.To))].Knob = true
	}
	r.s.Timeline, r.s.Status.Replaying, r.s.Status.Head = line, true, st.Now*2
	r.frame()
	rows := strings.Split(r.screen(), "\n")
	if n := strings.Count(rows[60-footerRows-1], "┆"); n != 1 {
		t.Errorf("%d marks of turned knobs without a key, want that of the future: %s", n, rows[60-footerRows-1])
	}
}
