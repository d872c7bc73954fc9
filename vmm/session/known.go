package session

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// known is what a reversible run has come to on its present branch, in coarse
// steps: what lies behind, and after a step back what lies ahead. It grows with
// what is new; a stretch that is run through again adds nothing.
type known struct {
	from    clock.TSC
	width   clock.Cycles // of a bucket
	buckets []vmm.Bucket // up to the furthest event
	events  trace.Seq    // events that are in it
}

// firstKnownWidth is about 7 µs at 2.5 GHz. When there are timelineBuckets, pairs
// become one.
const firstKnownWidth clock.Cycles = 1 << 14

// take looks at the event that st has just folded.
func (k *known) take(e *trace.Event, st *trace.State, handled bool) {
	if st.Events <= k.events {
		return
	}
	k.events = st.Events
	switch {
	case handled:
		p := st.Scatter.Last(0)
		k.at(p.At).Add(p.Late)
	case e.Kind == trace.KindKnob:
		k.at(e.TSC).Knob = true
	}
}

// at is the bucket of a time; times before the first one count in the first.
func (k *known) at(t clock.TSC) *vmm.Bucket {
	if k.width == 0 {
		k.from, k.width = t, firstKnownWidth
	}
	i := int(max(t.Sub(k.from), 0) / k.width)
	for i >= timelineBuckets {
		k.halve()
		i /= 2
	}
	for len(k.buckets) <= i {
		k.buckets = append(k.buckets, vmm.Bucket{})
	}
	return &k.buckets[i]
}

// halve makes one bucket of two.
func (k *known) halve() {
	n := (len(k.buckets) + 1) / 2
	for i := range n {
		b := k.buckets[2*i]
		if 2*i+1 < len(k.buckets) {
			b = merged(b, k.buckets[2*i+1])
		}
		k.buckets[i] = b
	}
	clear(k.buckets[n:])
	k.buckets, k.width = k.buckets[:n], 2*k.width
}

func merged(a, b vmm.Bucket) vmm.Bucket {
	if a.Deadlines == 0 || b.Deadlines > 0 && b.Worst > a.Worst {
		a.Worst = b.Worst
	}
	a.Deadlines += b.Deadlines
	a.Knob = a.Knob || b.Knob
	for i := range a.Over {
		a.Over[i] += b.Over[i]
	}
	return a
}

// cut forgets what lies beyond the present moment: a new branch begins. The
// bucket of that moment is counted anew from the deadlines that st keeps.
func (k *known) cut(st *trace.State) {
	k.events = st.Events
	if k.width == 0 {
		return
	}
	i := int(max(st.Now.Sub(k.from), 0) / k.width)
	if i >= len(k.buckets) {
		return
	}
	knob := k.buckets[i].Knob
	clear(k.buckets[i:])
	k.buckets = k.buckets[:i+1]
	b, start := &k.buckets[i], k.from.Add(k.width*clock.Cycles(i))
	for j := range st.Scatter.Len() {
		if p := st.Scatter.Last(j); p.At >= start {
			b.Add(p.Late)
		} else {
			break
		}
	}
	for j := range st.KnobTurns.Len() {
		b.Knob = b.Knob || knob && st.KnobTurns.Last(j).At >= start
	}
}

// timeline copies what is known up to head into dst, reusing its memory.
func (k *known) timeline(dst *vmm.Timeline, head clock.TSC) {
	dst.Buckets = dst.Buckets[:0]
	if k.width == 0 {
		*dst = vmm.Timeline{Buckets: dst.Buckets}
		return
	}
	n := max(int(head.Sub(k.from)/k.width)+1, len(k.buckets))
	dst.From, dst.To, dst.Complete = k.from, k.from.Add(k.width*clock.Cycles(n)), true
	dst.Buckets = append(dst.Buckets, k.buckets...)
	for len(dst.Buckets) < n {
		dst.Buckets = append(dst.Buckets, vmm.Bucket{})
	}
}
