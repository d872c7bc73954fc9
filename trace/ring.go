package trace

// Ring keeps the last entries of a sequence. Entries are numbered from 0 in the
// order of Push; the oldest are overwritten. The capacity is fixed by Reset.
type Ring[T any] struct {
	// N is the number of entries ever pushed: the number of the next one.
	N uint64
	// Buf holds entry n at n mod len(Buf).
	Buf []T
}

// Reset empties the ring and gives it room for size entries, reusing memory.
func (r *Ring[T]) Reset(size int) {
	r.N = 0
	if len(r.Buf) != size {
		r.Buf = make([]T, size)
		return
	}
	clear(r.Buf)
}

// Push appends v and returns its number.
func (r *Ring[T]) Push(v T) uint64 {
	n := r.N
	r.Buf[n%uint64(len(r.Buf))] = v
	r.N++
	return n
}

// Len is the number of entries kept.
func (r *Ring[T]) Len() int { return int(min(r.N, uint64(len(r.Buf)))) }

// First is the number of the oldest entry kept.
func (r *Ring[T]) First() uint64 { return r.N - uint64(r.Len()) }

// Get returns entry n, or nil if it was never pushed or has been overwritten.
// The pointer is valid until the next Push.
func (r *Ring[T]) Get(n uint64) *T {
	if n >= r.N || n < r.First() {
		return nil
	}
	return &r.Buf[n%uint64(len(r.Buf))]
}

// At returns the i-th entry kept, 0 being the oldest. It panics if there is no
// such entry, as a slice would.
func (r *Ring[T]) At(i int) *T { return r.Get(r.First() + uint64(i)) }

// Last returns the entry pushed i pushes before the latest, which is 0; nil if
// there is none.
func (r *Ring[T]) Last(i int) *T {
	if i < 0 || i >= r.Len() {
		return nil
	}
	return r.Get(r.N - 1 - uint64(i))
}

// copyTo makes dst equal to r without sharing memory. Slots that hold no entry
// are not copied.
func (r *Ring[T]) copyTo(dst *Ring[T]) {
	if len(dst.Buf) != len(r.Buf) {
		dst.Buf = make([]T, len(r.Buf))
	}
	if n := r.Len(); dst.Len() > n {
		clear(dst.Buf[n:])
	}
	copy(dst.Buf, r.Buf[:r.Len()])
	dst.N = r.N
}

// ByteRing keeps the last bytes of a stream.
type ByteRing struct{ Ring[byte] }

// write appends p.
func (r *ByteRing) write(p []byte) {
	for _, b := range p {
		r.Push(b)
	}
}

// Bytes appends the bytes kept, oldest first, to p and returns it. They are what
// the guest wrote: filter them before they reach a terminal.
func (r *ByteRing) Bytes(p []byte) []byte {
	if r.N <= uint64(len(r.Buf)) {
		return append(p, r.Buf[:r.N]...)
	}
	at := r.N % uint64(len(r.Buf))
	return append(append(p, r.Buf[at:]...), r.Buf[:at]...)
}
