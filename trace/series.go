package trace

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// RateBuckets is the number of time buckets of Rates.
const RateBuckets = 256

// Rates counts events in buckets of equal time over the whole run. When the run
// outgrows them, neighbours are merged and the width doubles.
type Rates struct {
	Start   clock.TSC // of bucket 0
	Width   clock.Cycles
	Used    int // buckets up to the latest event
	Buckets [RateBuckets]RateBucket
}

// RateBucket is the counts of one stretch of time.
type RateBucket struct {
	Exits, Fastpath, Reentered uint32
	Kicks, IPIs                uint32
	Deadlines, Late            uint32
}

// firstRateWidth is about 7 µs at 2.5 GHz.
const firstRateWidth clock.Cycles = 1 << 14

func (r *Rates) reset() { *r = Rates{Width: firstRateWidth} }

// at returns the bucket of t. Times before Start count in the first.
func (r *Rates) at(t clock.TSC) *RateBucket {
	if r.Used == 0 {
		r.Start = t
	}
	i := max(t.Sub(r.Start), 0) / r.Width
	for i >= RateBuckets {
		r.halve()
		i /= 2
	}
	r.Used = max(r.Used, int(i)+1)
	return &r.Buckets[i]
}

func (r *Rates) halve() {
	for i := range RateBuckets / 2 {
		r.Buckets[i] = r.Buckets[2*i].plus(r.Buckets[2*i+1])
	}
	clear(r.Buckets[RateBuckets/2:])
	r.Width *= 2
	r.Used = (r.Used + 1) / 2
}

func (b RateBucket) plus(c RateBucket) RateBucket {
	return RateBucket{b.Exits + c.Exits, b.Fastpath + c.Fastpath, b.Reentered + c.Reentered, b.Kicks + c.Kicks,
		b.IPIs + c.IPIs, b.Deadlines + c.Deadlines, b.Late + c.Late}
}

// AdvancePoints is the capacity of an AdvanceSeries.
const AdvancePoints = 1024

// AdvanceSeries is timer_advance_ns over the whole run: every tuning step at
// first, and every 2nd, 4th, … when it has outgrown its room.
type AdvanceSeries struct {
	Points []AdvancePoint
	// Stride is how many tuning steps there are to a point; Seen counts them.
	Stride, Seen uint64
}

// AdvancePoint is one tuning step.
type AdvancePoint struct {
	At      clock.TSC
	NS      clock.Nanos // after it
	Delta   clock.Cycles
	VCPU    uint8
	Verdict TuneVerdict
}

func (a *AdvanceSeries) reset() {
	if cap(a.Points) < AdvancePoints {
		a.Points = make([]AdvancePoint, 0, AdvancePoints)
	}
	a.Points, a.Stride, a.Seen = a.Points[:0], 1, 0
}

func (a *AdvanceSeries) add(p AdvancePoint) {
	keep := a.Seen%a.Stride == 0
	a.Seen++
	if !keep {
		return
	}
	if len(a.Points) == AdvancePoints {
		for i := range AdvancePoints / 2 {
			a.Points[i] = a.Points[2*i]
		}
		a.Points, a.Stride = a.Points[:AdvancePoints/2], a.Stride*2
		if (a.Seen-1)%a.Stride != 0 {
			return
		}
	}
	a.Points = append(a.Points, p)
}

func (a *AdvanceSeries) copyTo(dst *AdvanceSeries) {
	if cap(dst.Points) < AdvancePoints {
		dst.Points = make([]AdvancePoint, 0, AdvancePoints)
	}
	dst.Points = append(dst.Points[:0], a.Points...)
	dst.Stride, dst.Seen = a.Stride, a.Seen
}
