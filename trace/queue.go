package trace

import "sync/atomic"

// Queue carries events from the threads of a real engine to the goroutine that
// runs it. There is one producer at a time and one consumer. The producer
// neither locks nor allocates: what does not fit is counted, and reported before
// the next event that does. What was emitted is seen once it is published.
type Queue struct {
	buf  *[queueSize]Event
	head atomic.Uint64 // next to be read
	tail atomic.Uint64 // next to be published
	// What follows is the producer's.
	next uint64 // next to be written
	mark uint64 // where to look again how much room there is
	lost uint64 // events that did not fit
	sink Event  // the last one that did not fit

	// Wake is sent to when the queue is half full, and by Nudge.
	Wake chan struct{}
}

// queueSize is a power of two: 64 Ki events, 3 MiB.
const queueSize = 1 << 16

// NewQueue returns an empty queue.
func NewQueue() *Queue {
	q := &Queue{buf: new([queueSize]Event), mark: queueSize / 2, Wake: make(chan struct{}, 1)}
	for i := range q.buf { // fault the pages in now, not at the producer's first lap
		q.buf[i].VCPU = NoCPU
	}
	return q
}

// Emit implements Sink, for the producer.
func (q *Queue) Emit(e Event) { *q.Slot() = e }

// Slot is where the next event is to be written: all of it, for what is there is
// an old one.
func (q *Queue) Slot() *Event {
	if q.next >= q.mark {
		return q.slow()
	}
	q.next++
	return &q.buf[(q.next-1)%queueSize]
}

// Pair is where the next two events are to be written.
func (q *Queue) Pair() (first, second *Event) {
	n := q.next
	if n+1 >= q.mark {
		return q.Slot(), q.Slot()
	}
	q.next = n + 2
	return &q.buf[n%queueSize], &q.buf[(n+1)%queueSize]
}

// slow is Slot where the queue may be full.
func (q *Queue) slow() *Event {
	if !q.room() {
		return &q.sink
	}
	q.next++
	return &q.buf[(q.next-1)%queueSize]
}

// room looks how far the consumer is, wakes it if it has half a queue to read,
// and reports whether an event fits. If some did not, the first one that does
// comes after the report of their number.
func (q *Queue) room() bool {
	head := q.head.Load()
	end := head + queueSize
	q.mark = max(head+queueSize/2, min(q.next+queueSize/16, end))
	if q.next-head >= queueSize/2 {
		q.Publish()
		q.Nudge()
	}
	switch {
	case q.lost == 0 && q.next < end:
		return true
	case q.lost == 0 || end-q.next < 2:
		q.lost++
		q.mark = q.next
		return false
	}
	q.buf[q.next%queueSize] = Event{TSC: q.sink.TSC, Kind: KindLost, VCPU: NoCPU, PCPU: NoCPU, A: q.lost}
	q.next++
	q.lost = 0
	return true
}

// Publish lets the consumer see what was emitted. It is the producer's.
func (q *Queue) Publish() {
	if q.tail.Load() != q.next {
		q.tail.Store(q.next)
	}
}

// Nudge makes the consumer look. Any goroutine may call it.
func (q *Queue) Nudge() {
	select {
	case q.Wake <- struct{}{}:
	default:
	}
}

// Take calls f with the oldest published events, and so on until none is left or
// f stops it. f returns how many of them it took. It is the consumer's.
func (q *Queue) Take(f func([]Event) (taken int, stop bool)) (stopped bool) {
	const batch = 256 // events after which the producer gets their room back
	for head := q.head.Load(); ; {
		i := head % queueSize
		n := min(q.tail.Load()-head, batch, queueSize-i)
		if n == 0 {
			return false
		}
		taken, stop := f(q.buf[i : i+n])
		head += uint64(taken)
		q.head.Store(head)
		if stop {
			return true
		}
	}
}

// Empty reports whether all published events have been taken.
func (q *Queue) Empty() bool { return q.head.Load() == q.tail.Load() }

// Each calls f for every published event without taking it. It is the consumer's.
func (q *Queue) Each(f func(*Event)) {
	for i, end := q.head.Load(), q.tail.Load(); i != end; i++ {
		f(&q.buf[i%queueSize])
	}
}
