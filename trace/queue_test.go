package trace

import (
	"testing"

	"ticktrap/internal/clock"
)

func TestQueueCountsWhatDoesNotFit(t *testing.T) {
	q := NewQueue()
	for i := range queueSize + 10 {
		q.Emit(Event{TSC: clock.TSC(i), Kind: KindExit})
	}
	n := 0
	q.Publish()
	q.Take(func(*Event) bool { n++; return n < 100 }) // make room
	q.Emit(Event{TSC: 1 << 40, Kind: KindEntry})
	var last, lost Event
	q.Publish()
	q.Take(func(e *Event) bool {
		n++
		if e.Kind == KindLost {
			lost = *e
		}
		last = *e
		return true
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
	if q.Empty() || q.Take(func(*Event) bool { return true }) || !q.Empty() {
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
		q.Take(func(*Event) bool { return true })
	})
	if got != 0 {
		t.Errorf("an event costs %v allocations, want 0", got)
	}
}
