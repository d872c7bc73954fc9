package trace

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

func TestQueueCountsWhatDoesNotFit(t *testing.T) {
	q := NewQueue()
	for i := range queueSize + 10 {
		q.Emit(Event{TSC: clock.TSC(i), Kind: KindExit})
	}
	n := 0
	q.Publish()
	q.Take(func([]Event) (int, bool) { n = 100; return 100, true }) // make room
	q.Emit(Event{TSC: 1 << 40, Kind: KindEntry})
	var last, lost Event
	q.Publish()
	q.Take(func(events []Event) (int, bool) {
		n += len(events)
		for _, e := range events {
			if e.Kind == KindLost {
				lost = e
			}
			last = e
		}
		return len(events), false
	})
	if lost.A != 10 || last.Kind != KindEntry || n != queueSize+2 {
		t.Errorf("lost %d, last %v, %d events; want 10, the entry, %d", lost.A, last.Kind, n, queueSize+2)
	}
}

func TestQueueShowsWhatIsPublished(t *testing.T) {
	q := NewQueue()
	q.Emit(Event{Kind: KindExit})
	if !q.Empty() {
		t.Error("an event is seen before it is published")
	}
	q.Publish()
	if q.Empty() || q.Take(all) || !q.Empty() {
		t.Error("a published event is not taken")
	}
}

func TestQueueWakesTheConsumerAtHalf(t *testing.T) {
	q := NewQueue()
	for range queueSize/2 + 1 {
		q.Emit(Event{Kind: KindExit})
	}
	if len(q.Wake) != 1 || q.Empty() {
		t.Error("the consumer is not woken with half a queue to read")
	}
}

func TestQueueDoesNotAllocate(t *testing.T) {
	q := NewQueue()
	got := testing.AllocsPerRun(100, func() {
		q.Emit(Event{Kind: KindExit})
		q.Publish()
		q.Take(all)
	})
	if got != 0 {
		t.Errorf("an event costs %v allocations, want 0", got)
	}
}

func all(events []Event) (int, bool) { return len(events), false }

func TestEmitAllStopsWhereDoneSays(t *testing.T) {
	var got []Kind
	sink := SinkFunc(func(e Event) { got = append(got, e.Kind) })
	events := []Event{{Kind: KindExit}, {Kind: KindEntry}, {Kind: KindKick}}
	if n := EmitAll(sink, events, func() bool { return len(got) == 2 }); n != 2 || len(got) != 2 {
		t.Errorf("took %d, emitted %v; want 2", n, got)
	}
	if n := EmitAll(sink, events, func() bool { return false }); n != 3 || len(got) != 5 {
		t.Errorf("took %d, emitted %v; want all", n, got)
	}
}
