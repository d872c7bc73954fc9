package trace

import (
	"math/bits"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Hist counts non-negative values in the bucket layout of HdrHistogram with
// three significant digits: values below 2048 have a bucket each, above that
// every power of two is divided into 1024 buckets. So a value read back is off
// by less than 1/1024 of itself (0.1 %), and exact below 2048.
//
// It is plain data, unlike the library's type, so that a frame can copy and a
// recording can keep it. Its zero value is empty.
type Hist struct {
	// Counts by bucket; grows with the largest value seen.
	Counts []uint64
	// Lo and Hi bound the buckets in use: Lo ≤ i < Hi.
	Lo, Hi int32
	N      uint64
}

const (
	histSubBits = 11 // log2 of the sub-buckets of the first bucket
	histHalf    = 1 << (histSubBits - 1)
)

// histIndex is the bucket of v.
func histIndex(v uint64) int {
	shift := max(bits.Len64(v)-histSubBits, 0)
	return shift*histHalf + int(v>>shift)
}

// histLow and histHigh are the least and the greatest value of a bucket.
func histLow(i int) uint64 {
	if i < 2*histHalf {
		return uint64(i)
	}
	return uint64(i%histHalf+histHalf) << (i/histHalf - 1)
}

func histHigh(i int) uint64 { return histLow(i+1) - 1 }

// Add counts v.
func (h *Hist) Add(v uint64) {
	i := histIndex(v)
	if i >= len(h.Counts) {
		h.grow(i)
	}
	if h.N == 0 {
		h.Lo, h.Hi = int32(i), int32(i)+1
	}
	h.Lo, h.Hi = min(h.Lo, int32(i)), max(h.Hi, int32(i)+1)
	h.Counts[i]++
	h.N++
}

// grow makes room for bucket i, in whole powers of two.
func (h *Hist) grow(i int) { h.resize((i/histHalf + 1) * histHalf) }

// resize gives Counts n entries, new ones zero, and keeps its memory if it can.
func (h *Hist) resize(n int) {
	old := len(h.Counts)
	if cap(h.Counts) < n {
		c := make([]uint64, n)
		copy(c, h.Counts)
		h.Counts = c
		return
	}
	h.Counts = h.Counts[:n]
	clear(h.Counts[min(old, n):])
}

// Rank returns the bounds of the bucket that holds the k-th smallest value, k
// from 1 to N.
func (h *Hist) Rank(k uint64) (low, high uint64) {
	var seen uint64
	for i := h.Lo; i < h.Hi; i++ {
		if seen += h.Counts[i]; seen >= k {
			return histLow(int(i)), histHigh(int(i))
		}
	}
	panic("BUG: rank beyond the number of values")
}

// Each calls f for every bucket in use, in ascending order.
func (h *Hist) Each(f func(low, high, count uint64)) {
	for i := h.Lo; i < h.Hi; i++ {
		if c := h.Counts[i]; c != 0 {
			f(histLow(int(i)), histHigh(int(i)), c)
		}
	}
}

// HDR returns the same counts as a histogram of the HdrHistogram library, whose
// log format other tools read. Values above the library's int64 range cannot
// occur: a distance of TSCs is below 2^63.
func (h *Hist) HDR() *hdrhistogram.Histogram {
	top := int64(2 * histHalf)
	if h.Hi > 0 {
		top = max(top, int64(histHigh(int(h.Hi)-1)))
	}
	out := hdrhistogram.New(1, top, 3)
	h.Each(func(low, _, count uint64) { _ = out.RecordValues(int64(low), int64(count)) })
	return out
}

// Reset empties h and keeps its memory.
func (h *Hist) Reset() {
	clear(h.Counts[h.Lo:h.Hi])
	h.Counts = h.Counts[:0]
	h.Lo, h.Hi, h.N = 0, 0, 0
}

// copyTo makes dst equal to h without sharing memory; only buckets in use are
// touched.
func (h *Hist) copyTo(dst *Hist) {
	if len(dst.Counts) < len(h.Counts) {
		dst.Reset()
		dst.resize(len(h.Counts))
	}
	clear(dst.Counts[dst.Lo:dst.Hi])
	dst.Counts = dst.Counts[:len(h.Counts)]
	copy(dst.Counts[h.Lo:h.Hi], h.Counts[h.Lo:h.Hi])
	dst.Lo, dst.Hi, dst.N = h.Lo, h.Hi, h.N
}
