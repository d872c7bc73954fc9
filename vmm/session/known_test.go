package session

import (
	"slices"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// handledAt is a state after n deadlines, the last of them handled at a time.
func handledAt(st *trace.State, at clock.TSC, late clock.Cycles) {
	st.Events++
	st.Now = max(st.Now, at)
	st.Scatter.Push(trace.LatePoint{At: at, Late: late})
}

func newKnownState() *trace.State {
	var st trace.State
	st.Reset(&trace.Header{VCPUs: 1, Hz: 2_500_000_000})
	return &st
}

func deadlinesOf(bs []vmm.Bucket) (n uint32) {
	for _, b := range bs {
		n += b.Deadlines
	}
	return n
}

func TestKnownCountsEachDeadlineOnce(t *testing.T) {
	st, k := newKnownState(), &known{}
	for i := range 3000 {
		handledAt(st, clock.TSC(i*100_000), clock.Cycles(i))
		k.take(&trace.Event{Kind: trace.KindGuestIRQ}, st, true)
	}
	if got := deadlinesOf(k.buckets); got != 3000 || len(k.buckets) > timelineBuckets {
		t.Fatalf("%d deadlines in %d buckets, want 3000 in at most %d", got, len(k.buckets), timelineBuckets)
	}
	before := slices.Clone(k.buckets)
	st.Events = 1000 // stepped back: the stretch is run through again
	for range 2000 {
		st.Events++
		k.take(&trace.Event{Kind: trace.KindGuestIRQ}, st, true)
	}
	if !slices.Equal(before, k.buckets) {
		t.Error("a stretch that was run through again was counted again")
	}
}

func TestKnownMergesPairsOfBuckets(t *testing.T) {
	k := &known{}
	b := k.at(0)
	b.Add(100)
	k.at(clock.TSC(firstKnownWidth)).Add(5000)
	k.at(clock.TSC(3 * firstKnownWidth)).Knob = true
	k.halve()
	if len(k.buckets) != 2 || k.width != 2*firstKnownWidth {
		t.Fatalf("%d buckets of %d cycles, want 2 of %d", len(k.buckets), k.width, 2*firstKnownWidth)
	}
	if b := k.buckets[0]; b.Deadlines != 2 || b.Worst != 5000 || b.Over[0] != 2 || b.Over[6] != 1 {
		t.Errorf("the first is %+v, want both deadlines, the worst 5000", b)
	}
	if !k.buckets[1].Knob {
		t.Error("the mark of a turned knob is lost")
	}
}

func TestKnownForgetsWhatLiesBeyondABranch(t *testing.T) {
	st, k := newKnownState(), &known{}
	w := clock.TSC(firstKnownWidth)
	for _, at := range []clock.TSC{0, w + 10, w + 20, w + 30, 5 * w} {
		handledAt(st, at, 100)
		k.take(&trace.Event{Kind: trace.KindGuestIRQ}, st, true)
	}
	past := newKnownState()
	for _, at := range []clock.TSC{0, w + 10} {
		handledAt(past, at, 100)
	}
	k.cut(past)
	if len(k.buckets) != 2 || k.buckets[0].Deadlines != 1 || k.buckets[1].Deadlines != 1 {
		t.Errorf("after the branch at the second deadline: %+v, want one in each of two buckets", k.buckets)
	}
	handledAt(past, w+15, 100)
	k.take(&trace.Event{Kind: trace.KindGuestIRQ}, past, true)
	if deadlinesOf(k.buckets) != 3 {
		t.Errorf("the new branch's deadline is not counted: %+v", k.buckets)
	}
}

func TestTimelineReachesToTheHead(t *testing.T) {
	k := &known{}
	var line vmm.Timeline
	if k.timeline(&line, 100); len(line.Buckets) != 0 {
		t.Errorf("nothing is known, and the time line is %+v", line)
	}
	k.at(0).Add(1)
	k.timeline(&line, clock.TSC(firstKnownWidth)*4+1)
	if len(line.Buckets) != 5 || line.To != clock.TSC(firstKnownWidth)*5 || !line.Complete {
		t.Errorf("%d buckets to %d, want 5 to %d", len(line.Buckets), line.To, firstKnownWidth*5)
	}
}
